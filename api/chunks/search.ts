import { LRUCache } from 'lru-cache';

import { atMost } from '../../contract/cacheSize.js';
import type { EmbeddingModelId } from '../../contract/embeddingModels.js';
import type { RerankModel } from '../../contract/rerankers.js';
import { StoreFailure } from '../../contract/storeFailures.js';
import { isGivenSpace } from '../../contract/uploads.js';
import type { Tenant } from '../../store/users/accept.js';
import { byScore } from '../../store/vectors/search.js';
import type { ChunkFilter } from '../../store/vectors/searchFilter.js';
import type { ApiDeps } from '../deps.js';
import { fuseHybrid, type HybridWeights } from './fuseHybrid.js';
import { type Found, findCurrent, type ReadFiles } from './findCurrent.js';
import type { QueryVectors } from './queryVectors.js';
import { rerankFound } from './rerankFound.js';
import { upstream } from '../upstream.js';

export interface SearchRequest {
  /** Where the caller's chunks of the model lie; rejected where the search is refused. */
  spaces(): Promise<readonly string[]>;
  /** The one in which they mostly lie: it is searched before that is asked for. Null: none is. */
  readonly likely: string | null;
  /** Whether the search is refused where it would miss files in cold storage. */
  readonly needsCold: boolean;
  readonly query: string;
  readonly vectorIn: QueryVectors;
  /** Whether the caller gave the vector, and says with it that it fits in every one of the spaces. */
  readonly vectorGiven: boolean;
  readonly model: EmbeddingModelId;
  readonly k: number;
  readonly filter: ChunkFilter;
  readonly exact: boolean;
  /** Null: by meaning alone. */
  readonly weights: HybridWeights | null;
  readonly rerank: RerankModel | null;
  /** Ends the search early: its caller has disconnected. */
  readonly signal: AbortSignal;
}

/** How many more hits than wanted are asked for where some may be of a generation that was just replaced. */
const SPARE = 16;
/** Hits of each kind that are fused: the best of both lists may stand far down in either. */
const poolOf = (wanted: number): number => Math.max(100, 4 * wanted);
/** Texts that are reranked: a reranker finds what stands too low, but takes its time for each. */
const candidatesOf = (k: number): number => Math.max(k, Math.min(200, Math.max(50, 4 * k)));
/** The constant of reciprocal rank fusion (Cormack and others, 2009). */
const RRF_K = 60;

/** Users whose files were seen to lie elsewhere too: for a while that is asked about first. It decides on the order alone. */
const scattered = new LRUCache<string, true>({ ...atMost(10_000), ttl: 60_000 });

/** Users some of whose hits were of such generations: for a while spare ones are asked for, which others have no need of. */
const replacing = new LRUCache<string, true>({ ...atMost(10_000), ttl: 60_000 });

const nameOf = ({ organizationId, userId }: Tenant): string => `${organizationId}:${userId}`;

/** What one space is asked; null for what is not asked of it. */
interface Probe {
  readonly space: string;
  readonly dense: readonly number[] | Float32Array | null;
  readonly sparse: ReturnType<ApiDeps['encodeQuery']>;
}

async function probeOf(space: string, request: SearchRequest, deps: ApiDeps): Promise<Probe> {
  const { query, vectorIn, vectorGiven, weights } = request;
  const sparse = weights && weights.keyword > 0 ? deps.encodeQuery(query) : null;
  // A text can't be brought to vectors that a caller made elsewhere: of those only the words are searched.
  const byMeaning = weights?.semantic !== 0 && (vectorGiven || !isGivenSpace(space));
  return { space, dense: byMeaning ? await vectorIn(space) : null, sparse };
}

async function searchSpace(
  tenant: Tenant,
  space: string,
  wanted: number,
  request: SearchRequest,
  { spaces, readFiles }: { readonly spaces: Promise<unknown> | null; readonly readFiles: ReadFiles },
  deps: ApiDeps,
): Promise<Found[]> {
  const { model, filter, exact, weights, signal } = request;
  const probe = await probeOf(space, request, deps);
  if (probe.dense === null && probe.sparse === null) return [];
  const name = nameOf(tenant);
  const first = weights ? poolOf(wanted) : wanted + (replacing.has(name) ? SPARE : 0);
  return findCurrent(
    tenant,
    space,
    { wanted, readFiles, limit: first },
    async (limit) => {
      if (limit > first) replacing.set(name, true);
      // Records are read after it is known where they lie: who moves to another space meanwhile is seen in one of them.
      const [hits] = await Promise.all([
        deps.store.vectors.search({ ...tenant, ...probe, model, filter, exact, limit, signal }),
        spaces,
      ]);
      const isAll = hits.dense.length < limit && hits.sparse.length < limit;
      return { ranked: weights ? fuseHybrid(hits, weights, limit) : hits.dense, isAll };
    },
    deps,
  );
}

/**
 * The answer where all of the caller's files lie in one space, as they mostly do: what tells so comes with the records, in
 * one question. Null where some lie elsewhere.
 */
async function searchAlone(
  tenant: Tenant,
  space: string,
  wanted: number,
  request: SearchRequest,
  deps: ApiDeps,
): Promise<Found[] | null> {
  const { files } = deps.store;
  const elsewhere = { model: request.model, space, cold: request.needsCold };
  let isAlone: boolean | null = null;
  const readFiles: ReadFiles = async (_tenant, ids) => {
    if (isAlone !== null) return files.found(tenant, ids);
    const beside = await files.foundBeside(tenant, ids, elsewhere);
    isAlone = !beside.isElsewhere;
    return beside.files;
  };
  const found = await searchSpace(tenant, space, wanted, request, { spaces: null, readFiles }, deps);
  if (isAlone === null) await readFiles(tenant, []);
  return isAlone ? found : null;
}

/** The caller's spaces, the likely one searched while they are asked for. */
async function searchAll(tenant: Tenant, wanted: number, request: SearchRequest, deps: ApiDeps): Promise<Found[]> {
  const { likely } = request;
  const spaces = request.spaces();
  // Whoever throws first, it has somebody who listens.
  spaces.catch(() => undefined);
  const ways = { spaces, readFiles: deps.store.files.found };
  const search = (space: string) => searchSpace(tenant, space, wanted, request, ways, deps);
  const early = likely === null ? null : search(likely);
  // Of a space in which nothing lies nobody hears.
  early?.catch(() => undefined);
  const answers = await Promise.all((await spaces).map((space) => (space === likely && early) || search(space)));
  return answers.length === 1 ? (answers[0] ?? []) : (request.vectorGiven ? mergeSpaces : fuseSpaces)(answers);
}

/** Answers of several spaces in one list: by rank, since the scores of different models don't compare. */
function fuseSpaces(answers: readonly Found[][]): Found[] {
  return answers
    .flatMap((found) => found.map((one, rank) => ({ one, weight: 1 / (RRF_K + rank + 1) })))
    .sort((a, b) => b.weight - a.weight || byScore(a.one.hit, b.one.hit))
    .map(({ one }) => one);
}

/** The same for a vector that the caller says is of the model which filled them all. */
const mergeSpaces = (answers: readonly Found[][]): Found[] => answers.flat().sort((a, b) => byScore(a.hit, b.hit));

/** Encodes the query once for all spaces: 32,000 characters of Thai take 60 ms of the event loop. */
function encodingOnce(deps: ApiDeps): ApiDeps {
  let encoded: Probe['sparse'] | undefined;
  return { ...deps, encodeQuery: (text) => (encoded === undefined ? (encoded = deps.encodeQuery(text)) : encoded) };
}

/**
 * The k chunks that answer a query best, among the caller's of the model, in the spaces in which they lie.
 * @throws HttpError 400 for a reranker that is not configured, 502 or 503 where a provider refuses or fails; whatever
 *   the request's spaces are refused with; the reason of the request's signal
 */
export async function searchChunks(
  { organizationId, userId }: Tenant,
  request: SearchRequest,
  given: ApiDeps,
): Promise<Found[]> {
  const deps = encodingOnce(given);
  const { query, k, rerank, likely, model, signal } = request;
  const tenant = { organizationId, userId };
  const reranker = rerank && (await upstream(async () => deps.rerankers.choose(rerank)));
  const wanted = reranker ? candidatesOf(k) : k;
  const name = `${nameOf(tenant)}:${model}`;
  // A provider's fault is tried again: it may be of a space in which nothing lies. Of a store's the caller hears at once.
  const alone =
    likely === null || scattered.has(name)
      ? null
      : await searchAlone(tenant, likely, wanted, request, deps).catch((error: unknown) => {
          if (error instanceof StoreFailure) throw error;
          return null;
        });
  signal.throwIfAborted();
  if (likely !== null && alone === null && !scattered.has(name)) scattered.set(name, true);
  const found = alone ?? (await searchAll(tenant, wanted, request, deps));
  const best = found.slice(0, wanted);
  return reranker ? rerankFound(best, { query, k }, reranker, signal) : best;
}
