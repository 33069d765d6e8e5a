/**
 * The tenant for which texts are embedded. Organizations are served round-robin, and so are the users of each
 * organization.
 */
export interface FairnessKey {
  readonly organizationId: number;
  readonly userId?: number;
}

export interface FairQueue<Owner extends object, Item> {
  /**
   * Adds an owner's items.
   * @param fairnessKey takes one turn of the round-robin; owners with the same fairnessKey are served one after the
   * other. By default, each owner has a separate key.
   */
  add(owner: Owner, items: readonly Item[], fairnessKey?: FairnessKey): void;
  /**
   * Adds an item in front of the owner's other items: it is taken at the next turn of the owner's fairnessKey. For an
   * item that was only processed in part.
   */
  resume(owner: Owner, item: Item, fairnessKey?: FairnessKey): void;
  /**
   * Removes and returns the next item. Organizations and users take turns with one item each, so a short list never
   * waits until a long one is finished.
   */
  take(): Item | undefined;
  /** Removes the owner's remaining items. */
  drop(owner: Owner): void;
  /** Whether no item is left. */
  isEmpty(): boolean;
}

/** The owners (calls) of one user, in order; each with its items in reverse, because shift() is slow on long lists. */
type UserItems<Owner, Item> = Map<Owner, Item[]>;

/**
 * Creates a round-robin queue of two levels: organizations (or owners without a fairnessKey), and their users. A served
 * organization or user moves to the end.
 */
export function createFairQueue<Owner extends object, Item>(): FairQueue<Owner, Item> {
  // A Map keeps the insertion order: deleting a key and setting it again moves it to the end of the ring.
  const ring = new Map<unknown, Map<unknown, UserItems<Owner, Item>>>();
  const fairnessKeyOf = new WeakMap<Owner, FairnessKey | undefined>();

  const keysOf = (owner: Owner, fairnessKey: FairnessKey | undefined): readonly [unknown, unknown] => [
    fairnessKey?.organizationId ?? owner,
    fairnessKey?.userId,
  ];

  function put(
    owner: Owner,
    fairnessKey: FairnessKey | undefined,
    change: (userItems: UserItems<Owner, Item>) => UserItems<Owner, Item>,
  ): void {
    const [organization, user] = keysOf(owner, fairnessKey);
    const users = ring.get(organization) ?? new Map<unknown, UserItems<Owner, Item>>();
    users.set(user, change(users.get(user) ?? new Map<Owner, Item[]>()));
    fairnessKeyOf.set(owner, fairnessKey);
    ring.set(organization, users);
  }

  return {
    add(owner, items, fairnessKey) {
      if (items.length > 0) put(owner, fairnessKey, (userItems) => userItems.set(owner, items.toReversed()));
    },
    resume(owner, item, fairnessKey) {
      put(owner, fairnessKey, (userItems) => {
        const remaining = userItems.get(owner) ?? [];
        userItems.delete(owner);
        return new Map([[owner, [...remaining, item]], ...userItems]);
      });
    },
    take() {
      for (const [organization, users] of ring) {
        ring.delete(organization);
        for (const [user, userItems] of users) {
          users.delete(user);
          for (const [owner, items] of userItems) {
            const item = items.pop();
            if (items.length === 0) userItems.delete(owner);
            if (userItems.size > 0) users.set(user, userItems);
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
      const userItems = users?.get(user);
      userItems?.delete(owner);
      if (userItems?.size === 0) users?.delete(user);
      if (users?.size === 0) ring.delete(organization);
    },
    isEmpty: () => ring.size === 0,
  };
}
