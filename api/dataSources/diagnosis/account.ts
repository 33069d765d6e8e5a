/** Checks that call the source, or use the stored properties of the account. */
import type { ItemPage, SourceItem } from '../../../connectors/sourceItem.js';
import type { Account } from '../../../connectors/account.js';
import type { ConnectedDataSource } from '../../integrations/dataSourceOf.js';
import { bad, type Finding, ok, warn } from './check.js';

export interface CheckedAccount {
  readonly source: ConnectedDataSource;
  readonly account: Account;
  /** Display name of the source. */
  readonly service: string;
  readonly connectAgain: string;
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** Checks the stored credentials by requesting the name of the account. Expired credentials are refreshed first. */
export async function credential({ source, account, service, connectAgain }: CheckedAccount, signal: AbortSignal) {
  const { account: name, formerAccount = name } = await account.identify(signal);
  const grant = await account.grant();
  const details = grant && {
    expires_at: grant.expiresAt === null ? null : iso(grant.expiresAt),
    refreshable: grant.isRefreshable,
  };
  const { type, externalId } = source;
  if (externalId !== null && ![name, formerAccount].some((id) => externalId === `${type}|${id}`))
    return warn(
      `${service} accepts the credentials, but names the account differently than when it was connected.`,
      `If it was renamed, no action is needed. Otherwise: ${connectAgain}`,
      details ?? {},
    );
  return ok(`${service} accepts the credentials.`, details ?? {});
}

/** Compares the granted scopes with those that the source needs. */
export async function scopes({ account, service, connectAgain }: CheckedAccount): Promise<Finding> {
  const grant = await account.grant();
  if (!grant) return ok(`${service} has no scopes: its credentials have the permissions that their owner chose.`);
  const { wanted, granted, missing } = grant.scopes;
  const details = { wanted, granted, missing };
  if (wanted.length === 0)
    return ok(
      `The consent of ${service} has no scopes: permissions are chosen in the settings of the OAuth client there.`,
      details,
    );
  if (granted === null) return ok(`${service} did not report the granted scopes.`, details);
  if (missing.length === 0) return ok('All required scopes were granted.', details);
  return warn(
    `${missing.length} of ${wanted.length} scopes were not granted: ${missing.join(', ')}.`,
    `${connectAgain} Leave all scopes selected during the consent.`,
    details,
  );
}

/** Returns the known rate limits, and whether the source accepts requests now. */
export async function limits({ account, service }: CheckedAccount, waitingFiles: number): Promise<Finding> {
  const { requestsAtOnce, pausedMs, shared } = await account.limits();
  const longest = Math.max(pausedMs, shared?.pausedMs ?? 0);
  const endOf = (ms: number): string | null => (ms > 0 ? iso(Date.now() + ms) : null);
  const details = {
    limited_until: endOf(longest),
    requests_at_once: requestsAtOnce,
    files_waiting: waitingFiles,
    shared: shared && { requests_at_once: shared.requestsAtOnce, limited_until: endOf(shared.pausedMs) },
  };
  if (longest > 0)
    return warn(
      `${service} accepts no more requests until ${iso(Date.now() + longest)}${pausedMs < longest ? ', also from other accounts of the same OAuth client' : ''}.`,
      'No action is needed: waiting requests continue then.',
      details,
    );
  if (waitingFiles > 0)
    return warn(
      `${waitingFiles} files wait for the end of a rate limit of ${service}.`,
      'No action is needed: each file continues automatically at its own time.',
      details,
    );
  return ok(
    `${service} accepts requests. At most ${requestsAtOnce} requests of this account are sent concurrently.`,
    details,
  );
}

const sampleOf = ({ name, itemType, externalId, externalUrl }: SourceItem) => ({
  ...{ name, item_type: itemType, external_id: externalId, external_url: externalUrl },
});

/**
 * Maximum number of pages of root items read to find an item. A page may be empty, such as a project without buckets.
 */
const MAX_PAGES = 5;

async function firstPage(account: Account, signal: AbortSignal): Promise<ItemPage> {
  let page = await account.listRoots(null, signal);
  for (let pages = 1; pages < MAX_PAGES && page.items.length === 0 && page.next !== null; pages += 1)
    page = await account.listRoots(page.next, signal);
  return page;
}

/** Lists root items up to the first page with items, and one page of the first folder. Reads no content. */
export async function sampleItem({ account, service }: CheckedAccount, signal: AbortSignal): Promise<Finding> {
  const { items, next } = await firstPage(account, signal);
  const [firstItem] = items;
  if (firstItem === undefined) {
    if (next !== null) return ok(`${service} lists the items of the account.`, { item: null });
    return warn(
      `${service} answers, but returns no items for this account.`,
      'Give the connected account access to something there, or connect another one.',
      { item: null },
    );
  }
  const folder = items.find(({ isExpandable }) => isExpandable);
  if (!folder) return ok(`${service} lists the items of the account.`, { item: sampleOf(firstItem) });
  const descendants = await account.listDescendants(folder.externalId, null, signal);
  const child = descendants.items.find(({ externalId }) => externalId !== folder.externalId);
  return ok(`${service} lists the items of the account, and the contents of a folder.`, {
    item: sampleOf(child ?? folder),
  });
}

/** Returns the result for a disconnected account. */
export const accessEnded = (service: string, connectAgain: string, at: Date): Finding =>
  bad(`The access to this account of ${service} ended at ${at.toISOString()}.`, connectAgain);
