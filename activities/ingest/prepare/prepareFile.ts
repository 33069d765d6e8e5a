import { createHash } from 'node:crypto';

import { isConnected } from '../../connected/openItem.js';
import type { ActivityDeps, OpenedOriginal } from '../../deps.js';
import type { StartedFile } from '../../../store/files/start.js';
import { acceptAttachments } from './attachments.js';
import { prepareCallerChunks } from './callerChunks.js';
import { embedChunks } from './embedTexts.js';
import { finishedRead, finishedUnread } from './finishedSync.js';
import { openContent, passLinks } from './openContent.js';
import { isUploaded, openOriginal, withOriginal } from './originals.js';
import { embedPicture, pictureDocument } from './pictures.js';
import { closeText, type Preparation, type PreparedFile } from './preparedFile.js';
import { processingFor } from './processing.js';
import { readContent } from './readContent.js';
import { sparseVectorsOf } from './sparseVectors.js';
import { transcriptOf } from './transcripts.js';

/**
 * Fetches, reads, chunks and embeds one file, and stores its raw and parsed content.
 * @returns null if content and processing are unchanged since the last sync: then nothing is embedded or stored, except
 * the links of a page that belongs to a crawl
 * @throws Fault if the content cannot be fetched or read; Deferred if the file first needs another step;
 * TokenBudgetReached if it waits for tokens; any other error is a store failure
 */
export async function prepareFile(
  runId: number,
  begun: StartedFile,
  deps: ActivityDeps,
  signal: AbortSignal,
  preparation: Preparation,
): Promise<PreparedFile | null> {
  if (begun.file.callerChunks) return prepareCallerChunks(runId, begun, deps, signal, preparation);
  if (!isUploaded(begun.file)) return prepareOpened(runId, begun, { deps, signal, ...preparation });
  const started = await withOriginal(runId, begun, deps, signal);
  const transcript = await transcriptOf(started.file, deps);
  // A recording is not parsed: its transcript already exists.
  const withContent = !started.file.options.storeFileOnly && transcript === null;
  const upload = await openOriginal(started.file, deps, withContent);
  try {
    return await prepareOpened(runId, started, { deps, signal, ...preparation }, { ...upload, transcript });
  } finally {
    await upload.close();
  }
}

/** Inputs and dependencies of a preparation. */
interface PreparationWork extends Preparation {
  readonly deps: ActivityDeps;
  readonly signal: AbortSignal;
}

/** @param upload the uploaded content of the file; null for a file that has its content at its source */
async function prepareOpened(
  runId: number,
  started: StartedFile,
  { deps, signal, ...preparation }: PreparationWork,
  upload: OpenedOriginal | null = null,
): Promise<PreparedFile | null> {
  const { file, generation } = started;
  const { attempt, keepLinks } = preparation;
  const processing = processingFor(file, upload, deps);
  const { hasSameProcessing, space } = processing;
  const { metrics } = deps;
  // Fetch nothing if the listing of the account reported the version of the stored content.
  if (hasSameProcessing && isConnected(file) && file.listedVersion && file.listedVersion === file.version) {
    metrics.contentReceived(file.source, 'unchanged', 0);
    return null;
  }
  // Load the model while the content is fetched and read. If the content may be unchanged, load it later.
  if (space && !hasSameProcessing) deps.embeddings.prepare(space.name);
  const prefetched = upload ? null : await preparation.fetchedAhead(file, hasSameProcessing);
  const opened = upload ?? (prefetched ? prefetched.opened : await openContent(file, hasSameProcessing, deps, signal));
  attempt.bytes = upload?.size ?? opened?.bytes.byteLength ?? 0;
  attempt.stage = 'read';
  if (keepLinks) await passLinks(started, opened, keepLinks, deps, signal);
  const rawHash = upload?.hash ?? (opened && createHash('sha256').update(opened.bytes).digest('hex'));
  const isNew = opened !== null && !(hasSameProcessing && file.rawHash === rawHash);
  metrics.contentReceived(file.source, isNew ? 'new' : 'unchanged', attempt.bytes);
  if (!isNew || rawHash === null) return null;
  if (file.syncStatus === 'EVALUATING_RESYNC') await deps.store.files.startChanged(runId, [file._id]);
  const owner = { organizationId: file.organizationId, userId: file.userId, fileId: file._id, generation };
  // Uploaded content is already stored, once for all generations.
  const smallContent = upload ? null : await deps.store.contents.saveIfLarge(owner, opened.bytes);
  const fetched = {
    runId,
    started,
    opened,
    rawHash,
    processedAs: processing.processedAs,
    attempt,
    isUpload: upload !== null,
  };
  if (file.options.storeFileOnly)
    return {
      started,
      finished: finishedUnread(fetched),
      content: smallContent,
      document: null,
      space: null,
      vectors: [],
    };

  const site = upload ? null : await preparation.evidenceOf(file);
  // Small content is written later, together with the chunks.
  const transferBytes = smallContent === null;
  const read =
    upload && processing.asPicture
      ? pictureDocument(upload)
      : await readContent(runId, file, { opened, rawHash, transferBytes, site }, deps, signal);
  const { attachments: found = [], ...document } = read;
  const attachments = opened.attachmentsOnRequest === true && file.options.syncAttachments !== true ? [] : found;
  let vectors: Float32Array[] = [];
  let contained: Record<string, unknown> = {};
  try {
    await preparation.admit(document.text.length);
    attempt.stage = 'embed';
    if (upload && processing.asPicture) vectors = await embedPicture(owner, processing.asPicture, upload, deps, signal);
    else if (space)
      vectors = await embedChunks(owner, space, document, { deps, signal, tokens: preparation.tokens, attempt });
    // Queue the attachments before the file is published. A published file is not read again, so after a crash in
    // between its attachments would be missing. If this attempt fails, the run still syncs the queued attachments.
    if (attachments.length > 0) contained = { ...(await acceptAttachments(runId, file, attachments, deps)) };
  } catch (error) {
    closeText(document);
    throw error;
  }
  const finished = finishedRead(fetched, { document, processing, numEmbeddings: vectors.length, contained });
  const sparse = sparseVectorsOf(file, document, deps);
  return { started, finished, content: smallContent, document, space, vectors, ...sparse };
}
