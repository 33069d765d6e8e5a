/** Windows that were read together with others, cached for the calls that open them next. */
import { LRUCache } from 'lru-cache';

import type { SourceCache } from '../sourceCache.js';
import type { Message } from './message.js';

/** Windows by their start, each with its messages, oldest first. */
export type Windows = ReadonlyMap<number, readonly Message[]>;

/** Maximum number of cached pages per conversation. A page contains the windows that one call read. */
const MAX_PAGES = 4;
/**
 * Maximum size of all pages in characters, about 100 MB of memory. Conversations are read one after the other, so
 * older conversations can be evicted.
 */
const MAX_CHARACTERS = 50_000_000;
/** Size of a message without its text. */
const MESSAGE_CHARACTERS = 500;
const LIFE_MS = 600_000;
const KEY = 'windows';

const sizeOf = (pages: readonly Windows[]): number => {
  const messages = pages.flatMap((page) => [...page.values()].flat());
  return 1 + messages.reduce((sum, { text }) => sum + MESSAGE_CHARACTERS + text.length, 0);
};

export class WindowCache {
  readonly #pages: LRUCache<string, readonly Windows[]>;
  /** Requests whose pages may contain further windows, by key. */
  readonly inProgress = new Map<string, Promise<unknown>>();

  constructor(maxCharacters = MAX_CHARACTERS) {
    this.#pages = new LRUCache({ maxSize: maxCharacters, sizeCalculation: sizeOf, ttl: LIFE_MS });
  }

  /** Returns the pages of a conversation, the latest first. @param key contains a hash of the token */
  pagesOf(key: string): readonly Windows[] {
    return this.#pages.get(key) ?? [];
  }

  add(key: string, page: Windows): void {
    this.#pages.set(key, [page, ...this.pagesOf(key)].slice(0, MAX_PAGES));
  }
}

/** Returns the windows that calls of the source have cached. */
export function windowCacheIn(cache: SourceCache): WindowCache {
  const found = cache.get(KEY) as WindowCache | undefined;
  if (found !== undefined) return found;
  const created = new WindowCache();
  cache.set(KEY, created);
  return created;
}
