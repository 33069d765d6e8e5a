import type { Tenant } from '../users/accept.js';

/** Each kind of difference between records and stored data, and its repair. */
export const DIFFERENCES = {
  stray_chunks: 'chunks that no record names; deleted',
  stray_points: 'points that no record names; deleted',
  stray_contents: 'contents that no record names; deleted',
  stray_originals: 'sent contents that no record names; deleted',
  stray_pages: 'recognized pages of no file; deleted',
  stray_stored: 'stored files that no record names; deleted',
  stray_items: 'items of a data source that is not there; deleted',
  missing_chunks: 'files that lack chunks; queued for a resync',
  damaged_collection:
    'vector collections that are gone or cannot be read; npm run cli -- vectors rebuild makes them again',
  damaged_vectors: 'files with unreadable or altered vectors; npm run cli -- vectors rebuild makes them again',
  missing_points: 'files that lack points; queued for a resync',
  missing_sparse: 'files whose points lack sparse vectors; queued for a resync',
  missing_content: 'files whose kept content is gone; queued for a resync',
  missing_cold_copy: 'files in cold storage whose vectors are gone; queued for a resync',
  missing_original: 'uploads whose content is gone; upload them again',
  missing_source: 'files of a data source that is not there; delete them, or connect the account again',
  other_tags: 'files whose points carry other tags; written again',
  wrong_count: 'records with a wrong number of chunks; counted again',
  wrong_page_counts: 'scrapes whose counts of pages do not add up; counted again',
  unfinished_cleanup: 'files whose older content was not cleared away; cleared away',
  stuck: 'unfinished files without an active run; ended SYNC_ABORTED, to be synced again',
} as const;
export type DifferenceKind = keyof typeof DIFFERENCES;

/** What would put a difference right. */
export type Mend =
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

/** One difference of one file, or of a store where there is none. */
export interface Finding {
  readonly kind: DifferenceKind;
  /** For people. */
  readonly what: string;
  /** Null: only a person can mend it. */
  readonly mend: Mend | null;
}

/** A finding with whose it is. */
export interface Difference extends Finding {
  readonly organizationId: number;
  /** Null if only a name in file storage shows it. */
  readonly userId: number | null;
  readonly fileId: number | null;
}

/** The result of a repair: done; not done, for a reason; or skipped because the file is being processed. */
export type Mended = { readonly done: true } | { readonly done: false; readonly why: string };

export interface ReconcileOptions {
  /** Null: all. */
  readonly organizationId: number | null;
  /** Whether what is found is mended. */
  readonly mends: boolean;
  /** Queues a file for a sync that writes everything again, as a resync does. Returns why not, or null. */
  resync(owner: Tenant, fileId: number): Promise<string | null>;
  /** Whether a text has terms, so that its chunk is to have a sparse vector. */
  hasTerms(text: string): boolean;
  /** Reads the vectors of all chunks, not of a sample. */
  readonly readsAllVectors?: boolean;
  /** Embeds texts again, to be compared with the stored vectors; null for a space that is not to be compared. Absent: none is. */
  embed?(tenant: Tenant, space: string, texts: readonly string[]): Promise<readonly Float32Array[] | null>;
  onDifference(difference: Difference, mended: Mended | null): void;
  onProgress?(progress: Progress): void;
}

/** What was looked at. */
export interface Progress {
  organizations: number;
  users: number;
  files: number;
  /** Files of active runs, or that changed during the comparison: skipped. */
  busy: number;
  points: number;
  stored: number;
}
