/** Tests that Notion's connector finds items that its search omits. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';

import type { Account } from '../../connectors/account.js';
import type { Egress } from '../../egress/types.js';
import { type NotionEmulator, startNotion } from '../emulators/notion.js';
import { blockId, type EmulatedPage, notionId as id } from '../emulators/notionObjects.js';
import { everyRow } from '../support/everyRow.js';
import { faultOf } from '../support/faultOf.js';
import { grantedAccount, loopbackEgress, NEVER, readListing } from './account.js';

const ROWS = id(50);
const DATABASE = `database:${ROWS}`;
const row = (number: number): string => `row:${id(number)}`;
let egress: Egress;
let emulator: NotionEmulator;
let account: Account;

const put = (number: number, more: Partial<EmulatedPage> = {}): void =>
  void emulator.pages.set(id(number), { title: `T${number}`, ...more });
const existing = async (ids: readonly string[], signal = NEVER): Promise<readonly string[]> =>
  account.findExisting!(ids, signal);

beforeAll(async () => {
  egress = loopbackEgress();
  emulator = await startNotion();
});
afterAll(async () => {
  await egress.close();
  await emulator.close();
});
beforeEach(() => {
  emulator.reset();
  for (const collection of [emulator.pages, emulator.databases, emulator.hidden, emulator.search.omitted])
    collection.clear();
  account = grantedAccount('NOTION', emulator.settings, emulator.oauth.grant().accessToken, egress);
  put(1, { blocks: [{ type: 'column_list', children: [] }] });
  put(2, { parent: { page: id(1) } });
  put(3, { parent: { block: blockId(id(1), 0) } });
  emulator.databases.set(ROWS, { title: 'Tides', container: id(60), parent: { page: id(1) } });
  put(4, { parent: { database: ROWS } });
  put(5, { parent: { page: id(4) } });
});
const ALL = [id(1), id(2), id(3), row(4), id(5), DATABASE];

test('finds pages, rows and databases that the search omits', async () => {
  for (const one of [id(1), id(2), id(4), ROWS]) emulator.search.omitted.add(one);
  const { ids } = await readListing((cursor) => account.listRoots(cursor, NEVER));
  expect(ids.toSorted()).toEqual([id(3), id(5)]);
  expect(await existing(ALL)).toEqual(ALL);
});

/** Changes at the source, and the items that no longer exist after each. */
const CHANGES: [what: string, change: () => unknown, gone: readonly string[]][] = [
  ['a page is deleted', () => emulator.pages.delete(id(2)), [id(2)]],
  ['a page is no longer shared', () => emulator.hidden.add(id(2)), [id(2)]],
  ['a page is in the trash', () => (emulator.pages.get(id(2))!.trashed = true), [id(2)]],
  ['a row with a page is in the trash', () => (emulator.pages.get(id(4))!.trashed = true), [row(4), id(5)]],
  ['a database is in the trash', () => (emulator.databases.get(ROWS)!.trashed = true), [DATABASE, row(4), id(5)]],
  ['the outermost page is in the trash', () => (emulator.pages.get(id(1))!.trashed = true), ALL],
  ['only the outermost page is no longer shared', () => emulator.hidden.add(id(1)), [id(1)]],
  ['a row is moved out of its database', () => put(4, { parent: { page: id(1) } }), [row(4)]],
];

test('reports items as missing if Notion has no such item, or has it or an ancestor in the trash', () =>
  everyRow(
    CHANGES,
    ([what]) => what,
    async ([, change, gone]) => {
      const [pages, databases] = [structuredClone([...emulator.pages]), structuredClone([...emulator.databases])];
      change();
      expect(await existing(ALL)).toEqual(ALL.filter((one) => !gone.includes(one)));
      emulator.hidden.clear();
      for (const [key, page] of pages) emulator.pages.set(key, page);
      for (const [key, database] of databases) emulator.databases.set(key, database);
    },
  ));

test('ignores ids that Notion cannot have', async () => {
  expect(await existing(['nowhere', 'database:', '../users/me', row(1), id(4), `database:${id(1)}`])).toEqual([]);
});

test('keeps an item that Notion refuses to show, and throws errors of Notion and of the connection', async () => {
  const path = `/v1/pages/${id(2)}`;
  for (const status of [400, 403]) {
    emulator.injectFault((requested) => (requested === path ? { status } : null));
    expect(await existing([id(2)])).toEqual([id(2)]);
  }
  for (const [fault, kind] of [
    [{ status: 500 }, 'server_error'],
    [{ status: 429, headers: { 'retry-after': '99' } }, 'rate_limited'],
    ['brokenConnection', 'unreachable'],
    [{ wrongBody: '{}', contentType: 'application/json' }, 'server_error'],
  ] as const) {
    // The first request is that of the item, the last one that of an ancestor.
    for (const failing of [path, `/v1/pages/${id(1)}`]) {
      emulator.injectFault((requested) => (requested === failing ? fault : null));
      account = grantedAccount('NOTION', emulator.settings, emulator.oauth.grant().accessToken, egress);
      await faultOf(existing([id(2)]), kind);
    }
  }
});

test('requests each ancestor once, at most three objects at once, and none after an error or an abort', async () => {
  const numbers = Array.from({ length: 40 }, (_, nth) => 100 + nth);
  for (const number of numbers) put(number, { parent: { database: ROWS } });
  const ids = numbers.map(row);
  emulator.requests.length = 0;
  expect(await existing(ids)).toEqual(ids);
  // The rows, their data source, its database, and the page that contains the database.
  expect(emulator.requests).toHaveLength(ids.length + 3);
  emulator.requests.length = 0;
  emulator.injectFault(() => ({ status: 500 }));
  await faultOf(existing(ids), 'server_error');
  expect(emulator.requests.length).toBeLessThanOrEqual(3);
  emulator.reset();
  emulator.requests.length = 0;
  await expect(existing(ids, AbortSignal.abort(new Error('cancelled')))).rejects.toThrow('cancelled');
  expect(emulator.requests).toEqual([]);
});
