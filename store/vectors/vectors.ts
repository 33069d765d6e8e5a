import { QdrantClient } from '@qdrant/js-client-rest';

import type { EmbeddingModelId, VectorSpace } from '../../contract/embeddingModels.js';
import type { SourceType } from '../../contract/sources.js';
import type { GenerationScope } from '../generations.js';
import type { Tenant } from '../users/accept.js';
import { createCollections, DENSE } from './collection.js';
import { pointId } from './pointId.js';

/** The vectors of one file's new generation, in chunk order. */
export interface FileVectors extends Tenant {
  readonly fileId: number;
  readonly parentId: number | null;
  readonly generation: number;
  readonly space: VectorSpace;
  readonly model: EmbeddingModelId;
  readonly source: SourceType;
  readonly tagPairs: readonly string[];
  readonly vectors: readonly Float32Array[];
}

/** The tags that every point of a file is to carry. */
export interface FilePointTags extends Tenant {
  readonly _id: number;
  readonly tagPairs: readonly string[];
}

export interface VectorQuery extends Tenant {
  readonly space: string;
  readonly model: EmbeddingModelId;
  readonly vector: readonly number[] | Float32Array;
  readonly limit: number;
  /** Only in these files; absent: in all of the caller's. */
  readonly fileIds?: readonly number[];
  readonly parentIds?: readonly number[];
  /** Exact instead of approximate search. */
  readonly exact?: boolean;
}

export interface VectorHit {
  readonly fileId: number;
  readonly generation: number;
  readonly chunkIndex: number;
  /** Cosine similarity. */
  readonly score: number;
}

export interface ChunkKey {
  readonly fileId: number;
  readonly generation: number;
  readonly chunkIndex: number;
}

export interface Vectors {
  /** Writes points; readers see them once their generation is flipped. Safe to repeat. Resolves when they are durable and searchable. */
  upsert(files: readonly FileVectors[]): Promise<void>;
  search(query: VectorQuery): Promise<VectorHit[]>;
  /** The dense vectors of chunks, by chunk key `fileId:generation:chunkIndex`. */
  retrieve(space: string, keys: readonly ChunkKey[]): Promise<Map<string, number[]>>;
  /** Sets the tags of files' points, of every generation and space. Safe to repeat. */
  setTags(files: readonly FilePointTags[]): Promise<void>;
  /** In every space: a file may have changed its model. */
  deleteGenerations(scopes: readonly GenerationScope[]): Promise<void>;
  /** All of a user's, in every space, whether a file still names them or not. */
  deleteAll(tenant: Tenant): Promise<void>;
  /** Points of every generation and space, seen by readers or not: for checks that nothing is left behind. */
  countAll(tenant: Tenant): Promise<number>;
  /** The same for some files. */
  countOf(tenant: Tenant, fileIds: readonly number[]): Promise<number>;
  /** Resolves when Qdrant answers. */
  ping(): Promise<void>;
}

/** Floats of one upsert at most: about 8 MB of JSON, well under Qdrant's 32 MB. */
const FLOATS_PER_UPSERT = 400_000;

const missingCollection = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'status' in error && error.status === 404;

/** The payload's integer fields. */
function hit(point: { score: number; payload?: Record<string, unknown> | null | undefined }): VectorHit {
  const { file_id, generation, chunk_index } = (point.payload ?? {}) as {
    file_id: number;
    generation: number;
    chunk_index: number;
  };
  return { fileId: file_id, generation, chunkIndex: chunk_index, score: point.score };
}

/** Vectors in Qdrant. The tenant's part of every query is put on here; there is no way to search without it. */
export function createVectors(settings: { url: string; apiKey: string | null; prefix: string }): Vectors {
  const client = new QdrantClient({
    url: settings.url,
    checkCompatibility: false,
    ...(settings.apiKey === null ? {} : { apiKey: settings.apiKey }),
  });
  const collections = createCollections(client, settings.prefix);
  const mine = ({ organizationId, userId }: Tenant) => [
    { key: 'organization_id', match: { value: String(organizationId) } },
    { key: 'user_id', match: { value: userId } },
  ];

  const pointsOf = (file: FileVectors) =>
    file.vectors.map((vector, chunkIndex) => ({
      id: pointId(file.fileId, file.generation, chunkIndex, file.space.name),
      vector: { [DENSE]: Array.from(vector) },
      payload: {
        organization_id: String(file.organizationId),
        user_id: file.userId,
        file_id: file.fileId,
        parent_id: file.parentId,
        generation: file.generation,
        chunk_index: chunkIndex,
        model: file.model,
        source: file.source,
        tags: file.tagPairs,
      },
    }));

  const upsertSpace = async (space: VectorSpace, files: readonly FileVectors[]): Promise<void> => {
    const name = await collections.ensure(space);
    const points = files.flatMap(pointsOf);
    const step = Math.max(1, Math.floor(FLOATS_PER_UPSERT / space.dimensions));
    for (let from = 0; from < points.length; from += step) {
      // One after another: the engine writes a collection in turn anyway, and memory stays bounded.
      await client.upsert(name, { wait: true, points: points.slice(from, from + step) });
    }
  };

  const countPoints = async (
    must: (ReturnType<typeof mine>[number] | { key: string; match: { any: number[] } })[],
  ): Promise<number> => {
    const names = await collections.all();
    const counts = await Promise.all(names.map((name) => client.count(name, { filter: { must }, exact: true })));
    return counts.reduce((sum, { count }) => sum + count, 0);
  };

  return {
    async upsert(files) {
      const spaces = new Map(files.map(({ space }) => [space.name, space]));
      await Promise.all(
        [...spaces.values()].map((space) =>
          upsertSpace(
            space,
            files.filter((file) => file.space.name === space.name),
          ),
        ),
      );
    },
    async search({ space, model, vector, limit, fileIds, parentIds, exact = false, ...tenant }) {
      const must = [
        ...mine(tenant),
        { key: 'model', match: { value: model } },
        ...(fileIds ? [{ key: 'file_id', match: { any: [...fileIds] } }] : []),
        ...(parentIds ? [{ key: 'parent_id', match: { any: [...parentIds] } }] : []),
      ];
      try {
        const { points } = await client.query(collections.nameOf(space), {
          query: Array.from(vector),
          using: DENSE,
          limit,
          filter: { must },
          with_payload: { include: ['file_id', 'generation', 'chunk_index'] },
          ...(exact ? { params: { exact: true } } : {}),
        });
        return points.map(hit);
      } catch (error) {
        if (missingCollection(error)) return [];
        throw error;
      }
    },
    async retrieve(space, keys) {
      const ids = new Map(keys.map((key) => [pointId(key.fileId, key.generation, key.chunkIndex, space), key]));
      const points = await client.retrieve(collections.nameOf(space), {
        ids: [...ids.keys()],
        with_vector: [DENSE],
        with_payload: false,
      });
      const found = new Map<string, number[]>();
      for (const point of points) {
        const key = ids.get(String(point.id));
        const vector = (point.vector as Record<string, number[]> | undefined)?.[DENSE];
        if (key && vector) found.set(`${key.fileId}:${key.generation}:${key.chunkIndex}`, vector);
      }
      return found;
    },
    async setTags(files) {
      // Files of a data source mostly have the same tags: one operation for all of those.
      const alike = new Map<string, FilePointTags[]>();
      for (const file of files) {
        const key = JSON.stringify([file.organizationId, file.userId, file.tagPairs]);
        alike.set(key, [...(alike.get(key) ?? []), file]);
      }
      if (alike.size === 0) return;
      const operations = [...alike.values()].flatMap((group) =>
        group.slice(0, 1).map((first) => ({
          set_payload: {
            payload: { tags: [...first.tagPairs] },
            filter: { must: [...mine(first), { key: 'file_id', match: { any: group.map(({ _id }) => _id) } }] },
          },
        })),
      );
      const names = await collections.all();
      await Promise.all(names.map((name) => client.batchUpdate(name, { wait: true, operations })));
    },
    async deleteGenerations(scopes) {
      if (scopes.length === 0) return;
      const should = scopes.map(({ fileId, generations, ...tenant }) => ({
        must: [
          ...mine(tenant),
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
      await Promise.all(names.map((name) => client.delete(name, { wait: true, filter: { must: mine(tenant) } })));
    },
    countAll: (tenant) => countPoints(mine(tenant)),
    countOf: (tenant, fileIds) => countPoints([...mine(tenant), { key: 'file_id', match: { any: [...fileIds] } }]),
    async ping() {
      await client.getCollections();
    },
  };
}
