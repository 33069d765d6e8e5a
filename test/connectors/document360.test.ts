import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';

import { readSourceUrls } from '../../connectors/readSourceUrls.js';
import type { Account } from '../../connectors/account.js';
import { document360 } from '../../connectors/document360/index.js';
import { createConnectors } from '../../connectors/registry.js';
import type { Egress } from '../../egress/types.js';
import { type Document360Emulator, startDocument360, TOKEN } from '../emulators/document360.js';
import { readListing, loopbackEgress, NEVER } from './account.js';
import { faultOf } from '../support/faultOf.js';
import { acceptedBrokenAnswers } from './brokenAnswers.js';

let egress: Egress;
let emulator: Document360Emulator;

const accountOf = (accessToken = TOKEN): Account => {
  const connectors = createConnectors({ egress, urls: readSourceUrls(emulator.settings), maxItemBytes: 1_000_000 });
  return connectors.account(
    'DOCUMENT360',
    accessToken,
    JSON.stringify({ accountEmail: ' Ada@a.example', accessToken }),
  );
};

beforeAll(async () => {
  egress = loopbackEgress();
  emulator = await startDocument360();
});
afterAll(async () => {
  await egress.close();
  await emulator.close();
});
afterEach(() => {
  jest.restoreAllMocks();
});
beforeEach(() => {
  emulator.reset();
  emulator.workspaces.clear();
  emulator.workspaces.set('w1', {
    name: 'One',
    categories: {
      c1: {
        name: 'C1',
        articles: { a1: { title: 'A1', html: '<p>x</p>' } },
        categories: { c2: { name: 'C2', articles: { a2: { title: 'A2', html: '<p>y</p>', published: 4 } } } },
      },
    },
  });
});

test('identifies the account by its email address and the first workspace of the project', async () => {
  emulator.workspaces.set('w2', { name: 'Two', categories: {} });
  expect(await accountOf().identify(NEVER)).toMatchObject({
    account: 'ada@a.example|w1',
    metadata: { workspaces: ['One', 'Two'] },
  });
});

test('lists a category, then its articles and subcategories, and lists a category or an article by its id', async () => {
  const descendantsOf = async (id: string) =>
    (await readListing((cursor) => accountOf().listDescendants(id, cursor, NEVER))).items;
  const all = await descendantsOf('w1');
  expect(all.map(({ externalId, parentExternalId, itemType }) => [externalId, parentExternalId, itemType])).toEqual([
    ['w1', null, 'WORKSPACE'],
    ['w1/category:c1', 'w1', 'CATEGORY'],
    ['w1/article:a1', 'w1/category:c1', 'ARTICLE'],
    ['w1/category:c2', 'w1/category:c1', 'CATEGORY'],
    ['w1/article:a2', 'w1/category:c2', 'ARTICLE'],
  ]);
  expect(await descendantsOf('w1/category:c2')).toEqual(all.slice(3));
  expect(await descendantsOf('w1/article:a2')).toEqual(all.slice(4));
  expect(all[4]?.version).toMatch(/^4 2026/);
});

test('reads times without a time zone as UTC, whatever the time zone of the server', async () => {
  const parse = Date.parse.bind(Date);
  jest.spyOn(Date, 'parse').mockImplementation((time) => parse(/T[\d:.]+$/.test(time) ? `${time}+09:00` : time));
  const { items } = await accountOf().listDescendants('w1', null, NEVER);
  expect(items.map(({ externalId, version, createdAt }) => [externalId, version ?? createdAt])).toEqual([
    ['w1', '2026-03-03T10:00:00.000Z'],
    ['w1/category:c1', '2026-03-03T10:00:00.000Z'],
    ['w1/article:a1', '1 2026-03-03T10:01:00.000Z'],
    ['w1/category:c2', '2026-03-03T10:00:00.000Z'],
    ['w1/article:a2', '4 2026-03-03T10:04:00.000Z'],
  ]);
});

test('opens an article with its address on the site', async () => {
  expect(await accountOf().open('w1/article:a1', NEVER)).toMatchObject({
    name: 'A1',
    url: 'https://docs.example/v1/docs/a1',
    fileMetadata: { category_id: 'c', updated_at: '2026-03-03T10:01:00.000Z' },
  });
});

test('waits for the number of seconds in X-RateLimit-Reset', () => {
  const wait = (headers: Record<string, string>) => document360.waitMs?.({ status: 429, headers, body: null }, 0);
  expect(wait({ 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '41' })).toBe(41_000);
  expect(wait({ 'retry-after': '3', 'x-ratelimit-reset': '41' })).toBeNull();
  expect(wait({})).toBeNull();
});

test.each(['w2', 'w1/category:none', 'w1/article:none', 'w1/page:a1', 'w1/', '', '..', 'w1/article:../a1'])(
  'rejects %j as not found',
  async (id) => {
    expect((await faultOf(accountOf().listDescendants(id, null, NEVER))).kind).toBe('not_found');
    expect((await faultOf(accountOf().open(id, NEVER))).kind).toMatch(/not_found|unsupported_type/);
  },
);

test('reports the content of a workspace or a category as unsupported', async () => {
  for (const id of ['w1', 'w1/category:c1'])
    expect((await faultOf(accountOf().open(id, NEVER))).kind).toBe('unsupported_type');
});

test('reports a response with success false as a server error, and an unknown id as not found', async () => {
  emulator.injectFault(() => ({ status: 200, body: { data: null, success: false, errors: [] } }));
  expect(await faultOf(accountOf().listRoots(null, NEVER))).toMatchObject({
    kind: 'server_error',
    message: expect.stringContaining('success_false'),
  });
  emulator.reset();
  expect((await faultOf(accountOf().open('w1/article:none', NEVER))).kind).toBe('not_found');
  const errors = [{ description: null, error_code: 'NotFound' }];
  emulator.injectFault((path) =>
    path.includes('Articles') ? { status: 400, body: { success: false, errors } } : null,
  );
  expect((await faultOf(accountOf().open('w1/article:a1', NEVER))).kind).toBe('not_found');
});

test('reports a rejected token as revoked access', async () => {
  for (const token of ['nobody', 'a\nb'])
    expect((await faultOf(accountOf(token).listRoots(null, NEVER))).kind).toBe('access_revoked');
});

test('never treats a broken response as the end of a list, or as an empty article', async () => {
  const list = async () => [
    (await accountOf().listRoots(null, NEVER)).items,
    (await readListing((cursor) => accountOf().listDescendants('w1', cursor, NEVER))).items,
    Buffer.from((await accountOf().open('w1/article:a1', NEVER)).bytes).toString(),
  ];
  expect(await acceptedBrokenAnswers(emulator, list)).toEqual([]);
});
