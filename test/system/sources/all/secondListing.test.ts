/** The number of requests of a sync without changes, for every connected source. */
import { expect, test } from '@jest/globals';

import { listPage } from '../../../../activities/connected/listPage.js';
import type { OpenAccount } from '../../../../activities/connected/openAccount.js';
import type { Account } from '../../../../connectors/account.js';
import { readSourceUrls } from '../../../../connectors/readSourceUrls.js';
import { createConnectors } from '../../../../connectors/registry.js';
import type { SourceItem } from '../../../../connectors/sourceItem.js';
import { isByChanges, isListed, type SyncItemsProgress, WALK_ALL } from '../../../../contract/accounts/connections.js';
import { CONNECTED_SOURCES, type ConnectedSourceType } from '../../../../contract/sources/connectedSources.js';
import { SOURCE_FIXTURES } from '../../../support/sourceFixtures/index.js';
import { fixtureAccount } from '../../../support/sourceFixtures/fixtureAccount.js';
import { everyRow } from '../../../support/everyRow.js';
import { loopbackEgress, NEVER } from '../../../connectors/account.js';

const SOURCES = Object.keys(CONNECTED_SOURCES) as ConnectedSourceType[];
/** Sources whose fixture has recent calls only: Gong does not report their changes, so each sync reads them again. */
const READ_AGAIN: readonly ConnectedSourceType[] = ['GONG'];
/**
 * Additional records of a fixture. A feed that counts each table costs six requests per table, however few records
 * the table has, which is more than the first listing of a small account.
 */
const ADDITIONAL_RECORDS: Partial<Readonly<Record<ConnectedSourceType, number>>> = { SERVICENOW: 20 };

interface KnownItems {
  readonly ids: Set<string>;
  /** Versions of the items with content, by id. */
  readonly versions: Map<string, string | null>;
}

/** Lists an account as a sync does. @param changeToken cursor of the last sync; null: list everything */
async function list(account: Account, knownItems: KnownItems, changeToken: string | null): Promise<SyncItemsProgress> {
  const upsert = (_source: unknown, _run: number, items: readonly SourceItem[]): Promise<Set<string>> => {
    const added = items.map(({ externalId }) => externalId).filter((id) => !knownItems.ids.has(id));
    for (const id of added) knownItems.ids.add(id);
    return Promise.resolve(new Set(added));
  };
  const returnsNothing = () => Promise.resolve(new Set<string>());
  const items = {
    ...{
      upsert,
      listClosed: () => Promise.resolve([]),
      listUnlistedRoots: () => Promise.resolve([]),
      markClosed: returnsNothing,
      markDeleted: returnsNothing,
    },
    ...{ markPathsDeleted: returnsNothing, unlist: returnsNothing },
  };
  const recordItems = <Page extends { readonly items: readonly SourceItem[] }>(page: Page): Page => {
    for (const { externalId, hasContent, version } of page.items)
      if (hasContent) knownItems.versions.set(externalId, version);
    return page;
  };
  const recordingAccount: Account = {
    ...account,
    listRoots: async (...call) => recordItems(await account.listRoots(...call)),
    listDescendants: async (...call) => recordItems(await account.listDescendants(...call)),
  };
  const openAccount = { source: { changeToken }, account: recordingAccount } as unknown as OpenAccount;
  let progress: SyncItemsProgress = { walk: WALK_ALL, listed: 0 };
  while (!isListed(progress)) progress = await listPage(openAccount, progress, { runId: 1, items } as never, NEVER);
  return progress;
}

test('a sync without changes makes at most as many requests as the first listing, and finds no changed content', () =>
  everyRow(
    SOURCES,
    String,
    async (source) => {
      const fixture = await SOURCE_FIXTURES[source]();
      const egress = loopbackEgress();
      try {
        fixture.reset(ADDITIONAL_RECORDS[source]);
        const connectors = createConnectors({
          egress,
          urls: readSourceUrls(fixture.settings),
          maxItemBytes: 1_000_000,
        });
        const account = await fixtureAccount(source, fixture, connectors);
        const knownItems: KnownItems = { ids: new Set(), versions: new Map() };
        const begun = fixture.requestCount();
        const { nextChangeToken = null } = await list(account, knownItems, null);
        const listing = fixture.requestCount() - begun;
        const versions = new Map(knownItems.versions);
        const secondProgress = await list(account, knownItems, nextChangeToken);
        const requests = fixture.requestCount() - begun - listing;

        expect(knownItems.ids.size).toBeGreaterThan(5);
        expect(requests).toBeLessThanOrEqual(listing);
        expect(isByChanges(secondProgress)).toBe(nextChangeToken !== null);
        if (!READ_AGAIN.includes(source)) {
          expect([...knownItems.versions]).toEqual([...versions]);
          expect([...versions.values()]).not.toContain(null);
        }
      } finally {
        await fixture.close();
        await egress.close();
      }
    },
    { atOnce: 4 },
  ));
