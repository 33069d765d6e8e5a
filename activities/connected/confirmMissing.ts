import { Fault } from '../../contract/failures.js';
import { isConnectedSource } from '../../contract/sources/connectedSources.js';
import type { WholeListing } from '../../store/items/unlistedItems.js';
import type { DataSourceDoc } from '../../store/models/dataSources.js';
import type { Run } from '../../store/models/runs.js';
import type { ActivityDeps } from '../deps.js';
import { type OpenAccount, withAccount } from './openAccount.js';

/**
 * Maximum number of items that one listing checks: at three requests per second, 2,000 items take about eleven minutes,
 * and longer if they are deeply nested.
 */
const MAX_CHECKED = 2_000;
/** Items per call of the connector. After each call, the existing ones are stored, so a retry does not check them. */
const CHECKED_AT_ONCE = 100;
/**
 * From this attempt of the activity on, a retryable error of the source does not fail the activity. It ends the checks,
 * and the listing deletes nothing.
 */
const MAX_ATTEMPTS = 5;
const CHECKED = 'items that a listing did not find were checked at the source';
const TOO_MANY =
  'more known items are missing from a listing than it may check at the source; the unchecked ones stay until later listings have checked them';
const FAILED =
  'the source failed while items that a listing did not find were checked; the unchecked ones stay until a later listing has checked them';

/** The result of checking the items that a full listing did not find. */
export interface Confirmation {
  /** Items that no longer exist. */
  readonly gone: ReadonlySet<string>;
  /** Items that exist. */
  readonly existing: ReadonlySet<string>;
  /** Whether all missing items were checked. Unchecked items must not be deleted. */
  readonly isComplete: boolean;
}

/** A full listing whose missing items are to be checked. `attempt`: number of this attempt of the activity, from 1. */
interface Unconfirmed {
  readonly source: DataSourceDoc;
  readonly listing: WholeListing;
  readonly attempt: number;
}

/**
 * For a source whose listings may omit items: checks at the source whether the items that a full listing did not find
 * still exist. Existing ones then count as listed by this run. Safe to repeat.
 * @returns null for sources whose full listings are complete
 * @throws Fault if the source fails; from attempt MAX_ATTEMPTS on only a Fault that is not retryable
 */
export async function confirmMissing(
  run: Run<'syncItems'>,
  { source, listing, attempt }: Unconfirmed,
  deps: ActivityDeps,
  signal: AbortSignal,
): Promise<Confirmation | null> {
  const { store, connectors, log } = deps;
  if (!isConnectedSource(source.type) || !connectors.mayOmitItems(source.type)) return null;
  const unlisted = await store.items.findUnlisted(source, listing, MAX_CHECKED + 1);
  const [gone, existing] = [new Set<string>(), new Set<string>()];
  const { _id: runId, organizationId, requestId } = run;
  const context = { runId, organizationId, requestId, dataSourceId: source._id };
  const checked = unlisted.slice(0, MAX_CHECKED);
  let error: Fault | null = null;
  try {
    for (let from = 0; from < checked.length; from += CHECKED_AT_ONCE) {
      signal.throwIfAborted();
      const ids = checked.slice(from, from + CHECKED_AT_ONCE);
      const check = async ({ account }: OpenAccount): Promise<readonly string[]> =>
        (await account.findExisting?.(ids, signal)) ?? ids;
      const found = await withAccount(run, source._id, deps, check);
      await store.items.markListed(source, runId, found);
      const foundIds = new Set(found);
      for (const id of ids) (foundIds.has(id) ? existing : gone).add(id);
    }
  } catch (caught) {
    if (!(caught instanceof Fault) || !caught.retryable || attempt < MAX_ATTEMPTS) throw caught;
    error = caught;
  }
  const counts = { ...context, gone: gone.size, existing: existing.size };
  if (error !== null) {
    log.warn({ ...counts, err: error }, FAILED);
    return { gone: new Set(), existing, isComplete: false };
  }
  if (unlisted.length > MAX_CHECKED) log.warn({ ...counts, limit: MAX_CHECKED }, TOO_MANY);
  else if (unlisted.length > 0) log.info(counts, CHECKED);
  return { gone, existing, isComplete: unlisted.length <= MAX_CHECKED };
}
