import { QdrantClient } from '@qdrant/js-client-rest';

import type { VectorSpace } from '../../contract/vectors/embeddingModels.js';
import type { Tenant } from '../users/accept.js';
import { clientOptions } from './address.js';
import { createCollections, DENSE, SPARSE } from './collection.js';
import { type CollectionCondition, createCollectionConditions, problemOf } from './condition.js';
import { pointId } from './pointId.js';
import { isOfTenant, TENANT_FIELDS, tenantFilter } from './tenantFilter.js';
import type { VectorSettings } from './vectors.js';

/** A range of file ids. */
export interface IdRange {
  /** Exclusive lower bound. */
  readonly above: number;
  /** Inclusive upper bound; null: none. */
  readonly upTo: number | null;
}

/** The points of one generation of a file in one space. */
export interface PointCensus {
  readonly space: string;
  readonly fileId: number;
  readonly generation: number;
  count: number;
  /** The highest chunk index. */
  last: number;
  /** The different tag lists of its points, each as JSON in order. */
  readonly tags: Set<string>;
}

/** A point by the parts of its id. */
export interface PointKey {
  readonly fileId: number;
  readonly generation: number;
  readonly chunkIndex: number;
}

/**
 * The dense vectors of some points, in their order, null for a point without one; or the reason why they cannot be
 * read.
 */
export type ReadVectors = { readonly vectors: readonly (readonly number[] | null)[] } | { readonly problem: string };

/**
 * Reads the points of all collections, independently of the records in MongoDB. `organizations`, `users`, `count` and
 * `withoutSparse` skip the collections that the last `check` found damaged.
 */
export interface PointsCensus {
  /** Checks every collection: whether it can be read and searched. @throws when Qdrant does not answer */
  check(): Promise<CollectionCondition[]>;
  /** Creates a space's collection with its indexes, if it does not exist. */
  ensure(space: Pick<VectorSpace, 'name' | 'dimensions'>): Promise<void>;
  /** Deletes a space's collection with all its points and creates it with its indexes. Safe to repeat. */
  recreate(space: Pick<VectorSpace, 'name' | 'dimensions'>): Promise<void>;
  /** Reads dense vectors of one user's files by the ids of their points. @throws when Qdrant does not answer */
  read(tenant: Tenant, space: string, keys: readonly PointKey[]): Promise<ReadVectors>;
  /** Returns the ids of organizations that have points. */
  organizations(): Promise<number[]>;
  /** Returns the ids of users of an organization that have points. */
  users(organizationId: number): Promise<number[]>;
  count(tenant: Tenant, range: IdRange): Promise<PointCensus[]>;
  /** Streams those chunks of the given files whose points have no sparse vector. */
  withoutSparse(tenant: Tenant, fileIds: readonly number[]): AsyncIterable<{ fileId: number; chunkIndex: number }[]>;
  /** Deletes the points of one generation in one space, from a chunk index on. Safe to repeat. */
  remove(
    tenant: Tenant,
    points: { readonly space: string; readonly fileId: number; readonly generation: number },
    fromChunk: number,
  ): Promise<void>;
}

type Filter = NonNullable<NonNullable<Parameters<QdrantClient['scroll']>[1]>['filter']>;
interface Payload {
  readonly file_id: number;
  readonly generation: number;
  readonly chunk_index: number;
  readonly tags?: readonly string[];
}

/** Points per page: about 400 KB of JSON. */
const PER_PAGE = 2_000;
/** Maximum number of different organizations or users that one facet request returns. Qdrant counts all of them first. */
const MAX_OWNERS = 1_000_000;

const rangeFilter = ({ above, upTo }: IdRange) => ({
  key: 'file_id',
  range: { gt: above, ...(upTo === null ? {} : { lte: upTo }) },
});

export function createPointsCensus(settings: VectorSettings): PointsCensus {
  const client = new QdrantClient(clientOptions(settings));
  const collections = createCollections(client, settings.prefix, settings.layout);
  const spaceOf = (name: string): string => name.slice(settings.prefix.length);

  const conditions = createCollectionConditions(client, collections, spaceOf);
  let damaged: ReadonlySet<string> = new Set();
  const readable = async (): Promise<string[]> => (await collections.all()).filter((name) => !damaged.has(name));

  /** Returns the different values of a field, over all collections. */
  const valuesOf = async (key: string, filter?: Filter): Promise<number[]> => {
    const found = await Promise.all(
      (await readable()).map(async (name) => {
        const { hits } = await client.facet(name, { key, limit: MAX_OWNERS, exact: true, ...(filter && { filter }) });
        return hits.map(({ value }) => Number(value));
      }),
    );
    return [...new Set(found.flat())].toSorted((a, b) => a - b);
  };

  async function* payloads(name: string, filter: Filter, include: readonly string[]): AsyncIterable<Payload[]> {
    for (let offset: string | number | undefined; ;) {
      const page = await client.scroll(name, {
        filter,
        limit: PER_PAGE,
        with_payload: { include: [...include] },
        with_vector: false,
        ...(offset === undefined ? {} : { offset }),
      });
      yield page.points.map(({ payload }) => payload as unknown as Payload);
      if (page.next_page_offset === null || page.next_page_offset === undefined) return;
      offset = page.next_page_offset as string | number;
    }
  }

  return {
    async check() {
      const found = await conditions.check();
      damaged = new Set(found.flatMap(({ space, problem }) => (problem === null ? [] : [collections.nameOf(space)])));
      return found;
    },
    async ensure(space) {
      await collections.ensure(space);
    },
    async recreate(space) {
      await conditions.recreate(space);
      damaged = new Set([...damaged].filter((name) => name !== collections.nameOf(space.name)));
    },
    async read(tenant, space, keys) {
      const ids = keys.map(({ fileId, generation, chunkIndex }) => pointId(fileId, generation, chunkIndex, space));
      const found = new Map<string, readonly number[] | null>();
      const problem = await problemOf(async () => {
        const points = await client.retrieve(collections.nameOf(space), {
          ids,
          with_payload: { include: [...TENANT_FIELDS] },
          with_vector: [DENSE],
        });
        for (const { id, vector, payload } of points)
          if (isOfTenant({ payload }, tenant))
            found.set(String(id), (vector as Record<string, number[]> | undefined)?.[DENSE] ?? null);
      });
      return problem === null ? { vectors: ids.map((id) => found.get(id) ?? null) } : { problem };
    },
    organizations: () => valuesOf('organization_id'),
    users: (organizationId) =>
      valuesOf('user_id', { must: [{ key: 'organization_id', match: { value: String(organizationId) } }] }),
    async count(tenant, range) {
      const counts = new Map<string, PointCensus>();
      const filter = { must: [...tenantFilter(tenant), rangeFilter(range)] };
      const include = ['file_id', 'generation', 'chunk_index', 'tags'];
      for (const name of await readable())
        for await (const page of payloads(name, filter, include))
          for (const { file_id: fileId, generation, chunk_index, tags = [] } of page) {
            const key = `${name} ${fileId} ${generation}`;
            const census = counts.get(key) ?? {
              ...{ space: spaceOf(name), fileId, generation, count: 0, last: -1 },
              tags: new Set<string>(),
            };
            census.count += 1;
            census.last = Math.max(census.last, chunk_index);
            census.tags.add(JSON.stringify([...tags].toSorted()));
            counts.set(key, census);
          }
      return [...counts.values()];
    },
    async *withoutSparse(tenant, fileIds) {
      const filter = {
        must: [...tenantFilter(tenant), { key: 'file_id', match: { any: [...fileIds] } }],
        must_not: [{ has_vector: SPARSE }],
      };
      for (const name of await readable())
        for await (const page of payloads(name, filter, ['file_id', 'chunk_index']))
          yield page.map(({ file_id: fileId, chunk_index: chunkIndex }) => ({ fileId, chunkIndex }));
    },
    async remove(tenant, { space, fileId, generation }, fromChunk) {
      const must = [
        ...tenantFilter(tenant),
        { key: 'file_id', match: { value: fileId } },
        { key: 'generation', match: { value: generation } },
        // Without the range, points that lost their chunk index are deleted too.
        ...(fromChunk > 0 ? [{ key: 'chunk_index', range: { gte: fromChunk } }] : []),
      ];
      await client.delete(collections.nameOf(space), { wait: true, filter: { must } });
    },
  };
}
