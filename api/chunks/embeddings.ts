import Joi from 'joi';

import { DEFAULT_EMBEDDING_MODEL, PICTURE_MODEL } from '../../contract/embeddingModels.js';
import type { TagTree } from '../../contract/fileFilters.js';
import type { DocumentRecord } from '../../contract/records.js';
import { fileTags, tagObject } from '../../contract/tags.js';
import type { Tenant } from '../../store/users/accept.js';
import type { ChunkFilter } from '../../store/vectors/searchFilter.js';
import type { ApiDeps } from '../deps.js';
import { linksOf } from '../files/links.js';
import { HttpError, invalid } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { documentRecord } from '../schemas/answers.js';
import { integer, orNull } from '../schemas/fields.js';
import { idList } from '../schemas/listing.js';
import { hybridWeights, queryVector, rerankModel } from '../schemas/search.js';
import { asksForTags, tagFilter, tagTree } from '../schemas/tags.js';
import type { Found } from './findCurrent.js';
import type { HybridWeights } from './fuseHybrid.js';
import { queryVectors } from './queryVectors.js';
import { refuseCold } from './refuseCold.js';
import { searchChunks } from './search.js';
import { likelySpace, spacesForText, spacesForVector } from './searchSpaces.js';
import type { Infer } from '../schemas/inferred.js';
import { named } from '../schemas/reference.js';
import { embeddingModel, mediaType, typeAtSource } from '../schemas/enums.js';

/** Maximum number of chunks per response. */
const MAX_K = 1_000;
/** Lifetime of a link in a response. */
const LINK_SECONDS = 3600;

const requestBody = named(
  'GetEmbeddingDocumentsBody',
  Joi.object({
    query: Joi.string()
      .min(1)
      .required()
      .description(
        'What to search for, in natural language. At most MAX_QUERY_CHARACTERS (default 32,000) characters.',
      ),
    k: integer()
      .min(1)
      .max(MAX_K)
      .required()
      .description(
        'Largest number of chunks to return, from 1 to 1,000. Fewer are returned if fewer match the filters.',
      ),
    query_vector: orNull(queryVector()).description(
      'Vector to search with instead of the one of `query`. It has as many numbers as the vectors of `embedding_model`, at most 16,384, and not all of them are 0 (422). It is also compared with uploaded vectors.',
    ),
    file_ids: orNull(idList()).description(
      'Only chunks of these files. With `include_all_children` also of their descendants. Null, absent or empty: all files.',
    ),
    parent_file_ids: orNull(idList()).description(
      'Only chunks of the children of these files; with `include_all_children` of all descendants.',
    ),
    include_all_children: Joi.boolean()
      .default(false)
      .description('Whether `file_ids` and `parent_file_ids` select all descendants.'),
    tags: orNull(tagFilter()).description(
      'Older form of `tags_v2`: all of these tags must match. Ignored if `tags_v2` has conditions.',
    ),
    tags_v2: orNull(tagTree()).description(
      'Only chunks of files whose tags meet these conditions. Tags of files and of their data sources count.',
    ),
    include_tags: orNull(Joi.boolean(), false).description('`true`: return the tags of each file.'),
    include_vectors: orNull(Joi.boolean(), false).description(
      '`true`: return the vector of each chunk. Answers become several times larger.',
    ),
    include_raw_file: orNull(Joi.boolean(), false).description(
      '`true`: return a link to the original of each file, valid for an hour.',
    ),
    include_file_level_metadata: orNull(Joi.boolean(), false).description(
      '`true`: add the facts about the file to `content_metadata` of each chunk.',
    ),
    hybrid_search: orNull(Joi.boolean(), false).description(
      '`true`: rank by words as well as by meaning. Only files with `generate_sparse_vectors` have word weights; others are ranked by meaning alone.',
    ),
    hybrid_search_tuning_parameters: orNull(hybridWeights()).description(
      'Weights of meaning and words; 0.5 each by default. They need `hybrid_search`.',
    ),
    media_type: orNull(mediaType(), 'TEXT').description(
      'Which content to search. `TEXT`: all text, also from OCR. `IMAGE`: pictures that were embedded as pictures, whatever `embedding_model` says. `AUDIO`, `VIDEO`: speech of recordings.',
    ),
    embedding_model: orNull(embeddingModel(), DEFAULT_EMBEDDING_MODEL).description(
      'Model that embeds the query. Only files with vectors in the space of this model are found.',
    ),
    high_accuracy: orNull(Joi.boolean(), false).description(
      '`true`: compare with every vector instead of using the index. Slower; finds the exact best matches.',
    ),
    rerank: orNull(
      named(
        'RerankParams',
        Joi.object({
          model: rerankModel()
            .required()
            .description('Name of the reranker model. An unknown name is 422, a model without credentials 400.'),
        }).description('Which reranker to use.'),
      ),
    ).description(
      'Reorders the best 50 to 200 results with a reranker. The operator configures its credentials (400 without).',
    ),
    file_types_at_source: orNull(Joi.array().items(typeAtSource())).description(
      'Only files of these types at their source, such as tickets.',
    ),
    exclude_cold_storage_files: Joi.boolean()
      .default(false)
      .description('`true`: skip files in cold storage. `false`: the search is 409 if its filters match one.'),
  }).description('A query with its filters and options. Filters are combined with AND.'),
);
type Body = Infer<typeof requestBody>;

/** Converts the older tag filter, which requires every one of its tags. It is ignored if tags_v2 has conditions. */
function treeOf({ tags = {}, tags_v2: tree }: Body): TagTree | null {
  if (tree && asksForTags(tree)) return tree;
  const all = Object.entries(tags).map(([key, value]) => ({ key, value }));
  return all.length > 0 ? { AND: all } : null;
}

function filterOf(body: Body): ChunkFilter {
  const tree = treeOf(body);
  return {
    fileIds: body.file_ids ?? [],
    parentFileIds: body.parent_file_ids ?? [],
    includeAllChildren: body.include_all_children,
    fileTypesAtSource: body.file_types_at_source ?? [],
    media: body.media_type,
    ...(tree ? { tagTree: tree } : {}),
  };
}

/** Returns equal weights if none are given; null for a search by vectors only. */
function weightsOf({ hybrid_search: hybrid, hybrid_search_tuning_parameters: tuning }: Body): HybridWeights | null {
  if (!hybrid) return null;
  return tuning ? { semantic: tuning.weight_a, keyword: tuning.weight_b } : { semantic: 0.5, keyword: 0.5 };
}

/** @throws HttpError 400 if sparse vectors are disabled for the caller's user */
async function refuseSwitchedOff(caller: Tenant, { store }: ApiDeps): Promise<void> {
  const user = await store.users.record(caller);
  if (user?.enabledFeatures?.['sparse_vectors']?.enabled === false)
    throw new HttpError(
      400,
      'hybrid_search needs sparse vectors, which are switched off for this user. Switch them on by POST /modify_user_configuration (sparse_vectors, {"enabled": true}), or search without hybrid_search.',
    );
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

/** POST /embeddings: returns the chunks that match a query best. */
export const embeddings = operation({
  method: 'post',
  path: '/embeddings',
  operationId: 'embeddings_embeddings_post',
  tag: 'Embeddings',
  auth: 'reader',
  summary: 'Searches the chunks of an end user',
  description: [
    "Embeds the query and returns the `k` most similar chunks of the caller's files, best first, with their files and scores. Use it for retrieval-augmented generation: put the contents into a prompt, and cite `source_url` or `source` with the page from `content_metadata`.",
    '- Filter by files, parents or tags to search a part of the corpus. Filters are combined with AND.',
    '- `hybrid_search` adds a ranking by words, which finds names, numbers and identifiers. Upload with `generate_sparse_vectors: true` for it.',
    '- `rerank` rereads the best results with a reranker, which improves their order and takes longer.',
    'Only READY files with vectors of `embedding_model` are found. A new file is found as soon as its FILE_READY is sent. Files in cold storage are not searched: restore them by `POST /move_to_hot_storage` first.',
    'Limits: 1,000 chunks per answer, MAX_CONCURRENT_SEARCHES searches of one user at the same time (429).',
  ],
  returns: 'The chunks that match best, with their files and scores.',
  errors: {
    400: 'The reranker is not configured, or `hybrid_search` is switched off for this user.',
    404: null,
    409: 'The filters match files in cold storage; `detail` names up to 100 of them. Restore them by POST /move_to_hot_storage, or send `exclude_cold_storage_files`.',
    429: 'The user has too many searches in progress, or sent more requests than allowed. Repeat the request after the seconds in Retry-After.',
    502: 'The embedding provider or the reranker rejected the request. Repeating it does not help.',
  },
  body: requestBody,
  answer: named(
    'DocumentResponseList',
    Joi.object({
      documents: Joi.array()
        .items(documentRecord)
        .required()
        .description('Chunks that were found, best first; at most `k`. Empty if nothing matches the filters.'),
    }).description('Result of a search.'),
  ),
  searches: true,
  async handle({ caller, body, deps, signal }) {
    const { maxQueryCharacters } = deps.settings;
    if (body.query.length > maxQueryCharacters)
      throw invalid(['body', 'query'], `Must have at most ${maxQueryCharacters} characters`, 'string_too_long');
    // One model embeds all pictures, whatever model the request names.
    const model = body.media_type === 'IMAGE' ? PICTURE_MODEL : body.embedding_model;
    const filter = filterOf(body);
    const weights = weightsOf(body);
    const vector = body.query_vector ?? null;
    const vectorIn = queryVectors(caller, { query: body.query, model, given: vector }, signal, deps);
    const allowed = async (): Promise<readonly string[]> => {
      const [spaces] = await Promise.all([
        vector
          ? spacesForVector(caller, model, vector, deps)
          : spacesForText(caller, model, (weights?.keyword ?? 0) > 0, deps),
        body.exclude_cold_storage_files ? null : refuseCold(caller, model, filter, deps),
      ]);
      return spaces;
    };
    const search = searchChunks(
      caller,
      {
        spaces: allowed,
        likely: likelySpace(model, vector, deps),
        needsCold: !body.exclude_cold_storage_files,
        ...{ query: body.query, vectorIn, vectorGiven: vector !== null, model, k: body.k, filter, weights },
        exact: body.high_accuracy,
        rerank: body.rerank?.model ?? null,
        signal,
      },
      deps,
    );
    const [found] = await Promise.all([search, weights && refuseSwitchedOff(caller, deps)]);
    deps.store.lastUse.note(found.map(({ file }) => file));
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
