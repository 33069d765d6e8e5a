/** The tenant for which texts are embedded. Organizations are served round-robin, and so are the users of each. */
export interface FairnessKey {
  readonly organizationId: number;
  readonly userId?: number;
}

export interface FairQueue<Owner extends object, Item> {
  /**
   * Adds an owner's items.
   * @param fairnessKey the unit of round-robin; owners of one fairnessKey are served one after the other. By default each owner is
   * its own fairnessKey.
   */
  add(owner: Owner, items: readonly Item[], fairnessKey?: FairnessKey): void;
  /** Adds the item that continues an owner's work at the front: it is taken at the next turn of the owner's fairnessKey. */
  resume(owner: Owner, item: Item, fairnessKey?: FairnessKey): void;
  /**
   * Removes and returns the next item. Organizations and users take turns with one item each, so a short list never
   * waits for the whole of a long one.
   */
  take(): Item | undefined;
  /** Removes the owner's remaining items. */
  drop(owner: Owner): void;
  /** Whether no item is left. */
  isEmpty(): boolean;
}

/** The owners of one user, in order; each with its items in reverse, because shift() is slow on long lists. */
type Turn<Owner, Item> = Map<Owner, Item[]>;

/**
 * Creates a queue of two rings: organizations (or owners without a fairnessKey), and their users. A served organization
 * or user moves to the end.
 */
export function createFairQueue<Owner extends object, Item>(): FairQueue<Owner, Item> {
  // A Map keeps the insertion order: deleting a key and setting it again moves it to the end of the ring.
  const ring = new Map<unknown, Map<unknown, Turn<Owner, Item>>>();
  const fairnessKeyOf = new WeakMap<Owner, FairnessKey | undefined>();

  const keysOf = (owner: Owner, fairnessKey: FairnessKey | undefined): readonly [unknown, unknown] => [
    fairnessKey?.organizationId ?? owner,
    fairnessKey?.userId,
  ];

  function put(
    owner: Owner,
    fairnessKey: FairnessKey | undefined,
    change: (turn: Turn<Owner, Item>) => Turn<Owner, Item>,
  ): void {
    const [organization, user] = keysOf(owner, fairnessKey);
    const users = ring.get(organization) ?? new Map<unknown, Turn<Owner, Item>>();
    users.set(user, change(users.get(user) ?? new Map<Owner, Item[]>()));
    fairnessKeyOf.set(owner, fairnessKey);
    ring.set(organization, users);
  }

  return {
    add(owner, items, fairnessKey) {
      if (items.length > 0) put(owner, fairnessKey, (turn) => turn.set(owner, items.toReversed()));
    },
    resume(owner, item, fairnessKey) {
      put(owner, fairnessKey, (turn) => {
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
      const [organization, user] = keysOf(owner, fairnessKeyOf.get(owner));
      const users = ring.get(organization);
      const turn = users?.get(user);
      turn?.delete(owner);
      if (turn?.size === 0) users?.delete(user);
      if (users?.size === 0) ring.delete(organization);
    },
    isEmpty: () => ring.size === 0,
  };
}
