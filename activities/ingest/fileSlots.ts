import type { Tenant } from '../../store/users/accept.js';

/** Maximum share of all slots for one user, rounded up. With four or more slots, one user cannot take all of them. */
const MAX_SHARE_OF_USER = 0.75;

/** Limits the files that a worker fetches, reads and embeds in parallel, over all batches. */
export interface FileSlots {
  /**
   * Runs work for a file in a slot. Waiting organizations take turns, and so do the users of an organization. A user
   * with more batches or workflows therefore gets no larger share.
   */
  run<T>(user: Tenant, work: () => Promise<T>): Promise<T>;
}

type Grant = () => void;

/** @param total number of slots */
export function createFileSlots(total: number): FileSlots {
  const maxSlots = Math.max(1, Math.ceil(total * MAX_SHARE_OF_USER));
  // A Map keeps the order of insertion: an entry that is deleted and set again goes to the end of the ring.
  const ring = new Map<number, Map<number, Grant[]>>();
  const slotsByUser = new Map<number, number>();
  let free = total;

  const wait = ({ organizationId, userId }: Tenant, grant: Grant): void => {
    const users = ring.get(organizationId) ?? new Map<number, Grant[]>();
    const grants = users.get(userId);
    if (grants) grants.push(grant);
    else users.set(userId, [grant]);
    ring.set(organizationId, users);
  };

  /** Takes the next waiting file whose user may have one more slot. */
  const next = (): { readonly userId: number; readonly grant: Grant } | null => {
    for (const [organizationId, users] of ring)
      for (const [userId, [grant, ...rest]] of users) {
        if (!grant || (slotsByUser.get(userId) ?? 0) >= maxSlots) continue;
        users.delete(userId);
        if (rest.length > 0) users.set(userId, rest);
        ring.delete(organizationId);
        if (users.size > 0) ring.set(organizationId, users);
        return { userId, grant };
      }
    return null;
  };

  const grantFreeSlots = (): void => {
    while (free > 0) {
      const granted = next();
      if (!granted) return;
      free -= 1;
      slotsByUser.set(granted.userId, (slotsByUser.get(granted.userId) ?? 0) + 1);
      granted.grant();
    }
  };

  const release = (userId: number): void => {
    free += 1;
    const remaining = (slotsByUser.get(userId) ?? 1) - 1;
    if (remaining > 0) slotsByUser.set(userId, remaining);
    else slotsByUser.delete(userId);
    grantFreeSlots();
  };

  return {
    async run(user, work) {
      await new Promise<void>((grant) => {
        wait(user, grant);
        grantFreeSlots();
      });
      try {
        return await work();
      } finally {
        release(user.userId);
      }
    },
  };
}
