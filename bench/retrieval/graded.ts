import { loadConfig } from '../../config/config.js';
import { type PointReader, rankHybrid } from '../../api/chunks/rankHybrid.js';
import { type Ranking, rankingOfPoints } from '../../api/chunks/ranking.js';
import { poolOf } from '../../api/chunks/search.js';
import { DEFAULT_INGEST_OPTIONS } from '../../contract/files/ingestOptions.js';
import { EMBEDDED_SPACE } from '../../contract/vectors/spaces.js';
import { createLocalProvider } from '../../providers/embeddings/providers/local.js';
import { encodeDocument, encodeQuery } from '../../providers/embeddings/sparse/sparseEncoder.js';
import type { EmbeddingModel } from '../../engines/embeddingModel.js';
import type { Tenant } from '../../store/users/accept.js';
import type { PointHit } from '../../store/vectors/search.js';
import { createVectors, type Vectors } from '../../store/vectors/vectors.js';
import { randomVector } from '../seedVectors.js';
import type { Collection } from './beir.js';

const MODEL = DEFAULT_INGEST_OPTIONS.embeddingModel;
const HALVES = { semantic: 0.5, keyword: 0.5 };
/** Number of chunks that a search requests. It sets the length of the lists to fuse. */
const K = 10;
/** Texts per request to the embedded model, and documents per write. */
const BATCH = 64;
const THREADS = 2;
/** Owner of the ranked documents. */
const MINE: Tenant = { organizationId: 1, userId: 1 };
const OTHER: Tenant = { organizationId: 2, userId: 2 };

/** Ranked documents per query, best first. */
export type Lists = readonly (readonly number[])[];

export interface Rankings {
  readonly dense: Lists;
  readonly sparse: Lists;
  readonly hybrid: Lists;
}

type Embed = (texts: readonly string[], purpose: 'document' | 'query') => Promise<ArrayLike<number>[]>;

async function embedAll(embed: Embed, texts: readonly string[], purpose: 'document' | 'query') {
  const vectors: Float32Array[] = [];
  for (let from = 0; from < texts.length; from += BATCH)
    vectors.push(...(await embed(texts.slice(from, from + BATCH), purpose)).map((vector) => Float32Array.from(vector)));
  return vectors;
}

async function write(vectors: Vectors, tenant: Tenant, texts: readonly string[], dense: readonly Float32Array[]) {
  for (let from = 0; from < texts.length; from += BATCH)
    await vectors.upsert(
      texts.slice(from, from + BATCH).map((text, index) => ({
        ...tenant,
        // File ids are unique across tenants.
        fileId: tenant.userId * 1_000_000 + from + index,
        ...{
          parentId: null,
          ancestors: [],
          generation: 1,
          space: EMBEDDED_SPACE,
          model: MODEL,
          source: 'TEXT' as const,
        },
        ...{ fileTypeAtSource: null, mediaType: 'TEXT' as const, tagPairs: [] },
        vectors: [dense[from + index] ?? randomVector(EMBEDDED_SPACE.dimensions)],
        sparseOf: () => encodeDocument(text),
      })),
    );
}

async function rank(vectors: Vectors, queries: readonly string[], dense: readonly Float32Array[]): Promise<Rankings> {
  const lists = { dense: [] as number[][], sparse: [] as number[][], hybrid: [] as number[][] };
  const limit = poolOf(K);
  const reader: PointReader = {
    chunksOf: (ids) => vectors.chunksOf(MINE, EMBEDDED_SPACE.name, ids),
    neighboursOf: (ids, count) => vectors.neighboursOf(MINE, EMBEDDED_SPACE.name, { ids, count }),
  };
  const documents = async (ranking: Ranking): Promise<number[]> =>
    (await ranking.next(2 * limit)).hits.map(({ fileId }) => fileId - MINE.userId * 1_000_000);
  const documentsOf = (points: readonly PointHit[]): Promise<number[]> =>
    documents(rankingOfPoints(points, reader.chunksOf));
  for (const [index, query] of queries.entries()) {
    const hits = await vectors.searchIds({
      ...MINE,
      ...{ space: EMBEDDED_SPACE.name, model: MODEL, filter: { media: 'TEXT' as const }, exact: false, limit },
      dense: dense[index] ?? null,
      sparse: encodeQuery(query),
    });
    lists.dense.push(await documentsOf(hits.dense));
    lists.sparse.push(await documentsOf(hits.sparse));
    lists.hybrid.push(await documents(await rankHybrid(hits, HALVES, limit, reader)));
  }
  return lists;
}

/**
 * Ranks the documents of a collection for its queries with the service's own encoders, store, list lengths and fusion
 * on a running Qdrant engine; one document is one chunk.
 * @param others texts of another tenant, which are added to the same Qdrant collection before `withOthers` is measured
 * @returns the rankings alone and with the other tenant's texts
 */
export async function rankCollection(
  { documents, queries }: Collection,
  others: readonly string[],
  { model, qdrantUrl, printLine }: { model: EmbeddingModel; qdrantUrl: string; printLine: (line: string) => void },
): Promise<{ alone: Rankings; withOthers: Rankings }> {
  const { qdrant } = loadConfig({ SECRET_KEY: `k1:${Buffer.alloc(32).toString('base64')}` });
  const vectors = createVectors({ ...qdrant, url: qdrantUrl });
  const provider = createLocalProvider({ ...model, threads: THREADS });
  try {
    const embed: Embed = (texts, purpose) => provider.embed(texts, purpose);
    const [documentVectors, queryVectors] = [
      await embedAll(embed, documents, 'document'),
      await embedAll(embed, queries, 'query'),
    ];
    printLine(`${documents.length} documents and ${queries.length} queries embedded`);
    await write(vectors, MINE, documents, documentVectors);
    const alone = await rank(vectors, queries, queryVectors);
    await write(vectors, OTHER, others, []);
    printLine(`${others.length} documents of another tenant added`);
    return { alone, withOthers: await rank(vectors, queries, queryVectors) };
  } finally {
    await Promise.all([vectors.deleteAll(MINE), vectors.deleteAll(OTHER)]);
    await provider.close();
  }
}
