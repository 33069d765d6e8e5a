/**
 * Changes at a source while its change feed is read page by page, for every source that has a feed. The clock of the
 * test advances by days between pages, because some feeds continue from a time and overlap with the previous sync.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';

import type { Account } from '../../../../connectors/account.js';
import { CONNECTORS } from '../../../../connectors/catalogue.js';
import type { Change, SourceItem } from '../../../../connectors/sourceItem.js';
import { Fault } from '../../../../contract/failures.js';
import type { ConnectedSourceType } from '../../../../contract/sources/connectedSources.js';
import type { Egress } from '../../../../egress/types.js';
import { sfId } from '../../../emulators/salesforce.js';
import { everyRow } from '../../../support/everyRow.js';
import { thoroughRows } from '../../../support/thorough.js';
import { CONNECTION_PARAMETERS } from '../../../support/sourceFixtures/credentials.js';
import { SOURCE_FIXTURES } from '../../../support/sourceFixtures/index.js';
import { fixtureForIntercom } from '../../../support/sourceFixtures/intercom.js';
import { fixtureForSalesforce } from '../../../support/sourceFixtures/salesforce.js';
import type { SourceFixture, FixtureContent } from '../../../support/sourceFixtures/fixture.js';
import { fixtureForZendesk, ZENDESK_SUBDOMAIN } from '../../../support/sourceFixtures/zendesk.js';
import { readListing, loopbackEgress, NEVER } from '../../../connectors/account.js';
import { accountWithStoredGrant, obtainGrant } from '../../../connectors/grants.js';

/** Further documents in the first container, so that its changes need several pages. */
const EXTRA_DOCUMENTS = 3;
/** Longer than the overlap of any feed with its previous sync, and shorter than any feed keeps its changes. */
const SLOW_PAGE_MS = 4 * 86_400_000;
const MAX_PAGES = 100;
const DISCUSSIONS = [310, 311, 312];
const FILE_NAMES = ['anchors', 'beacons', 'cables'];

/** Operations that change the items that a source's feed covers. */
interface Scenario {
  reset(): FixtureContent;
  /** Changes an item so that the feed reports it. */
  write(externalId: string, text: string): void;
  remove(externalId: string): void;
}
interface TestedSource {
  readonly fixture: SourceFixture;
  readonly scenario: Scenario;
}

const scenarioOfFixture = (fixture: SourceFixture): Scenario => ({
  reset: () => fixture.reset(EXTRA_DOCUMENTS),
  write: (externalId, text) => fixture.write(externalId, text),
  remove: (externalId) => fixture.remove(externalId),
});

/** Sources whose feed covers other items than those that their fixture writes. */
const TESTED_SOURCES: Partial<Record<ConnectedSourceType, () => Promise<TestedSource>>> = {
  async INTERCOM() {
    const fixture = await fixtureForIntercom();
    const { conversations } = fixture.emulator;
    const put = (id: number, text: string, more: object = {}): void =>
      void conversations.set(id, { title: `About ${id}`, parts: [{ text }], ...more });
    const numberOf = (externalId: string): number => Number(externalId.split(':')[1]);
    const scenario: Scenario = {
      reset() {
        const content = fixture.reset();
        for (const id of DISCUSSIONS) put(id, 'New.');
        fixture.emulator.tickets.clear();
        return content;
      },
      write: (externalId, text) => put(numberOf(externalId), text, { updated: Math.floor(Date.now() / 1_000) }),
      remove: (externalId) => void conversations.delete(numberOf(externalId)),
    };
    return { fixture, scenario };
  },
  async ZENDESK() {
    const fixture = await fixtureForZendesk();
    const tickets = () => fixture.emulator.accounts.get(ZENDESK_SUBDOMAIN)!.tickets;
    const put = (id: number, text: string, more: object = {}): void =>
      void tickets().set(id, { subject: `About ${id}`, comments: [{ text }], ...more });
    const numberOf = (externalId: string): number => Number(externalId.split(':')[1]);
    const stamp = () => ({ updated: new Date(Date.now()).toISOString() });
    const scenario: Scenario = {
      reset() {
        const content = fixture.reset();
        for (const id of DISCUSSIONS) put(id, 'New.');
        return content;
      },
      write: (externalId, text) => put(numberOf(externalId), text, stamp()),
      remove: (externalId) => put(numberOf(externalId), 'Gone.', { status: 'deleted', ...stamp() }),
    };
    return { fixture, scenario };
  },
  async SALESFORCE() {
    const fixture = await fixtureForSalesforce();
    const { put, drop, contents } = fixture.emulator;
    let versions = 0;
    const write = (id: string, text: string): void => {
      const version = sfId('068', `x${(versions += 1)}`);
      contents.set(version, text);
      put('ContentDocument', id, {
        ...{ Title: `About ${id}`, FileExtension: 'md', FileType: 'UNKNOWN', ParentId: null },
        ...{ CreatedDate: '2026-01-07T09:00:00.000+0000', LatestPublishedVersionId: version },
        LatestPublishedVersion: { ContentLocation: 'S' },
      });
    };
    const idIn = (externalId: string): string => externalId.split(':')[1] ?? '';
    const scenario: Scenario = {
      reset() {
        const content = fixture.reset();
        for (const name of FILE_NAMES) write(sfId('069', name), 'New.');
        return content;
      },
      write: (externalId, text) => write(idIn(externalId), text),
      remove: (externalId) => drop('ContentDocument', idIn(externalId), Date.now()),
    };
    return { fixture, scenario };
  },
};

const SOURCES = (Object.keys(CONNECTORS) as ConnectedSourceType[]).filter((source) => CONNECTORS[source].changes);
const testedSources = new Map<ConnectedSourceType, TestedSource>();
let egress: Egress;
let advancedMs = 0;

beforeAll(async () => {
  egress = loopbackEgress();
  for (const source of SOURCES) {
    const startSource = TESTED_SOURCES[source];
    const fixture = startSource ? null : await SOURCE_FIXTURES[source]();
    testedSources.set(source, fixture ? { fixture, scenario: scenarioOfFixture(fixture) } : await startSource!());
  }
});
afterAll(async () => {
  await egress.close();
  for (const { fixture } of testedSources.values()) await fixture.close();
});
beforeEach(() => {
  const real = Date.now;
  jest.spyOn(Date, 'now').mockImplementation(() => real() + advancedMs);
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** Returns the items with content that the feed covers. */
async function coveredItems(account: Account, containers: readonly string[]): Promise<SourceItem[]> {
  const { coveredRoots } = await account.changes!.since(await account.changes!.now(NEVER), NEVER);
  const items: SourceItem[] = [];
  for (const container of containers.filter((id) => coveredRoots?.includes(id) ?? true))
    items.push(...(await readListing((cursor) => account.listDescendants(container, cursor, NEVER))).items);
  return items.filter(({ hasContent }) => hasContent);
}

/** Changes and deleted paths that a feed reports. If the cursor is stale, everything must be listed again. */
interface Reported {
  readonly changes: Change[];
  readonly deletedPaths: string[];
  isStale: boolean;
}

/** Reads a feed to the end of the sync in progress, and the whole next sync. */
async function readThisAndNextSync(account: Account, from: string): Promise<Reported> {
  const report: Reported = { changes: [], deletedPaths: [], isStale: false };
  try {
    let cursor = from;
    for (let ended = 0; ended < 2;) {
      const page = await account.changes!.since(cursor, NEVER);
      report.changes.push(...page.changes);
      report.deletedPaths.push(...(page.deletedPaths ?? []));
      cursor = page.next;
      if (!page.more) ended += 1;
    }
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'stale_cursor') throw error;
    report.isStale = true;
  }
  return report;
}

/** The account of each source, with the items that its feed covers, which are the same after each reset. */
const connected = new Map<ConnectedSourceType, { readonly account: Account; readonly items: readonly SourceItem[] }>();
async function connect(source: ConnectedSourceType, containers: readonly string[]) {
  const existing = connected.get(source);
  if (existing) return existing;
  const { settings } = testedSources.get(source)!.fixture;
  const { grant } = await obtainGrant(source, settings, egress, CONNECTION_PARAMETERS[source] ?? {});
  const { account } = accountWithStoredGrant(source, settings, grant, egress);
  const connection = { account, items: await coveredItems(account, containers) };
  connected.set(source, connection);
  return connection;
}

/**
 * Resets the account of a source and changes all items that its feed covers. Returns a change cursor from before these
 * changes.
 */
async function resetAndChangeAll(source: ConnectedSourceType) {
  const { scenario } = testedSources.get(source)!;
  const { account, items } = await connect(source, scenario.reset().containers);
  const start = await account.changes!.now(NEVER);
  for (const { externalId } of items) scenario.write(externalId, 'First.');
  advancedMs += 3_600_000;
  return { account, scenario, items, start };
}
/** Reads at most some pages of a feed. */
async function readPages(account: Account, start: string, atMost: number) {
  let cursor = start;
  let [more, pages] = [true, 0];
  for (; more && pages < atMost; pages += 1) ({ next: cursor, more } = await account.changes!.since(cursor, NEVER));
  return { cursor, more, pages };
}

const pageCounts = new Map<ConnectedSourceType, number>();
/** Returns the number of pages of a feed after all items have changed. */
async function countPages(source: ConnectedSourceType): Promise<number> {
  const counted = pageCounts.get(source);
  if (counted !== undefined) return counted;
  const { account, start } = await resetAndChangeAll(source);
  const { pages } = await readPages(account, start, MAX_PAGES);
  // A feed with a single page has no moment between two pages.
  expect(pages).toBeGreaterThan(1);
  expect(pages).toBeLessThan(MAX_PAGES);
  pageCounts.set(source, pages);
  return pages;
}

/** Pages after which the source changes: the first, or the last but one. */
type Moment = 'first' | 'last but one';

/**
 * Reads some pages of a feed, changes the source, and advances the clock by days. Then reads the rest of this sync and
 * the whole next sync, and returns what both report. Does this for each moment.
 */
async function betweenPages(
  source: ConnectedSourceType,
  moments: readonly Moment[],
  changeSource: (scenario: Scenario, items: readonly SourceItem[]) => void,
) {
  const pageCount = await countPages(source);
  const results: { pages: number; items: readonly SourceItem[]; report: Reported }[] = [];
  for (const pages of new Set(moments.map((moment) => (moment === 'first' ? 1 : pageCount - 1)))) {
    const { account, scenario, items, start } = await resetAndChangeAll(source);
    const { cursor, more } = await readPages(account, start, pages);
    expect(more).toBe(true);
    changeSource(scenario, items);
    advancedMs += SLOW_PAGE_MS;
    results.push({ pages, items, report: await readThisAndNextSync(account, cursor) });
  }
  return results;
}

test('an item that changes after a page was read is reported by this sync or the next', () =>
  everyRow(SOURCES, String, async (source) => {
    const moments = ['first', ...thoroughRows(['last but one'])] as const;
    const results = await betweenPages(source, moments, (scenario, items) => {
      for (const { externalId } of items) scenario.write(externalId, 'Late.');
    });
    const missed = results.flatMap(({ pages, items, report: { changes, isStale } }) => {
      const reported = new Set(changes.map((change) => ('item' in change ? change.item.externalId : '')));
      const ids = items.map(({ externalId }) => externalId).filter((id) => !isStale && !reported.has(id));
      return ids.map((id) => `${id} after page ${pages}`);
    });
    expect(missed).toEqual([]);
  }));

test('an item that is deleted after a page was read is reported by this sync or the next', () =>
  everyRow(SOURCES, String, async (source) => {
    const moments = ['last but one', ...thoroughRows(['first'])] as const;
    const results = await betweenPages(source, moments, (scenario, [item]) => scenario.remove(item!.externalId));
    const missed = results.flatMap(({ pages, items: [item], report: { changes, deletedPaths, isStale } }) => {
      const { externalId, path } = item!;
      const isGone = changes.some((change) => 'gone' in change && change.gone === externalId);
      return isGone || isStale || (path !== undefined && deletedPaths.includes(path)) ? [] : [`after page ${pages}`];
    });
    expect(missed).toEqual([]);
  }));
