import { LRUCache } from 'lru-cache';

import { atMost } from '../../contract/cacheSize.js';
import type { Tenant } from '../users/accept.js';

/** What a run may have in the queue however full it is, so that none waits for another to end. */
const OWN_TURN = 200;
/** How long a count is good while the queue is far from full. */
const COUNT_GOOD_MS = 1_000;
const USERS_KEPT = 10_000;

/** Counts files that wait for their sync: of a user or of one run; all, or uploads only. Counting ends at the limit. */
export type CountQueued = (
  whose: { readonly organizationId: number; readonly userId: number } | { readonly runId: number },
  limit: number,
  onlySent?: boolean,
) => Promise<number>;

/** Keeps the queue of each user within a bound, so that what is next is not lost among what comes much later. */
export interface FileQueue {
  /**
   * How many of the wanted files of a run may be queued now; the others are DELAYED until there is room. As long as less
   * than half of the queue is in use, the user's files are counted once a second at most.
   */
  room(tenant: Tenant, runId: number, wanted: number): Promise<number>;
  /** The same for files that are sent one by one: each is a run of its own, so that all of a user's have one turn together. */
  roomForSent(tenant: Tenant, wanted: number): Promise<number>;
}

/** @param most files of one user in the queue; 0: any number */
export function createFileQueue(count: CountQueued, most: number): FileQueue {
  if (most === 0) {
    return {
      room: (_tenant, _runId, wanted) => Promise.resolve(wanted),
      roomForSent: (_tenant, wanted) => Promise.resolve(wanted),
    };
  }
  const ownTurn = Math.max(1, Math.min(OWN_TURN, Math.floor(most / 10)));
  const seen = new LRUCache<number, number>({ ...atMost(USERS_KEPT), ttl: COUNT_GOOD_MS });
  /** @param countOwn those in the queue, up to a limit, that have a turn together when it is full */
  const roomOf = async (
    { organizationId, userId }: Tenant,
    wanted: number,
    countOwn: (limit: number) => Promise<number>,
  ): Promise<number> => {
    const known = seen.get(userId);
    if (known !== undefined && known + wanted <= most / 2) {
      seen.set(userId, known + wanted, { noUpdateTTL: true });
      return wanted;
    }
    const queued = await count({ organizationId, userId }, most);
    let room = most - queued;
    if (room < wanted) room = Math.max(room, ownTurn - (await countOwn(ownTurn)));
    const granted = Math.min(wanted, room);
    seen.set(userId, queued + granted);
    return granted;
  };
  return {
    room: (tenant, runId, wanted) => roomOf(tenant, wanted, (limit) => count({ runId }, limit)),
    roomForSent: ({ organizationId, userId }, wanted) =>
      roomOf({ organizationId, userId }, wanted, (limit) => count({ organizationId, userId }, limit, true)),
  };
}
