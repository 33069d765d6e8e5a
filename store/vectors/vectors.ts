import { QdrantClient } from '@qdrant/js-client-rest';

import type { VectorSpace } from '../../contract/vectors/embeddingModels.js';
import type { CallObserver } from '../../observability/watch.js';
import type { GenerationScope } from '../generations.js';
import type { Tenant } from '../users/accept.js';
import { clientOptions } from './address.js';
import { createCollections, statusOf } from './collection.js';
import type { CollectionLayout } from './layout.js';
import type { FileVectors } from './point.js';
import { pointId } from './pointId.js';
import { createWholePoints, type WholePoints } from './points.js';
import { type BrokenCollection, brokenCollections } from './probe.js';
import { createQdrantReader, QDRANT_TIMEOUT_MS } from './reader.js';
import { createVectorSearch, type VectorSearch } from './search.js';
import { organizationFilter, tenantFilter } from './tenantFilter.js';
import { createUpserts, type WriteSettings } from './upserts.js';
import { watchedClient, watchedReader } from './watchQdrant.js';

/** The tags that every point of a file should carry. */
export interface FilePointTags extends Tenant {
  readonly _id: number;
  readonly tagPairs: readonly string[];
}

/** Points of one generation of a file that has exactly one point per chunk; `count` is their number. */
export interface WrittenPoints {
  readonly fileId: number;
  readonly generation: number;
  readonly space: string;
  readonly count: number;
}

export interface Vectors extends VectorSearch, WholePoints {
  /** Starts to create the collection of a space before its first points. If this fails, the first write tries again. */
  prepare(space: VectorSpace): void;
  /**
   * Writes points. Resolves when Qdrant has stored them and finds them. Callers of `search` must drop hits of a
   * generation that is not published. Safe to repeat.
   */
  upsert(files: readonly FileVectors[]): Promise<void>;
  /** Sets the tags of files' points, of every generation and space. Safe to repeat. */
  setTags(files: readonly FilePointTags[]): Promise<void>;
  /** Deletes points by id, without a search in Qdrant. Safe to repeat. */
  deletePoints(written: readonly WrittenPoints[]): Promise<void>;
  /**
   * Deletes points by filter, for callers that do not know their ids. Covers every space, because a file may have
   * changed its model. Safe to repeat.
   */
  deleteGenerations(scopes: readonly GenerationScope[]): Promise<void>;
  /** Deletes all points of a user in every space, including those of files without a record. */
  deleteAll(tenant: Tenant): Promise<void>;
  /** Counts the points of every generation and space, published or not, to verify deletions. */
  countAll(tenant: Tenant): Promise<number>;
  /** Counts the points of the given files, of every generation and space. */
  countOf(tenant: Tenant, fileIds: readonly number[]): Promise<number>;
  /** Returns the approximate number of an organization's points in each space, for display. */
  countBySpace(organizationId: number): Promise<{ readonly space: string; readonly points: number }[]>;
  /** Resolves when Qdrant answers. */
  ping(): Promise<void>;
  /**
   * Searches once in each collection and caches the result for some seconds. Returns the collections whose searches
   * fail.
   * @throws StoreFailure if Qdrant does not answer
   */
  probe(): Promise<readonly BrokenCollection[]>;
}

export interface VectorSettings {
  readonly url: string;
  readonly apiKey: string | null;
  readonly prefix: string;
  readonly layout: CollectionLayout;
  readonly writes: WriteSettings;
}

/** Time in milliseconds for which a probe is cached. /ready needs no authentication, so each call must be cheap. */
const PROBE_CACHED_MS = 5_000;
/** Maximum number of ids per delete: about 400 KB of JSON. */
const IDS_PER_DELETE = 10_000;

/** Groups files whose values of `comparedOf` are equal. */
function groupEqual<T extends { readonly _id: number }>(
  files: readonly T[],
  comparedOf: (file: T) => object,
): [T, ...T[]][] {
  const groups = new Map<string, [T, ...T[]]>();
  for (const file of files) {
    const key = JSON.stringify(comparedOf(file));
    const group = groups.get(key);
    if (group) group.push(file);
    else groups.set(key, [file]);
  }
  return [...groups.values()];
}

/** Returns the filter for points of files of one tenant. */
const ofFiles = (files: readonly [Tenant & { _id: number }, ...{ _id: number }[]]) => [
  ...tenantFilter(files[0]),
  { key: 'file_id', match: { any: files.map(({ _id }) => _id) } },
];

/**
 * Reads and writes vectors in Qdrant. Searches and filters contain the tenant, except `countBySpace` (organization
 * only) and `probe` (no filter).
 * @param watch observes each request; null: none
 * @param timeoutMs maximum duration of a request in milliseconds
 * @throws StoreFailure from every method except `prepare` while Qdrant does not answer or fails
 */
export function createVectors(
  settings: VectorSettings,
  watch: CallObserver | null = null,
  timeoutMs = QDRANT_TIMEOUT_MS,
): Vectors {
  const unwatchedClient = new QdrantClient({ ...clientOptions(settings), timeout: timeoutMs });
  const client = watchedClient(unwatchedClient, watch);
  const collections = createCollections(client, settings.prefix, settings.layout);
  const deleteIds = async (space: string, written: readonly WrittenPoints[]): Promise<void> => {
    const ids = written.flatMap(({ fileId, generation, count }) =>
      Array.from({ length: count }, (_, chunkIndex) => pointId(fileId, generation, chunkIndex, space)),
    );
    for (let from = 0; from < ids.length; from += IDS_PER_DELETE) {
      try {
        await client.delete(collections.nameOf(space), { wait: true, points: ids.slice(from, from + IDS_PER_DELETE) });
      } catch (error) {
        if (statusOf(error) === 404) return;
        throw error;
      }
    }
  };

  let probed: { readonly at: number; readonly broken: Promise<BrokenCollection[]> } | null = null;

  const countPoints = async (
    must: (ReturnType<typeof tenantFilter>[number] | { key: string; match: { any: number[] } })[],
  ): Promise<number> => {
    const names = await collections.all();
    const counts = await Promise.all(names.map((name) => client.count(name, { filter: { must }, exact: true })));
    return counts.reduce((sum, { count }) => sum + count, 0);
  };

  return {
    ...createVectorSearch(watchedReader(createQdrantReader(settings, timeoutMs), watch), collections),
    ...createWholePoints(client, collections),
    prepare: (space) => void collections.ensure(space).catch(() => undefined),
    upsert: createUpserts(client, collections, settings.writes),
    async setTags(files) {
      // Files of a data source mostly have the same tags, so one operation covers all of them.
      const operations = groupEqual(files, ({ organizationId, userId, tagPairs }) => ({
        organizationId,
        userId,
        tagPairs,
      })).map((group) => ({
        set_payload: { payload: { tags: [...group[0].tagPairs] }, filter: { must: ofFiles(group) } },
      }));
      if (operations.length === 0) return;
      const names = await collections.all();
      await Promise.all(names.map((name) => client.batchUpdate(name, { wait: true, operations })));
    },
    async deletePoints(written) {
      const spaces = new Set(written.map(({ space }) => space));
      await Promise.all(
        [...spaces].map((space) =>
          deleteIds(
            space,
            written.filter((one) => one.space === space),
          ),
        ),
      );
    },
    async deleteGenerations(scopes) {
      if (scopes.length === 0) return;
      const should = scopes.map(({ fileId, generations, ...tenant }) => ({
        must: [
          ...tenantFilter(tenant),
          { key: 'file_id', match: { value: fileId } },
          'below' in generations
            ? { key: 'generation', range: { lt: generations.below } }
            : { key: 'generation', match: { value: generations.exactly } },
        ],
      }));
      const names = await collections.all();
      await Promise.all(names.map((name) => client.delete(name, { wait: true, filter: { should } })));
    },
    async deleteAll(tenant) {
      const names = await collections.all();
      await Promise.all(
        names.map((name) => client.delete(name, { wait: true, filter: { must: tenantFilter(tenant) } })),
      );
    },
    countAll: (tenant) => countPoints(tenantFilter(tenant)),
    countOf: (tenant, fileIds) =>
      countPoints([...tenantFilter(tenant), { key: 'file_id', match: { any: [...fileIds] } }]),
    async countBySpace(organizationId) {
      const names = await collections.all();
      const filter = { must: [organizationFilter({ organizationId })] };
      const counts = await Promise.all(names.map((name) => client.count(name, { filter, exact: false })));
      return names.map((name, at) => ({ space: name.slice(settings.prefix.length), points: counts[at]?.count ?? 0 }));
    },
    async ping() {
      await client.getCollections();
    },
    probe() {
      const now = performance.now();
      if (probed === null || now - probed.at > PROBE_CACHED_MS) {
        const broken = collections.all().then((names) => brokenCollections(client, names));
        probed = { at: now, broken };
        // A failure is not cached, so the next call tries again.
        broken.catch(() => (probed = null));
      }
      return probed.broken;
    },
  };
}
