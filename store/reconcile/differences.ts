import type { Tenant } from '../users/accept.js';

/** Each kind of difference between records and stored data, and its repair. */
export const DIFFERENCES = {
  stray_chunks: 'chunks without a record (repair: delete them)',
  stray_points: 'points without a record (repair: delete them)',
  stray_contents: 'contents without a record (repair: delete them)',
  stray_originals: 'uploaded contents without a record (repair: delete them)',
  stray_pages: 'recognized pages without a file (repair: delete them)',
  stray_stored: 'objects in file storage without a record (repair: delete them)',
  stray_items: 'items of a data source that does not exist (repair: delete them)',
  missing_chunks: 'files that lack chunks (repair: queue a resync)',
  damaged_collection:
    'vector collections that are missing or unreadable; npm run cli -- vectors rebuild creates them again',
  damaged_vectors: 'files with unreadable or altered vectors; npm run cli -- vectors rebuild computes them again',
  missing_points: 'files that lack points (repair: queue a resync)',
  missing_sparse: 'files whose points lack sparse vectors (repair: queue a resync)',
  missing_content: 'files whose stored content is missing (repair: queue a resync)',
  missing_cold_copy: 'files in cold storage whose vectors are missing (repair: queue a resync)',
  missing_original: 'uploads whose content is missing; upload them again',
  missing_source: 'files of a data source that does not exist; delete them, or connect the account again',
  other_tags: 'files whose points have other tags than the record (repair: write the tags again)',
  wrong_count: 'records with a wrong number of chunks (repair: count again)',
  wrong_page_counts: 'scrapes whose counts of pages do not add up (repair: count again)',
  unfinished_cleanup: 'files that still have content of older generations (repair: delete that content)',
  stuck: 'unfinished files without an active run (repair: set them to SYNC_ABORTED, so that a resync is possible)',
} as const;
export type DifferenceKind = keyof typeof DIFFERENCES;

/** A repair of a difference. */
export type Repair =
  | { readonly do: 'deleteChunks' | 'deleteContents'; readonly generation: number }
  | { readonly do: 'deletePoints'; readonly space: string; readonly generation: number; readonly fromChunk: number }
  | { readonly do: 'deletePages' }
  | { readonly do: 'releaseOriginal'; readonly id: number }
  | { readonly do: 'deleteStored'; readonly key: string }
  | { readonly do: 'deleteItems'; readonly dataSourceId: number }
  | { readonly do: 'resync' }
  | { readonly do: 'setTags' }
  | { readonly do: 'setCount'; readonly numChunks: number }
  | { readonly do: 'countPages' }
  | { readonly do: 'cleanUp' }
  | { readonly do: 'abort'; readonly runId: number };

/** One difference of one file, or of a whole store. */
export interface Finding {
  readonly kind: DifferenceKind;
  /** Description for operators. */
  readonly what: string;
  /** The repair; null if it needs an operator. */
  readonly repair: Repair | null;
}

/** A finding with its owner. */
export interface Difference extends Finding {
  readonly organizationId: number;
  /** Null for a collection, which several users share, and for an object in file storage, whose owner is not known. */
  readonly userId: number | null;
  readonly fileId: number | null;
}

/** The result of a repair: done, or not done, with the reason. */
export type RepairResult = { readonly done: true } | { readonly done: false; readonly why: string };

export interface ReconcileOptions {
  /** Organization to compare; null: all organizations. */
  readonly organizationId: number | null;
  /** Whether differences are repaired. */
  readonly repairs: boolean;
  /**
   * Queues a file for a sync that writes everything again, as a resync does. Returns the reason if it cannot; otherwise
   * null.
   */
  resync(owner: Tenant, fileId: number): Promise<string | null>;
  /** Returns whether a text has terms, so that its chunk must have a sparse vector. */
  hasTerms(text: string): boolean;
  /** Whether to read the vectors of all chunks instead of a sample. */
  readonly readsAllVectors?: boolean;
  /**
   * Embeds texts again for a comparison with the stored vectors; returns null for a space that is not compared. Absent:
   * no space is compared.
   */
  embed?(tenant: Tenant, space: string, texts: readonly string[]): Promise<readonly Float32Array[] | null>;
  onDifference(difference: Difference, repaired: RepairResult | null): void;
  onProgress?(progress: Progress): void;
}

/** Numbers of compared records and data. */
export interface Progress {
  organizations: number;
  users: number;
  files: number;
  /** Skipped files: an active run owns them, or they changed during the comparison. */
  busy: number;
  points: number;
  stored: number;
}
