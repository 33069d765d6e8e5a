import { openCursor } from '../../connectors/cursors.js';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';

import { readSourceUrls } from '../../connectors/readSourceUrls.js';
import type { Account } from '../../connectors/account.js';
import { createConnectors } from '../../connectors/registry.js';
import type { Egress } from '../../egress/types.js';
import { type GuruEmulator, startGuru, TOKEN, USERNAME } from '../emulators/guru.js';
import { readListing, loopbackEgress, NEVER } from './account.js';
import { faultOf } from '../support/faultOf.js';
import { acceptedBrokenAnswers } from './brokenAnswers.js';

let egress: Egress;
let emulator: GuruEmulator;
let account: Account;

const descendantsOf = async (id: string) =>
  (await readListing((cursor) => account.listDescendants(id, cursor, NEVER))).items;
const card = (id: string, folder?: string, collection = 'c1'): void =>
  void emulator.cards.set(id, {
    title: `T ${id}`,
    html: `<p>${id}</p>`,
    collection,
    ...(folder === undefined ? {} : { folder }),
  });

beforeAll(async () => {
  egress = loopbackEgress();
  emulator = await startGuru();
});
afterAll(async () => {
  await egress.close();
  await emulator.close();
});
beforeEach(() => {
  emulator.reset();
  for (const map of [emulator.collections, emulator.folders, emulator.cards]) map.clear();
  for (const id of ['c1', 'c2', 'c3']) emulator.collections.set(id, id.toUpperCase());
  emulator.folders.set('f1', { title: 'F1', parent: 'c1' });
  emulator.folders.set('f2', { title: 'F2', parent: 'f1' });
  emulator.folders.set('f3', { title: 'F3', parent: 'f2' });
  for (const [id, folder] of [['a', 'f1'], ['b', 'f3'], ['c', 'f3'], ['d', 'f3'], ['e']] as const) card(id, folder);
  card('elsewhere', undefined, 'c2');
  const connectors = createConnectors({ egress, urls: readSourceUrls(emulator.settings), maxItemBytes: 1_000_000 });
  account = connectors.account('GURU', '1', JSON.stringify({ username: USERNAME, accessToken: TOKEN }));
});

test('lists collections across all pages', async () => {
  const { ids, pages } = await readListing((cursor) => account.listRoots(cursor, NEVER));
  expect(ids).toEqual(['collection:c1', 'collection:c2', 'collection:c3']);
  expect(pages).toBe(2);
});

test('lists a collection with its folders, their cards, and the cards without a folder', async () => {
  const all = await descendantsOf('collection:c1');
  expect(all.map(({ externalId, parentExternalId }) => [externalId, parentExternalId])).toEqual([
    ['collection:c1', null],
    ['folder:f1', 'collection:c1'],
    ['folder:f2', 'folder:f1'],
    ['a', 'folder:f1'],
    ['folder:f3', 'folder:f2'],
    ['b', 'folder:f3'],
    ['c', 'folder:f3'],
    ['d', 'folder:f3'],
    ['e', 'collection:c1'],
  ]);
  expect(new Set(all.slice(1).map(({ rootExternalId }) => rootExternalId))).toEqual(new Set(['collection:c1']));
  expect((await descendantsOf('folder:f2')).map(({ externalId }) => externalId)).toEqual([
    'folder:f2',
    'folder:f3',
    'b',
    'c',
    'd',
  ]);
  expect((await descendantsOf('e')).map(({ externalId }) => externalId)).toEqual(['e']);
});

test('gives the cards of folders their dates, so that unchanged ones are not fetched again', async () => {
  emulator.cards.get('c')!.edited = 7;
  const cards = (await descendantsOf('collection:c1')).filter(({ itemType }) => itemType === 'CARD');
  expect(cards.map(({ externalId, createdAt, version }) => [externalId, createdAt, version])).toEqual(
    ['a', 'b', 'c', 'd', 'e'].map((id) => [
      id,
      '2026-03-03T10:00:00.000Z',
      id === 'c' ? '2026-03-03T10:07:00.000Z' : '2026-03-03T10:00:00.000Z',
    ]),
  );
});

test('does not find archived cards, which Guru omits from lists and refuses with 404', async () => {
  for (const id of ['a', 'e']) emulator.cards.get(id)!.archived = true;
  const listed = await descendantsOf('collection:c1');
  expect(listed.filter(({ itemType }) => itemType === 'CARD').map(({ externalId }) => externalId)).toEqual([
    'b',
    'c',
    'd',
  ]);
  for (const id of ['a', 'e']) {
    expect((await faultOf(account.open(id, NEVER))).kind).toBe('not_found');
    expect((await faultOf(account.listDescendants(id, null, NEVER))).kind).toBe('not_found');
  }
});

test('continues if a folder is deleted during the listing', async () => {
  const first = await account.listDescendants('collection:c1', null, NEVER);
  const second = await account.listDescendants('collection:c1', first.next, NEVER);
  emulator.folders.delete('f1');
  emulator.folders.delete('f2');
  emulator.folders.delete('f3');
  const remainingIds: string[] = second.items.map(({ externalId }) => externalId);
  for (let at = second.next; at !== null;) {
    const page = await account.listDescendants('collection:c1', at, NEVER);
    remainingIds.push(...page.items.map(({ externalId }) => externalId));
    at = page.next;
  }
  expect(remainingIds).toEqual(['folder:f1', 'e']);
});

test('a collection whose home folder is not found is an error, so that its cards do not count as deleted', async () => {
  const { next } = await account.listDescendants('collection:c1', null, NEVER);
  emulator.injectFault((path) => (path.startsWith('/api/v1/folders/home-c1/') ? { status: 404 } : null));
  expect((await faultOf(account.listDescendants('collection:c1', next, NEVER))).kind).toBe('server_error');
});

test('a collection without a home folder is a server_error', async () => {
  emulator.injectFault((path) =>
    path === '/api/v1/collections/c1'
      ? { wrongBody: '{"id":"c1","name":"C1","homeBoardSlug":null}', contentType: 'application/json' }
      : null,
  );
  expect((await faultOf(account.listDescendants('collection:c1', null, NEVER))).kind).toBe('server_error');
});

test('an empty search, which Guru answers with 204, is the end of the list', async () => {
  emulator.folders.clear();
  emulator.cards.clear();
  expect((await descendantsOf('collection:c1')).map(({ externalId }) => externalId)).toEqual(['collection:c1']);
});

test.each(['nowhere', 'collection:none', 'folder:none', 'collection:', 'a/b', '..', ''])(
  'rejects %j as not found',
  async (id) => {
    expect((await faultOf(account.listDescendants(id, null, NEVER))).kind).toBe('not_found');
    expect((await faultOf(account.open(id, NEVER))).kind).toBe('not_found');
  },
);

test('reads a card as its title and body, and reports collections and folders as unsupported', async () => {
  for (const id of ['collection:c1', 'folder:f1'])
    expect((await faultOf(account.open(id, NEVER))).kind).toBe('unsupported_type');
  const { bytes, fileMetadata } = await account.open('a', NEVER);
  expect(Buffer.from(bytes).toString()).toMatch(/<h1>T a<\/h1>\s*<p>a<\/p>/);
  expect(fileMetadata).toMatchObject({ type: 'CARD', collection_name: 'C1', updated_at: '2026-03-03T10:00:00.000Z' });
});

test('stores only the query of a next link, so that the link cannot change the host', async () => {
  emulator.collections.set('c4', 'C4');
  const first = await account.listRoots(null, NEVER);
  expect(Object.keys(JSON.parse(openCursor(first.next ?? '')) as object)).toEqual(['token']);
});

test('never treats a broken response as the end of a list', async () => {
  const list = async () => [
    (await readListing((cursor) => account.listRoots(cursor, NEVER))).items,
    await descendantsOf('collection:c1'),
  ];
  expect(await acceptedBrokenAnswers(emulator, list)).toEqual([]);
});
