/** Writes files with any fields, and their chunks and vectors, directly to the stores, without runs. */
import type { EmbeddingModelId, VectorSpace } from '../../contract/vectors/embeddingModels.js';
import { DEFAULT_INGEST_OPTIONS } from '../../contract/files/ingestOptions.js';
import type { MediaType } from '../../contract/files/mediaTypes.js';
import type { TagValue } from '../../contract/files/records.js';
import { storedTags, tagPairs } from '../../contract/files/tags.js';
import { encodeDocument } from '../../providers/embeddings/sparse/sparseEncoder.js';
import { type FileDoc, fileModel } from '../../store/models/files.js';
import type { Tenant } from '../../store/users/accept.js';
import { withDatabase } from './mongo.js';
import type { TestService } from './service.js';

const SPACE = { name: 'minilm-l6-v2-384', dimensions: 384 };

export interface SeededFile {
  readonly id: number;
  readonly texts?: readonly string[];
  readonly tags?: Readonly<Record<string, TagValue>>;
  readonly model?: EmbeddingModelId;
  /** The vector of each text. Unset: orthogonal vectors. */
  readonly vectors?: readonly (readonly number[])[];
  readonly space?: VectorSpace;
  readonly media?: MediaType;
  /** Unset: only the parent. */
  readonly ancestors?: readonly number[];
  /** Whether the texts have sparse vectors. */
  readonly sparse?: boolean;
  readonly fields?: Partial<FileDoc>;
}

/** Writes files with the given texts as chunks, each chunk with its own vector. */
export async function seedFiles(
  service: Pick<TestService, 'env' | 'store'>,
  owner: Tenant & { customerId: string },
  seeds: readonly SeededFile[],
): Promise<void> {
  const rows = await withDatabase(service, async (connection) => {
    const files = fileModel(connection);
    const at = new Date('2026-01-01T00:00:00Z');
    const documents = seeds.map(
      ({ id, texts = [], tags = {}, model = 'OPENAI', space = SPACE, fields = {} }): FileDoc => {
        const fileTags = storedTags(tags);
        return {
          ...new files().toObject({ minimize: false }),
          ...owner,
          _id: id,
          source: 'WEB_SCRAPE',
          externalFileId: `external-${id}`,
          syncStatus: 'READY',
          isContainer: false,
          tags: fileTags,
          tagPairs: tagPairs(fileTags),
          options: { ...DEFAULT_INGEST_OPTIONS, embeddingModel: model },
          generation: 1,
          lastGeneration: 1,
          numChunks: texts.length,
          vectorSpace: texts.length > 0 ? space.name : null,
          dimensions: texts.length > 0 ? space.dimensions : null,
          createdAt: at,
          updatedAt: at,
          ...fields,
        };
      },
    );
    await files.collection.insertMany(documents as never);
    return documents;
  });
  const { organizationId, userId } = owner;
  const written = rows.map((row, index) => {
    const seed: SeededFile = seeds[index] ?? { id: row._id };
    const { texts = [] } = seed;
    let end = 0;
    const cuts = texts.map((text) => ({ start: end, end: (end += text.length), tokens: 1 }));
    return { row, seed, texts, text: texts.join(''), cuts };
  });
  await service.store.chunks.write(
    written.map(({ row, text, cuts }) => ({
      organizationId,
      userId,
      fileId: row._id,
      generation: 1,
      text,
      prefix: '',
      cuts,
    })),
  );
  await service.store.vectors.upsert(
    written
      .filter(({ texts }) => texts.length > 0)
      .map(({ row, texts, seed: { space = SPACE, vectors, media = 'TEXT', ancestors, sparse = false } }) => ({
        organizationId,
        userId,
        fileId: row._id,
        parentId: row.parentId,
        ancestors: ancestors ?? (row.parentId === null ? [] : [row.parentId]),
        generation: 1,
        space,
        model: row.options.embeddingModel,
        source: row.source,
        fileTypeAtSource: row.fileTypeAtSource,
        mediaType: media,
        tagPairs: row.tagPairs,
        vectors:
          vectors?.map((vector) => Float32Array.from(vector)) ??
          texts.map((_, index) => new Float32Array(space.dimensions).fill(0).with(index % space.dimensions, 1)),
        ...(sparse ? { sparseOf: (chunkIndex: number) => encodeDocument(texts[chunkIndex] ?? '') } : {}),
      })),
  );
}
