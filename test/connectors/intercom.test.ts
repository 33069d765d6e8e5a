import { sealCursor } from '../../connectors/cursors.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { Account } from '../../connectors/account.js';
import type { TypeFilter } from '../../contract/sources/typesAtSource.js';
import type { Egress } from '../../egress/types.js';
import { nextRequests } from '../emulators/emulator.js';
import { type IntercomEmulator, startIntercom, WORKSPACE } from '../emulators/intercom.js';
import { CLIENT_ID } from '../emulators/oauthProvider.js';
import { accountWith, readListing, loopbackEgress, NEVER, textOf, versionsOf } from './account.js';
import { faultOf } from '../support/faultOf.js';
import { acceptedBrokenAnswers } from './brokenAnswers.js';
import { obtainGrant, REDIRECT_URI } from './grants.js';

let egress: Egress;
let intercom: IntercomEmulator;
let account: Account;

const accountOf = (accessToken = intercom.oauth.grant().accessToken, timeLimitMs = 30_000): Account =>
  accountWith('INTERCOM', intercom.settings, { accessToken, facts: {} }, egress, timeLimitMs);
const descendantsOf = (id: string, filter?: TypeFilter) =>
  readListing((cursor) => account.listDescendants(id, cursor, NEVER, filter));
const roots = () => readListing((cursor) => account.listRoots(cursor, NEVER));
const seconds = (): number => Math.floor(Date.now() / 1000);

/** Reads the change feed from a cursor to its end. */
async function readChanges(from: string) {
  const changed: string[] = [];
  const deletedPaths: string[] = [];
  let cursor = from;
  for (let more = true; more;) {
    const page = await account.changes!.since(cursor, NEVER);
    changed.push(...page.changes.map((change) => ('gone' in change ? `gone ${change.gone}` : change.item.externalId)));
    deletedPaths.push(...(page.deletedPaths ?? []));
    ({ more, next: cursor } = page);
  }
  return { changed, deletedPaths };
}

beforeAll(async () => {
  egress = loopbackEgress();
  intercom = await startIntercom();
});
afterAll(async () => {
  await egress.close();
  await intercom.close();
});
beforeEach(() => {
  intercom.reset();
  intercom.fileStatus = null;
  const { collections, articles, conversations, tickets } = intercom;
  for (const map of [collections, articles, conversations, tickets]) map.clear();
  for (const [at, name] of ['Sea', 'Land', 'Air'].entries()) collections.set(at + 1, { name });
  collections.set(10, { name: 'Sights', parentId: 1 });
  articles.set(100, { collection: 10, title: 'Lighthouse', body: '<p>A light.</p>' });
  articles.set(101, { collection: 1, title: 'Pier', body: '<p>A pier.</p>' });
  articles.set(102, { collection: 2, title: 'Field', body: '<p>A field.</p>' });
  articles.set(103, { collection: 10, title: 'Draft', body: '', draft: true });
  articles.set(104, { collection: null, title: 'Loose', body: '<p>Loose.</p>' });
  const file = (name: string) => ({ name: `${name}.txt`, content: `On ${name}.` });
  for (const id of [5, 6, 7]) conversations.set(id, { title: `Talk ${id}`, parts: [{ text: `On ${id}.` }] });
  conversations.set(8, {
    title: 'Tides',
    parts: [
      { text: 'When is high tide?', files: [file('tides')] },
      { text: 'At noon.' },
      { text: 'He asks daily.', isNote: true },
    ],
    total: 7,
  });
  for (const id of [20, 21, 22])
    tickets.set(id, { title: `Ticket ${id}`, parts: [{ text: 'Broken &amp; wet.', files: [file(`t${id}`)] }] });
  account = accountOf();
});

describe('the connection', () => {
  test('requests neither scopes nor PKCE, which Intercom does not support, and never expires', async () => {
    const { url, grant } = await obtainGrant('INTERCOM', intercom.settings, egress);
    // https://developers.intercom.com/docs/build-an-integration/learn-more/authentication/setting-up-oauth
    expect(Object.fromEntries(url.searchParams)).toEqual({
      ...{ response_type: 'code', client_id: CLIENT_ID, redirect_uri: REDIRECT_URI, state: 'the-state' },
    });
    expect(grant).toMatchObject({ refreshToken: null, expiresAt: null, clientId: CLIENT_ID });
    expect(await accountOf(grant.accessToken).identify(NEVER)).toEqual({
      account: WORKSPACE,
      metadata: {
        ...{ workspace_id: WORKSPACE, workspace_name: 'Harbour', region: 'US' },
        ...{ user_name: 'Ada', email: 'ada@harbour.example' },
      },
    });
  });

  test('fails with access_revoked for every call once its token is revoked', async () => {
    const start = await account.changes!.now(NEVER);
    intercom.oauth.revoke();
    const calls = {
      identify: account.identify(NEVER),
      roots: account.listRoots(null, NEVER),
      below: descendantsOf('conversations'),
      open: account.open('article:100', NEVER),
      changes: account.changes!.since(start, NEVER),
      'header injection': accountOf('a\r\nx-other: 1').identify(NEVER),
    };
    const kinds = Object.entries(calls).map(async ([name, call]) => `${name}: ${(await faultOf(call)).kind}`);
    expect(await Promise.all(kinds)).toEqual(Object.keys(calls).map((name) => `${name}: access_revoked`));
  });
});

describe('a listing', () => {
  test('contains all root collections, and containers of articles without one, conversations and tickets', async () => {
    const { ids } = await roots();
    expect(ids).toEqual([...['collection:1', 'collection:2', 'collection:3', 'articles', 'conversations', 'tickets']]);
  });

  test('contains a collection that moves to the first page while the second one is read', async () => {
    let requests = 0;
    intercom.injectFault(() => {
      requests += 1;
      if (requests === 2) intercom.collections.get(3)!.updated = 1_772_600_000;
      return null;
    });
    expect((await roots()).ids).toContain('collection:3');
  });

  test('of a collection contains its subcollections and published articles, and reports drafts as skipped', async () => {
    const { items } = await descendantsOf('collection:1');
    // An edited article moves to the first page, so the listing reads the latest articles again at its end.
    const unique = [...new Map(items.map((item) => [item.externalId, item])).values()];
    expect(unique.map((item) => [item.externalId, item.parentExternalId, item.rootExternalId])).toEqual([
      ['collection:1', null, null],
      ['collection:10', 'collection:1', 'collection:1'],
      ['article:100', 'collection:10', 'collection:1'],
      ['article:101', 'collection:1', 'collection:1'],
    ]);
    expect((await descendantsOf('articles')).ids).toEqual(['articles', 'article:104']);
    expect((await descendantsOf('article:100')).ids).toEqual(['article:100']);
    const cursor = sealCursor(JSON.stringify({ roots: { 10: '1' }, page: 2, total: null, restarts: 0 }));
    expect((await account.listDescendants('collection:10', cursor, NEVER)).skipped).toMatchObject([
      { externalId: 'article:103', name: 'Draft' },
    ]);
  });

  test('contains an article that is edited during it, which moves to the first page', async () => {
    const first = await account.listDescendants('articles', null, NEVER);
    const second = await account.listDescendants('articles', first.next, NEVER);
    intercom.articles.get(104)!.updated = 1_772_600_000;
    const ids: string[] = [];
    for (let cursor = second.next; cursor !== null;) {
      const page = await account.listDescendants('articles', cursor, NEVER);
      ids.push(...page.items.map(({ externalId }) => externalId));
      cursor = page.next;
    }
    expect(ids).toEqual(['article:104']);
  });

  test('restarts if an article is deleted during it, because later articles move to an earlier page', async () => {
    const first = await account.listDescendants('collection:1', null, NEVER);
    const second = await account.listDescendants('collection:1', first.next, NEVER);
    intercom.articles.delete(100);
    const ids = second.items.map(({ externalId }) => externalId);
    for (let cursor = second.next; cursor !== null;) {
      const page = await account.listDescendants('collection:1', cursor, NEVER);
      ids.push(...page.items.map(({ externalId }) => externalId));
      cursor = page.next;
    }
    // Listed before the restart, after it, and at the end, when page 1 is read again for edited articles.
    expect(ids.filter((id) => id === 'article:101')).toHaveLength(3);
  });

  test('of conversations and tickets follows starting_after, and contains attachments if the filter includes them', async () => {
    const { ids, pages } = await descendantsOf('conversations', { autoSyncedSourceTypes: ['CONVERSATION'] });
    expect(ids).toEqual(['conversations', ...[5, 6, 7, 8].map((id) => `conversation:${id}`)]);
    expect(pages).toBe(3);
    const withAttachments = { autoSyncedSourceTypes: ['TICKET'], syncAttachments: true } as const;
    expect((await descendantsOf('tickets', withAttachments)).ids.toSorted()).toEqual(
      [20, 21, 22]
        .flatMap((id) => [`ticket:${id}`, `ticket:${id}/${id}00-0`])
        .concat('tickets')
        .toSorted(),
    );
    expect((await descendantsOf('conversation:8')).ids).toEqual(['conversation:8', 'conversation:8/s-0']);
    expect((await descendantsOf('conversation:8/s-0')).ids).toEqual(['conversation:8/s-0']);
  });

  test('of tickets has the type, state, submitter and assignees as tags', async () => {
    const { items } = await descendantsOf('tickets', { autoSyncedSourceTypes: ['TICKET'] });
    expect(items.find(({ externalId }) => externalId === 'ticket:20')?.tags).toEqual({
      ...{ ticket_type: 'Bug', ticket_status: 'In progress', ticket_category: 'Customer' },
      ...{ ticket_submitter: 'ben@sea.example', ticket_assigned_team: 'Piers' },
      ticket_assigned_admin: 'ada@harbour.example',
    });
  });

  test('gives a changed article a new version and leaves out a deleted one', async () => {
    const before = versionsOf((await descendantsOf('collection:1')).items);
    intercom.articles.get(101)!.updated = 1_772_600_000;
    intercom.articles.delete(100);
    const after = versionsOf((await descendantsOf('collection:1')).items);
    expect(Object.keys(after)).toEqual(Object.keys(before).filter((id) => id !== 'article:100'));
    expect(Object.keys(after).filter((id) => after[id] !== before[id])).toEqual(['article:101']);
  });
});

describe('the change feed', () => {
  test('reports changed items, and their paths as deleted, so that a sync deletes their previous attachments', async () => {
    const start = await account.changes!.now(NEVER);
    intercom.tickets.set(21, { title: 'Changed', parts: [{ text: 'Nothing attached.' }], updated: seconds() });
    intercom.conversations.set(9, { title: 'New', parts: [{ text: 'See.' }], updated: seconds() });
    expect((await account.changes!.since(start, NEVER)).coveredRoots).toEqual(['conversations', 'tickets']);
    const { changed, deletedPaths } = await readChanges(start);
    expect(changed).toEqual(['conversation:9', 'ticket:21']);
    expect(deletedPaths).toEqual(['conversation:9', 'ticket:21']);
  });

  test('is stale after a deletion, which Intercom does not report', async () => {
    const start = await account.changes!.now(NEVER);
    expect((await readChanges(start)).changed).toEqual([]);
    intercom.conversations.delete(6);
    expect(await faultOf(readChanges(start))).toMatchObject({ kind: 'stale_cursor' });
  });
});

describe('content', () => {
  test('of an article contains its published languages, the default one first', async () => {
    intercom.articles.set(105, {
      ...{ collection: null, title: 'Knots & <ropes>', body: '<p>A bowline.</p>' },
      translated: {
        de: { title: 'Knoten', body: '<p>Ein Palstek.</p>' },
        fr: { title: 'Nœuds', body: '<p>Pas encore.</p>', draft: true },
      },
    });
    const { format, name, mimeType, url, fileMetadata } = await account.open('article:105', NEVER);
    expect({ format, name, mimeType, url, fileMetadata }).toMatchObject({
      ...{ format: 'INTERCOM', name: 'Knots & <ropes>', mimeType: 'text/html' },
      ...{ url: 'https://help.example/articles/105', fileMetadata: { type: 'ARTICLE', locale: 'en' } },
    });
    expect([...(await textOf(account, 'article:105')).matchAll(/<h1>(.*?)<\/h1>/g)].map(([, title]) => title)).toEqual([
      ...['Knots &amp; &lt;ropes&gt;', 'Knoten'],
    ]);
  });

  test('of a conversation or a ticket is its parts, with the number of parts that Intercom omits', async () => {
    expect((await textOf(account, 'conversation:8')).split('\n\n')).toEqual([
      '# Tides',
      expect.stringMatching(/^Ben, [\d :-]+: When is high tide\?$/),
      expect.stringMatching(/^Ada, [\d :-]+: At noon\.$/),
      expect.stringMatching(/^Ada, [\d :-]+ \(internal note\): He asks daily\.$/),
    ]);
    // Intercom returns at most 500 parts:
    // https://developers.intercom.com/docs/references/rest-api/api.intercom.io/conversations/retrieveconversation
    expect((await account.open('conversation:8', NEVER)).fileMetadata).toMatchObject({ parts_left_out: 5 });
    expect(await textOf(account, 'ticket:20')).toMatch(/About Ticket 20\.[\s\S]*Ada, .*: Broken & wet\.$/);
  });

  test('of an attachment is downloaded from its signed URL without the token, and a 401 there concerns the file only', async () => {
    const attached = await account.open('conversation:8/s-0', NEVER);
    expect(Buffer.from(attached.bytes).toString()).toBe('On tides.');
    expect(attached.fileMetadata).toEqual({ type: 'TICKET_ATTACHMENT', parent_external_file_id: 'conversation:8' });
    intercom.fileStatus = 401;
    expect(await faultOf(account.open('conversation:8/s-0', NEVER))).toMatchObject({ kind: 'not_found' });
  });

  test('of an attachment is retried later if its host only limits the rate or times out', async () => {
    intercom.fileStatus = 429;
    const limited = await faultOf(account.open('conversation:8/s-0', NEVER));
    expect([limited.kind, limited.retryAfterMs]).toEqual(['rate_limited', 10_000]);
    intercom.fileStatus = 408;
    expect(await faultOf(account.open('conversation:8/s-0', NEVER))).toMatchObject({ kind: 'server_error' });
  });

  test('is not found for missing items, and unsupported for containers', async () => {
    const wrong: string[] = [];
    for (const id of ['article:103', 'article:9', 'conversation:9', 'ticket:9', 'ticket:20/1-0', 'article:100/1', '..'])
      for (const call of [() => account.open(id, NEVER), () => descendantsOf(id)])
        if ((await faultOf(call())).kind !== 'not_found') wrong.push(id);
    if ((await faultOf(descendantsOf('collection:9'))).kind !== 'not_found') wrong.push('collection:9');
    for (const id of ['articles', 'conversations', 'tickets', 'collection:1'])
      if ((await faultOf(account.open(id, NEVER))).kind !== 'unsupported_type') wrong.push(id);
    expect(wrong).toEqual([]);
  });
});

describe('a broken response', () => {
  const broken = (call: () => Promise<unknown>) => acceptedBrokenAnswers(intercom, call);

  test('never counts as the end of a list', async () => {
    const attached = { autoSyncedSourceTypes: ['CONVERSATION'], syncAttachments: true } as const;
    expect(await broken(async () => (await roots()).ids)).toEqual([]);
    expect(await broken(async () => (await descendantsOf('collection:1')).items)).toEqual([]);
    expect(await broken(async () => (await descendantsOf('conversations', attached)).items)).toEqual([]);
  });

  test('never counts as the end of the change feed', async () => {
    const start = await account.changes!.now(NEVER);
    for (const id of [20, 21, 22]) intercom.tickets.get(id)!.updated = seconds();
    const changes = async () => {
      const { changed, deletedPaths } = await readChanges(start);
      return { changed, deletedPaths };
    };
    expect(await broken(changes)).toEqual([]);
  });

  test('never replaces content', async () => {
    for (const id of ['article:100', 'conversation:8']) expect(await broken(() => account.open(id, NEVER))).toEqual([]);
  });
});

describe('the rate limit', () => {
  // Seconds since 1970: https://developers.intercom.com/docs/references/rest-api/errors/rate-limiting
  const limited = (inS: number) => () => ({
    status: 429,
    headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(seconds() + inS) },
  });

  test('delays the retry until X-RateLimit-Reset', async () => {
    intercom.injectFault(nextRequests(1, limited(0)));
    expect((await roots()).ids).toHaveLength(6);
    expect(intercom.requests).toHaveLength(4);
  });

  test('throws a Fault with the remaining time if that is longer than the maximum wait', async () => {
    intercom.injectFault(nextRequests(1, limited(600)));
    const fault = await faultOf(accountOf(undefined, 100).listRoots(null, NEVER));
    expect(fault.kind).toBe('rate_limited');
    expect(fault.retryAfterMs).toBeGreaterThan(500_000);
    expect(fault.retryAfterMs).toBeLessThanOrEqual(600_000);
    expect(intercom.requests).toHaveLength(1);
  });
});
