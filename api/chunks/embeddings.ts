import Joi from 'joi';

import { DEFAULT_EMBEDDING_MODEL, PICTURE_MODEL } from '../../contract/vectors/embeddingModels.js';
import type { TagTree } from '../../contract/files/fileFilters.js';
import type { DocumentRecord } from '../../contract/files/records.js';
import { fileTags, tagObject } from '../../contract/files/tags.js';
import type { Store } from '../../store/connect.js';
import type { Tenant } from '../../store/users/accept.js';
import type { ChunkFilter } from '../../store/vectors/searchFilter.js';
import type { ApiDeps } from '../http/deps.js';
import { linksOf } from '../files/links.js';
import { HttpError, invalid } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { documentRecord } from '../schemas/answers.js';
import { integer, orNull } from '../schemas/fields.js';
import { idList } from '../schemas/listing.js';
import { hybridWeights, queryVector, rerankModel } from '../schemas/search.js';
import { hasConditions, tagFilter, tagTree } from '../schemas/tags.js';
import type { FoundChunk } from './findCurrent.js';
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
        'Question or words to search for, of at most `MAX_QUERY_CHARACTERS` (32,000) UTF-16 code units. With `query_vector`, only `hybrid_search` and `rerank` use it.',
      ),
    k: integer()
      .min(1)
      .max(MAX_K)
      .required()
      .description('Maximum number of chunks in the response. Fewer are returned if fewer match.'),
    query_vector: orNull(queryVector()).description(
      'Vector to search with instead of that of `query`. It needs as many numbers as the vectors of `embedding_model` (for `IMAGE`: of the model for pictures), not all of them 0 (422), and also finds vectors that were uploaded with chunks. Null: the vector of `query`.',
    ),
    file_ids: orNull(idList()).description(
      'Only chunks of the files with these ids; with `include_all_children`, also of their descendants. At most 10,000 ids. Null or empty: all files.',
    ),
    parent_file_ids: orNull(idList()).description(
      'Only chunks of direct children of the files with these ids; with `include_all_children`, of all descendants. At most 10,000 ids. Null or empty: all files.',
    ),
    include_all_children: Joi.boolean()
      .default(false)
      .description('`true`: `file_ids` and `parent_file_ids` include all descendants. Alone it has no effect.'),
    tags: orNull(tagFilter()).description(
      'Only chunks of files with all of these tags; a list of values matches any of them. It is ignored if `tags_v2` has conditions. Null or `{}`: all files.',
    ),
    tags_v2: orNull(tagTree()).description(
      'Only chunks of files whose tags match these conditions, combined with AND and OR. Null: all files.',
    ),
    include_tags: orNull(Joi.boolean(), false).description(
      '`true`: each result has the tags of its file and data source. Null: `false`.',
    ),
    include_vectors: orNull(Joi.boolean(), false).description(
      '`true`: each result has its vector, which makes the response much larger. Null: `false`.',
    ),
    include_raw_file: orNull(Joi.boolean(), false).description(
      '`true`: each result has a presigned URL of the original file, valid for one hour. Null: `false`.',
    ),
    include_file_level_metadata: orNull(Joi.boolean(), false).description(
      '`true`: `content_metadata` also has the `file_metadata` of the file. Null: `false`.',
    ),
    hybrid_search: orNull(Joi.boolean(), false).description(
      '`true`: ranks by meaning and by matching words. Chunks without sparse vectors are ranked by meaning only. Returns 400 if the feature `sparse_vectors` of the user is disabled. Null: `false`.',
    ),
    hybrid_search_tuning_parameters: orNull(hybridWeights()).description(
      'Weights of meaning and words in `hybrid_search`; null: both 0.5. Without `hybrid_search` they have no effect.',
    ),
    media_type: orNull(mediaType(), 'TEXT').description(
      'Kind of content to search. `IMAGE`: pictures whose vectors were computed from the image itself, whatever `embedding_model` is. `TEXT`: everything except such pictures, recordings included. `AUDIO`, `VIDEO`: only the speech of such recordings. Null: `TEXT`.',
    ),
    embedding_model: orNull(embeddingModel(), DEFAULT_EMBEDDING_MODEL).description(
      'Model of the files to search. Files that were embedded with another model are not found. Null: `OPENAI`.',
    ),
    high_accuracy: orNull(Joi.boolean(), false).description(
      '`true`: compares with every vector instead of an approximate search. It is slower. The word ranking of `hybrid_search` is always exact. Null: `false`.',
    ),
    rerank: orNull(
      named(
        'RerankParams',
        Joi.object({
          model: rerankModel()
            .required()
            .description(
              '`COHERE_RERANK_MULTILINGUAL_V3`, `JINA_RERANKER_MULTILINGUAL_V2` or `PONGO_RERANKER`. One that the operator has not configured returns 400.',
            ),
        }).description(
          'Reranker: a model that compares the best 50 to 200 results, or `k` if it is higher, with the query.',
        ),
      ),
    ).description(
      'Reranker that reorders the best results; its scores replace those of the search. Null: no reranking.',
    ),
    file_types_at_source: orNull(Joi.array().items(typeAtSource())).description(
      'Only chunks of files of one of these types, as `FileTypeAtSource` names them: for example `TICKET` or `ARTICLE`. Null or empty: files of all types.',
    ),
    exclude_cold_storage_files: Joi.boolean()
      .default(false)
      .description(
        '`true`: skips files in cold storage. `false`: a search whose filters match such files returns 409.',
      ),
  }).description('The query, filters of the chunks to search, and the fields that each result contains.'),
);
type Body = Infer<typeof requestBody>;

/** Converts the older tag filter, which requires every one of its tags. It is ignored if tags_v2 has conditions. */
function tagTreeOf({ tags = {}, tags_v2: tree }: Body): TagTree | null {
  if (tree && hasConditions(tree)) return tree;
  const conditions = Object.entries(tags).map(([key, value]) => ({ key, value }));
  return conditions.length > 0 ? { AND: conditions } : null;
}

function filterOf(body: Body): ChunkFilter {
  const tree = tagTreeOf(body);
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
async function refuseDisabled(caller: Tenant, { store }: ApiDeps): Promise<void> {
  const user = await store.users.findRecord(caller);
  if (user?.enabledFeatures?.['sparse_vectors']?.enabled === false)
    throw new HttpError(
      400,
      'hybrid_search needs sparse vectors, which are disabled for this user. Enable them with POST /modify_user_configuration (sparse_vectors, {"enabled": true}), or search without hybrid_search.',
    );
}

function present(
  { hit, chunk, file }: FoundChunk,
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
  summary: 'Search chunks',
  description: [
    'Returns the chunks of the calling user that match a query best: by meaning, with `hybrid_search` by meaning and words, and with `rerank` in the order of a reranker. Only chunks embedded with `embedding_model` are searched, so send the model that the files were embedded with. Filters are combined with AND. The number of results is `k`, at most 1,000. If files in cold storage match the filters, the response is 409: move them to hot storage, or set `exclude_cold_storage_files`. Each user may have `MAX_CONCURRENT_SEARCHES` searches in progress (429).',
  ],
  returns: 'At most `k` matching chunks with text, file and score, the best first.',
  errors: { 502: 'The embedding provider or the reranker rejected the request. Repeating it does not help.' },
  body: requestBody,
  answer: named(
    'DocumentResponseList',
    Joi.object({
      documents: Joi.array()
        .items(documentRecord)
        .required()
        .description('At most `k` chunks, the best first. Empty if no chunk meets the filters.'),
    }).description('The chunks that match a search, the best first.'),
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
    const vectorIn = queryVectors(caller, { query: body.query, model, callerVector: vector }, signal, deps);
    const searchableSpaces = async (): Promise<readonly string[]> => {
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
        spaces: searchableSpaces,
        likely: likelySpace(model, vector, deps),
        refusesColdFiles: !body.exclude_cold_storage_files,
        ...{ query: body.query, vectorIn, vectorGiven: vector !== null, model, k: body.k, filter, weights },
        exact: body.high_accuracy,
        rerank: body.rerank?.model ?? null,
        signal,
      },
      deps,
    );
    const [found] = await Promise.all([search, weights && refuseDisabled(caller, deps)]);
    deps.store.lastUse.record(found.map(({ file }) => file));
    const vectors = body.include_vectors ? await vectorsOf(caller, found, deps.store.vectors) : null;
    return {
      documents: found.map((match, index) =>
        present(match, index + 1, vectors?.get(match.chunk.key) ?? null, body, deps),
      ),
    };
  },
});

async function vectorsOf(tenant: Tenant, found: readonly FoundChunk[], vectors: Pick<Store['vectors'], 'retrieve'>) {
  const spaces = [...new Set(found.map(({ space }) => space))];
  const maps = await Promise.all(
    spaces.map((space) =>
      vectors.retrieve(
        tenant,
        space,
        found.filter((match) => match.space === space).map(({ hit }) => hit),
      ),
    ),
  );
  return new Map(maps.flatMap((map) => [...map]));
}
