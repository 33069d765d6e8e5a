import { createHash } from 'node:crypto';

import { type EmbeddingModelId, PICTURE_MODEL, type VectorSpace } from '../../../contract/embeddingModels.js';
import { wantsVectors } from '../../../contract/ingestOptions.js';
import { LINKS_PER_PAGE } from '../../../contract/webScrape.js';
import type { ProcessedDocument } from '../../../documents/types.js';
import type { Party } from '../../../providers/embeddings/fairQueue.js';
import type { FinishedSync } from '../../../store/files/commands.js';
import type { StartedFile } from '../../../store/files/start.js';
import type { FileDoc } from '../../../store/files/model.js';
import type { ActivityDeps, OcrLimits, OpenedContent, OpenedOriginal } from '../../deps.js';
import { acceptAttachments } from './attachments.js';
import { isConnected, openItem } from '../../connected/openItem.js';
import { costOf, type AttemptCost } from './attemptCost.js';
import { contentStep } from './contentStep.js';
import { embedTexts } from './embedTexts.js';
import { prepareCallerChunks } from './callerChunks.js';
import { isSent, openOriginal, withOriginal } from './originals.js';
import { embedPicture, pictureDocument, pictureSpace } from './pictures.js';
import { closeText, type LinkKeeper, type Preparation, type PreparedFile } from './preparedFile.js';
import { readContent } from './readContent.js';
import { ocrReading, wantsTables } from './recognizedPages.js';
import { sparseReading, sparseVectorsOf } from './sparseVectors.js';
import { transcriptOf } from './transcripts.js';
import { fileCredentials } from '../../connected/sourceCredentials.js';
import type { TokenBound } from './tokenBound.js';

function metadataOf(opened: OpenedContent, document: ProcessedDocument | null): Record<string, unknown> {
  return { ...opened.facts, ...document?.metadata };
}

/** Maximum number of chunk texts of a long document that are in memory until they are embedded. */
const CHUNKS_AT_ONCE = 2_000;

/** Returns a vector for each chunk of a document, in order. */
async function embedChunks(
  owner: Party,
  space: VectorSpace,
  { prefix, text, cuts }: ProcessedDocument,
  deps: ActivityDeps,
  signal: AbortSignal,
  bound: TokenBound,
  attempt: AttemptCost,
): Promise<Float32Array[]> {
  const vectors: Float32Array[] = [];
  for (let from = 0; from < cuts.length; from += CHUNKS_AT_ONCE) {
    const chunks = cuts
      .slice(from, from + CHUNKS_AT_ONCE)
      .map(({ start, end, tokens }) => ({ text: prefix + text.slice(start, end), tokens }));
    vectors.push(...(await embedTexts(owner, space, chunks, deps, signal, bound, attempt)));
  }
  return vectors;
}

/** Increased whenever the same bytes would produce other text, chunks or vectors. */
export const PIPELINE_VERSION = 3;

/** Returns a hash of everything except the content that the result of a sync depends on. */
function processingOf(
  file: FileDoc,
  model: EmbeddingModelId,
  space: Pick<VectorSpace, 'name'> | null,
  ocr: OcrLimits,
): string {
  const { sourceOptions, tagPairs, parentId } = file;
  const options = { ...file.options, embeddingModel: model };
  const prefix = options.prependFilenameToChunks ? file.name : null;
  const parts = [PIPELINE_VERSION, options, sourceOptions, tagPairs, parentId, prefix, space?.name ?? null];
  if (options.useOcr === true) parts.push(ocrReading(ocr, wantsTables(file)));
  if (space !== null) parts.push(...sparseReading(file));
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/**
 * Returns the same hash for a re-embedded file; null if a sync would produce something else anyway, so that the next
 * sync runs.
 */
export function processingWithModel(
  file: FileDoc,
  model: EmbeddingModelId,
  space: VectorSpace,
  ocr: OcrLimits,
): string | null {
  const known = file.vectorSpace === null ? null : { name: file.vectorSpace };
  const isCurrent = file.processedAs === processingOf(file, file.options.embeddingModel, known, ocr);
  return isCurrent ? processingOf(file, model, space, ocr) : null;
}

/** Reports the page's links; for an unchanged page, the links of the stored copy. */
async function tellLinks(
  { file }: StartedFile,
  opened: OpenedContent | null,
  keep: LinkKeeper,
  deps: ActivityDeps,
  signal: AbortSignal,
): Promise<void> {
  const finalUrl = file.fileMetadata['final_url'];
  const endedAt = opened?.url ?? (typeof finalUrl === 'string' ? finalUrl : file.externalFileId);
  const bytes = opened?.bytes ?? (await deps.store.contents.get({ ...file, fileId: file._id }));
  if (bytes === null) return;
  const contentType = opened ? opened.contentType : (file.statistics?.mimeType ?? null);
  const hosts = [...new Set([new URL(file.externalFileId).host, new URL(endedAt).host])];
  const { urls } = await contentStep('read', signal, deps, () =>
    deps.documents.links(
      { bytes, contentType, name: endedAt, baseUrl: endedAt, html: { tags: [], classes: [], selectors: [] } },
      { max: LINKS_PER_PAGE, follow: { hosts }, withText: false },
      signal,
    ),
  );
  await keep({ urls, endedAt });
}

/**
 * Fetches, reads, chunks and embeds one file. Raw and parsed content are stored on the way.
 * @returns null if the result would equal the current one: then nothing is read, embedded or written
 * @throws Fault if the content cannot be fetched or read; Deferred if the file first needs another step; BoundReached
 * if it waits for tokens; any other error is a store failure
 */
export async function prepareFile(
  runId: number,
  begun: StartedFile,
  deps: ActivityDeps,
  signal: AbortSignal,
  preparation: Preparation,
): Promise<PreparedFile | null> {
  if (begun.file.givenChunks) return prepareCallerChunks(runId, begun, deps, signal, preparation);
  if (!isSent(begun.file)) return prepareOpened(runId, begun, deps, signal, preparation);
  const started = await withOriginal(runId, begun, deps, signal);
  const transcript = await transcriptOf(started.file, deps);
  // A recording is not parsed: its transcript already exists.
  const withContent = !started.file.options.storeFileOnly && transcript === null;
  const sent = await openOriginal(started.file, deps, withContent);
  try {
    return await prepareOpened(runId, started, deps, signal, preparation, { ...sent, transcript });
  } finally {
    await sent.close();
  }
}

/** @param sent the uploaded content; null for content at a source */
async function prepareOpened(
  runId: number,
  started: StartedFile,
  deps: ActivityDeps,
  signal: AbortSignal,
  { admit, tokens, attempt, keepLinks }: Preparation,
  sent: OpenedOriginal | null = null,
): Promise<PreparedFile | null> {
  const { file, generation } = started;
  const { options, organizationId } = file;
  const tagsRevision = file.tagsRevision ?? null;
  const asPicture = sent && wantsVectors(options) ? pictureSpace(file, sent.format, deps) : null;
  const model = asPicture ? PICTURE_MODEL : options.embeddingModel;
  const space = asPicture ?? (wantsVectors(options) ? deps.embeddings.spaceOf(model) : null);
  const processedAs = processingOf(file, model, space, deps.settings.ocr);
  const comparable = file.generation > 0 && file.processedAs === processedAs;
  // The listing shows that the content is unchanged: do not fetch it.
  const { metrics } = deps;
  if (comparable && isConnected(file) && file.listedVersion && file.listedVersion === file.version) {
    metrics.contentCame(file.source, 'unchanged', 0);
    return null;
  }
  // Runs while the content is fetched and read, or before that if the content may be unchanged.
  if (space && !comparable) deps.embeddings.prepare(space.name);
  const opened =
    sent ??
    (await contentStep('fetched', signal, deps, () =>
      isConnected(file)
        ? openItem(file, deps, signal)
        : deps.sources.open(
            {
              source: file.source,
              externalFileId: file.externalFileId,
              externalUrl: file.externalUrl,
              sourceOptions: file.sourceOptions,
              known: comparable ? { etag: file.etag, lastModified: file.lastModified } : null,
              credentials: () => fileCredentials(file, deps),
            },
            signal,
          ),
    ));
  attempt.bytes = sent?.size ?? opened?.bytes.byteLength ?? 0;
  attempt.stage = 'read';
  if (keepLinks) await tellLinks(started, opened, keepLinks, deps, signal);
  const rawHash = sent?.hash ?? (opened && createHash('sha256').update(opened.bytes).digest('hex'));
  const isNew = opened !== null && !(comparable && file.rawHash === rawHash);
  metrics.contentCame(file.source, isNew ? 'new' : 'unchanged', sent?.size ?? opened?.bytes.byteLength ?? 0);
  if (!isNew || rawHash === null) return null;
  if (file.syncStatus === 'EVALUATING_RESYNC') await deps.store.files.beginChanged(runId, [file._id]);
  const fileSize = attempt.bytes;
  const owner = { organizationId, userId: file.userId, fileId: file._id, generation };
  // Uploaded content is already stored, once for all generations.
  const small = sent ? null : await deps.store.contents.take(owner, opened.bytes);

  const content = {
    generation,
    numChunks: 0,
    vectorSpace: null,
    dimensions: null,
    hasContent: sent === null,
    hasText: false,
    rawHash,
    processedAs,
    ...opened.validators,
    // The version of the listing, from before the fetch: a newer version is then fetched again.
    version: isConnected(file) ? (file.listedVersion ?? null) : null,
  };
  const statistics = {
    fileFormat: opened.recordedFormat ?? opened.format,
    fileSize,
    numCharacters: null,
    numTokens: null,
    numEmbeddings: 0,
    mimeType: opened.mimeType,
  };
  if (options.storeFileOnly) {
    const finished = {
      runId,
      file,
      content: { ...content, statistics },
      name: opened.name ?? null,
      fileMetadata: metadataOf(opened, null),
      tagsRevision,
      cost: costOf(attempt),
    };
    return { started, finished, content: small, document: null, space: null, vectors: [] };
  }

  // A small content is not written yet.
  const giveBytes = small === null;
  const read =
    sent && asPicture
      ? pictureDocument(sent)
      : await readContent(runId, file, { opened, rawHash, giveBytes }, deps, signal);
  const { attachments: inside = [], ...document } = read;
  const attachments = opened.attachmentsOnRequest === true && options.syncAttachments !== true ? [] : inside;
  let vectors: Float32Array[] = [];
  let contained: Record<string, unknown> = {};
  try {
    await admit(document.text.length);
    attempt.stage = 'embed';
    if (sent && asPicture) vectors = await embedPicture(owner, asPicture, sent, deps, signal);
    else if (space) vectors = await embedChunks(owner, space, document, deps, signal, tokens, attempt);
    // Queued before the file is published: they belong to the run, whatever the result of this attempt.
    if (attachments.length > 0) contained = { ...(await acceptAttachments(runId, file, attachments, deps)) };
  } catch (error) {
    closeText(document);
    throw error;
  }

  const finished: FinishedSync = {
    runId,
    file,
    name: opened.name ?? null,
    model,
    fileMetadata: { ...metadataOf(opened, document), ...contained },
    ...(document.sourceCreatedAt === undefined ? {} : { sourceCreatedAt: new Date(document.sourceCreatedAt) }),
    tagsRevision,
    cost: costOf(attempt),
    content: {
      ...content,
      hasText: asPicture === null,
      numChunks: document.cuts.length,
      vectorSpace: space?.name ?? null,
      dimensions: space?.dimensions ?? null,
      statistics: {
        ...statistics,
        fileFormat: opened.recordedFormat ?? document.format,
        numCharacters: document.text.length,
        numTokens: document.numTokens,
        numEmbeddings: vectors.length,
        mimeType: document.mimeType,
      },
    },
  };
  const sparse = sparseVectorsOf(file, document, deps);
  return { started, finished, content: small, document, space, vectors, ...sparse };
}
