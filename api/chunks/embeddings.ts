import Joi from 'joi';

import { DEFAULT_EMBEDDING_MODEL, EMBEDDING_MODEL_IDS, type EmbeddingModelId } from '../../contract/embeddingModels.js';
import type { FileFilters, TagTree } from '../../contract/fileFilters.js';
import type { DocumentRecord } from '../../contract/records.js';
import { fileTags, tagObject } from '../../contract/tags.js';
import type { ApiDeps } from '../deps.js';
import { linksOf } from '../files/links.js';
import { notBuilt } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { documentRecord } from '../schemas/answers.js';
import { integer, orNull } from '../schemas/fields.js';
import { HELPDESK_FILE_TYPES } from '../schemas/listing.js';
import { asksForTags, tagFilter, tagTree } from '../schemas/tags.js';
import { type Found, searchChunks } from './search.js';

/** Chunks of one answer at most. */
const MAX_K = 1_000;
/** How long a link in an answer lasts. */
const LINK_SECONDS = 3600;
/** Files a filter may name for one search. */
const MAX_FILES = 10_000;

interface Body {
  query: string;
  k: number;
  query_vector?: number[];
  file_ids?: number[];
  parent_file_ids?: number[];
  include_all_children: boolean;
  tags?: Record<string, unknown>;
  tags_v2?: TagTree;
  include_tags: boolean;
  include_vectors: boolean;
  include_raw_file: boolean;
  include_file_level_metadata: boolean;
  hybrid_search: boolean;
  hybrid_search_tuning_parameters?: { weight_a: number; weight_b: number };
  media_type: string;
  embedding_model: EmbeddingModelId;
  high_accuracy: boolean;
  rerank?: { model: string };
  file_types_at_source?: string[];
  exclude_cold_storage_files: boolean;
}

/** What later versions add; asking for it now is answered, not ignored. */
function refuseUnbuilt(body: Body): void {
  if (body.query_vector) throw notBuilt('query_vector');
  if (body.hybrid_search) throw notBuilt('hybrid_search');
  if (body.rerank) throw notBuilt('rerank');
  if (body.media_type !== 'TEXT') throw notBuilt(`media_type other than TEXT`);
}

/** The file filters that a search takes; null when it names none. */
function filtersOf(body: Body): FileFilters | null {
  const { tags, parent_file_ids: parents, file_types_at_source: types, file_ids: ids } = body;
  const tree = body.tags_v2 && asksForTags(body.tags_v2) ? body.tags_v2 : undefined;
  const named =
    tree !== undefined ||
    (tags !== undefined && Object.keys(tags).length > 0) ||
    parents?.length ||
    types?.length ||
    ids?.length;
  if (!named) return null;
  return {
    ...(ids ? { ids } : {}),
    ...(tree ? { tagTree: tree } : {}),
    ...(tags ? { tags } : {}),
    ...(parents ? { parentFileIds: parents, includeAllChildren: body.include_all_children } : {}),
    ...(types ? { fileTypesAtSource: types } : {}),
  };
}

function present(
  { hit, chunk, file }: Found,
  rank: number,
  vector: number[] | null,
  body: Body,
  deps: ApiDeps,
): DocumentRecord {
  return {
    content: chunk.text,
    file_id: file._id,
    parent_file_id: file.parentId,
    source: file.name,
    source_url: file.externalUrl,
    source_type: file.source,
    presigned_url: linksOf(file, { raw: body.include_raw_file, parsed: false, lifeSeconds: LINK_SECONDS }, deps).raw,
    tags: body.include_tags ? tagObject(fileTags(file)) : null,
    vector,
    score: hit.score,
    rank,
    content_metadata: body.include_file_level_metadata ? { ...file.fileMetadata, ...chunk.metadata } : chunk.metadata,
    chunk_index: chunk.chunkIndex,
  };
}

/** POST /embeddings: the chunks nearest in meaning to a query. */
export const embeddings = operation<'user', Body>({
  method: 'post',
  path: '/embeddings',
  auth: 'user',
  summary: "Searches the caller's chunks by meaning.",
  body: Joi.object({
    query: Joi.string().min(1).required(),
    k: integer().min(1).max(MAX_K).required(),
    query_vector: orNull(Joi.array().items(Joi.number())),
    file_ids: orNull(Joi.array().items(integer()).max(MAX_FILES)),
    parent_file_ids: orNull(Joi.array().items(integer()).max(MAX_FILES)),
    include_all_children: Joi.boolean().default(false),
    tags: orNull(tagFilter()),
    tags_v2: orNull(tagTree()),
    include_tags: orNull(Joi.boolean(), false),
    include_vectors: orNull(Joi.boolean(), false),
    include_raw_file: orNull(Joi.boolean(), false),
    include_file_level_metadata: orNull(Joi.boolean(), false),
    hybrid_search: orNull(Joi.boolean(), false),
    hybrid_search_tuning_parameters: orNull(
      Joi.object({ weight_a: Joi.number().required(), weight_b: Joi.number().required() }),
    ),
    media_type: orNull(Joi.string().valid('TEXT', 'IMAGE', 'AUDIO', 'VIDEO'), 'TEXT'),
    embedding_model: orNull(Joi.string().valid(...EMBEDDING_MODEL_IDS), DEFAULT_EMBEDDING_MODEL),
    high_accuracy: orNull(Joi.boolean(), false),
    rerank: orNull(Joi.object({ model: Joi.string().required() })),
    file_types_at_source: orNull(Joi.array().items(Joi.string().valid(...HELPDESK_FILE_TYPES))),
    exclude_cold_storage_files: Joi.boolean().default(false),
  }),
  answer: Joi.object({ documents: Joi.array().items(documentRecord).required() }),
  async handle({ caller, body, deps }) {
    refuseUnbuilt(body);
    const filters = filtersOf(body);
    const fileIds = filters && (await deps.store.files.ids(caller, filters, MAX_FILES));
    if (fileIds?.length === 0) return { documents: [] };
    const found = await searchChunks(
      caller,
      {
        query: body.query,
        model: body.embedding_model,
        k: body.k,
        exact: body.high_accuracy,
        ...(fileIds ? { fileIds } : {}),
      },
      deps,
    );
    const vectors = body.include_vectors ? await vectorsOf(found, deps.store.vectors) : null;
    return {
      documents: found.map((one, index) => present(one, index + 1, vectors?.get(one.chunk.key) ?? null, body, deps)),
    };
  },
});

async function vectorsOf(
  found: readonly Found[],
  vectors: { retrieve(space: string, keys: Found['hit'][]): Promise<Map<string, number[]>> },
) {
  const spaces = [...new Set(found.map(({ space }) => space))];
  const maps = await Promise.all(
    spaces.map((space) =>
      vectors.retrieve(
        space,
        found.filter((one) => one.space === space).map(({ hit }) => hit),
      ),
    ),
  );
  return new Map(maps.flatMap((map) => [...map]));
}
