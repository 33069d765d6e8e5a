import type { CallObserver } from '../observability/watch.js';
import type { FileStorageSettings } from './contents/openBlobs.js';
import type { FilesEnded } from './files/transitions.js';
import type { VectorSettings } from './vectors/vectors.js';

export interface StoreSettings {
  readonly mongodbUri: string;
  /** Keys of SECRET_KEY: the first encrypts secrets, all decrypt them. */
  readonly secretKeys: readonly { readonly id: string; readonly key: Buffer }[];
  readonly qdrant: VectorSettings;
  readonly files: FileStorageSettings & {
    /** Maximum size in bytes of contents that are stored in MongoDB. */
    readonly rowBytes: number;
  };
  /** Maximum memory in bytes for cached texts of chunks. */
  readonly textCacheBytes: number;
  /** Days for which events and deliveries are kept. */
  readonly eventsKeptDays: number;
  /** Days for which ended runs are stored, with their ledger. */
  readonly ledgerLifeDays: number;
  /** Maximum number of queued files of one user; 0: no limit. */
  readonly maxQueuedFiles: number;
  /** Milliseconds between reads of the stored version of the records. */
  readonly schemaCheckMs: number;
  /** Observes calls to MongoDB and Qdrant; unset: calls are not observed. */
  readonly watch?: CallObserver | null;
  /** Called with the number of files whose sync a write of this process ended; unset: they are not counted. */
  readonly onFilesEnded?: FilesEnded;
  /** Returns the trace context of the current call; null if it has none. Unset: calls have no trace. */
  readonly traceparent?: () => string | null;
  /**
   * Milliseconds after which a call to a store that does not answer fails. For the API, whose callers wait; null or
   * unset: the longer limits of each client, for workers.
   */
  readonly timeLimitMs?: number | null;
}
