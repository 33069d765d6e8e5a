/** A fixture: the emulator of a connected source with fixed content, and the API calls that connect the source. */
import type { Emulator } from '../../emulators/emulator.js';
import type { Answer, TestUser } from '../client.js';

/**
 * The ids of a fixture's content. All sources have the same documents and containers, under ids of the source's form.
 */
export interface FixtureContent {
  /** Top-level containers: so many that `pagesListed` is at least 3 after a listing. */
  readonly containers: readonly string[];
  /** A document in the first container. */
  readonly lighthouse: string;
  /** A document in the lighthouse's container, or a child of the lighthouse. */
  readonly keeper: string;
  /** An item whose selection syncs exactly the lighthouse and the keeper. */
  readonly branch: string;
  /** One document in each further container. */
  readonly others: readonly string[];
  /** Total number of listed items. */
  readonly items: number;
  /** The file_format of the documents. Unset: the name of the source. */
  readonly format?: string;
}

export interface SourceFixture {
  /** The source's entries in the setting SOURCE_URLS. */
  readonly settings: string;
  /** The user's credential, which must not appear anywhere in plain text. */
  readonly secret: string;
  /** All secrets issued so far, including tokens and codes. Unset: only `secret`. */
  allSecrets?(): readonly string[];
  /** The external id of its data source. */
  readonly externalId: string;
  /** Expected fields of the response to `connect`. Unset: the response is `{ success: true }`. */
  readonly connected?: Readonly<Record<string, unknown>>;
  /**
   * Restores the initial content and ends all injected faults.
   * @param more number of further documents in the first container
   */
  reset(more?: number): FixtureContent;
  connect(user: TestUser, body?: Record<string, unknown>): Promise<Answer<unknown>>;
  /** Connects with invalid credentials. */
  connectWithInvalidCredentials(user: TestUser): Promise<Answer<unknown>>;
  write(externalId: string, text: string): void;
  remove(externalId: string): void;
  /**
   * Refuses the next `requests` requests with the source's rate limit error.
   * @param retryAfterS Retry-After in seconds. Unset: 0
   */
  limit(requests: number, retryAfterS?: number): void;
  /** Answers requests for the content of one item with this status. */
  breakItem(externalId: string, status: number): void;
  /** Leaves all later requests without an answer. @param only text that the path must contain */
  hold(only?: string): void;
  /**
   * Answers the next `requests` requests and refuses all later ones; Infinity refuses none.
   * @returns a function that returns the number of refused requests
   */
  breakAfter(requests: number): () => number;
  /** Revokes the credentials. */
  revokeAccess(): void;
  /**
   * Returns the number of requests since the reset that list top-level containers. If one request returns all
   * containers, the requests that list their contents are counted instead.
   */
  pagesListed(): number;
  /**
   * Returns the number of requests for an item's content since the reset. Unset: not counted, for example because
   * listings have no versions, so that each sync requests unchanged content too.
   */
  contentRequests?(externalId: string): number;
  /** Returns the number of requests since the reset. */
  requestCount(): number;
  /** Returns the number of requests in progress. */
  requestsInProgress(): number;
  /** Returns the maximum number of concurrent requests. */
  maxConcurrent(): number;
  close(): Promise<void>;
}

export const LIGHTHOUSE = 'The lighthouse was lit in 1901.';
export const KEEPER_SENTENCE = 'Its keeper was called Aurelia.';

/**
 * Containers of every source. The first one contains the lighthouse and the keeper; each other one contains a document
 * about itself.
 */
export const CONTAINERS = ['atlas', 'boats', 'crews', 'docks', 'eels'] as const;
export const OTHERS = ['boats', 'crews', 'docks', 'eels'] as const;

/** Returns further documents for a reset. @param make converts a name and a text to the emulator's entry */
export const moreDocuments = <T>(count: number, make: (name: string, text: string) => readonly [string, T]) =>
  Array.from({ length: count }, (_, index) => make(`m${index}`, `More, ${index}.`));

/** A fault that each emulator answers with a body in the source's form. */
const BAD_REQUEST = { status: 400 };

/** Returns the members that every fixture derives from its emulator. */
export const fixtureOn = ({ injectFault, load, requests, close }: Emulator<never>) => ({
  breakAfter(admitted: number): () => number {
    let received = 0;
    injectFault(() => {
      received += 1;
      return received > admitted ? (BAD_REQUEST as never) : null;
    });
    return () => Math.max(0, received - admitted);
  },
  requestCount: (): number => requests.length,
  hold: (only = ''): void => injectFault((path) => (path.includes(only) ? 'hang' : null)),
  requestsInProgress: (): number => load.current,
  maxConcurrent: (): number => load.max,
  close,
});
