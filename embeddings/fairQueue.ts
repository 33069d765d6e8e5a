export interface FairQueue<Caller, Item> {
  add(caller: Caller, items: readonly Item[]): void;
  /** The next item: callers take turns, one item each, so a short list never waits for the whole of a long one. */
  take(): Item | undefined;
  /** Forgets what the caller still has waiting. */
  drop(caller: Caller): void;
  /** Nothing is left to take. */
  isEmpty(): boolean;
}

/** Makes a queue in which callers wait in a ring: whoever was served goes to its end. */
export function createFairQueue<Caller, Item>(): FairQueue<Caller, Item> {
  // A Map keeps the order of insertion, so taking a caller out and putting it back is going to the end of the ring.
  const ring = new Map<Caller, Item[]>();

  return {
    add(caller, items) {
      // Reversed, so that pop() gives the first: shift() is slow on long lists.
      if (items.length > 0) ring.set(caller, items.toReversed());
    },
    take() {
      for (const [caller, items] of ring) {
        ring.delete(caller);
        const item = items.pop();
        if (items.length > 0) ring.set(caller, items);
        return item;
      }
      return undefined;
    },
    drop(caller) {
      ring.delete(caller);
    },
    isEmpty: () => ring.size === 0,
  };
}
