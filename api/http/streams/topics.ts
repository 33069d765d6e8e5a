import { periodically } from '../../../config/process/periodically.js';
import type { Log } from '../../../observability/log.js';

/** Pause after a read, as a multiple of its duration: an expensive read is repeated less often. */
const REST = 4;

/** State that all its viewers share, as the last read of the store returned it. */
export interface Topic<T> {
  readonly latest: () => T;
  /** Resolves after a change from `known`, after `ms`, or when the viewer is woken by `signal`. */
  changed(known: T, ms: number, signal: AbortSignal): Promise<void>;
  leave(): void;
}

export interface Topics<T> {
  /**
   * Joins a topic. Its state is read at once, so that no viewer starts with an older one than it has seen elsewhere.
   * While it has viewers, one poll per topic refreshes it for all of them.
   * @param read returns the state; equal states are compared by `isSame`
   * @throws the error of the first read
   */
  join(key: string, read: () => Promise<T>): Promise<Topic<T>>;
  /** Waits for polls in progress; their viewers must have left. */
  idle(): Promise<void>;
}

interface Room<T> {
  viewers: number;
  latest: T | undefined;
  /** Order of the read that returned `latest`: an earlier read that ends later is ignored. */
  order: number;
  readonly waiting: Set<() => void>;
  readonly closed: AbortController;
}

/** Creates topics that are polled every `tickMs` while they have viewers. */
export function createTopics<T>(
  { tickMs, isSame }: { readonly tickMs: number; readonly isSame: (a: T, b: T) => boolean },
  log: Pick<Log, 'warn'>,
): Topics<T> {
  const rooms = new Map<string, Room<T>>();
  const polls = new Set<Promise<void>>();
  let reads = 0;

  const refresh = async (room: Room<T>, read: () => Promise<T>): Promise<void> => {
    const order = ++reads;
    const found = await read();
    if (order < room.order) return;
    room.order = order;
    if (room.latest !== undefined && isSame(room.latest, found)) return;
    room.latest = found;
    for (const wake of room.waiting) wake();
  };
  const poll = (key: string, room: Room<T>, read: () => Promise<T>): void => {
    const round = async (): Promise<number> => {
      const startedAt = performance.now();
      await refresh(room, read);
      return Math.max(tickMs, REST * (performance.now() - startedAt));
    };
    const onError = (err: unknown): void =>
      log.warn({ topic: key, err }, 'the state of an event stream could not be read; trying again');
    const polling = periodically(round, {
      ...{ intervalMs: tickMs, signal: room.closed.signal, onError, waitsFirst: true },
    });
    polls.add(polling);
    void polling.then(() => polls.delete(polling));
  };
  const leave = (key: string, room: Room<T>): void => {
    room.viewers -= 1;
    if (room.viewers > 0) return;
    room.closed.abort();
    // A later viewer may have started a new entry.
    if (rooms.get(key) === room) rooms.delete(key);
  };
  const enter = (key: string, read: () => Promise<T>): Room<T> => {
    const known = rooms.get(key);
    if (known) {
      known.viewers += 1;
      return known;
    }
    const room = {
      viewers: 1,
      latest: undefined,
      order: 0,
      waiting: new Set<() => void>(),
      closed: new AbortController(),
    };
    rooms.set(key, room);
    poll(key, room, read);
    return room;
  };

  return {
    async join(key, read) {
      const room = enter(key, read);
      let hasLeft = false;
      const leaveOnce = (): void => {
        if (!hasLeft) leave(key, room);
        hasLeft = true;
      };
      try {
        await refresh(room, read);
      } catch (error) {
        leaveOnce();
        throw error;
      }
      const latest = (): T => room.latest as T;
      return {
        latest,
        changed: (known, ms, signal) => woken(room.waiting, () => latest() !== known, ms, signal),
        leave: leaveOnce,
      };
    },
    idle: async () => void (await Promise.all(polls)),
  };
}

/** Adds a function to `waiting` and resolves when it is called, on abort, after `ms`, or at once if `isDue`. */
function woken(waiting: Set<() => void>, isDue: () => boolean, ms: number, signal: AbortSignal): Promise<void> {
  if (isDue() || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      waiting.delete(wake);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, ms).unref();
    waiting.add(wake);
    signal.addEventListener('abort', wake, { once: true });
  });
}
