/** A page of a stream: its text, and the position after it. */
interface Page {
  readonly text: string;
  readonly next: number;
}

/** Maximum number of remembered pages. A page has at most some hundred kilobytes. */
const MOST = 32;

/** Shares reads of pages: viewers at the same position of a feed receive the same text. */
export interface Pages {
  /** @param key caller, position and end of the page */
  of(key: string, read: () => Promise<Page>): Promise<Page>;
}

/** Creates a memory of the last pages. Failed reads are not kept. */
export function createPages(): Pages {
  const known = new Map<string, Promise<Page>>();
  return {
    of(key, read) {
      const page = known.get(key);
      if (page) return page;
      const reading = read();
      known.set(key, reading);
      reading.catch(() => known.delete(key));
      for (const oldest of known.keys()) {
        if (known.size <= MOST) break;
        known.delete(oldest);
      }
      return reading;
    },
  };
}
