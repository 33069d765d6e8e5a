/** A page of a stream: its text, and the position after it. */
interface Page {
  readonly text: string;
  readonly next: number;
}

/** Maximum number of cached pages, each of up to some hundred kilobytes. */
const MAX_PAGES = 32;

/** Caches pages, so that clients at the same position of a feed share one read. */
export interface PageCache {
  /** @param key caller, position and end of the page */
  of(key: string, read: () => Promise<Page>): Promise<Page>;
}

/** Creates a cache of the last pages. Failed reads are not cached. */
export function createPageCache(): PageCache {
  const cachedPages = new Map<string, Promise<Page>>();
  return {
    of(key, read) {
      const page = cachedPages.get(key);
      if (page) return page;
      const reading = read();
      cachedPages.set(key, reading);
      reading.catch(() => cachedPages.delete(key));
      for (const oldest of cachedPages.keys()) {
        if (cachedPages.size <= MAX_PAGES) break;
        cachedPages.delete(oldest);
      }
      return reading;
    },
  };
}
