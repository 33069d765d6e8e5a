/** What outside services are asked while a caller waits: pages on a subject, and what is said in a video. */
import type { Fault } from '../../contract/failures.js';
import type { Reply, Service } from '../serviceClient.js';

export interface WebSearch {
  /** Addresses of pages, best first, each once and normalised. @throws Fault whose message says what to do */
  search(query: string, signal?: AbortSignal): Promise<readonly string[]>;
}

/** What is said between two moments of a video, in seconds. */
export interface TranscriptLine {
  readonly text: string;
  readonly start: number;
  readonly duration: number;
}

export interface VideoTranscripts {
  /**
   * What is said in a video, in the order of time; null where it has no transcript.
   * @throws Fault not_found where there is no such video, or none that may be seen; else one whose message says what to do
   */
  transcript(videoId: string, signal?: AbortSignal): Promise<readonly TranscriptLine[] | null>;
}

/** The services that are configured. */
export interface Lookups {
  /** @throws Fault not_configured naming the settings of which one is missing */
  webSearch(): WebSearch;
  /** @throws Fault not_configured likewise */
  videoTranscripts(): VideoTranscripts;
}

/** How a service is reached. */
export interface ServiceSettings {
  /** Without a slash at its end; null, for a service of one's own: it is not configured. */
  readonly baseUrl: string | null;
  /** Null where none is set. */
  readonly apiKey: string | null;
}

export interface LookupSettings {
  readonly search: Readonly<Record<'brave' | 'searxng', ServiceSettings>>;
  readonly transcripts: Readonly<Record<'supadata' | 'invidious', ServiceSettings>>;
  /** For one question, however many requests it takes: somebody waits for it. */
  readonly timeoutMs: number;
}

/** Asks one service one question, which may take several requests. */
export interface ServiceClient {
  /** The answer of a 2xx. @throws Fault for any other */
  get(path: string, query?: Readonly<Record<string, string>>): Promise<Reply>;
  /** A reply as JSON. @throws Fault for anything else */
  json(reply: Reply): unknown;
  /** The fault of an answer that is not as it is described. @param what as in "a wrong answer: <what>" */
  wrong(what: string): Fault;
  /** Waits, if the question's time allows. @throws Fault timed_out where it does not */
  pause(ms: number): Promise<void>;
}

/** What is particular to one service. */
export interface LookupService extends Service {
  /** What each request carries to say who asks. */
  headers?(apiKey: string): Readonly<Record<string, string>>;
  /** A refusal in the service's own words; undefined where its status says what it means. */
  refusal?(reply: Reply): { readonly kind: 'access_denied' | 'not_found'; readonly sentence: string } | undefined;
  /** How long it asks to wait, where it says so in a way of its own. */
  waitMs?(headers: Reply['headers']): number | null;
}

/** In webSearch/<service>.ts. */
export interface SearchService extends LookupService {
  /** Addresses as the answer has them; checked by the caller. */
  find(client: ServiceClient, query: string): Promise<readonly unknown[]>;
}

/** In videoTranscripts/<service>.ts. */
export interface TranscriptService extends LookupService {
  fetch(client: ServiceClient, videoId: string): Promise<readonly TranscriptLine[] | null>;
}
