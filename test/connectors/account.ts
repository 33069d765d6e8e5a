/** Shared setup of the connector suites: accounts, complete listings and contents. */
import { loadConfig } from '../../config/config.js';
import type { Account } from '../../connectors/account.js';
import { readSourceUrls } from '../../connectors/readSourceUrls.js';
import { createConnectors } from '../../connectors/registry.js';
import type { SkippedItem, SourceItem } from '../../connectors/sourceItem.js';
import type { ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import { createEgress } from '../../egress/createEgress.js';
import type { Egress } from '../../egress/types.js';

/** A signal that never aborts. */
export const NEVER = new AbortController().signal;

/** Parameters that occur in the URLs of some sources. */
export const URL_PARAMETERS = {
  ...{ tenant: 'common', subdomain: 'a', instance: 'a', instance_name: 'a', user_id: '1', userID: '1' },
  ...{ instance_url: 'https://a.my.salesforce.com', domain: 'a', customer: 'api', api: 'api' },
};

export const loopbackEgress = (): Egress => {
  const env = { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', SECRET_KEY: `k:${Buffer.alloc(32).toString('base64')}` };
  return createEgress(loadConfig(env).egress);
};

/**
 * Returns an account with a rate limiter of its own, so a pause that one test causes does not delay the next test.
 * @param settings the address of the source, in the syntax of SOURCE_URLS
 * @param credentials the fields that the source's connector expects
 * @param timeLimitMs the longest delay of the source that a request waits for
 */
export function accountWith(
  source: ConnectedSourceType,
  settings: string,
  credentials: object,
  egress: Egress,
  timeLimitMs = 30_000,
): Account {
  const urls = readSourceUrls(settings);
  const connectors = createConnectors({ egress, urls, maxItemBytes: 1_000_000, timeLimitMs });
  return connectors.account(source, '1', JSON.stringify(credentials));
}

/** Returns an account with an OAuth grant. @param settings the address of the source, in the syntax of SOURCE_URLS */
export function grantedAccount(
  source: ConnectedSourceType,
  settings: string,
  accessToken: string,
  egress: Egress,
  maxItemBytes = 1_000_000,
): Account {
  const connectors = createConnectors({ egress, urls: readSourceUrls(settings), maxItemBytes });
  return connectors.account(source, '1', JSON.stringify({ accessToken, facts: {} }));
}

/** Reads all pages of a listing. Returns their entries, and the number of pages. */
export async function readListing(readPage: (cursor: string | null) => ReturnType<Account['listRoots']>) {
  const items: SourceItem[] = [];
  const skipped: SkippedItem[] = [];
  const refused: string[] = [];
  let pages = 0;
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await readPage(cursor ?? null);
    items.push(...page.items);
    skipped.push(...(page.skipped ?? []));
    refused.push(...(page.refused ?? []));
    cursor = page.next;
    pages += 1;
    if (pages > 1_000) throw new Error(`the listing does not end: it is at ${cursor}`);
  }
  return { items, skipped, refused, pages, ids: items.map(({ externalId }) => externalId) };
}

/** Returns the items of all pages of a listing. */
export const listItems = async (
  readPage: (cursor: string | null) => ReturnType<Account['listRoots']>,
): Promise<SourceItem[]> => (await readListing(readPage)).items;

/** Returns the version of each item by its id; null for folders. */
export const versionsOf = (items: readonly SourceItem[]): Record<string, string | null> =>
  Object.fromEntries(items.map(({ externalId, version }) => [externalId, version]));

/** Returns the content of an item as text. */
export async function textOf(account: Account, externalId: string): Promise<string> {
  return Buffer.from((await account.open(externalId, NEVER)).bytes).toString();
}
