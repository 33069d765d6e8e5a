/** Transcribes recordings with external services. */
import type { Transcript, TranscriptionOptions } from '../../contract/files/transcripts.js';
import type { TranscriptionService } from '../../contract/files/uploads.js';

/** A recording with its content. */
export interface Recording {
  /** Bytes. */
  readonly size: number;
  readonly mimeType: string;
  /** Opens the content as a stream of parts; each call starts from the beginning. */
  open(): Promise<AsyncIterable<Uint8Array>>;
}

/** The stored job of a service that works asynchronously. */
export interface StoredJob {
  /** Id of the job that an earlier attempt created; null if there is none. */
  readonly id: string | null;
  /** Stores the id of a created job; null: the job failed, and the next attempt creates another. */
  save(id: string | null): Promise<void>;
}

/**
 * One service, in providers/<service>.ts. Throws a Fault: not_configured for a rejected key, no_text for a recording
 * without speech, broken_content for unreadable content; retryable ones for temporary failures.
 */
export interface TranscriptionProvider {
  readonly service: TranscriptionService;
  /** @param signal ends the wait; a stored job continues */
  transcribe(
    recording: Recording,
    options: TranscriptionOptions,
    job: StoredJob,
    signal: AbortSignal,
  ): Promise<Transcript>;
  /** Deletes a stored job, if the service supports it. */
  abandon(jobId: string): Promise<void>;
}

export interface Transcriptions {
  /**
   * Returns the provider of a service.
   * @param service the service that a file requested; null: the preferred one, else the first configured one
   * @throws Fault not_configured naming the settings that are missing
   */
  choose(service: TranscriptionService | null): TranscriptionProvider;
}

/** Address, key and model of a service. */
export interface ServiceSettings {
  /** Null: not configured. */
  readonly apiKey: string | null;
  /** Base URL without a trailing slash. */
  readonly baseUrl: string;
  /** The service's name of the model. */
  readonly model: string;
}

export interface TranscriptionSettings {
  readonly services: Readonly<Record<TranscriptionService, ServiceSettings>>;
  /** The service for files that request none; if it is not configured, choose() throws. Null: the first configured. */
  readonly preferred: TranscriptionService | null;
  /** Time limit of one recording in milliseconds, including the upload. */
  readonly timeoutMs: number;
  /** Interval between two polls of a job in milliseconds. */
  readonly pollMs: number;
}
