import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { Account } from '../../connectors/account.js';
import type { Egress } from '../../egress/types.js';
import { nextRequests } from '../emulators/emulator.js';
import { startZotero, type ZoteroEmulator, zoteroKey } from '../emulators/zotero.js';
import { accountWith, readListing, loopbackEgress, NEVER, textOf, versionsOf } from './account.js';
import { faultOf } from '../support/faultOf.js';
import { acceptedBrokenAnswers } from './brokenAnswers.js';
import { obtainGrant, REDIRECT_URI } from './grants.js';

let egress: Egress;
let zotero: ZoteroEmulator;
let account: Account;

const OWN = 'users/475';
const GROUPS = ['groups/12', 'groups/13', 'groups/14'];
/** Returns an account with a new key, because the connector caches the owner of each key. */
const accountOf = (accessToken = zotero.oauth.grant(), timeLimitMs = 30_000): Account =>
  accountWith('ZOTERO', zotero.settings, { accessToken, facts: {} }, egress, timeLimitMs);
const descendantsOf = (id: string) => readListing((cursor) => account.listDescendants(id, cursor, NEVER));
const roots = () => readListing((cursor) => account.listRoots(cursor, NEVER));
const itemId = (name: string, library = OWN): string => `${library}/items/${zoteroKey(name)}`;
const collectionId = (name: string): string => `${OWN}/collections/${zoteroKey(name)}`;

const putItem = (name: string, more: object = {}, library = OWN): void =>
  zotero.put(library, 'items', zoteroKey(name), {
    ...{ itemType: 'journalArticle', title: `On ${name}`, dateAdded: '2026-01-07T09:00:00Z', collections: [], ...more },
  });
const putFile = (name: string, parent: string, content: string, more: object = {}): void => {
  const file = {
    itemType: 'attachment',
    linkMode: 'imported_file',
    filename: `${name}.md`,
    contentType: 'text/markdown',
  };
  const about = { ...file, parentItem: zoteroKey(parent), dateAdded: '2026-01-07T09:00:00Z', md5: `md5 of ${content}` };
  zotero.put(OWN, 'items', zoteroKey(name), { ...about, ...more }, content);
};

/** Reads the change feed from a cursor to its end. Returns the changed ids and the next cursor. */
async function readChanges(from: string) {
  const changed: string[] = [];
  let cursor = from;
  for (let more = true; more;) {
    const page = await account.changes!.since(cursor, NEVER);
    changed.push(...page.changes.map((change) => ('gone' in change ? `gone ${change.gone}` : change.item.externalId)));
    ({ more, next: cursor } = page);
  }
  return { changed, cursor };
}

beforeAll(async () => {
  egress = loopbackEgress();
  zotero = await startZotero();
});
afterAll(async () => {
  await egress.close();
  await zotero.close();
});
beforeEach(() => {
  zotero.reset();
  zotero.libraries.clear();
  zotero.rights.hasLibrary = true;
  zotero.backoff.seconds = 0;
  for (const library of [OWN, ...GROUPS])
    zotero.libraries.set(library, { name: library, version: 0, collections: new Map(), items: new Map(), deleted: [] });
  zotero.put(OWN, 'collections', zoteroKey('sights'), { name: 'Sights', parentCollection: false });
  zotero.put(OWN, 'collections', zoteroKey('towers'), { name: 'Towers', parentCollection: zoteroKey('sights') });
  zotero.put(OWN, 'collections', zoteroKey('ropes'), { name: 'Ropes', parentCollection: false });
  putItem('lighthouse', { collections: [zoteroKey('towers')] });
  putItem('pier', { collections: [zoteroKey('sights')] });
  putItem('knots', { collections: [zoteroKey('ropes')] });
  putItem('loose');
  putFile('scan', 'lighthouse', 'A scan.');
  putItem('gulls', {}, 'groups/12');
  account = accountOf();
});

describe('the connection', () => {
  test('requests consent by OAuth 1.0a with permissions as parameters, and gets a key that never expires', async () => {
    zotero.oauth.requests.length = 0;
    const { url, grant } = await obtainGrant('ZOTERO', zotero.settings, egress);
    // https://www.zotero.org/support/dev/web_api/v3/oauth
    expect(Object.fromEntries(url.searchParams)).toEqual({
      ...{ oauth_token: expect.stringMatching(/^request-/), name: 'Search' },
      ...{ library_access: '1', notes_access: '1', all_groups: 'read', write_access: '0' },
    });
    const tokens = zotero.oauth.requests.filter(({ kind }) => kind === 'token');
    expect(tokens.map(({ path, outcome }) => [path, outcome])).toEqual([
      ['/oauth/request', 'granted'],
      ['/oauth/access', 'granted'],
    ]);
    // OAuth 1.0a has no state parameter, so the state is part of the callback URL.
    expect(tokens[0]?.parameters['oauth_callback']).toBe(`${REDIRECT_URI}?state=the-state`);
    expect(grant).toMatchObject({ refreshToken: null, expiresAt: null });
    const identity = await accountOf(grant.accessToken).identify(NEVER);
    expect(identity).toEqual({ account: '475', metadata: { user_id: '475', username: 'ada' } });
  });

  test('fails with access_revoked for every call once its key is revoked, although Zotero answers 403', async () => {
    const start = await account.changes!.now(NEVER);
    zotero.oauth.revoke();
    const calls = {
      identify: account.identify(NEVER),
      roots: account.listRoots(null, NEVER),
      below: descendantsOf(OWN),
      open: account.open(itemId('pier'), NEVER),
      changes: account.changes!.since(start, NEVER),
      'header injection': accountOf('a\r\nx-other: 1').identify(NEVER),
    };
    const kinds = Object.entries(calls).map(async ([name, call]) => `${name}: ${(await faultOf(call)).kind}`);
    expect(await Promise.all(kinds)).toEqual(Object.keys(calls).map((name) => `${name}: access_revoked`));
  });

  test('denies a library that its key may not read, and lists the others', async () => {
    zotero.rights.hasLibrary = false;
    expect((await roots()).ids).toEqual(GROUPS);
    expect(await faultOf(descendantsOf(OWN))).toMatchObject({ kind: 'access_denied' });
  });
});

describe('a listing', () => {
  test("contains the user's library and the groups of all pages", async () => {
    const { ids, pages } = await roots();
    expect(ids).toEqual([OWN, ...GROUPS]);
    expect(pages).toBe(2);
  });

  test('of a library contains the collections and items of all pages with their parents, without annotations', async () => {
    putItem('mark', { itemType: 'annotation', parentItem: zoteroKey('scan') });
    const { items, pages } = await descendantsOf(OWN);
    expect(items.map((item) => [item.externalId, item.parentExternalId, item.itemType])).toEqual([
      [OWN, null, 'FOLDER'],
      [collectionId('sights'), OWN, 'FOLDER'],
      [collectionId('towers'), collectionId('sights'), 'FOLDER'],
      [collectionId('ropes'), OWN, 'FOLDER'],
      [itemId('lighthouse'), collectionId('towers'), 'FILE'],
      [itemId('pier'), collectionId('sights'), 'FILE'],
      [itemId('knots'), collectionId('ropes'), 'FILE'],
      [itemId('loose'), OWN, 'FILE'],
      [itemId('scan'), itemId('lighthouse'), 'FILE'],
    ]);
    expect(pages).toBe(4);
  });

  test('of a collection contains its subcollections and items, and of an item its attachments', async () => {
    const { ids } = await descendantsOf(collectionId('sights'));
    expect(ids.toSorted()).toEqual(
      [
        ...[collectionId('sights'), collectionId('towers')],
        ...[itemId('lighthouse'), itemId('pier'), itemId('scan')],
      ].toSorted(),
    );
    expect((await descendantsOf(itemId('lighthouse'))).ids).toEqual([itemId('lighthouse'), itemId('scan')]);
    expect((await descendantsOf(itemId('scan'))).ids).toEqual([itemId('scan')]);
  });

  test('restarts if its library changes meanwhile, because the numbered pages shift', async () => {
    const first = await account.listDescendants(OWN, null, NEVER);
    const second = await account.listDescendants(OWN, first.next, NEVER);
    zotero.drop(OWN, 'items', zoteroKey('lighthouse'));
    const ids = second.items.map(({ externalId }) => externalId);
    for (let cursor = second.next; cursor !== null;) {
      const page = await account.listDescendants(OWN, cursor, NEVER);
      ids.push(...page.items.map(({ externalId }) => externalId));
      cursor = page.next;
    }
    expect(ids).toContain(itemId('knots'));
    expect(ids.filter((id) => id === itemId('pier'))).toHaveLength(2);
  });

  test('gives the reason why an attachment that is only a link has no content', async () => {
    putFile('link', 'pier', '', { linkMode: 'linked_url' });
    const { items } = await descendantsOf(itemId('link'));
    expect(items).toMatchObject([
      { hasContent: false, isSelectable: false, skipReason: expect.stringMatching(/link/) },
    ]);
    expect(await faultOf(account.open(itemId('link'), NEVER))).toMatchObject({ kind: 'unsupported_type' });
  });

  test('gives the reason why a file that is stored on a server of the user has no content', async () => {
    // https://github.com/davidswelt/zot_bib_web/issues/16
    const about = { itemType: 'attachment', linkMode: 'imported_file', filename: 'far.pdf', md5: 'a1' };
    putItem('far', { ...about, parentItem: zoteroKey('pier'), contentType: 'application/pdf' });
    const { items } = await descendantsOf(itemId('far'));
    expect(items).toMatchObject([
      { hasContent: false, isSelectable: false, skipReason: expect.stringMatching(/WebDAV/) },
    ]);
    expect(await faultOf(account.open(itemId('far'), NEVER))).toMatchObject({ kind: 'unsupported_type' });
    expect((await descendantsOf(itemId('scan'))).items).toMatchObject([{ hasContent: true }]);
  });

  test('gives changed items new versions and leaves out deleted and trashed ones', async () => {
    const before = versionsOf((await descendantsOf(OWN)).items);
    putItem('pier', { collections: [zoteroKey('sights')], abstractNote: 'More.' });
    putFile('scan', 'lighthouse', 'A better scan.');
    zotero.drop(OWN, 'items', zoteroKey('knots'));
    putItem('loose', { deleted: 1 });
    const after = versionsOf((await descendantsOf(OWN)).items);
    const deleted = [itemId('knots'), itemId('loose')];
    expect(Object.keys(after)).toEqual(Object.keys(before).filter((id) => !deleted.includes(id)));
    expect(Object.keys(after).filter((id) => after[id] !== before[id])).toEqual([itemId('pier'), itemId('scan')]);
  });
});

describe('the change feed', () => {
  test('reports changed, deleted and trashed items of each library, across all pages', async () => {
    const start = await account.changes!.now(NEVER);
    expect((await readChanges(start)).changed).toEqual([]);
    for (const name of ['new1', 'new2', 'new3']) putItem(name);
    putItem('gulls', { abstractNote: 'White.' }, 'groups/12');
    zotero.put(OWN, 'collections', zoteroKey('ropes'), { name: 'Lines', parentCollection: false });
    zotero.drop(OWN, 'items', zoteroKey('pier'));
    putItem('loose', { deleted: 1 });
    const { changed, cursor: later } = await readChanges(start);
    expect(changed.toSorted()).toEqual(
      [
        ...['new1', 'new2', 'new3'].map((name) => itemId(name)),
        ...[itemId('gulls', 'groups/12'), collectionId('ropes')],
        ...[`gone ${itemId('pier')}`, `gone ${itemId('loose')}`],
      ].toSorted(),
    );
    expect((await readChanges(later)).changed).toEqual([]);
  });

  test('reports a change in the next scan if a deletion between two pages moved it to a page already read', async () => {
    const start = await account.changes!.now(NEVER);
    for (const name of ['new1', 'new2', 'new3', 'new4']) putItem(name);
    const first = await account.changes!.since(start, NEVER);
    zotero.drop(OWN, 'items', zoteroKey('new1'));
    const { changed, cursor } = await readChanges(first.next);
    expect(changed).not.toContain(itemId('new3'));
    const repeated = await readChanges(cursor);
    expect(repeated.changed).toEqual(expect.arrayContaining([itemId('new3'), `gone ${itemId('new1')}`]));
    expect((await readChanges(repeated.cursor)).changed).toEqual([]);
  });

  test('reports a group that the account has left as deleted, and is stale after a new one', async () => {
    const start = await account.changes!.now(NEVER);
    zotero.libraries.delete('groups/13');
    expect((await readChanges(start)).changed).toEqual(['gone groups/13']);
    zotero.libraries.set('groups/99', { name: 'n', version: 0, collections: new Map(), items: new Map(), deleted: [] });
    expect(await faultOf(readChanges(start))).toMatchObject({ kind: 'stale_cursor' });
  });

  test('is stale after a deleted collection, because its items still exist', async () => {
    const start = await account.changes!.now(NEVER);
    zotero.drop(OWN, 'collections', zoteroKey('ropes'));
    expect(await faultOf(readChanges(start))).toMatchObject({ kind: 'stale_cursor' });
  });
});

describe('content', () => {
  test('of a bibliographic item is its fields, and of a note its HTML', async () => {
    putItem('paper', {
      ...{
        title: 'On lamps',
        abstractNote: 'Of oil.',
        publicationTitle: 'Light',
        DOI: '10.1/2',
        tags: [{ tag: 'oil' }],
      },
      creators: [
        { firstName: 'Ada', lastName: 'Lee', creatorType: 'author' },
        { name: 'The Crew', creatorType: 'editor' },
      ],
    });
    expect(await account.open(itemId('paper'), NEVER)).toMatchObject({
      ...{ name: 'On lamps', mimeType: 'text/markdown', fileMetadata: { type: 'journalArticle', library: OWN } },
      url: `https://www.zotero.org/${OWN}/items/${zoteroKey('paper')}`,
    });
    expect((await textOf(account, itemId('paper'))).split('\n')).toEqual([
      ...['# On lamps', '', '- By: Ada Lee, The Crew (editor)', '- In: Light', '- DOI: 10.1/2', '- Tags: oil', ''],
      'Of oil.',
    ]);
    putItem('note', { itemType: 'note', note: '<p>Oil &amp; wick.</p>' });
    expect((await account.open(itemId('note'), NEVER)).mimeType).toBe('text/html');
    expect(await textOf(account, itemId('note'))).toBe('<p>Oil &amp; wick.</p>');
  });

  test('is named by the title field of its item type, such as nameOfAct or subject', async () => {
    putItem('act', { itemType: 'statute', title: undefined, nameOfAct: 'Harbour Act' });
    putItem('mail', { itemType: 'email', title: undefined, subject: 'On the tide' });
    putItem('trial', { itemType: 'case', title: undefined, caseName: 'Pier v. Boat' });
    const names = ['act', 'mail', 'trial'].map(async (name) => (await account.open(itemId(name), NEVER)).name);
    expect(await Promise.all(names)).toEqual(['Harbour Act', 'On the tide', 'Pier v. Boat']);
    expect(await textOf(account, itemId('act'))).toBe('# Harbour Act');
  });

  test('of a note is named by its first words, also after the metadata of many cited items', async () => {
    const cited = encodeURIComponent(JSON.stringify([{ itemData: { abstract: 'long '.repeat(1_000) } }]));
    const note = `<div data-citation-items="${cited}" data-schema-version="9"><h1>Oil &amp; wick</h1></div>`;
    putItem('note', { itemType: 'note', note });
    expect((await account.open(itemId('note'), NEVER)).name).toBe('Oil wick');
    putItem('note', { itemType: 'note', note: `<p>Oil</p><p data-x="${'y'.repeat(5_000)}">wick</p>` });
    expect((await account.open(itemId('note'), NEVER)).name).toBe('Oil');
  });

  test('of a stored file is downloaded from the redirect without the key', async () => {
    expect(await textOf(account, itemId('scan'))).toBe('A scan.');
    expect(await account.open(itemId('scan'), NEVER)).toMatchObject({
      ...{ name: 'scan.md', mimeType: 'text/markdown' },
      fileMetadata: { type: 'attachment', parent_external_file_id: itemId('lighthouse') },
    });
  });

  test('is not found for missing items, and unsupported for containers', async () => {
    const wrong: string[] = [];
    for (const id of [itemId('none'), itemId('none', 'groups/12'), `${OWN}/items/x`, `${OWN}/searches/AAAAAAAA`, '..'])
      for (const call of [() => descendantsOf(id), () => account.open(id, NEVER)])
        if ((await faultOf(call())).kind !== 'not_found') wrong.push(id);
    for (const id of ['groups/99', 'users/999', collectionId('none')])
      if ((await faultOf(descendantsOf(id))).kind !== 'not_found') wrong.push(id);
    for (const id of [OWN, collectionId('sights')])
      if ((await faultOf(account.open(id, NEVER))).kind !== 'unsupported_type') wrong.push(id);
    expect(wrong).toEqual([]);
  });
});

describe('a broken response', () => {
  const broken = (call: () => Promise<unknown>) => acceptedBrokenAnswers(zotero, call);

  test('never counts as the end of a list', async () => {
    // The owner of the key is cached for some minutes: only the first listing requests it.
    await roots();
    expect(await broken(async () => (await roots()).ids)).toEqual([]);
    for (const id of [OWN, 'groups/12', collectionId('sights'), itemId('lighthouse')])
      expect(await broken(async () => (await descendantsOf(id)).items)).toEqual([]);
  });

  test('never counts as the end of the change feed', async () => {
    for (const group of GROUPS) zotero.libraries.delete(group);
    const start = await account.changes!.now(NEVER);
    for (const name of ['new1', 'new2', 'new3']) putItem(name);
    zotero.drop(OWN, 'items', zoteroKey('pier'));
    expect(await broken(async () => (await readChanges(start)).changed)).toEqual([]);
  });

  test('never replaces content', async () => {
    expect(await broken(() => account.open(itemId('pier'), NEVER))).toEqual([]);
  });
});

describe('the rate limit', () => {
  // https://www.zotero.org/support/dev/web_api/v3/basics#rate_limiting
  test('delays the retry by Retry-After of 429 and 503, up to the maximum wait', async () => {
    const refusal = (number: number) => ({ status: number === 0 ? 429 : 503, headers: { 'retry-after': '0' } });
    zotero.injectFault(nextRequests(2, refusal));
    expect((await roots()).ids).toHaveLength(4);
    const impatient = accountOf(undefined, 100);
    zotero.injectFault(nextRequests(1, () => ({ status: 429, headers: { 'retry-after': '600' } })));
    expect(await faultOf(impatient.listRoots(null, NEVER))).toMatchObject({
      kind: 'rate_limited',
      retryAfterMs: 600_000,
    });
  });

  test('delays the next request of the account after a Backoff header in a successful response', async () => {
    const impatient = accountOf(undefined, 100);
    await impatient.identify(NEVER);
    zotero.backoff.seconds = 600;
    expect((await impatient.listDescendants(itemId('pier'), null, NEVER)).items).toHaveLength(1);
    const fault = await faultOf(impatient.listDescendants(itemId('pier'), null, NEVER));
    expect(fault.kind).toBe('rate_limited');
    expect(fault.retryAfterMs).toBeGreaterThan(500_000);
  });
});
