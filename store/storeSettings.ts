import type { Watch } from '../observability/watch.js';
import type { FileStorageSettings } from './contents/openBlobs.js';
import type { FilesEnded } from './files/transitions.js';
import type { VectorSettings } from './vectors/vectors.js';

export interface StoreSettings {
  readonly mongodbUri: string;
  /** Keys of SECRET_KEY: the first seals secrets, all open them. */
  readonly secretKeys: readonly { readonly id: string; readonly key: Buffer }[];
  readonly qdrant: VectorSettings;
  readonly files: FileStorageSettings & {
    /** Contents up to so many bytes are kept in MongoDB. */
    readonly rowBytes: number;
  };
  /** Bytes of memory for texts that searches found. */
  readonly textCacheBytes: number;
  /** Days that events and deliveries are kept. */
  readonly eventsKeptDays: number;
  /** Days for which ended runs are stored, with their ledger. */
  readonly ledgerLifeDays: number;
  /** Files of one user in the queue at most; 0: any number. */
  readonly maxQueuedFiles: number;
  /** Milliseconds between reads of the stored version of the records. */
  readonly schemaCheckMs: number;
  /** Observes calls to MongoDB and Qdrant; unset: calls are not observed. */
  readonly watch?: Watch | null;
  /** Called with the files whose sync this process ends; unset: they are not counted. */
  readonly onFilesEnded?: FilesEnded;
  /** Returns the trace context of the current call; null or unset: none. */
  readonly traceparent?: () => string | null;
  /**
   * Milliseconds after which a call to a store that does not answer fails. For the API, whose callers wait; null or
   * unset: the longer limits of each client, for workers.
   */
  readonly timeLimitMs?: number | null;
}
