import type { EmbeddingModelId } from './embeddingModels.js';
import type { FileFilters } from './fileFilters.js';
import { type EmbeddingStorageStatus, FINAL_FILE_STATUSES, type FileSyncStatus } from './statuses.js';
import { isGivenSpace } from './uploads.js';

/** What a run of re-embedding was asked for. */
export interface ReembedRequest {
  readonly filters: FileFilters;
  /** Null: each file keeps its model, and its vectors are made again (`vectors rebuild`). */
  readonly model: EmbeddingModelId | null;
  /** The only space whose files are rebuilt; absent: every space. */
  readonly space?: string;
  /** What the run may embed at most; null: whatever there is. */
  readonly maxTokens: number | null;
}

/** Where the vectors are to be. */
export interface ReembedTarget {
  readonly model: EmbeddingModelId;
  readonly space: string;
}

/** Why a file that the filters name keeps the vectors it has. */
export const KEPT_REASONS = [
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
export type KeptReason = (typeof KEPT_REASONS)[number];

/** What of a file decides whether it can be embedded anew, and what that takes. */
export interface ReembedCandidate {
  readonly _id: number;
  readonly isContainer: boolean;
  readonly syncStatus: FileSyncStatus;
  readonly syncErrorMessage: string | null;
  readonly embeddingStorageStatus: EmbeddingStorageStatus;
  readonly vectorSpace: string | null;
  readonly numChunks: number;
  /** False of a picture that was embedded as what it shows. */
  readonly hasText: boolean;
  readonly options: { readonly embeddingModel: EmbeddingModelId; readonly chunkOverlap: number };
  readonly statistics: { readonly numTokens: number | null } | null;
}

/** sync_error_message of a file while a delete is at work on it. */
export const BEING_DELETED = 'This file is being deleted.';

/**
 * Why a file keeps its vectors; null for one that is to be embedded anew.
 * @param target null: its vectors are made again as they are, whatever they were made from
 */
export function keptReason(file: ReembedCandidate, target: ReembedTarget | null): KeptReason | null {
  if (file.isContainer) return 'container';
  if (file.syncErrorMessage === BEING_DELETED) return 'being_deleted';
  if (!(FINAL_FILE_STATUSES as readonly FileSyncStatus[]).includes(file.syncStatus)) return 'syncing';
  if (file.embeddingStorageStatus !== 'HOT_STORAGE') return 'cold_storage';
  if (file.vectorSpace === null || file.numChunks === 0) return 'no_vectors';
  if (target === null) return null;
  if (isGivenSpace(file.vectorSpace)) return 'given_vectors';
  if (!file.hasText) return 'picture';
  return file.options.embeddingModel === target.model && file.vectorSpace === target.space ? 'already_embedded' : null;
}

/** Tokens that the chunks of a file have at most: those of its text, and the overlaps once more. */
export const tokensOf = ({ statistics, numChunks, options }: ReembedCandidate): number =>
  (statistics?.numTokens ?? 0) + Math.max(0, numChunks - 1) * options.chunkOverlap;
