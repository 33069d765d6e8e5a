import type { EmbeddingModelId } from '../vectors/embeddingModels.js';
import type { FileFilters } from '../files/fileFilters.js';
import { type EmbeddingStorageStatus, FINAL_FILE_STATUSES, type FileSyncStatus } from '../files/statuses.js';
import { isCallerSpace } from '../vectors/spaces.js';

/** Request of a re-embedding run. */
export interface ReembedRequest {
  readonly filters: FileFilters;
  /** Null: each file keeps its model, and its vectors are computed again (`vectors rebuild`). */
  readonly model: EmbeddingModelId | null;
  /** Only files of this vector space are rebuilt; absent: all spaces. */
  readonly space?: string;
  /** Maximum number of tokens that the run embeds; null: unlimited. */
  readonly maxTokens: number | null;
}

/** The model and space of the new vectors. */
export interface ReembedTarget {
  readonly model: EmbeddingModelId;
  readonly space: string;
}

/** Why a file that matches the filters keeps its vectors. */
export const REEMBED_SKIP_REASONS = [
  'already_embedded',
  'being_deleted',
  'cold_storage',
  'container',
  'given_vectors',
  'no_vectors',
  'over_max_tokens',
  'picture',
  'syncing',
] as const;
export type ReembedSkipReason = (typeof REEMBED_SKIP_REASONS)[number];

/** Fields of a file that decide whether it can be embedded again, and at what cost. */
export interface ReembedCandidate {
  readonly _id: number;
  readonly isContainer: boolean;
  readonly syncStatus: FileSyncStatus;
  readonly syncErrorMessage: string | null;
  readonly embeddingStorageStatus: EmbeddingStorageStatus;
  readonly vectorSpace: string | null;
  readonly numChunks: number;
  /** False for a picture that was embedded as a picture. */
  readonly hasText: boolean;
  readonly options: { readonly embeddingModel: EmbeddingModelId; readonly chunkOverlap: number };
  readonly statistics: { readonly numTokens: number | null } | null;
}

/** sync_error_message of a file while it is being deleted. */
export const BEING_DELETED = 'This file is being deleted.';

/**
 * Returns the reason why a file keeps its vectors; null if it is embedded again.
 * @param target null: the vectors are computed again with each file's model
 */
export function reembedSkipReason(file: ReembedCandidate, target: ReembedTarget | null): ReembedSkipReason | null {
  if (file.isContainer) return 'container';
  if (file.syncErrorMessage === BEING_DELETED) return 'being_deleted';
  if (!(FINAL_FILE_STATUSES as readonly FileSyncStatus[]).includes(file.syncStatus)) return 'syncing';
  if (file.embeddingStorageStatus !== 'HOT_STORAGE') return 'cold_storage';
  if (file.vectorSpace === null || file.numChunks === 0) return 'no_vectors';
  if (target === null) return null;
  if (isCallerSpace(file.vectorSpace)) return 'given_vectors';
  if (!file.hasText) return 'picture';
  return file.options.embeddingModel === target.model && file.vectorSpace === target.space ? 'already_embedded' : null;
}

/**
 * Returns the estimated number of tokens of a file's chunks: the tokens of its text, plus the maximum overlaps. Omits
 * file names that are prepended to chunks.
 */
export const tokensOf = ({ statistics, numChunks, options }: ReembedCandidate): number =>
  (statistics?.numTokens ?? 0) + Math.max(0, numChunks - 1) * options.chunkOverlap;
