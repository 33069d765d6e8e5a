/** Recordings → what was said in them, by services of others. */
import type { Transcript, TranscriptionWishes } from '../../contract/transcripts.js';
import type { TranscriptionService } from '../../contract/uploads.js';

/** A recording, wherever it lies. */
export interface Recording {
  /** Bytes. */
  readonly size: number;
  readonly mimeType: string;
  /** The content, part after part; each call begins anew. */
  open(): Promise<AsyncIterable<Uint8Array>>;
}

/** A job at a service that works while nobody holds the line. */
export interface KeptJob {
  /** One that an earlier try has begun, to be waited for; null where there is none. */
  readonly id: string | null;
  /** Keeps what has begun; null: it came to nothing, the next try begins another. */
  keep(id: string | null): Promise<void>;
}

/**
 * One service, in providers/<service>.ts. Throws a Fault: not_configured for a key that is refused, no_text where
 * nothing is said, broken_content for what it can't read; retryable ones for what passes.
 */
export interface TranscriptionProvider {
  readonly service: TranscriptionService;
  /** @param signal ends the wait; a job that is kept goes on */
  transcribe(recording: Recording, wishes: TranscriptionWishes, job: KeptJob, signal: AbortSignal): Promise<Transcript>;
  /** Has a kept job deleted, as far as the service does that. */
  abandon(jobId: string): Promise<void>;
}

export interface Transcriptions {
  /**
   * The provider that a file asked for; null: the one that is configured.
   * @throws Fault not_configured naming the settings that are missing
   */
  choose(service: TranscriptionService | null): TranscriptionProvider;
}

/** How a service is reached. */
export interface ServiceSettings {
  /** Null: it is not configured. */
  readonly apiKey: string | null;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** As the service names them. */
  readonly model: string;
}

export interface TranscriptionSettings {
  readonly services: Readonly<Record<TranscriptionService, ServiceSettings>>;
  /** Which of several is taken where a file names none; null: the first in the registry. */
  readonly preferred: TranscriptionService | null;
  /** For one recording, its way there included. */
  readonly timeoutMs: number;
  /** Between two looks at a job. */
  readonly pollMs: number;
}
