export interface FairQueue<Owner extends object, Item> {
  /**
   * Adds what an owner wants done.
   * @param party who takes turns; owners of one party are served one after the other. By default each owner is its own party.
   */
  add(owner: Owner, items: readonly Item[], party?: unknown): void;
  /** The next item: parties take turns, one item each, so a short list never waits for the whole of a long one. */
  take(): Item | undefined;
  /** Forgets what the owner still has waiting. */
  drop(owner: Owner): void;
  /** Nothing is left to take. */
  isEmpty(): boolean;
}

/** Makes a queue in which parties wait in a ring: whoever was served goes to its end. */
export function createFairQueue<Owner extends object, Item>(): FairQueue<Owner, Item> {
  // A Map keeps the order of insertion: taking a party out and putting it back is going to the end of the ring, and
  // the owners of a party stand in the order they came.
  const ring = new Map<unknown, Map<Owner, Item[]>>();
  const partyOf = new WeakMap<Owner, unknown>();

  return {
    add(owner, items, party = owner) {
      if (items.length === 0) return;
      const owners = ring.get(party) ?? new Map<Owner, Item[]>();
      // Reversed, so that pop() gives the first: shift() is slow on long lists.
      owners.set(owner, items.toReversed());
      partyOf.set(owner, party);
      ring.set(party, owners);
    },
    take() {
      for (const [party, owners] of ring) {
        ring.delete(party);
        for (const [owner, items] of owners) {
          const item = items.pop();
          if (items.length === 0) owners.delete(owner);
          if (owners.size > 0) ring.set(party, owners);
          return item;
        }
      }
      return undefined;
    },
    drop(owner) {
      const party = partyOf.get(owner);
      const owners = ring.get(party);
      owners?.delete(owner);
      if (owners?.size === 0) ring.delete(party);
    },
    isEmpty: () => ring.size === 0,
  };
}
