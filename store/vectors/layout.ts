import type { QdrantClient } from '@qdrant/js-client-rest';

export const QUANTIZATIONS = ['none', 'scalar', 'binary'] as const;
export const ON_DISK_PARTS = ['vectors', 'payload', 'hnsw', 'sparse'] as const;

/**
 * Layout of new collections. Options that are not set here use Qdrant's defaults. Existing collections keep their
 * layout.
 */
export interface CollectionLayout {
  /** Number of shards of a collection in a cluster. */
  readonly shards: number;
  /** Copies of each shard. */
  readonly replicas: number;
  /** Number of copies that a write must reach before it succeeds. */
  readonly writeConsistency: number;
  /** Smaller vectors that are searched first: a byte or a bit per number. */
  readonly quantization: (typeof QUANTIZATIONS)[number];
  /** Parts that are read from disk when needed, instead of being kept in memory. */
  readonly onDisk: readonly (typeof ON_DISK_PARTS)[number][];
}

type Creation = Parameters<QdrantClient['createCollection']>[1];

const QUANTIZED: Readonly<Record<CollectionLayout['quantization'], Pick<Creation, 'quantization_config'>>> = {
  none: {},
  // Cuts off the few numbers far from all others, as Qdrant recommends.
  scalar: { quantization_config: { scalar: { type: 'int8', quantile: 0.99, always_ram: true } } },
  binary: { quantization_config: { binary: { always_ram: true } } },
};

/** Returns the request that creates a collection for vectors of `dimensions` numbers. */
export function creationOf(dimensions: number, names: { dense: string; sparse: string }, layout: CollectionLayout) {
  const onDisk = (part: (typeof ON_DISK_PARTS)[number]) => (layout.onDisk.includes(part) ? { on_disk: true } : {});
  return {
    vectors: { [names.dense]: { size: dimensions, distance: 'Cosine', ...onDisk('vectors') } },
    sparse_vectors: {
      [names.sparse]: { modifier: 'idf', ...(layout.onDisk.includes('sparse') ? { index: onDisk('sparse') } : {}) },
    },
    shard_number: layout.shards,
    replication_factor: layout.replicas,
    write_consistency_factor: layout.writeConsistency,
    ...(layout.onDisk.includes('payload') ? { on_disk_payload: true } : {}),
    ...(layout.onDisk.includes('hnsw') ? { hnsw_config: onDisk('hnsw') } : {}),
    ...QUANTIZED[layout.quantization],
  } satisfies Creation;
}
