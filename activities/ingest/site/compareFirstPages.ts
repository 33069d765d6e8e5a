import { createHash } from 'node:crypto';
import pLimit from 'p-limit';

import { Fault } from '../../../contract/failures.js';
import type { PageOptions } from '../../../contract/files/ingestOptions.js';
import { skipsOf } from '../../../contract/runs/scrapeSitemap.js';
import type { FileDoc } from '../../../store/models/files.js';
import type { Run } from '../../../store/models/runs.js';
import type { ActivityDeps, OpenedContent } from '../../deps.js';
import type { FileSlots } from '../fileSlots.js';
import { contentStep } from '../prepare/contentStep.js';
import { openContent } from '../prepare/openContent.js';
import { closeText, type FetchedAhead } from '../prepare/preparedFile.js';
import { processingFor } from '../prepare/processing.js';
import { refuseCrashing } from '../prepare/readContent.js';
import { siteOfRun } from './siteOf.js';
import { MIN_PAGES, learnBlocks, type PageBlocks } from './learnBlocks.js';
import { hostOf } from './siteEvidence.js';

/**
 * Time in milliseconds for the comparison. Pages that arrive later are not compared: a slow page must not delay the
 * others.
 */
const COMPARE_MS = 5_000;
/** Maximum number of bytes of pages that stay in memory until their file is read. Others are fetched again. */
const KEPT_BYTES = 16_000_000;
/** Chunking options for texts that are not used. */
const NO_CHUNKS = { chunkSize: 1_000_000, chunkOverlap: 0, prefix: null };
const NOTHING_FETCHED: FetchedAhead = () => Promise.resolve(null);

/** A fetched page of the comparison. */
interface ComparedPage {
  readonly file: FileDoc;
  /** The content, or null if the stored copy is current; a Fault if it could not be fetched. */
  readonly outcome: OpenedContent | null | Fault;
  readonly hasSameProcessing: boolean;
  readonly isNew: boolean;
  /** Null: not read yet, because it is unchanged. */
  readonly blocks: readonly string[] | null;
}

/**
 * Compares the first pages of a scrape before any of them is ingested, and stores the blocks that they repeat. Repeats
 * the comparison only if one of these pages is new or changed. Writes once, at the end, so a retry after a crash finds
 * the same blocks.
 * @param fileIds the files of a batch; the first ones by id are compared
 * @returns a function that returns the fetched content of a file; null if it must be fetched again
 * @throws the error of a store
 */
export async function compareFirstPages(
  run: Run,
  fileIds: readonly number[],
  deps: ActivityDeps,
  slots: FileSlots,
  signal: AbortSignal,
): Promise<FetchedAhead> {
  const { store, settings } = deps;
  const site = siteOfRun(run, settings);
  if (site === null || fileIds.length < MIN_PAGES) return NOTHING_FETCHED;
  const learned = await store.siteBlocks.find(site);
  if (learned !== null && learned.runId >= run._id) return NOTHING_FETCHED;

  const firstIds = fileIds.toSorted((a, b) => a - b).slice(0, settings.siteSamplePages);
  const files = (await store.files.byIds(run, firstIds)).filter(({ callerChunks }) => !callerChunks);
  const timeout = AbortSignal.timeout(COMPARE_MS);
  const timedOut = new Promise<null>((resolve) =>
    timeout.addEventListener('abort', () => resolve(null), { once: true }),
  );
  const fetched = createFetchedPages();
  const begin = (file: FileDoc): Promise<ComparedPage> => {
    const page = comparePage(file, deps, signal);
    fetched.keep(file, page);
    return page;
  };
  const limit = pLimit(settings.fileConcurrency);
  const comparisons = files.map((file) =>
    limit(() => slots.run(run, () => (timeout.aborted ? timedOut : Promise.race([begin(file), timedOut])))),
  );
  const compared = (await Promise.all(comparisons)).flatMap((page) => page ?? []);
  const isNew = learned === null || compared.some((page) => page.isNew);
  const pages = isNew ? await Promise.all(compared.map((page) => limit(() => blocksOf(page, deps, signal)))) : [];
  const blocks = isNew ? learnBlocks(pages.flatMap((page) => page ?? [])) : learned.blocks;
  await store.siteBlocks.learn(site, run._id, blocks);
  return fetched.take;
}

async function comparePage(file: FileDoc, deps: ActivityDeps, signal: AbortSignal): Promise<ComparedPage> {
  signal.throwIfAborted();
  const { hasSameProcessing } = processingFor(file, null, deps);
  const fetched = { file, hasSameProcessing };
  try {
    const outcome = await openContent(file, hasSameProcessing, deps, signal);
    const hash = outcome && createHash('sha256').update(outcome.bytes).digest('hex');
    const isNew = outcome !== null && !(hasSameProcessing && file.rawHash === hash);
    const blocks = isNew ? await listBlocks(file, { ...outcome, rawHash: hash }, deps, signal) : null;
    return { ...fetched, outcome, isNew, blocks };
  } catch (error) {
    if (!(error instanceof Fault) || signal.aborted) throw error;
    return { ...fetched, outcome: error, isNew: false, blocks: [] };
  }
}

/**
 * Returns the blocks of a page; null if it has none. Reads an unchanged page here: from the fetched content, or from
 * the stored copy if the source sent none.
 */
async function blocksOf({ file, outcome, blocks }: ComparedPage, deps: ActivityDeps, signal: AbortSignal) {
  let found = blocks;
  if (found === null) {
    const copy = outcome === null || outcome instanceof Fault ? await storedCopy(file, deps) : outcome;
    found = copy === null ? [] : await listBlocks(file, { ...copy, rawHash: file.rawHash }, deps, signal);
  }
  return found.length === 0 ? null : ({ fileId: file._id, host: hostOf(file), blocks: found } satisfies PageBlocks);
}

/** Returns the stored content of a page; null if there is none. */
async function storedCopy(file: FileDoc, { store }: ActivityDeps) {
  const bytes = await store.contents.get({ ...file, fileId: file._id });
  const contentType = file.statistics?.mimeType ?? null;
  return bytes && { contentType, url: file.externalFileId, html: skipsOf(file.sourceOptions as PageOptions), bytes };
}

/** Returns the ids of the blocks of content; none if it cannot be read, which the ingest of the file reports later. */
async function listBlocks(
  file: FileDoc,
  content: Pick<OpenedContent, 'bytes' | 'contentType' | 'url' | 'html'> & { readonly rawHash: string | null },
  deps: ActivityDeps,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { bytes, contentType, url, html, rawHash } = content;
  const site = { host: hostOf(file), repeated: [], listBlocks: true };
  const input = { bytes, contentType, name: url, baseUrl: url, html, site, owner: file.userId };
  try {
    if (rawHash !== null) refuseCrashing(file, rawHash);
    const document = await contentStep('read', signal, deps, () => deps.documents.process(input, NO_CHUNKS, signal));
    closeText(document);
    return document.blocks ?? [];
  } catch (error) {
    if (!(error instanceof Fault) || signal.aborted) throw error;
    return [];
  }
}

const bytesOf = ({ outcome }: ComparedPage): number =>
  outcome === null || outcome instanceof Fault ? 0 : outcome.bytes.byteLength;

/** Keeps fetched pages, up to KEPT_BYTES, until their files are read. Includes pages that arrive too late to compare. */
function createFetchedPages() {
  const pages = new Map<number, { readonly page: Promise<ComparedPage>; bytes: number }>();
  let keptBytes = 0;
  const keep = (file: FileDoc, page: Promise<ComparedPage>): void => {
    const entry = { page, bytes: 0 };
    pages.set(file._id, entry);
    page.then(
      (arrived) => {
        // The ingest of the file already waits for this page.
        if (pages.get(file._id) !== entry) return;
        const bytes = bytesOf(arrived);
        if (keptBytes + bytes > KEPT_BYTES) pages.delete(file._id);
        else [entry.bytes, keptBytes] = [bytes, keptBytes + bytes];
      },
      // The rejection is handled when the file is ingested. After a cancellation the page is never awaited.
      () => undefined,
    );
  };
  const take: FetchedAhead = async (file, hasSameProcessing) => {
    const entry = pages.get(file._id);
    if (!entry) return null;
    pages.delete(file._id);
    keptBytes -= entry.bytes;
    const page = await entry.page;
    // If the options of the file have changed since the fetch, its page is fetched again.
    if (page.hasSameProcessing !== hasSameProcessing) return null;
    if (page.outcome instanceof Fault) throw page.outcome;
    return { opened: page.outcome };
  };
  return { keep, take };
}
