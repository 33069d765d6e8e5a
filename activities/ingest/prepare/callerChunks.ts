import { Fault } from '../../../contract/failures.js';
import type { CallerChunks } from '../../../contract/files/uploads.js';
import { callerSpace } from '../../../contract/vectors/spaces.js';
import type { ProcessedDocument } from '../../../documents/types.js';
import type { StartedFile } from '../../../store/files/start.js';
import type { FileDoc } from '../../../store/models/files.js';
import { costOf } from './attemptCost.js';
import type { ActivityDeps } from '../../deps.js';
import { embedTexts } from './embedTexts.js';
import type { Preparation, PreparedFile } from './preparedFile.js';
import { sparseVectorsOf } from './sparseVectors.js';

/** Separator of chunks in the file's text. */
const SEPARATOR = '\n\n';
/** Number of chunks whose tokens are counted before the event loop may run other work. */
const COUNTED_AT_ONCE = 20;

async function readCallerChunks({ organizationId, _id: fileId, callerChunks }: FileDoc, { store }: ActivityDeps) {
  const parts: Uint8Array[] = [];
  const stream = callerChunks ? await store.originals.stream({ organizationId, fileId }, callerChunks.id) : null;
  if (stream === null) throw new Fault('gone', 'The uploaded chunks no longer exist. Upload them again.');
  for await (const part of stream) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString()) as CallerChunks;
}

function vectorOf(base64: string): Float32Array {
  const bytes = Buffer.from(base64, 'base64');
  // Copied, because the offset of a buffer in Node's pool may not be a multiple of 4.
  return new Float32Array(new Uint8Array(bytes).buffer);
}

/**
 * Returns the vectors that a caller uploaded with a file's chunks, in their order.
 * @throws Fault gone if they are no longer stored
 */
export async function callerVectors(file: FileDoc, deps: ActivityDeps): Promise<Float32Array[]> {
  const { vectors } = await readCallerChunks(file, deps);
  if (vectors === null)
    throw new Fault('gone', 'The vectors of this file are no longer stored. Upload its chunks and embeddings again.');
  return vectors.map(vectorOf);
}

/** Converts the texts to a document in which each text is one chunk. */
async function asDocument(texts: readonly string[], { statistics }: FileDoc, countTokens: (text: string) => number) {
  let start = 0;
  let numTokens = 0;
  const cuts: { start: number; end: number; tokens: number }[] = [];
  for (const [index, text] of texts.entries()) {
    if (index % COUNTED_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
    const tokens = countTokens(text);
    numTokens += tokens;
    cuts.push({ start, end: start + text.length, tokens });
    start += text.length + SEPARATOR.length;
  }
  return {
    text: texts.join(SEPARATOR),
    prefix: '',
    cuts,
    numTokens,
    format: (statistics?.fileFormat ?? 'TXT') as ProcessedDocument['format'],
    mimeType: statistics?.mimeType ?? 'text/plain',
    metadata: {},
  } satisfies ProcessedDocument;
}

/**
 * Prepares a file whose chunks the caller uploaded: with the caller's vectors, in a separate space, or with computed
 * ones. The file's type and stored content stay unchanged.
 */
export async function prepareCallerChunks(
  runId: number,
  started: StartedFile,
  deps: ActivityDeps,
  signal: AbortSignal,
  { admit, tokens, attempt }: Preparation,
): Promise<PreparedFile> {
  const { file, generation } = started;
  const { organizationId, userId, _id: fileId, options } = file;
  const { texts, vectors: encodedVectors } = await readCallerChunks(file, deps);
  attempt.stage = 'read';
  const document = await asDocument(texts, file, await deps.loadCounter());
  await admit(document.text.length);
  attempt.stage = 'embed';
  const model = options.embeddingModel;
  const vectors = encodedVectors?.map(vectorOf) ?? null;
  const needsVectors = !options.generateChunksOnly;
  const computedSpace = needsVectors && vectors === null ? deps.embeddings.spaceOf(model) : null;
  const space = needsVectors && vectors !== null ? callerSpace(model, vectors[0]?.length ?? 0) : computedSpace;
  const chunks = texts.map((text, index) => ({ text, tokens: document.cuts[index]?.tokens ?? 0 }));
  const computedVectors = computedSpace
    ? await embedTexts({ organizationId, userId }, computedSpace, chunks, { deps, signal, tokens, attempt })
    : [];
  // Fetched content is stored per generation: the new one needs a copy.
  const bytes = file.hasContent
    ? await deps.store.contents.get({ organizationId, fileId, generation: file.generation })
    : null;
  const content =
    bytes && (await deps.store.contents.saveIfLarge({ organizationId, userId, fileId, generation }, bytes));
  return {
    started,
    content,
    document,
    space,
    vectors: space ? (vectors ?? computedVectors) : [],
    ...sparseVectorsOf(file, document, deps),
    finished: {
      runId,
      file,
      name: null,
      fileMetadata: file.fileMetadata,
      tagsRevision: file.tagsRevision ?? null,
      cost: costOf(attempt),
      content: {
        generation,
        numChunks: texts.length,
        vectorSpace: space?.name ?? null,
        dimensions: space?.dimensions ?? null,
        hasContent: bytes !== null,
        hasText: true,
        // No hash, so that a later sync never finds the content unchanged.
        rawHash: null,
        processedAs: null,
        etag: null,
        lastModified: null,
        statistics: {
          fileFormat: file.statistics?.fileFormat ?? null,
          fileSize: file.statistics?.fileSize ?? null,
          mimeType: file.statistics?.mimeType ?? null,
          numCharacters: document.text.length,
          numTokens: document.numTokens,
          numEmbeddings: space ? texts.length : 0,
        },
      },
    },
  };
}
