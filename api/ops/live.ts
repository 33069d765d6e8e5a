import { periodically } from '../../config/process/periodically.js';
import type { Log } from '../../observability/log.js';
import type { LiveOverviews, OrganizationOverview, OverviewRenderer, Overviews } from '../http/overviews.js';
import type { OpsSession } from '../http/identity/opsSessions.js';

/** An open operator page. */
interface Watcher {
  readonly session: OpsSession | null;
  /** Time in milliseconds since the epoch at which the viewer has to authenticate again. */
  readonly expiresAt: number;
  /** Renders the parts of the page for its viewer. */
  readonly render: OverviewRenderer;
  /** The last content sent, by name of the part. */
  readonly seen: Map<string, string>;
  /** Content to send. For a slow client, only the latest of each part. */
  readonly pending: Map<string, string>;
  wake: () => void;
  /** SIGNED_OUT or CLOSING once the stream has to end; null while it is open. */
  ended: string | null;
}

/** All viewers of one organization. */
interface Group {
  readonly watchers: Set<Watcher>;
  /** The latest data. */
  last: OrganizationOverview | null;
  /** Aborted when the last viewer has left, or the server closes. */
  readonly closed: AbortController;
}

export interface LiveSettings {
  /** Interval in milliseconds between refreshes. */
  readonly tickMs: number;
  /** Maximum number of open pages, over all organizations. */
  readonly maxClients: number;
  /** Time in milliseconds after which a page that was opened with an API key has to authenticate again. */
  readonly keyLifetimeMs: number;
}

/** Returns the ids of the sessions that were signed out or whose API key was revoked. */
type EndedAmong = (sessions: readonly OpsSession[]) => Promise<readonly string[]>;

/** Interval of keep-alive messages: proxies close idle connections. */
const HEARTBEAT_MS = 15_000;
/** Minimum pause after a refresh, as a multiple of its duration. */
const PAUSE_FACTOR = 4;
/** Time after which a disconnected browser reconnects. */
const RETRY_MS = 3_000;
/**
 * Reasons why a stream ends. SIGNED_OUT: its session was ended, or its viewer has left. CLOSING: the server stops, or
 * the credentials have expired; browsers reconnect, with the newer cookie if another tab has renewed the session.
 */
const SIGNED_OUT = 'signed-out';
const CLOSING = 'closing';

const eventOf = (name: string, data: unknown): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

/**
 * Refreshes the page of an organization once per tick for all its viewers, and not at all without viewers. Each viewer
 * receives the changed parts of its page.
 */
export function createLiveOverviews(
  overviews: Pick<Overviews, 'of'>,
  endedAmong: EndedAmong,
  { tickMs, maxClients, keyLifetimeMs }: LiveSettings,
  log: Log,
): LiveOverviews {
  const groups = new Map<number, Group>();
  const refreshing = new Map<Group, Promise<void>>();
  let isClosing = false;
  const allWatchers = (): Watcher[] => [...groups.values()].flatMap(({ watchers }) => [...watchers]);
  const end = (watcher: Watcher, why: string): void => {
    watcher.ended ??= why;
    watcher.wake();
  };

  const closeEnded = async (watchers: ReadonlySet<Watcher>): Promise<void> => {
    for (const watcher of watchers) if (watcher.expiresAt <= Date.now()) end(watcher, CLOSING);
    const sessions = [...watchers].flatMap(({ session }) => session ?? []);
    if (sessions.length === 0) return;
    const endedIds = await endedAmong(sessions);
    for (const watcher of watchers)
      if (watcher.session && endedIds.includes(watcher.session.id)) end(watcher, SIGNED_OUT);
  };
  const update = (watcher: Watcher, overview: OrganizationOverview): void => {
    for (const [name, { text }] of Object.entries(watcher.render(overview))) {
      if (watcher.seen.get(name) === text) continue;
      watcher.seen.set(name, text);
      watcher.pending.set(name, text);
    }
    if (watcher.pending.size > 0) watcher.wake();
  };
  const refresh = async (organizationId: number, group: Group): Promise<void> => {
    await closeEnded(group.watchers);
    group.last = await overviews.of(organizationId);
    for (const watcher of group.watchers) update(watcher, group.last);
  };
  /** Sends updates until the last viewer leaves. */
  const keepUpdated = async (organizationId: number, group: Group): Promise<void> => {
    const iteration = async (): Promise<number> => {
      const startedAt = performance.now();
      try {
        await refresh(organizationId, group);
      } catch (error) {
        log.warn({ organizationId, err: error }, 'the operator page could not be refreshed; trying again');
      }
      return Math.max(tickMs, PAUSE_FACTOR * (performance.now() - startedAt));
    };
    // The iteration handles its failures itself, so that the pause after a failure is the same as after a success.
    const onError = (): void => undefined;
    await periodically(iteration, { intervalMs: tickMs, signal: group.closed.signal, onError });
    refreshing.delete(group);
  };
  const close = (organizationId: number, group: Group): void => {
    // A later viewer opens a new group.
    if (groups.get(organizationId) === group) groups.delete(organizationId);
    group.closed.abort();
  };
  const enter = (organizationId: number, watcher: Watcher): Group => {
    const existing = groups.get(organizationId);
    existing?.watchers.add(watcher);
    // A new viewer receives the latest data immediately.
    if (existing?.last) update(watcher, existing.last);
    if (existing) return existing;
    const group: Group = { watchers: new Set([watcher]), last: null, closed: new AbortController() };
    groups.set(organizationId, group);
    refreshing.set(group, keepUpdated(organizationId, group));
    return group;
  };

  async function* stream(organizationId: number, watcher: Watcher, disconnected: AbortSignal): AsyncIterable<string> {
    const leave = (): void => end(watcher, SIGNED_OUT);
    disconnected.addEventListener('abort', leave, { once: true });
    if (disconnected.aborted) leave();
    const group = enter(organizationId, watcher);
    try {
      yield `retry: ${RETRY_MS}\n\n`;
      while (watcher.ended === null) {
        if (watcher.pending.size === 0) {
          await waited(watcher);
          if (watcher.pending.size === 0 && watcher.ended === null) yield ': heartbeat\n\n';
        }
        for (const [part, html] of watcher.pending) {
          watcher.pending.delete(part);
          yield eventOf('part', { part, html });
        }
      }
      if (watcher.ended === SIGNED_OUT && !disconnected.aborted) yield eventOf(SIGNED_OUT, {});
    } finally {
      disconnected.removeEventListener('abort', leave);
      group.watchers.delete(watcher);
      if (group.watchers.size === 0) close(organizationId, group);
    }
  }

  return {
    watch(organizationId, session, render) {
      if (isClosing || allWatchers().length >= maxClients) return null;
      const watcher: Watcher = {
        ...{ session, render, ended: null, wake: () => undefined },
        expiresAt: session?.expiresAt ?? Date.now() + keyLifetimeMs,
        seen: new Map(),
        pending: new Map(),
      };
      return (disconnected) => stream(organizationId, watcher, disconnected);
    },
    endSession(sessionId) {
      for (const watcher of allWatchers()) if (watcher.session?.id === sessionId) end(watcher, SIGNED_OUT);
    },
    async close() {
      isClosing = true;
      for (const watcher of allWatchers()) end(watcher, CLOSING);
      for (const [organizationId, group] of groups) close(organizationId, group);
      await Promise.all(refreshing.values());
    },
  };
}

/** Waits until there is something to send, or a keep-alive message is due. */
function waited(watcher: Watcher): Promise<void> {
  if (watcher.ended !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, HEARTBEAT_MS);
    timer.unref();
    watcher.wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}
