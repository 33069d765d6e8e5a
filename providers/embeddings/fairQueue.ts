/**
 * The tenant for which texts are embedded. Organizations are served round-robin, and so are the users of each
 * organization.
 */
export interface FairnessKey {
  readonly organizationId: number;
  readonly userId?: number;
}

/** @template Call one caller's request */
export interface FairQueue<Call extends object, Item> {
  /**
   * Adds a call's items.
   * @param fairnessKey takes one turn of the round-robin; calls with the same fairnessKey are served one after the
   * other. By default, each call has a separate key.
   */
  add(call: Call, items: readonly Item[], fairnessKey?: FairnessKey): void;
  /**
   * Adds an item in front of the call's other items: it is taken at the next turn of the call's fairnessKey. For an
   * item that was only processed in part.
   */
  resume(call: Call, item: Item, fairnessKey?: FairnessKey): void;
  /**
   * Removes and returns the next item. Organizations and users take turns with one item each, so a user's short list
   * never waits until another user's long one is finished.
   */
  take(): Item | undefined;
  /** Removes the call's remaining items. */
  drop(call: Call): void;
  /** Whether no item is left. */
  isEmpty(): boolean;
}

/** The calls of one user, in order; each with its items in reverse, because shift() is slow on long lists. */
type UserItems<Call, Item> = Map<Call, Item[]>;

/**
 * Creates a round-robin queue of two levels: organizations (or calls without a fairnessKey), and their users. A served
 * organization or user moves to the end.
 */
export function createFairQueue<Call extends object, Item>(): FairQueue<Call, Item> {
  // A Map keeps the insertion order: deleting a key and setting it again moves it to the end of the ring.
  const ring = new Map<unknown, Map<unknown, UserItems<Call, Item>>>();
  const fairnessKeyOf = new WeakMap<Call, FairnessKey | undefined>();

  const keysOf = (call: Call, fairnessKey: FairnessKey | undefined): readonly [unknown, unknown] => [
    fairnessKey?.organizationId ?? call,
    fairnessKey?.userId,
  ];

  function put(
    call: Call,
    fairnessKey: FairnessKey | undefined,
    change: (userItems: UserItems<Call, Item>) => UserItems<Call, Item>,
  ): void {
    const [organization, user] = keysOf(call, fairnessKey);
    const users = ring.get(organization) ?? new Map<unknown, UserItems<Call, Item>>();
    users.set(user, change(users.get(user) ?? new Map<Call, Item[]>()));
    fairnessKeyOf.set(call, fairnessKey);
    ring.set(organization, users);
  }

  return {
    add(call, items, fairnessKey) {
      if (items.length > 0) put(call, fairnessKey, (userItems) => userItems.set(call, items.toReversed()));
    },
    resume(call, item, fairnessKey) {
      put(call, fairnessKey, (userItems) => {
        const remaining = userItems.get(call) ?? [];
        userItems.delete(call);
        return new Map([[call, [...remaining, item]], ...userItems]);
      });
    },
    take() {
      for (const [organization, users] of ring) {
        ring.delete(organization);
        for (const [user, userItems] of users) {
          users.delete(user);
          for (const [call, items] of userItems) {
            const item = items.pop();
            if (items.length === 0) userItems.delete(call);
            if (userItems.size > 0) users.set(user, userItems);
            if (users.size > 0) ring.set(organization, users);
            return item;
          }
        }
      }
      return undefined;
    },
    drop(call) {
      const [organization, user] = keysOf(call, fairnessKeyOf.get(call));
      const users = ring.get(organization);
      const userItems = users?.get(user);
      userItems?.delete(call);
      if (userItems?.size === 0) users?.delete(user);
      if (users?.size === 0) ring.delete(organization);
    },
    isEmpty: () => ring.size === 0,
  };
}
