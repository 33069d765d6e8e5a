/** Microsoft accounts at the emulator, without a running service. */
import { loadConfig } from '../../../config/config.js';
import type { Account } from '../../../connectors/account.js';
import { readSourceUrls } from '../../../connectors/readSourceUrls.js';
import { createConnectors } from '../../../connectors/registry.js';
import type { Change, ItemPage, SourceItem } from '../../../connectors/sourceItem.js';
import { createEgress } from '../../../egress/createEgress.js';
import type { Egress } from '../../../egress/types.js';
import type { GraphEmulator } from '../../emulators/graph/index.js';

export const NEVER = new AbortController().signal;

export const openEgress = (): Egress =>
  createEgress(
    loadConfig({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', SECRET_KEY: `k:${Buffer.alloc(32).toString('base64')}` }).egress,
  );

/** Returns an account with a new access token of the emulator. */
export function accountOf(
  graph: GraphEmulator,
  source: 'ONEDRIVE' | 'OUTLOOK' | 'SHAREPOINT',
  egress: Egress,
  facts: Record<string, string> = {},
  maxItemBytes = 1_000_000,
): Account {
  const connectors = createConnectors({ egress, urls: readSourceUrls(graph.settingsOf(source)), maxItemBytes });
  const { accessToken } = graph.provider.grant();
  const grant = { accessToken, facts: { tenant: 'common', ...facts } };
  return connectors.account(source, String(Math.random()), JSON.stringify(grant));
}

/** Reads all pages of a listing. */
export async function allPages(
  page: (cursor: string | null) => Promise<ItemPage>,
): Promise<{ readonly items: SourceItem[]; readonly pages: number }> {
  const items: SourceItem[] = [];
  let pages = 0;
  for (let cursor: string | null | undefined; cursor !== null; pages += 1) {
    const { items: pageItems, next }: ItemPage = await page(cursor ?? null);
    items.push(...pageItems);
    cursor = next;
  }
  return { items, pages };
}

export const descendantsOf = (account: Account, externalId: string) =>
  allPages((cursor) => account.listDescendants(externalId, cursor, NEVER));

export const idsOf = (items: readonly SourceItem[]): string[] => items.map(({ externalId }) => externalId).toSorted();

/** Returns the current cursor of an account's change feed, and how many pages were read for it. */
export async function currentCursor(account: Account): Promise<{ readonly cursor: string; readonly pages: number }> {
  let cursor = await account.changes!.now(NEVER);
  let pages = 0;
  for (let more = account.changes!.prepare !== undefined; more; pages += 1)
    ({ next: cursor, more } = await account.changes!.prepare!(cursor, NEVER));
  return { cursor, pages };
}
export const cursorOf = async (account: Account): Promise<string> => (await currentCursor(account)).cursor;

/** Reads the change feed to its end. Returns the changed ids, deleted ones as "gone …", and the next cursor. */
export async function readChanges(
  account: Account,
  from: string,
): Promise<{ readonly changed: string[]; readonly cursor: string }> {
  const changed: string[] = [];
  let cursor = from;
  for (let more = true; more;) {
    const page: { changes: readonly Change[]; next: string; more: boolean } = await account.changes!.since(
      cursor,
      NEVER,
    );
    changed.push(...page.changes.map((change) => ('gone' in change ? `gone ${change.gone}` : change.item.externalId)));
    ({ next: cursor, more } = page);
  }
  return { changed, cursor };
}
