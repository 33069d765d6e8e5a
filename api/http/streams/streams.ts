import type { Log } from '../../../observability/log.js';
import { HttpError } from '../errors.js';
import { createTopics, type Topic, type Topics } from './topics.js';

export interface EventStreamSettings {
  /** Maximum number of open streams per end user, and per organization for requests without a customer id. */
  readonly perUser: number;
  /** Maximum number of open streams of the process. */
  readonly maxOpen: number;
  /** Interval in milliseconds between polls of the state. */
  readonly tickMs: number;
  /** Time in milliseconds after which a stream ends; the client continues with a new one. */
  readonly lifetimeMs: number;
}

/** The next messages of a stream. */
export interface Messages {
  /** Text in the format of server-sent events; empty if there is nothing to send. */
  readonly text: string;
  /** Last-Event-ID after the text. */
  readonly cursor: string;
  /** Whether more messages are available at once. */
  readonly hasMore: boolean;
  /** Whether the stream ends after the text. */
  readonly isLast: boolean;
}

/** The content of a stream. */
export interface Feed<T> {
  /** Last-Event-ID from which the stream continues. */
  readonly cursor: string;
  readonly next: (latest: T, cursor: string) => Promise<Messages>;
}

/** A caller's stream. */
export interface StreamSubscription<T> {
  /** Name of the caller; the number of open streams is limited per name. */
  readonly caller: string;
  /** Key of the topic: all its streams share one poll of the state. */
  readonly topic: string;
  readonly read: () => Promise<T>;
}

/** Server-sent events for API clients. */
export interface EventStreams {
  /** Polls of the number of the last event, by organization. */
  readonly heads: Topics<number>;
  /** Polls of the state of runs, by run. */
  readonly runs: Topics<RunState | null>;
  /**
   * Opens a stream. It ends when the feed ends, the client disconnects, its lifetime ends or the server closes.
   * @param feed returns the content after the state is read; null: there is nothing to stream
   * @param disconnected aborted when the client has disconnected, which frees its slot
   * @throws HttpError 429 if the caller has too many streams, 503 if the process has
   */
  open<T>(
    topics: Topics<T>,
    subscription: StreamSubscription<T>,
    feed: (latest: T) => Feed<T> | null,
    disconnected: AbortSignal,
  ): Promise<(() => AsyncIterable<string>) | null>;
  /** Ends all streams and accepts no more. */
  close(): Promise<void>;
}

/** State of a run; null: the run was deleted. */
export interface RunState {
  /** Depends on the content only, so that every process gives equal states the same id. */
  readonly id: string;
  readonly json: string;
  readonly hasEnded: boolean;
}

/** Interval of heartbeats: proxies close idle connections. */
const HEARTBEAT_MS = 15_000;
/** Time in milliseconds after which a disconnected client reconnects. */
const RETRY_MS = 3_000;
/** Retry-After for streams above a limit, and during a shutdown. */
const RETRY_AFTER_S = 30;

/** Formats a message. @param event null: the default type, `message` */
export const message = (id: string, event: string | null, json: string): string =>
  `id: ${id}\n${event === null ? '' : `event: ${event}\n`}data: ${json}\n\n`;

/** Returns a heartbeat. Its id without data sets the client's Last-Event-ID and dispatches no event. */
const heartbeat = (cursor: string): string => `: heartbeat\n${cursor === '' ? '' : `id: ${cursor}\n`}\n`;

/** Creates the streams of a process. @param beatMs interval of heartbeats */
export function createEventStreams(
  { perUser, maxOpen, tickMs, lifetimeMs }: EventStreamSettings,
  log: Pick<Log, 'warn'>,
  beatMs = HEARTBEAT_MS,
): EventStreams {
  const openByCaller = new Map<string, number>();
  const closing = new AbortController();
  const heads = createTopics<number>({ tickMs, isSame: (a, b) => a === b }, log);
  const runs = createTopics<RunState | null>({ tickMs, isSame: (a, b) => a?.id === b?.id }, log);
  const openStreams = (): number => [...openByCaller.values()].reduce((sum, count) => sum + count, 0);

  /** Reserves a slot for a stream; returns a function that frees it once. */
  const reserveSlot = (caller: string): (() => void) => {
    const openOfCaller = openByCaller.get(caller) ?? 0;
    if (closing.signal.aborted) throw new HttpError(503, 'The server is stopping. Try again.', RETRY_AFTER_S);
    if (openOfCaller >= perUser) {
      const sentence = `${perUser} event streams of this caller are open, which is the maximum (EVENT_STREAMS_PER_USER).`;
      throw new HttpError(429, `${sentence} Close one, then try again.`, RETRY_AFTER_S);
    }
    if (openStreams() >= maxOpen) {
      const sentence = 'This server has reached its maximum number of event streams (EVENT_STREAMS).';
      throw new HttpError(503, `${sentence} Try again in ${RETRY_AFTER_S} s.`, RETRY_AFTER_S);
    }
    openByCaller.set(caller, openOfCaller + 1);
    let isFree = false;
    return () => {
      if (isFree) return;
      isFree = true;
      const remaining = (openByCaller.get(caller) ?? 1) - 1;
      if (remaining > 0) openByCaller.set(caller, remaining);
      else openByCaller.delete(caller);
    };
  };

  async function* stream<T>(
    topic: Topic<T>,
    { cursor: initialCursor, next }: Feed<T>,
    disconnected: AbortSignal,
    leave: () => void,
  ): AsyncIterable<string> {
    const ended = AbortSignal.any([disconnected, closing.signal]);
    const deadline = performance.now() + lifetimeMs;
    let cursor = initialCursor;
    /** Time of the last text or heartbeat. */
    let sentAt = performance.now();
    try {
      // The opening message has the cursor, so that a client that disconnects before the first event misses none.
      const opening = cursor === '' ? '' : `id: ${cursor}\n`;
      yield `retry: ${RETRY_MS}\n${opening}event: connected\ndata: ${JSON.stringify({ cursor })}\n\n`;
      while (!ended.aborted && performance.now() < deadline) {
        const latest = topic.latest();
        const messages = await next(latest, cursor).catch((err: unknown) => {
          log.warn({ err }, 'the events of a stream could not be read; trying again');
          return null;
        });
        if (messages) {
          ({ cursor } = messages);
          if (messages.text !== '') yield messages.text;
          if (messages.text !== '') sentAt = performance.now();
          if (messages.isLast) return;
          if (messages.hasMore) continue;
        }
        const remainingMs = deadline - performance.now();
        if (messages) await topic.changed(latest, Math.min(remainingMs, sentAt + beatMs - performance.now()), ended);
        else await pause(Math.min(remainingMs, tickMs), ended);
        if (performance.now() < sentAt + beatMs - 1) continue;
        yield heartbeat(cursor);
        sentAt = performance.now();
      }
    } finally {
      leave();
    }
  }

  return {
    heads,
    runs,
    async open(topics, { caller, topic: name, read }, feed, disconnected) {
      const freeSlot = reserveSlot(caller);
      let leaveTopic = (): void => undefined;
      const leave = (): void => {
        freeSlot();
        leaveTopic();
      };
      try {
        const joined = await topics.join(name, read);
        leaveTopic = joined.leave;
        const content = feed(joined.latest());
        if (content === null || disconnected.aborted) {
          leave();
          return null;
        }
        disconnected.addEventListener('abort', leave, { once: true });
        return () => stream(joined, content, disconnected, leave);
      } catch (error) {
        leave();
        throw error;
      }
    },
    async close() {
      closing.abort();
      await Promise.all([heads.idle(), runs.idle()]);
    },
  };
}

/** Waits `ms`, or until the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms).unref();
    signal.addEventListener('abort', done, { once: true });
  });
}
