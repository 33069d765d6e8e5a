/** On whose behalf something is embedded: organizations take turns, and the users of each among themselves. */
export interface Party {
  readonly organizationId: number;
  readonly userId?: number;
}

export interface FairQueue<Owner extends object, Item> {
  /**
   * Adds an owner's items.
   * @param party takes the turns; owners of one party are served one after the other. By default each owner is its own party.
   */
  add(owner: Owner, items: readonly Item[], party?: Party): void;
  /** Puts what follows an item of the owner first: it is taken at the next turn of the owner's party. */
  resume(owner: Owner, item: Item, party?: Party): void;
  /** The next item: parties take turns, one item each, so a short list never waits for the whole of a long one. */
  take(): Item | undefined;
  /** Removes what the owner still has waiting. */
  drop(owner: Owner): void;
  /** Nothing is left to take. */
  isEmpty(): boolean;
}

/** The owners of one user, in their order; each with its items in reverse, because shift() is slow on long lists. */
type Turn<Owner, Item> = Map<Owner, Item[]>;

/** Makes a queue of two rings: organizations (or owners without a party), then their users. One that was served goes to the end. */
export function createFairQueue<Owner extends object, Item>(): FairQueue<Owner, Item> {
  // A Map keeps the order of insertion: deleting a key and setting it again moves it to the end of the ring.
  const ring = new Map<unknown, Map<unknown, Turn<Owner, Item>>>();
  const partyOf = new WeakMap<Owner, Party | undefined>();

  const keysOf = (owner: Owner, party: Party | undefined): readonly [unknown, unknown] => [
    party?.organizationId ?? owner,
    party?.userId,
  ];

  function put(owner: Owner, party: Party | undefined, change: (turn: Turn<Owner, Item>) => Turn<Owner, Item>): void {
    const [organization, user] = keysOf(owner, party);
    const users = ring.get(organization) ?? new Map<unknown, Turn<Owner, Item>>();
    users.set(user, change(users.get(user) ?? new Map<Owner, Item[]>()));
    partyOf.set(owner, party);
    ring.set(organization, users);
  }

  return {
    add(owner, items, party) {
      if (items.length > 0) put(owner, party, (turn) => turn.set(owner, items.toReversed()));
    },
    resume(owner, item, party) {
      put(owner, party, (turn) => {
        const rest = turn.get(owner) ?? [];
        turn.delete(owner);
        return new Map([[owner, [...rest, item]], ...turn]);
      });
    },
    take() {
      for (const [organization, users] of ring) {
        ring.delete(organization);
        for (const [user, turn] of users) {
          users.delete(user);
          for (const [owner, items] of turn) {
            const item = items.pop();
            if (items.length === 0) turn.delete(owner);
            if (turn.size > 0) users.set(user, turn);
            if (users.size > 0) ring.set(organization, users);
            return item;
          }
        }
      }
      return undefined;
    },
    drop(owner) {
      const [organization, user] = keysOf(owner, partyOf.get(owner));
      const users = ring.get(organization);
      const turn = users?.get(user);
      turn?.delete(owner);
      if (turn?.size === 0) users?.delete(user);
      if (users?.size === 0) ring.delete(organization);
    },
    isEmpty: () => ring.size === 0,
  };
}
