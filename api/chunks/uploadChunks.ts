import { randomUUID } from 'node:crypto';
import Joi from 'joi';

import { EMBEDDING_MODELS } from '../../contract/vectors/embeddingModels.js';
import { workflowIds } from '../../contract/runs/workflowIds.js';
import type { DraftOriginal } from '../../store/originals/originals.js';
import type { FileDoc } from '../../store/models/files.js';
import type { ApiDeps } from '../http/deps.js';
import { busy, refuseBusy } from '../files/refuseBusy.js';
import { HttpError, invalid, notFound, type ValidationDetail } from '../http/errors.js';
import { MAX_GIVEN_CHUNKS } from '../http/body/json/limits.js';
import { nextTurn } from '../http/body/json/nextTurn.js';
import { operation, type UserCaller } from '../http/operation.js';
import { integer, orNull, nullable } from '../schemas/fields.js';
import { numberList } from '../schemas/numberList.js';
import type { Infer } from '../schemas/inferred.js';
import { named } from '../schemas/reference.js';
import { embeddingModel } from '../schemas/enums.js';
import { success } from '../schemas/answers.js';

/** Maximum number of files per request. Either all are accepted or none. */
const MAX_FILES = 100;

const chunk = () =>
  named(
    'ChunksAndEmbeddings',
    Joi.object({
      chunk_number: nullable(integer())
        .required()
        .description(
          'Number by which the chunks of a file are sorted; gaps are allowed, but two chunks with the same number return 422. Chunks with null follow the numbered ones, in the order of the list.',
        ),
      chunk: Joi.string().min(1).required().description('Text of the chunk. It is stored and embedded as it is.'),
      embedding: orNull(numberList()).description(
        'Vector of the chunk, with as many numbers as `GET /models` has as `dimensions` of `embedding_model`; at least one must not be 0 (422). Send vectors for all chunks of a file or for none. Null: no vector.',
      ),
    }).description('One chunk of a file, with or without its vector.'),
  );

const unusedCredentials = named(
  'UnusedCredentials',
  Joi.object().unknown().description('Any object. It is accepted for compatibility and has no effect.'),
);

const requestBody = named(
  'ChunksAndEmbeddingsUploadInput',
  Joi.object({
    embedding_model: embeddingModel()
      .required()
      .description(
        'Model that computed the vectors of this request. If the request has none, the model that embeds the chunks. It becomes the model of the files.',
      ),
    chunks_and_embeddings: Joi.array()
      .items(
        named(
          'SingleChunksAndEmbeddingsUploadInput',
          Joi.object({
            file_id: integer()
              .required()
              .description(
                '`id` of an existing file. A request may contain each file only once. Folders and parent files of scrapes return 404.',
              ),
            chunk_size: orNull(integer().min(1)).description(
              'Chunk size in tokens to store with the file, for later syncs. It does not apply to the chunks of this request. Null: unchanged.',
            ),
            chunk_overlap: orNull(integer().min(0)).description(
              'Overlap in tokens to store with the file, reduced below the chunk size. Null: unchanged.',
            ),
            chunks_and_embeddings: Joi.array()
              .items(chunk())
              .required()
              .description('All chunks of the file, at least one. They replace its earlier chunks.'),
          }).description('One existing file with all of its new chunks, which replace earlier ones.'),
        ),
      )
      .max(MAX_FILES)
      .required()
      .description('Files with their chunks: at most 100 files and 20,000 chunks in all.'),
    overwrite_existing: Joi.boolean()
      .default(false)
      .description(
        '`true`: the chunks of the request replace those that a file has. `false`: if a file has chunks, the request returns 409 and changes no file.',
      ),
    chunks_only: Joi.boolean()
      .default(false)
      .description(
        '`true`: the chunks are stored without vectors, and vectors in the request are ignored. Searches do not find the chunks.',
      ),
    // Accepted but ignored: missing vectors are computed by the configured provider.
    custom_credentials: Joi.object()
      .pattern(Joi.string(), unusedCredentials)
      .default({})
      .description('Accepted for compatibility; neither used nor stored. The configured provider embeds the chunks.'),
  }).description(
    'Chunks of up to 100 existing files. Their vectors are in the request, are computed by the server, or are omitted (`chunks_only`).',
  ),
);
type Body = Infer<typeof requestBody>;
type FileBody = Body['chunks_and_embeddings'][number];
type ChunkBody = FileBody['chunks_and_embeddings'][number];

const FILES = 'chunks_and_embeddings';
type Path = ValidationDetail['loc'];

/** @throws HttpError 422 if the chunks of a file are inconsistent */
function checkFile({ chunks_and_embeddings: chunks }: FileBody, body: Body, path: Path): void {
  const { dimensions } = EMBEDDING_MODELS[body.embedding_model];
  const usedNumbers = new Set<number>();
  chunks.forEach(({ chunk_number: number, embedding }, index) => {
    const at = [...path, FILES, index];
    if (number !== null && usedNumbers.has(number))
      throw invalid([...at, 'chunk_number'], 'Another chunk of the file has this number', 'value_error');
    if (number !== null) usedNumbers.add(number);
    if (body.chunks_only || embedding === undefined) return;
    if (embedding.length !== dimensions)
      throw invalid(
        [...at, 'embedding'],
        `Must have the ${dimensions} numbers of ${body.embedding_model}`,
        'value_error',
      );
    if (embedding.every((value) => value === 0))
      throw invalid([...at, 'embedding'], 'Has no direction: all its numbers are 0', 'value_error');
  });
  const withVector = chunks.filter(({ embedding }) => embedding !== undefined).length;
  if (!body.chunks_only && withVector > 0 && withVector < chunks.length)
    throw invalid([...path, FILES], 'Give an embedding with every chunk of a file, or with none', 'value_error');
}

/** Sorts chunks by their number; chunks without a number follow in the order of the request. */
const ordered = (chunks: readonly ChunkBody[]): ChunkBody[] =>
  chunks.toSorted((a, b) => (a.chunk_number ?? Infinity) - (b.chunk_number ?? Infinity) || 0);

const base64 = (vector: readonly number[]): string => Buffer.from(Float32Array.from(vector).buffer).toString('base64');

/** Number of chunks that are written per turn of the event loop: with vectors of 3,072 dimensions, about 3 MB. */
const CHUNKS_A_TURN = 200;

/** Streams the elements of a JSON list. */
async function* writeList(items: readonly ChunkBody[], write: (item: ChunkBody) => string): AsyncGenerator<Buffer> {
  for (let from = 0; from < items.length; from += CHUNKS_A_TURN) {
    const texts = items.slice(from, from + CHUNKS_A_TURN).map((item) => JSON.stringify(write(item)));
    yield Buffer.from(`${from === 0 ? '' : ','}${texts.join()}`);
    await nextTurn();
  }
}

/** Streams the caller's chunks as JSON. */
async function* writeGiven(chunks: readonly ChunkBody[], chunksOnly: boolean): AsyncGenerator<Buffer> {
  const inOrder = ordered(chunks);
  const withVector = chunksOnly ? [] : inOrder.filter(({ embedding }) => embedding !== undefined);
  yield Buffer.from('{"texts":[');
  yield* writeList(inOrder, ({ chunk: text }) => text);
  yield Buffer.from('],"vectors":');
  if (withVector.length === 0) yield Buffer.from('null}');
  else {
    yield Buffer.from('[');
    yield* writeList(withVector, ({ embedding = [] }) => base64(embedding));
    yield Buffer.from(']}');
  }
}

interface Prepared {
  readonly body: FileBody;
  readonly draft: DraftOriginal;
  readonly runId: number;
}

/** Returns the options of a file whose chunks the caller supplies. */
const optionsOf = ({ options }: FileDoc, file: FileBody, body: Body): FileDoc['options'] => ({
  ...options,
  embeddingModel: body.embedding_model,
  chunkSize: file.chunk_size ?? options.chunkSize,
  chunkOverlap: Math.min(file.chunk_overlap ?? options.chunkOverlap, (file.chunk_size ?? options.chunkSize) - 1),
  generateChunksOnly: body.chunks_only,
  skipEmbeddingGeneration: body.chunks_only,
  storeFileOnly: false,
  skipFileProcessing: false,
});

/**
 * Queues a sync of each file, in one transaction.
 * @throws HttpError 404 if a file does not exist; 409 if one is being synced, or has chunks that must not be replaced
 */
async function queue(
  caller: UserCaller,
  prepared: readonly Prepared[],
  body: Body,
  { store, unit }: ApiDeps,
): Promise<void> {
  const requestId = randomUUID();
  await unit.transaction(async (session) => {
    // Sequential: a session executes one command at a time.
    for (const { body: file, draft, runId } of prepared) {
      const [storedFile] = await store.files.byIds(caller, [file.file_id]);
      if (!storedFile || storedFile.isContainer) throw notFound('file');
      refuseBusy(storedFile);
      if (storedFile.numChunks > 0 && !body.overwrite_existing)
        throw new HttpError(409, `File ${storedFile._id} has chunks. Send overwrite_existing: true to replace them.`);
      const { id, size, sha256 } = draft;
      const workflowId = workflowIds.resync(storedFile._id);
      const change = { callerChunks: { id, size, sha256 } };
      const again = { options: optionsOf(storedFile, file, body), runId, requestId, workflowId, change };
      if (!(await store.files.queueAgain(caller, storedFile, again, session))) throw busy();
      const owner = { ...caller, fileId: storedFile._id };
      if (storedFile.callerChunks) await store.originals.release(owner, storedFile.callerChunks.id, session);
      await store.originals.accept(draft, storedFile._id, session);
      const run = { kind: 'resyncFile', workflowId, owner: caller, fileId: storedFile._id, requestId } as const;
      await store.runs.accept(runId, run, session);
    }
  });
}

/** POST /upload_chunks_and_embeddings: stores chunks, and optionally vectors, that the caller computed. */
export const uploadChunks = operation({
  method: 'post',
  path: '/upload_chunks_and_embeddings',
  operationId: 'upload_chunks_and_embeddings_upload_chunks_and_embeddings_post',
  tag: 'Embeddings',
  auth: 'user',
  summary: 'Upload chunks and vectors',
  description: [
    'Gives existing files chunks, and optionally vectors, that you computed. Without vectors, a run embeds the chunks; with `chunks_only` they get none. No sync of a file may be in progress (409); files with chunks need `overwrite_existing` (409). A request has up to 100 files, 20,000 chunks and 3,000,000 values in all vectors, and is accepted as a whole or not at all. FILE_READY or FILE_ERROR reports each file. A search by text does not compare your vectors: send a `query_vector`. A later `POST /resync_file` replaces the chunks.',
  ],
  returns: '`success: true`: all chunks are accepted; FILE_READY or FILE_ERROR reports each file.',
  createsWork: true,
  takesContents: true,
  takesChunks: true,
  body: requestBody,
  answer: success,
  async handle({ caller, body, receive, deps }) {
    const { store, unit } = deps;
    const ids = body.chunks_and_embeddings.map(({ file_id: id }) => id);
    const count = body.chunks_and_embeddings.reduce((sum, { chunks_and_embeddings: { length } }) => sum + length, 0);
    if (count > MAX_GIVEN_CHUNKS)
      throw invalid(['body', FILES], `Must have at most ${MAX_GIVEN_CHUNKS} chunks in all`, 'too_long');
    body.chunks_and_embeddings.forEach((file, index) => {
      const path = ['body', FILES, index];
      if (ids.indexOf(file.file_id) < index)
        throw invalid([...path, 'file_id'], 'Another element names this file', 'value_error');
      if (file.chunks_and_embeddings.length === 0)
        throw invalid([...path, FILES], 'Give at least one chunk', 'too_short');
      checkFile(file, body, path);
    });
    const prepared: Prepared[] = [];
    for (const file of body.chunks_and_embeddings) {
      const draft = await receive(writeGiven(file.chunks_and_embeddings, body.chunks_only));
      prepared.push({ body: file, draft, runId: await store.runs.nextId() });
    }
    await queue(caller, prepared, body, deps);
    for (const { runId } of prepared) unit.start(runId);
    return { success: true };
  },
});
