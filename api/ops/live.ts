import { periodically } from '../../config/process/periodically.js';
import type { Log } from '../../observability/log.js';
import type { Html } from '../http/html.js';
import type { OrganizationOverview, Overviews } from './overview.js';
import type { OpsSession } from '../http/opsSessions.js';

/** Somebody who looks. */
interface Watcher {
  readonly session: OpsSession | null;
  /** The parts of the page as this one has asked for them. */
  readonly render: (overview: OrganizationOverview) => Readonly<Record<string, Html>>;
  /** What it has seen last, by the part's name. */
  readonly seen: Map<string, string>;
  /** What it is yet to be sent: of a slow reader, the latest of each part. */
  readonly pending: Map<string, string>;
  wake: () => void;
  /** Why nothing more comes; null while something may. */
  ended: string | null;
}

/** All who watch one organization. */
interface Room {
  readonly watchers: Set<Watcher>;
  /** What the last look has found. */
  last: OrganizationOverview | null;
  /** Aborted when the last watcher has left, or the server closes. */
  readonly closed: AbortController;
}

/** Pages that are kept up to date, by server-sent events. */
export interface LiveOverviews {
  /** Null where as many look as may. */
  watch(
    organizationId: number,
    session: OpsSession | null,
    render: Watcher['render'],
  ): ((gone: AbortSignal) => AsyncIterable<string>) | null;
  /** Ends what a browser watches that has signed out. */
  endSession(sessionId: string): void;
  /** Ends all, and takes no more. */
  close(): Promise<void>;
}

export interface LiveSettings {
  readonly tickMs: number;
  readonly mostClients: number;
}

/** Whether sessions go on; answers those that do not. */
type OverAmong = (sessions: readonly OpsSession[]) => Promise<readonly string[]>;

/** So often something is sent, whatever happens: proxies take a silent connection for a dead one. */
const BEAT_MS = 15_000;
/** What a look has cost is rested for so many times. */
const REST = 4;
/** A browser whose connection broke off comes back so soon. */
const RETRY_MS = 3_000;
const OVER = 'over';
const CLOSING = 'closing';

const eventOf = (name: string, data: unknown): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

/**
 * One look an organization and tick, whoever watches it, and none while nobody does. Each watcher is sent the parts of its
 * page that have changed.
 */
export function createLiveOverviews(
  overviews: Pick<Overviews, 'of'>,
  overAmong: OverAmong,
  { tickMs, mostClients }: LiveSettings,
  log: Log,
): LiveOverviews {
  const rooms = new Map<number, Room>();
  const looking = new Map<Room, Promise<void>>();
  let isClosing = false;
  const all = (): Watcher[] => [...rooms.values()].flatMap(({ watchers }) => [...watchers]);
  const end = (watcher: Watcher, why: string): void => {
    watcher.ended ??= why;
    watcher.wake();
  };

  const endOvers = async (watchers: ReadonlySet<Watcher>): Promise<void> => {
    const sessions = [...watchers].flatMap(({ session }) => session ?? []);
    if (sessions.length === 0) return;
    const over = await overAmong(sessions);
    for (const watcher of watchers) if (watcher.session && over.includes(watcher.session.id)) end(watcher, OVER);
  };
  const tell = (watcher: Watcher, overview: OrganizationOverview): void => {
    for (const [name, { text }] of Object.entries(watcher.render(overview))) {
      if (watcher.seen.get(name) === text) continue;
      watcher.seen.set(name, text);
      watcher.pending.set(name, text);
    }
    if (watcher.pending.size > 0) watcher.wake();
  };
  const look = async (organizationId: number, room: Room): Promise<void> => {
    await endOvers(room.watchers);
    room.last = await overviews.of(organizationId);
    for (const watcher of room.watchers) tell(watcher, room.last);
  };
  /** Sends updates until the room closes. */
  const keep = async (organizationId: number, room: Room): Promise<void> => {
    const round = async (): Promise<number> => {
      const begun = performance.now();
      try {
        await look(organizationId, room);
      } catch (error) {
        log.warn({ organizationId, err: error }, 'the page of operators could not be brought up to date; trying again');
      }
      return Math.max(tickMs, REST * (performance.now() - begun));
    };
    // The round handles its failures itself, so that it rests after them as long as after others.
    const onError = (): void => undefined;
    await periodically(round, { intervalMs: tickMs, signal: room.closed.signal, onError });
    looking.delete(room);
  };
  const close = (organizationId: number, room: Room): void => {
    // A watcher that comes now opens a new room.
    if (rooms.get(organizationId) === room) rooms.delete(organizationId);
    room.closed.abort();
  };
  const enter = (organizationId: number, watcher: Watcher): Room => {
    const known = rooms.get(organizationId);
    known?.watchers.add(watcher);
    // Whoever comes is told at once, not at the next look.
    if (known?.last) tell(watcher, known.last);
    if (known) return known;
    const room: Room = { watchers: new Set([watcher]), last: null, closed: new AbortController() };
    rooms.set(organizationId, room);
    looking.set(room, keep(organizationId, room));
    return room;
  };

  async function* stream(organizationId: number, watcher: Watcher, gone: AbortSignal): AsyncIterable<string> {
    const leave = (): void => end(watcher, OVER);
    gone.addEventListener('abort', leave, { once: true });
    if (gone.aborted) leave();
    const room = enter(organizationId, watcher);
    try {
      yield `retry: ${RETRY_MS}\n\n`;
      while (watcher.ended === null) {
        if (watcher.pending.size === 0) {
          await waited(watcher);
          if (watcher.pending.size === 0 && watcher.ended === null) yield ': still here\n\n';
        }
        for (const [part, html] of watcher.pending) {
          watcher.pending.delete(part);
          yield eventOf('part', { part, html });
        }
      }
      if (watcher.ended === OVER && !gone.aborted) yield eventOf('over', {});
    } finally {
      gone.removeEventListener('abort', leave);
      room.watchers.delete(watcher);
      if (room.watchers.size === 0) close(organizationId, room);
    }
  }

  return {
    watch(organizationId, session, render) {
      if (isClosing || all().length >= mostClients) return null;
      const watcher: Watcher = {
        ...{ session, render, ended: null, wake: () => undefined },
        seen: new Map(),
        pending: new Map(),
      };
      return (gone) => stream(organizationId, watcher, gone);
    },
    endSession(sessionId) {
      for (const watcher of all()) if (watcher.session?.id === sessionId) end(watcher, OVER);
    },
    async close() {
      isClosing = true;
      for (const watcher of all()) end(watcher, CLOSING);
      for (const [organizationId, room] of rooms) close(organizationId, room);
      await Promise.all(looking.values());
    },
  };
}

/** Until there is something to send, or it is time for a sign of life. */
function waited(watcher: Watcher): Promise<void> {
  if (watcher.ended !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, BEAT_MS);
    timer.unref();
    watcher.wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}
