import { periodically } from '../../../config/process/periodically.js';
import type { Log } from '../../../observability/log.js';

/** Pause after a read, as a multiple of its duration: an expensive read is repeated less often. */
const PAUSE_FACTOR = 4;

/** State that several streams (viewers) share, as the last read of the store returned it. */
export interface Topic<T> {
  readonly latest: () => T;
  /** Resolves when the state differs from `lastRead`, after `ms`, or when `signal` aborts. */
  changed(lastRead: T, ms: number, signal: AbortSignal): Promise<void>;
  leave(): void;
}

export interface Topics<T> {
  /**
   * Joins a topic. Its state is read at once, so that a viewer never starts with an older state than it received from
   * another process. While it has viewers, one poll per topic refreshes it for all of them.
   * @param read returns the state; `isSame` decides whether two states are equal
   * @throws the error of the first read
   */
  join(key: string, read: () => Promise<T>): Promise<Topic<T>>;
  /** Waits for polls in progress; their viewers must have left. */
  idle(): Promise<void>;
}

interface OpenTopic<T> {
  viewers: number;
  latest: T | undefined;
  /** Sequence number of the read that returned `latest`: the result of an earlier read that ends later is ignored. */
  order: number;
  readonly waiting: Set<() => void>;
  readonly closed: AbortController;
}

/** Creates topics. While they have viewers, they are polled every `tickMs`, and less often after slow reads. */
export function createTopics<T>(
  { tickMs, isSame }: { readonly tickMs: number; readonly isSame: (a: T, b: T) => boolean },
  log: Pick<Log, 'warn'>,
): Topics<T> {
  const open = new Map<string, OpenTopic<T>>();
  const polls = new Set<Promise<void>>();
  let reads = 0;

  const refresh = async (topic: OpenTopic<T>, read: () => Promise<T>): Promise<void> => {
    const order = ++reads;
    const state = await read();
    if (order < topic.order) return;
    topic.order = order;
    if (topic.latest !== undefined && isSame(topic.latest, state)) return;
    topic.latest = state;
    for (const wake of topic.waiting) wake();
  };
  const poll = (key: string, topic: OpenTopic<T>, read: () => Promise<T>): void => {
    const iteration = async (): Promise<number> => {
      const startedAt = performance.now();
      await refresh(topic, read);
      return Math.max(tickMs, PAUSE_FACTOR * (performance.now() - startedAt));
    };
    const onError = (err: unknown): void =>
      log.warn({ topic: key, err }, 'the state of an event stream could not be read; trying again');
    const polling = periodically(iteration, {
      ...{ intervalMs: tickMs, signal: topic.closed.signal, onError, waitsFirst: true },
    });
    polls.add(polling);
    void polling.then(() => polls.delete(polling));
  };
  const leave = (key: string, topic: OpenTopic<T>): void => {
    topic.viewers -= 1;
    if (topic.viewers > 0) return;
    topic.closed.abort();
    // A later viewer may have started a new entry.
    if (open.get(key) === topic) open.delete(key);
  };
  const enter = (key: string, read: () => Promise<T>): OpenTopic<T> => {
    const openTopic = open.get(key);
    if (openTopic) {
      openTopic.viewers += 1;
      return openTopic;
    }
    const topic = {
      viewers: 1,
      latest: undefined,
      order: 0,
      waiting: new Set<() => void>(),
      closed: new AbortController(),
    };
    open.set(key, topic);
    poll(key, topic, read);
    return topic;
  };

  return {
    async join(key, read) {
      const topic = enter(key, read);
      let hasLeft = false;
      const leaveOnce = (): void => {
        if (!hasLeft) leave(key, topic);
        hasLeft = true;
      };
      try {
        await refresh(topic, read);
      } catch (error) {
        leaveOnce();
        throw error;
      }
      const latest = (): T => topic.latest as T;
      return {
        latest,
        changed: (lastRead, ms, signal) => waitUntilWoken(topic.waiting, () => latest() !== lastRead, ms, signal),
        leave: leaveOnce,
      };
    },
    idle: async () => void (await Promise.all(polls)),
  };
}

/** Adds a function to `waiting` and resolves when it is called, on abort, after `ms`, or at once if `isDue`. */
function waitUntilWoken(
  waiting: Set<() => void>,
  isDue: () => boolean,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
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
