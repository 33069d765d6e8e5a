/** Lookups in external services while a caller waits: web searches, and transcripts of videos. */
import type { Fault } from '../../contract/failures.js';
import type { Reply, Service } from '../serviceClient.js';

export interface WebSearch {
  /**
   * Returns the URLs of pages, best first, deduplicated and normalised.
   * @throws Fault whose message says what to do
   */
  search(query: string, signal?: AbortSignal): Promise<readonly string[]>;
}

/** A line of a transcript with its start and duration in seconds. */
export interface TranscriptLine {
  readonly text: string;
  readonly start: number;
  readonly duration: number;
}

export interface VideoTranscripts {
  /**
   * Returns the transcript of a video in order of time; null if it has none.
   * @throws Fault not_found if the video does not exist or is private; else one whose message says what to do
   */
  transcript(videoId: string, signal?: AbortSignal): Promise<readonly TranscriptLine[] | null>;
}

/** The configured services. */
export interface Lookups {
  /**
   * Returns the configured web search.
   * @throws Fault not_configured that names the settings; one of them must be set
   */
  webSearch(): WebSearch;
  /**
   * Returns the configured transcript service.
   * @throws Fault not_configured that names the settings; one of them must be set
   */
  videoTranscripts(): VideoTranscripts;
}

/** Address and key of a service. */
export interface ServiceSettings {
  /** Base URL without a trailing slash; null: the self-hosted service is not configured. */
  readonly baseUrl: string | null;
  /** Null: not set. */
  readonly apiKey: string | null;
}

export interface LookupSettings {
  readonly search: Readonly<Record<'brave' | 'searxng', ServiceSettings>>;
  readonly transcripts: Readonly<Record<'supadata' | 'invidious', ServiceSettings>>;
  /** Time limit of one lookup in milliseconds, however many requests it takes: a caller waits for it. */
  readonly timeoutMs: number;
}

/** Sends the requests of one lookup to one service. */
export interface ServiceClient {
  /**
   * Returns the response if its status is 2xx.
   * @throws Fault for any other status
   */
  get(path: string, query?: Readonly<Record<string, string>>): Promise<Reply>;
  /**
   * Parses a response as JSON.
   * @throws Fault if it is invalid
   */
  json(reply: Reply): unknown;
  /**
   * Returns the fault of a response that does not have the documented shape.
   * @param defect as in "an invalid response: <defect>"
   */
  wrong(defect: string): Fault;
  /**
   * Waits, if the lookup's time limit allows it.
   * @throws Fault timed_out otherwise
   */
  pause(ms: number): Promise<void>;
}

/** The differences between services. */
export interface LookupService extends Service {
  /** Returns the headers that authenticate each request. */
  headers?(apiKey: string): Readonly<Record<string, string>>;
  /** Returns the fault of an error response whose status alone does not identify it; undefined for others. */
  refusal?(reply: Reply): { readonly kind: 'access_denied' | 'not_found'; readonly sentence: string } | undefined;
  /** Returns the requested wait in milliseconds, for services with their own header for it; null: none. */
  waitMs?(headers: Reply['headers']): number | null;
}

/** A search service, in webSearch/<service>.ts. */
export interface SearchService extends LookupService {
  /** Returns the addresses of the response, which the caller validates. */
  find(client: ServiceClient, query: string): Promise<readonly unknown[]>;
}

/** A transcript service, in videoTranscripts/<service>.ts. */
export interface TranscriptService extends LookupService {
  fetch(client: ServiceClient, videoId: string): Promise<readonly TranscriptLine[] | null>;
}
