import { mediaTypeOf } from '../../contract/files/mediaTypes.js';
import type { ChunkRow } from '../../store/chunks/queries.js';
import type { FileContent } from '../../store/files/queries.js';
import type { StartedFile } from '../../store/files/start.js';
import type { RunDoc } from '../../store/models/runs.js';
import type { FileVectors } from '../../store/vectors/point.js';
import { pointPayload } from '../generations/points.js';
import type { ActivityDeps } from '../deps.js';
import { createVectorsOfRows } from './storedVectors.js';
import type { VectorTarget } from './target.js';

/** Texts embedded and points written in one step, so that not all vectors of a long file are in memory. */
const CHUNKS_AT_ONCE = 1_000;

/** Streams stored chunks in portions of about CHUNKS_AT_ONCE. A portion may contain chunks of several files. */
async function* batchesOf(parts: AsyncIterable<ChunkRow[]>): AsyncGenerator<ChunkRow[]> {
  let portion: ChunkRow[] = [];
  for await (const rows of parts) {
    portion.push(...rows);
    if (portion.length >= CHUNKS_AT_ONCE) {
      yield portion;
      portion = [];
    }
  }
  if (portion.length > 0) yield portion;
}

/** Groups the chunks of a portion by file. */
function byFile(rows: readonly ChunkRow[]): ChunkRow[][] {
  const groups: ChunkRow[][] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    if (last?.[0]?.fileId === row.fileId) last.push(row);
    else groups.push([row]);
  }
  return groups;
}

/**
 * Writes new generations of files, without publishing them: copies of chunks and contents, then points with vectors of
 * the target.
 * @returns the ids of files whose chunks are complete
 * @throws Fault if the vectors cannot be computed; any other error is an abort or a store failure
 */
export async function writeVectors(
  run: RunDoc,
  attempts: readonly StartedFile[],
  target: VectorTarget,
  deps: ActivityDeps,
  signal: AbortSignal,
): Promise<Set<number>> {
  const { store } = deps;
  const { model, space } = target;
  const tenant = { organizationId: run.organizationId, userId: run.userId };
  for (const { file, generation } of attempts) {
    const owner = { ...tenant, fileId: file._id };
    await store.chunks.copyGeneration(owner, file.generation, generation);
    if (file.hasContent) await store.contents.copyGeneration({ ...owner, generation: file.generation }, generation);
    signal.throwIfAborted();
  }

  const ancestors = await store.files.ancestorsOf(attempts.map(({ file }) => file));
  const attemptsByFile = new Map(attempts.map((attempt) => [attempt.file._id, attempt]));
  const files = new Map(attempts.map(({ file }) => [file._id, file]));
  const vectorsOf = createVectorsOfRows(tenant, target, files, deps, signal);
  const writtenChunks = new Map<number, number>();
  async function* contents(): AsyncGenerator<FileContent> {
    for (const { file, generation } of attempts) yield { ...file, generation };
  }
  const pointsOf = (rows: readonly ChunkRow[], vectors: readonly Float32Array[]): FileVectors[] => {
    const [first] = rows;
    const attempt = first && attemptsByFile.get(first.fileId);
    if (!attempt) return [];
    const { file, generation } = attempt;
    writtenChunks.set(file._id, (writtenChunks.get(file._id) ?? 0) + rows.length);
    const firstChunk = first.chunkIndex;
    const mediaType = mediaTypeOf(file.statistics?.fileFormat ?? null, file.hasText);
    const sparseOf = (chunkIndex: number) => deps.encodeSparse(rows[chunkIndex - firstChunk]?.text ?? '');
    return [
      {
        ...pointPayload(file, ancestors),
        ...{ firstChunk, generation, space, model, mediaType, vectors },
        ...(file.options.generateSparseVectors ? { sparseOf } : {}),
      },
    ];
  };

  const chunkPages = store.chunks.page(tenant, contents(), 0, Number.MAX_SAFE_INTEGER);
  for await (const portion of batchesOf(chunkPages)) {
    // Another generation belongs to newer content.
    const rows = portion.filter(({ fileId, generation }) => attemptsByFile.get(fileId)?.generation === generation);
    const vectors = await vectorsOf(rows);
    let from = 0;
    const points = byFile(rows).flatMap((group) => pointsOf(group, vectors.slice(from, (from += group.length))));
    await store.vectors.upsert(points);
    signal.throwIfAborted();
  }
  const complete = attempts.filter(({ file }) => writtenChunks.get(file._id) === file.numChunks);
  return new Set(complete.map(({ file }) => file._id));
}
