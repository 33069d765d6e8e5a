import type { EmbeddingModelId } from '../../contract/embeddingModels.js';
import { chunkKey, type StoredChunk } from '../../store/chunks/model.js';
import type { FileDoc } from '../../store/files/model.js';
import type { Tenant } from '../../store/users/accept.js';
import type { VectorHit } from '../../store/vectors/vectors.js';
import type { ApiDeps } from '../deps.js';

export interface SearchRequest {
  readonly query: string;
  readonly model: EmbeddingModelId;
  readonly k: number;
  /** Only in these files; absent: in all of the caller's. */
  readonly fileIds?: readonly number[];
  readonly exact: boolean;
}

export interface Found {
  readonly hit: VectorHit;
  readonly space: string;
  readonly chunk: StoredChunk;
  readonly file: FileDoc;
}

/** How many more hits than k are asked for, since some may be of a generation that was just replaced. */
const spare = (k: number): number => k + 16;
/** Hits asked for at most, however many had to be dropped. */
const MAX_HITS = 20_000;
/** The constant of reciprocal rank fusion (Cormack and others, 2009). */
const RRF_K = 60;

/** Hits whose generation is the file's current one, with text and record, in the order of the hits. */
async function currentHits(
  tenant: Tenant,
  space: string,
  hits: readonly VectorHit[],
  { store }: ApiDeps,
): Promise<Found[]> {
  const [files, chunks] = await Promise.all([
    store.files.byIds(tenant, [...new Set(hits.map((hit) => hit.fileId))]),
    store.chunks.byKeys(tenant, hits),
  ]);
  const fileOf = new Map(files.map((file) => [file._id, file]));
  const chunkOf = new Map(chunks.map((chunk) => [chunk.key, chunk]));
  return hits.flatMap((hit) => {
    const file = fileOf.get(hit.fileId);
    const chunk = chunkOf.get(chunkKey(hit.fileId, hit.generation, hit.chunkIndex));
    return file && chunk && file.generation === hit.generation ? [{ hit, space, chunk, file }] : [];
  });
}

async function searchSpace(tenant: Tenant, space: string, request: SearchRequest, deps: ApiDeps): Promise<Found[]> {
  const [vector] = await deps.embedder.embed(space, [request.query], 'query');
  if (!vector) return [];
  for (let limit = spare(request.k); ; limit *= 4) {
    const { model, fileIds, exact } = request;
    // Only a search that came up short is asked again, with more.
    const hits = await deps.store.vectors.search({
      ...tenant,
      space,
      model,
      vector,
      limit,
      exact,
      ...(fileIds ? { fileIds } : {}),
    });
    const found = await currentHits(tenant, space, hits, deps);
    if (found.length >= request.k || hits.length < limit || limit >= MAX_HITS) return found.slice(0, request.k);
  }
}

/**
 * The k chunks nearest in meaning to the query, among the caller's files of the model. A model may have been served by
 * several spaces over time: each is searched, and the answers are fused by rank, since their scores don't compare.
 */
export async function searchChunks(
  { organizationId, userId }: Tenant,
  request: SearchRequest,
  deps: ApiDeps,
): Promise<Found[]> {
  const tenant = { organizationId, userId };
  const spaces = await deps.store.files.spacesOf(tenant, request.model);
  const answers = await Promise.all(spaces.map((space) => searchSpace(tenant, space, request, deps)));
  if (answers.length <= 1) return answers[0] ?? [];
  return answers
    .flatMap((found) => found.map((one, rank) => ({ one, weight: 1 / (RRF_K + rank + 1) })))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, request.k)
    .map(({ one }) => one);
}
