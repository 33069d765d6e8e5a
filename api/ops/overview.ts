import { LRUCache } from 'lru-cache';

import type { Dispatcher } from '../../dispatch/dispatcher.js';
import type { Log } from '../../observability/log.js';
import type { Store } from '../../store/connect.js';
import { type ReadinessDeps, readiness } from '../health/readiness.js';
import type { OrganizationOverview, Overviews, Readiness, WebhookOverview } from '../http/overviews.js';

/** Maximum number of rows in each list of the page. */
export const MAX_SOURCES = 500;
export const MAX_RUNS = 50;
const MAX_CAUSES = 20;
const MAX_HELD = 50;
const MAX_QUARANTINES = 50;
const DELIVERIES_PER_WEBHOOK = 6;

/** Time in milliseconds for which the data of each part is fresh: expensive data is refreshed less often. */
const FRESH_MS = {
  now: 0,
  webhooks: 3_000,
  stalls: 3_000,
  failures: 5_000,
  held: 5_000,
  quarantine: 5_000,
  engines: 10_000,
  organization: 30_000,
  storage: 5_000,
};
/** Minimum time between refreshes, as a multiple of the duration of the last one. */
const MIN_INTERVAL_FACTOR = 20;
/** Maximum time in milliseconds for which expired engine states are shown while new ones are read. */
const OLDEST_ENGINES_MS = 10_000;
/** Maximum number of organizations whose results are cached. */
const MAX_CACHED_ORGANIZATIONS = 200;
/** Time in milliseconds since its last use for which the results of an organization stay cached. */
const CACHED_MS = 60_000;

export interface OverviewDeps {
  readonly store: Store;
  readonly dispatcher: Pick<Dispatcher, 'ping'>;
  readonly diskProblem: ReadinessDeps['diskProblem'];
  readonly engineProblem: ReadinessDeps['engineProblem'];
  readonly log: Log;
}

/** Whether, and for how long, callers receive the previous result while it is refreshed. */
interface OlderResults {
  readonly acceptsOlder?: boolean;
  /** Maximum time in milliseconds since the previous result expired. */
  readonly oldestMs?: number;
  /** Minimum time between refreshes, as a multiple of their duration. */
  readonly minIntervalFactor?: number;
}

/**
 * Returns a function that caches the result of `read`. While the result is refreshed, callers wait, or receive the
 * previous result if `acceptsOlder` allows it. A failed refresh returns null and discards the previous result, so that a
 * result does not stay when it can no longer be read. The next call retries the refresh.
 * @param freshMs time in milliseconds for which a result is returned without a refresh
 */
function cached<T>(
  freshMs: number,
  onFailure: (error: unknown) => void,
  read: () => Promise<T>,
  { acceptsOlder = false, oldestMs = Infinity, minIntervalFactor = MIN_INTERVAL_FACTOR }: OlderResults = {},
): () => Promise<T | null> {
  let last: { readonly until: number; readonly value: T | null } | null = null;
  let inProgress: Promise<T | null> | null = null;
  return () => {
    if (last && performance.now() < last.until) return Promise.resolve(last.value);
    const startedAt = performance.now();
    inProgress ??= read()
      .then(
        (value) => {
          const now = performance.now();
          last = {
            until: now + (acceptsOlder ? Math.max(freshMs, minIntervalFactor * (now - startedAt)) : freshMs),
            value,
          };
          return value;
        },
        (error: unknown) => {
          onFailure(error);
          last = null;
          return null;
        },
      )
      .finally(() => {
        inProgress = null;
      });
    const isTooOld = last !== null && startedAt - last.until > oldestMs;
    return last && acceptsOlder && !isTooOld ? Promise.resolve(last.value) : inProgress;
  };
}

/**
 * Creates the reader of the operator page's data. @param freshMs time in milliseconds for which an overview is fresh
 */
export function createOverviews({ log, ...deps }: OverviewDeps, freshMs: number): Overviews {
  const { store } = deps;
  const logFailureOf = (organizationId: number, part: string) => (error: unknown) =>
    log.warn({ organizationId, part, err: error }, 'a part of the operator page could not be read');
  /** Checks the engines. Stalled runs are not included, because they are counted per organization. */
  const checkEngines = async (): Promise<Omit<Readiness, 'runs'>> => {
    const { runs: _ofAll, ...checks } = await readiness(deps);
    return checks;
  };
  // No minimum time: it would be MIN_INTERVAL_FACTOR times the seconds for which a check waits for an engine that does
  // not respond, so the recovery of the engine would be shown minutes late. Waiting costs no work.
  const engines = cached(FRESH_MS.engines, logFailureOf(0, 'engines'), checkEngines, {
    acceptsOlder: true,
    oldestMs: OLDEST_ENGINES_MS,
    minIntervalFactor: 0,
  });

  const webhooksOf = async (organizationId: number): Promise<WebhookOverview[]> => {
    const page = { limit: 10, offset: 0, startingId: 0 };
    const found = await store.webhooks.list(organizationId, { ids: [], orderBy: 'created_at', orderDir: 'asc', page });
    return Promise.all(
      found.map(async (webhook) => ({
        webhook,
        deliveries: await store.deliveries.list(webhook._id, { limit: DELIVERIES_PER_WEBHOOK, offset: 0 }),
      })),
    );
  };
  const partsOf = (organizationId: number) => {
    const part = <T>(name: string, ms: number, read: () => Promise<T>) =>
      cached(ms, logFailureOf(organizationId, name), read, { acceptsOlder: ms > 0 });
    return {
      organization: part('organization', FRESH_MS.organization, async () => {
        const [{ name, createdAt }, users] = await Promise.all([
          store.organizations.findRecord(organizationId),
          store.overview.users(organizationId),
        ]);
        return { name, users, createdAt };
      }),
      engines,
      sources: part('sources', FRESH_MS.now, () => store.overview.sources(organizationId, MAX_SOURCES)),
      runs: part('runs', FRESH_MS.now, () => store.overview.runs(organizationId, MAX_RUNS)),
      stalls: part('stalls', FRESH_MS.stalls, () => store.stalls.groupByCause(organizationId)),
      failures: part('failures', FRESH_MS.failures, () => store.files.byCause({ organizationId }, MAX_CAUSES)),
      warnings: part('warnings', FRESH_MS.failures, () => store.files.byWarning({ organizationId })),
      held: part('held', FRESH_MS.held, () => store.overview.held(organizationId, MAX_HELD)),
      quarantine: part('quarantine', FRESH_MS.quarantine, () =>
        store.overview.quarantine(organizationId, MAX_QUARANTINES),
      ),
      webhooks: part('webhooks', FRESH_MS.webhooks, () => webhooksOf(organizationId)),
      storage: part('storage', FRESH_MS.storage, () => store.overview.storage(organizationId)),
    };
  };
  const organizations = new LRUCache<number, () => Promise<OrganizationOverview | null>>({
    max: MAX_CACHED_ORGANIZATIONS,
    ttl: CACHED_MS,
    updateAgeOnGet: true,
  });
  const readerOf = (organizationId: number) => {
    const parts = partsOf(organizationId);
    return cached(freshMs, logFailureOf(organizationId, 'all'), async (): Promise<OrganizationOverview> => {
      const [
        organization,
        engineStates,
        sources,
        runs,
        failures,
        webhooks,
        storage,
        held,
        quarantine,
        stalls,
        warnings,
      ] = await Promise.all([
        ...([parts.organization(), parts.engines(), parts.sources(), parts.runs()] as const),
        ...([parts.failures(), parts.webhooks(), parts.storage()] as const),
        ...([parts.held(), parts.quarantine(), parts.stalls(), parts.warnings()] as const),
      ]);
      return {
        ...{ organizationId, at: new Date(), organization, engines: engineStates, sources },
        ...{ runs, failures, warnings, held, quarantine, webhooks, storage, stalls },
      };
    });
  };
  return {
    async of(organizationId) {
      const read = organizations.get(organizationId) ?? readerOf(organizationId);
      organizations.set(organizationId, read);
      const overview = await read();
      if (!overview) throw new Error('The overview could not be read, although its parts never fail');
      return overview;
    },
  };
}
