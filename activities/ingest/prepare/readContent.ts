import { Fault } from '../../../contract/failures.js';
import type { FileFormat } from '../../../contract/files/fileFormats.js';
import type { Transcript } from '../../../contract/files/transcripts.js';
import { MAX_CRASHES } from '../../../contract/files/uploads.js';
import type { ChunkOptions, ParseInput, ProcessedDocument, SiteEvidence } from '../../../documents/types.js';
import type { FileDoc } from '../../../store/models/files.js';
import { contentStep } from './contentStep.js';
import type { ActivityDeps, OpenedContent, OpenedOriginal } from '../../deps.js';
import { closeText } from './preparedFile.js';
import { pagesKnown, recognizedPagesOf, wantsOcr, wantsTables } from './recognizedPages.js';

/** Content with the values that its reader needs. */
export interface ReadableContent {
  readonly opened: OpenedContent | OpenedOriginal;
  readonly rawHash: string;
  /** Whether the bytes can be transferred to the reader, because they are not needed afterwards. */
  readonly transferBytes: boolean;
  /** Evidence about the site of a page: the blocks that the site repeats. Null for other files. */
  readonly site: SiteEvidence | null;
}

/**
 * Kinds of Faults that count as a crash of the reader. `parse_limit`: it died or exceeded a limit. `quarantined`: the
 * file is refused, because earlier attempts crashed the reader or the worker. Other Faults are not counted.
 */
const CRASH_FAULTS: readonly Fault['kind'][] = ['parse_limit', 'quarantined'];

/** Counts a crash of the reader on this content, identified by its hash. */
export async function recordCrash(
  runId: number,
  file: FileDoc,
  fault: Fault,
  hash: string | null,
  { store }: Pick<ActivityDeps, 'store'>,
): Promise<void> {
  if (hash !== null && CRASH_FAULTS.includes(fault.kind)) await store.files.recordCrash(runId, file._id, hash);
}

/** Refuses content that crashed its reader too often. @throws Fault quarantined */
export function refuseCrashing({ crashes }: FileDoc, hash: string): void {
  if (crashes?.hash !== hash || crashes.count < MAX_CRASHES) return;
  throw new Fault(
    'quarantined',
    `Reading this content has crashed ${crashes.count} times, so it is not tried again. Repair or split it, and upload it again.`,
  );
}

/** Returns the input for the reader of a recording. The cast is safe: openOriginal takes the format from the file. */
const recordingOf = ({ format, mimeType }: OpenedOriginal, transcript: Transcript) => ({
  format: format as FileFormat,
  mimeType,
  transcript,
});

/**
 * Returns the text and chunks of content, according to the file's options.
 * @throws Fault; Deferred for pages that need OCR first
 */
export async function readContent(
  runId: number,
  file: FileDoc,
  content: ReadableContent,
  deps: ActivityDeps,
  signal: AbortSignal,
): Promise<ProcessedDocument> {
  const { opened, rawHash } = content;
  refuseCrashing(file, rawHash);
  const usesOcr = wantsOcr(file, opened.format);
  const input = inputOf(content);
  const chunking = chunkingOf(file, opened);
  const read = (extraInput: Partial<ParseInput>): Promise<ProcessedDocument> =>
    contentStep('read', signal, deps, () =>
      deps.documents.process({ ...input, ...extraInput, owner: file.userId }, chunking, signal),
    );
  try {
    if (!usesOcr) return await read({});
    const findTables = wantsTables(file);
    let pages = pagesKnown(file, opened.format);
    if (pages === null) {
      const withoutOcr = await read({ beforeOcr: true, findTables });
      pages = withoutOcr.pagesWithoutText ?? [];
      if (pages.length === 0) return withoutOcr;
      closeText(withoutOcr);
    }
    return await read({ findTables, recognizedPages: await recognizedPagesOf(file, rawHash, pages, deps) });
  } catch (error) {
    if (error instanceof Fault && !signal.aborted) await recordCrash(runId, file, error, rawHash, deps);
    throw error;
  }
}

function inputOf({ opened, transferBytes, site }: ReadableContent): ParseInput {
  const sent = 'hash' in opened ? opened : null;
  return {
    bytes: opened.bytes,
    ...(sent?.path ? { path: sent.path } : {}),
    ...(sent?.readAs ? { readAs: sent.readAs } : {}),
    ...(sent?.transcript ? { recording: recordingOf(sent, sent.transcript) } : {}),
    transferBytes,
    contentType: opened.contentType,
    name: opened.url,
    baseUrl: sent ? null : opened.url,
    html: opened.html,
    ...(site ? { site } : {}),
  };
}

function chunkingOf({ name, options }: FileDoc, { url }: OpenedContent): ChunkOptions {
  const { chunkSize, chunkOverlap, setPageAsBoundary, maxItemsPerChunk, splitRows = false } = options;
  const shown = name ?? url;
  const prefix = options.prependFilenameToChunks && shown !== '' ? shown : null;
  return { chunkSize, chunkOverlap, prefix, setPageAsBoundary, maxItemsPerChunk, splitRows };
}
