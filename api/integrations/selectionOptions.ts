import type { IngestOptions } from '../../contract/files/ingestOptions.js';
import type { TagValue } from '../../contract/files/records.js';
import type { DataSourceDoc } from '../../store/models/dataSources.js';
import { type SelectionBody, toConnectedIngest } from '../schemas/integrations.js';

/** Names of the ingest options that each request field sets. */
const OPTIONS_OF: Readonly<Record<string, readonly (keyof IngestOptions)[]>> = {
  chunk_size: ['chunkSize'],
  chunk_overlap: ['chunkOverlap'],
  skip_embedding_generation: ['skipEmbeddingGeneration'],
  embedding_model: ['embeddingModel'],
  generate_sparse_vectors: ['generateSparseVectors'],
  prepend_filename_to_chunks: ['prependFilenameToChunks'],
  max_items_per_chunk: ['maxItemsPerChunk'],
  set_page_as_boundary: ['setPageAsBoundary'],
  use_ocr: ['useOcr'],
  parse_pdf_tables_with_ocr: ['parsePdfTablesWithOcr'],
  ocr_languages: ['ocrLanguages'],
  sync_attachments: ['syncAttachments'],
  file_sync_config: [
    'autoSyncedSourceTypes',
    'syncAttachments',
    'detectAudioLanguage',
    'transcriptionService',
    'includeSpeakerLabels',
    'splitRows',
    'generateChunksOnly',
    'storeFileOnly',
    'skipFileProcessing',
    'parsedTextFormat',
  ],
};

/** Options for the items that a request selects in a connected account, and for their files. */
export interface SelectionOptions {
  readonly ingest: IngestOptions;
  readonly tags: Readonly<Record<string, TagValue>>;
  readonly incremental: boolean;
  readonly requestId: string | undefined;
  /** Whether only an estimate is requested. */
  readonly dryRun: boolean;
  readonly maxTokens: number | undefined;
}

type Options = { -readonly [Name in keyof IngestOptions]?: IngestOptions[Name] | undefined };

/** Copies an option from another object; removes it if it is missing there. */
function copyOption<Name extends keyof Options>(from: Options, to: Options, name: Name): void {
  to[name] = from[name];
  if (to[name] === undefined) delete to[name];
}

/**
 * Returns the options for the selected items: the fields of the request, and for absent fields the options with which
 * the account was connected.
 * @param given names of the fields that the request contains
 */
export function selectionOptions(
  body: SelectionBody,
  given: ReadonlySet<string>,
  { options }: Pick<DataSourceDoc, 'options'>,
): SelectionOptions {
  const requested = toConnectedIngest(body);
  const incremental = body.incremental_sync ?? false;
  const bounds = { dryRun: body.dry_run, maxTokens: body.max_tokens };
  if (!options) return { ingest: requested, tags: body.tags, incremental, requestId: body.request_id, ...bounds };
  const ownOptions = new Set<string>(
    Object.entries(OPTIONS_OF).flatMap(([field, names]) => (given.has(field) ? names : [])),
  );
  // Keep the order of the stored options. The store groups selected items by a hash of their options as JSON, so equal
  // options in another order would form another group.
  const ingest = { ...options.ingest, ...requested };
  // A field that sets several options, such as file_sync_config, replaces all of them, also those that it does not
  // contain.
  for (const name of Object.keys(ingest) as (keyof IngestOptions)[])
    copyOption(ownOptions.has(name) ? requested : options.ingest, ingest, name);
  return {
    // The overlap and the chunk size may come from different requests, so the overlap may be too large.
    ingest: { ...ingest, chunkOverlap: Math.min(ingest.chunkOverlap, ingest.chunkSize - 1) },
    tags: given.has('tags') ? body.tags : options.tags,
    incremental: given.has('incremental_sync') ? incremental : options.incrementalSync,
    requestId: body.request_id || (options.requestId ?? undefined),
    ...bounds,
  };
}
