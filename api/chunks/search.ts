import type { EmbeddingModelId } from '../../contract/vectors/embeddingModels.js';
import type { RerankModel } from '../../contract/vectors/rerankers.js';
import { StoreFailure } from '../../contract/storeFailures.js';
import { isCallerSpace } from '../../contract/vectors/spaces.js';
import type { Tenant } from '../../store/users/accept.js';
import { byScore } from '../../store/vectors/search.js';
import type { ChunkFilter } from '../../store/vectors/searchFilter.js';
import type { ApiDeps } from '../http/deps.js';
import type { HybridWeights } from './fuseHybrid.js';
import { type FoundChunk, findCurrent, type ReadFiles } from './findCurrent.js';
import type { QueryVectors } from './queryVectors.js';
import { type PointReader, rankHybrid } from './rankHybrid.js';
import { rankingOf } from './ranking.js';
import { rerankFound } from './rerankFound.js';
import { upstream } from '../upstream.js';

export interface SearchRequest {
  /** Spaces of the caller's files of the model. Rejects if the search is refused. */
  spaces(): Promise<readonly string[]>;
  /** The most likely space, which is searched before the spaces are known. Null: no space is searched early. */
  readonly likely: string | null;
  /** Whether the search is refused if its filters match files in cold storage. */
  readonly refusesColdFiles: boolean;
  readonly query: string;
  readonly vectorIn: QueryVectors;
  /** Whether the caller supplied the vector, which implies that it fits all of the spaces. */
  readonly vectorGiven: boolean;
  readonly model: EmbeddingModelId;
  readonly k: number;
  readonly filter: ChunkFilter;
  readonly exact: boolean;
  /** Null: search by vectors only. */
  readonly weights: HybridWeights | null;
  readonly rerank: RerankModel | null;
  /** Aborts the search when the caller disconnects. */
  readonly signal: AbortSignal;
}

/** Number of additional hits requested if the tenant's last searches had hits of replaced generations. */
const ADDITIONAL_HITS = 16;
/**
 * Returns how many hits the fusion needs from each of the two lists, by vectors and by words. The best result of the
 * fusion may have a low rank in either list.
 */
export const poolOf = (wanted: number): number => Math.max(400, 4 * wanted);
/** Returns the number of texts for the reranker. More texts improve the result, but take time. */
export const candidatesOf = (k: number): number => Math.max(k, Math.min(200, Math.max(50, 4 * k)));
/** Constant of reciprocal rank fusion (Cormack and others, 2009). */
const RRF_K = 60;

const tenantKey = ({ organizationId, userId }: Tenant): string => `${organizationId}:${userId}`;

/** The query vectors for one space. Null: the space is not searched by this kind of vector. */
interface Probe {
  readonly space: string;
  readonly dense: readonly number[] | Float32Array | null;
  readonly sparse: ReturnType<ApiDeps['encodeQuery']>;
}

async function probeOf(space: string, request: SearchRequest, deps: ApiDeps): Promise<Probe> {
  const { query, vectorIn, vectorGiven, weights } = request;
  const sparse = weights && weights.keyword > 0 ? deps.encodeQuery(query) : null;
  // A text cannot be compared with vectors that callers computed elsewhere. Only keywords are searched in those spaces.
  const byMeaning = weights?.semantic !== 0 && (vectorGiven || !isCallerSpace(space));
  return { space, dense: byMeaning ? await vectorIn(space) : null, sparse };
}

/** A search of one space. */
interface SpaceSearch {
  readonly space: string;
  /** Number of chunks to find. */
  readonly wanted: number;
  /** The caller's spaces, while they are still being read. */
  readonly spaces: Promise<unknown> | null;
  readonly readFiles: ReadFiles;
}

async function searchSpace(
  tenant: Tenant,
  { space, wanted, spaces, readFiles }: SpaceSearch,
  request: SearchRequest,
  deps: ApiDeps,
): Promise<FoundChunk[]> {
  const { model, filter, exact, weights, signal } = request;
  const probe = await probeOf(space, request, deps);
  if (probe.dense === null && probe.sparse === null) return [];
  const { withOutdatedHits } = deps.searchMemory;
  const name = tenantKey(tenant);
  const initialLimit = weights ? poolOf(wanted) : wanted + (withOutdatedHits.has(name) ? ADDITIONAL_HITS : 0);
  return findCurrent(
    tenant,
    space,
    { wanted, readFiles, limit: initialLimit },
    async (limit) => {
      if (limit > initialLimit) withOutdatedHits.set(name, true);
      const { vectors } = deps.store;
      const query = { ...tenant, ...probe, model, filter, exact, limit, signal };
      // Wait for the list of spaces before the records of the hits are read. A file that has moved to another space by
      // then is dropped here, so that it is not found in both spaces.
      if (!weights) {
        const [{ dense }] = await Promise.all([vectors.search(query), spaces]);
        return { ranked: rankingOf(dense), isAll: dense.length < limit };
      }
      const [hits] = await Promise.all([vectors.searchIds(query), spaces]);
      const isAll = hits.dense.length < limit && hits.sparse.length < limit;
      const reader: PointReader = {
        chunksOf: (ids) => vectors.chunksOf(tenant, space, ids, signal),
        neighboursOf: (ids, count) => vectors.neighboursOf(tenant, space, { ids, count }, signal),
      };
      return { ranked: await rankHybrid(hits, weights, limit, reader), isAll };
    },
    deps,
  );
}

/**
 * Returns the result if all of the caller's files are in one space, the usual case. The records show this in one query.
 * Null if other spaces have files, or if `refusesColdFiles` is true and the user has files in cold storage.
 */
async function searchSingleSpace(
  tenant: Tenant,
  space: string,
  wanted: number,
  request: SearchRequest,
  deps: ApiDeps,
): Promise<FoundChunk[] | null> {
  const { files } = deps.store;
  const unsearched = { model: request.model, space, cold: request.refusesColdFiles };
  let isOnlySpace: boolean | null = null;
  const readFiles: ReadFiles = async (_tenant, ids) => {
    if (isOnlySpace !== null) return files.findHits(tenant, ids);
    const records = await files.findWithOtherSpaces(tenant, ids, unsearched);
    isOnlySpace = !records.hasUnsearched;
    return records.files;
  };
  const found = await searchSpace(tenant, { space, wanted, spaces: null, readFiles }, request, deps);
  if (isOnlySpace === null) await readFiles(tenant, []);
  return isOnlySpace ? found : null;
}

/** Searches all of the caller's spaces. The most likely one is searched while the list of spaces is read. */
async function searchAll(tenant: Tenant, wanted: number, request: SearchRequest, deps: ApiDeps): Promise<FoundChunk[]> {
  const { likely } = request;
  const spaces = request.spaces();
  // Attach a handler now so that an early rejection is not unhandled.
  spaces.catch(() => undefined);
  const shared = { wanted, spaces, readFiles: deps.store.files.findHits };
  const search = (space: string) => searchSpace(tenant, { space, ...shared }, request, deps);
  const early = likely === null ? null : search(likely);
  // Ignore errors from speculative searches of empty spaces.
  early?.catch(() => undefined);
  const answers = await Promise.all((await spaces).map((space) => (space === likely && early) || search(space)));
  return answers.length === 1 ? (answers[0] ?? []) : (request.vectorGiven ? mergeSpaces : fuseSpaces)(answers);
}

/** Merges the results of several spaces by rank, since scores of different models are not comparable. */
function fuseSpaces(answers: readonly FoundChunk[][]): FoundChunk[] {
  return answers
    .flatMap((found) => found.map((match, rank) => ({ match, weight: 1 / (RRF_K + rank + 1) })))
    .sort((a, b) => b.weight - a.weight || byScore(a.match.hit, b.match.hit))
    .map(({ match }) => match);
}

/** Merges results by score, for a vector that the caller computed with the model of all spaces. */
const mergeSpaces = (answers: readonly FoundChunk[][]): FoundChunk[] =>
  answers.flat().sort((a, b) => byScore(a.hit, b.hit));

/** Encodes the query once for all spaces: 32,000 characters of Thai take 60 ms of the event loop. */
function encodingOnce(deps: ApiDeps): ApiDeps {
  let encoded: Probe['sparse'] | undefined;
  return { ...deps, encodeQuery: (text) => (encoded === undefined ? (encoded = deps.encodeQuery(text)) : encoded) };
}

/**
 * Returns the k best chunks for a query among the caller's files of the model, in all of their spaces.
 * @throws HttpError 400 for a reranker that is not configured, 502 or 503 if a provider rejects the request or fails;
 * the error of `request.spaces`; the abort reason of `request.signal`
 */
export async function searchChunks(
  { organizationId, userId }: Tenant,
  request: SearchRequest,
  apiDeps: ApiDeps,
): Promise<FoundChunk[]> {
  const deps = encodingOnce(apiDeps);
  const { inSeveralSpaces } = deps.searchMemory;
  const { query, k, rerank, likely, model, signal } = request;
  const tenant = { organizationId, userId };
  const reranker = rerank && (await upstream(async () => deps.rerankers.choose(rerank)));
  const wanted = reranker ? candidatesOf(k) : k;
  const name = `${tenantKey(tenant)}:${model}`;
  // After a provider's error all of the caller's spaces are searched, since the likely space may have no files. A
  // store's error is returned at once.
  const singleSpaceResult =
    likely === null || inSeveralSpaces.has(name)
      ? null
      : await searchSingleSpace(tenant, likely, wanted, request, deps).then(
          (result) => {
            if (result === null) inSeveralSpaces.set(name, true);
            return result;
          },
          (error: unknown) => {
            if (error instanceof StoreFailure) throw error;
            return null;
          },
        );
  signal.throwIfAborted();
  const found = singleSpaceResult ?? (await searchAll(tenant, wanted, request, deps));
  const best = found.slice(0, wanted);
  return reranker ? rerankFound(best, { query, k }, reranker, signal) : best;
}
