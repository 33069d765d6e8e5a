/** What the catalogue suite needs of a connected source: its emulator with the same content, and how a caller connects to it. */
import type { Emulator } from '../../emulators/emulator.js';
import type { Answer, TestUser } from '../client.js';

/** The same content at every source: containers, one with things in things. Ids are the source's own. */
export interface StandContent {
  /** Outermost containers, in three pages of listings or more. */
  readonly containers: readonly string[];
  /** In the first container. */
  readonly lighthouse: string;
  /** Beside the lighthouse, or below it. */
  readonly keeper: string;
  /** Selected, it brings in the lighthouse and the keeper, and nothing else. */
  readonly branch: string;
  /** One in each further container. */
  readonly others: readonly string[];
  /** Of everything that is listed. */
  readonly items: number;
  /** The file_format of its documents, where it is not the source's own; of the lighthouse's kind. */
  readonly format?: string;
}

export interface SourceStand {
  /** Its part of SOURCE_URLS. */
  readonly settings: string;
  /** What its user hands over, and must be found nowhere. */
  readonly secret: string;
  /** All that was ever handed over for it, tokens and codes included; unset: that one alone. */
  allSecrets?(): readonly string[];
  /** The external id of its data source. */
  readonly externalId: string;
  /** What connecting answers, where that is the record. */
  readonly connected?: Readonly<Record<string, unknown>>;
  /** Puts the content of the catalogue there, and mends whatever went wrong. @param more documents in the first container */
  reset(more?: number): StandContent;
  connect(user: TestUser, body?: Record<string, unknown>): Promise<Answer<unknown>>;
  /** The same with credentials that nobody has. */
  connectAsNobody(user: TestUser): Promise<Answer<unknown>>;
  write(externalId: string, text: string): void;
  remove(externalId: string): void;
  /** Refuses the next requests for being too many. @param forS how long it asks to wait; unset: not at all */
  limit(requests: number, forS?: number): void;
  /** Answers requests for the content of one item with a status. */
  breakItem(externalId: string, status: number): void;
  /** Leaves what is asked from now on without an answer. @param only paths that have this in them */
  hold(only?: string): void;
  /** Refuses what is asked from now on, but for so many requests; Infinity: none. @returns how many it has refused */
  breakAfter(requests: number): () => number;
  /** No longer takes the credentials. */
  takeBack(): void;
  /** Listings of outermost containers that were asked for since the reset. */
  pagesListed(): number;
  /** How often the content of an item was asked for since the reset; unset for sources whose listings tell no versions. */
  contentAsked?(externalId: string): number;
  /** Requests since the reset. */
  asked(): number;
  /** Requests that are under way. */
  underWay(): number;
  /** Requests that were under way at once at most. */
  mostAtOnce(): number;
  close(): Promise<void>;
}

export const LIGHTHOUSE = 'The lighthouse was lit in 1901.';
export const KEEPER = 'Its keeper was called Aurelia.';

/** Containers of every source. Its first one holds the lighthouse and the keeper, each other one a document about itself. */
export const CONTAINERS = ['atlas', 'boats', 'crews', 'docks', 'eels'] as const;
export const OTHERS = ['boats', 'crews', 'docks', 'eels'] as const;

/** The further documents of a reset. @param make a name and a text to what the emulator keeps */
export const moreDocuments = <T>(more: number, make: (name: string, text: string) => readonly [string, T]) =>
  Array.from({ length: more }, (_, index) => make(`m${index}`, `More, ${index}.`));

/** In the words of each source. */
const BAD_REQUEST = { status: 400 };

/** What is the same for every stand, of its emulator. */
export const standOn = ({ misbehave, load, requests, close }: Emulator<never>) => ({
  breakAfter(admitted: number): () => number {
    let asked = 0;
    misbehave(() => {
      asked += 1;
      return asked > admitted ? (BAD_REQUEST as never) : null;
    });
    return () => Math.max(0, asked - admitted);
  },
  asked: (): number => requests.length,
  hold: (only = ''): void => misbehave((path) => (path.includes(only) ? 'hang' : null)),
  underWay: (): number => load.now,
  mostAtOnce: (): number => load.most,
  close,
});
