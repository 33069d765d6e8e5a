/** What tests of one connector have in common. */
import { loadConfig } from '../../config/config.js';
import type { SourceItem } from '../../connectors/connector.js';
import { readSourceUrls } from '../../connectors/readSourceUrls.js';
import type { Account } from '../../connectors/account.js';
import { createConnectors } from '../../connectors/registry.js';
import { Fault } from '../../contract/failures.js';
import type { ConnectedSourceType } from '../../contract/sources.js';
import { createEgress } from '../../egress/createEgress.js';
import type { Egress } from '../../egress/types.js';

export const NEVER = new AbortController().signal;

export const loopbackEgress = (): Egress => {
  const env = { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', SECRET_KEY: `k:${Buffer.alloc(32).toString('base64')}` };
  return createEgress(loadConfig(env).egress);
};

/**
 * An account of a source, with turns of its own: a pause that one test caused does not delay the next.
 * @param settings where its source is, as SOURCE_URLS says it
 * @param credentials as the source's connector takes them
 * @param patienceMs how long a request waits where the source asks for that
 */
export function accountWith(
  source: ConnectedSourceType,
  settings: string,
  credentials: object,
  egress: Egress,
  patienceMs = 30_000,
): Account {
  const urls = readSourceUrls(settings);
  const connectors = createConnectors({ egress, urls, maxItemBytes: 1_000_000, patienceMs });
  return connectors.account(source, '1', JSON.stringify(credentials));
}

/** An account that somebody has consented to. @param settings where its source is, as SOURCE_URLS says it */
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

/** All that a listing gives, with the number of pages that took. */
export async function listed(from: (cursor: string | null) => ReturnType<Account['listRoots']>) {
  const items: SourceItem[] = [];
  let pages = 0;
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await from(cursor ?? null);
    items.push(...page.items);
    cursor = page.next;
    pages += 1;
    if (pages > 1_000) throw new Error(`the listing does not end: it is at ${cursor}`);
  }
  return { items, pages, ids: items.map(({ externalId }) => externalId) };
}

/** The versions of items by their ids, folders (which have none) included. */
export const versionsOf = (items: readonly SourceItem[]): Record<string, string | null> =>
  Object.fromEntries(items.map(({ externalId, version }) => [externalId, version]));

/** The text of an item. */
export async function textOf(account: Account, externalId: string): Promise<string> {
  return Buffer.from((await account.open(externalId, NEVER)).bytes).toString();
}

/** The Fault that a call ends with. */
export async function faultOf(call: Promise<unknown>): Promise<Fault> {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Fault)) throw new Error(`no Fault: ${String(error)}`);
  return error;
}
