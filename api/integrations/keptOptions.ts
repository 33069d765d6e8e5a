import type { IngestOptions } from '../../contract/ingestOptions.js';
import type { TagValue } from '../../contract/records.js';
import type { DataSourceDoc } from '../../store/dataSources/model.js';
import { type SelectionBody, toConnectedIngest } from '../schemas/integrations.js';

/** Which of our options a field of a request is. */
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

/** How the files of a selection are to be made. */
export interface Wishes {
  readonly ingest: IngestOptions;
  readonly tags: Readonly<Record<string, TagValue>>;
  readonly incremental: boolean;
  readonly requestId: string | undefined;
  /** Whether only what it would take is asked. */
  readonly dryRun: boolean;
  readonly maxTokens: number | undefined;
}

type Options = { -readonly [Name in keyof IngestOptions]?: IngestOptions[Name] | undefined };

/** Gives an option the value that it has elsewhere; removes it if it has none there. */
function copyOption<Name extends keyof Options>(from: Options, to: Options, name: Name): void {
  to[name] = from[name];
  if (to[name] === undefined) delete to[name];
}

/**
 * What a selection asks for: fields that were given say it, and the connection the rest, where its own call said it.
 * @param given names of the fields that were given
 */
export function selectionWishes(
  body: SelectionBody,
  given: ReadonlySet<string>,
  { options }: Pick<DataSourceDoc, 'options'>,
): Wishes {
  const asked = toConnectedIngest(body);
  const incremental = body.incremental_sync ?? false;
  const bounds = { dryRun: body.dry_run, maxTokens: body.max_tokens };
  if (!options) return { ingest: asked, tags: body.tags, incremental, requestId: body.request_id, ...bounds };
  const own = new Set<string>(Object.entries(OPTIONS_OF).flatMap(([field, names]) => (given.has(field) ? names : [])));
  // In the order of what is kept, for the same options in another order would look like others. What the call leaves out
  // of what it says itself is as if nobody had said it, not as the connection has it.
  const ingest = { ...options.ingest, ...asked };
  for (const name of Object.keys(ingest) as (keyof IngestOptions)[])
    copyOption(own.has(name) ? asked : options.ingest, ingest, name);
  return {
    // Each was less than its own size.
    ingest: { ...ingest, chunkOverlap: Math.min(ingest.chunkOverlap, ingest.chunkSize - 1) },
    tags: given.has('tags') ? body.tags : options.tags,
    incremental: given.has('incremental_sync') ? incremental : options.incrementalSync,
    requestId: body.request_id || (options.requestId ?? undefined),
    ...bounds,
  };
}
