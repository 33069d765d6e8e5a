import { sealCursor } from '../../connectors/cursors.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { Account } from '../../connectors/account.js';
import type { TypeFilter } from '../../contract/sources/typesAtSource.js';
import type { Egress } from '../../egress/types.js';
import { nextRequests } from '../emulators/emulator.js';
import {
  FRESHDESK_DOMAIN,
  FRESHDESK_KEY,
  type FreshdeskAccount,
  type FreshdeskEmulator,
  newFreshdeskAccount,
  startFreshdesk,
} from '../emulators/freshdesk.js';
import { accountWith, readListing, loopbackEgress, NEVER, textOf, versionsOf } from './account.js';
import { faultOf } from '../support/faultOf.js';
import { acceptedBrokenAnswers } from './brokenAnswers.js';

let egress: Egress;
let freshdesk: FreshdeskEmulator;
let emulated: FreshdeskAccount;
let account: Account;

const idOf = (id: string): string => `${FRESHDESK_DOMAIN}/${id}`;
const accountOf = (credentials: object = {}, timeLimitMs = 30_000): Account =>
  accountWith(
    'FRESHDESK',
    freshdesk.settings,
    { domain: FRESHDESK_DOMAIN, apiKey: FRESHDESK_KEY, ...credentials },
    egress,
    timeLimitMs,
  );
const descendantsOf = (id: string, filter?: TypeFilter) =>
  readListing((cursor) => account.listDescendants(idOf(id), cursor, NEVER, filter));
const roots = () => readListing((cursor) => account.listRoots(cursor, NEVER));
const idsOf = (ids: readonly string[]): string[] => ids.map((id) => id.replace(idOf(''), ''));

beforeAll(async () => {
  egress = loopbackEgress();
  freshdesk = await startFreshdesk();
});
afterAll(async () => {
  await egress.close();
  await freshdesk.close();
});
beforeEach(() => {
  freshdesk.reset();
  freshdesk.addresses.length = 0;
  freshdesk.keys.add(FRESHDESK_KEY);
  freshdesk.accounts.clear();
  freshdesk.lists.nested = false;
  emulated = newFreshdeskAccount();
  freshdesk.accounts.set(FRESHDESK_DOMAIN, emulated);
  for (const [at, name] of ['Sea', 'Land', 'Air'].entries()) emulated.categories.set(at + 1, name);
  emulated.folders.set(10, { category: 1, name: 'Sights' });
  emulated.folders.set(11, { category: 1, parentId: 10, name: 'Towers' });
  emulated.folders.set(12, { category: 1, name: 'Ropes' });
  emulated.folders.set(13, { category: 1, name: 'Sails' });
  for (const id of [100, 101, 102])
    emulated.articles.set(id, { folder: 10, title: `Article ${id}`, body: '<p>Text.</p>' });
  emulated.articles.set(103, { folder: 11, title: 'Draft', body: 'x', draft: true });
  emulated.articles.set(104, { folder: 11, title: 'Tall & <wide>', body: '<p>Tower.</p>' });
  for (const [id, day] of [
    [5, '01'],
    [6, '02'],
    [7, '03'],
  ] as const)
    emulated.tickets.set(id, { subject: `Ticket ${id}`, text: `It is ${id}.`, updated: `2026-03-${day}T10:00:00Z` });
  emulated.tickets.set(8, {
    subject: 'Pier',
    text: 'It is broken.',
    files: [{ id: 80, name: 'plan.txt', content: 'The plan.' }],
    replies: [
      { text: 'A carpenter comes.', files: [{ id: 81, name: 'pier.txt', content: 'A broken pier.' }] },
      { text: 'Thank you.', user: 9 },
      { text: 'He is a nuisance.', isPrivate: true },
    ],
    updated: '2026-03-04T10:00:00Z',
  });
  account = accountOf();
});

describe('credentials', () => {
  test('are sent as the user name of Basic authentication and checked by /agents/me', async () => {
    expect(await account.identify(NEVER)).toEqual({
      account: FRESHDESK_DOMAIN,
      metadata: { domain: FRESHDESK_DOMAIN, user_id: '501', user_name: 'Ada', email: 'ada@harbour.example' },
    });
    expect(freshdesk.requests).toEqual([`/${FRESHDESK_DOMAIN}/api/v2/agents/me`]);
  });

  test('with a domain that would change the host cause no request', async () => {
    const hostile = ['evil.com/#', '127.0.0.1:8080', 'a@b', 'evil.com', 'a/b', '', '-a', 'a'.repeat(64)];
    const reached: string[] = [];
    for (const domain of hostile) {
      await faultOf(accountOf({ domain }).identify(NEVER));
      if (freshdesk.addresses.length > 0) reached.push(domain);
      freshdesk.addresses.length = 0;
    }
    expect(reached).toEqual([]);
  });

  test('that are revoked make every call fail with access_revoked', async () => {
    freshdesk.keys.clear();
    const calls = {
      identify: account.identify(NEVER),
      roots: account.listRoots(null, NEVER),
      below: account.listDescendants(
        idOf('tickets'),
        sealCursor(JSON.stringify({ since: '2026-03-01T10:00:00Z', page: 1, isEnd: false, rest: [] })),
        NEVER,
      ),
      open: account.open(idOf('article:100'), NEVER),
    };
    const kinds = Object.entries(calls).map(async ([name, call]) => `${name}: ${(await faultOf(call)).kind}`);
    expect(await Promise.all(kinds)).toEqual(Object.keys(calls).map((name) => `${name}: access_revoked`));
  });
});

describe('a listing of solutions', () => {
  test('contains the categories of all pages, then the tickets', async () => {
    const { ids, pages } = await roots();
    expect(idsOf(ids)).toEqual(['category:1', 'category:2', 'category:3', 'tickets']);
    expect(pages).toBe(2);
    // The emulator's Link header names a page at another host: https://developers.freshdesk.com/api/#pagination
    expect(freshdesk.addresses.every((address) => address.startsWith(freshdesk.host))).toBe(true);
  });

  test('contains nested folders and published articles of all pages, and reports drafts as skipped', async () => {
    const { items } = await descendantsOf('category:1');
    const places = items.map((item) => [item.externalId, item.parentExternalId].map((id) => id?.replace(idOf(''), '')));
    expect(places).toEqual([
      ['category:1', undefined],
      ['folder:10', 'category:1'],
      ['folder:12', 'category:1'],
      ['folder:13', 'category:1'],
      ['folder:11', 'folder:10'],
      ['article:100', 'folder:10'],
      ['article:101', 'folder:10'],
      ['article:102', 'folder:10'],
      ['article:104', 'folder:11'],
    ]);
    const drafts = await account.listDescendants(
      idOf('folder:11'),
      sealCursor(JSON.stringify({ open: ['11'], page: 1 })),
      NEVER,
    );
    expect(drafts.skipped).toMatchObject([{ externalId: idOf('article:103'), name: 'Draft' }]);
  });

  test('finds the parents of nested folders, also if the category lists them among its own', async () => {
    // The sample of https://developers.freshdesk.com/api/#list_solution_folder has a parent_folder_id.
    emulated.folders.set(9, { category: 1, parentId: 11, name: 'Deep' });
    const places = async () =>
      (await descendantsOf('category:1')).items
        .filter(({ itemType }) => itemType === 'FOLDER')
        .map((item) => [item.externalId, item.parentExternalId].map((id) => id?.replace(idOf(''), '')));
    const expected = [
      ['folder:10', 'category:1'],
      ['folder:12', 'category:1'],
      ['folder:13', 'category:1'],
      ['folder:11', 'folder:10'],
      ['folder:9', 'folder:11'],
    ];
    expect(await places()).toEqual(expected);
    freshdesk.lists.nested = true;
    expect(await places()).toEqual(expected);
    // The list of category 1 omits the parent, as for an agent from whom it is hidden: its subfolder moves up.
    emulated.folders.set(10, { category: 2, name: 'Elsewhere' });
    expect((await places()).filter(([id]) => id === 'folder:11' || id === 'folder:9')).toEqual([
      ...[
        ['folder:11', 'category:1'],
        ['folder:9', 'folder:11'],
      ],
    ]);
  });

  test('of a folder or an article contains its descendants only', async () => {
    expect(idsOf((await descendantsOf('folder:10')).ids)).toEqual([
      ...['folder:10', 'folder:11', 'article:100', 'article:101', 'article:102', 'article:104'],
    ]);
    expect(idsOf((await descendantsOf('article:104')).ids)).toEqual(['article:104']);
  });

  test('without permission is denied, so that no item counts as deleted', async () => {
    freshdesk.injectFault((path) => (path.includes('/solutions/') ? { status: 403 } : null));
    expect(idsOf((await roots()).ids)).toEqual(['solutions', 'tickets']);
    expect((await account.listRoots(null, NEVER)).isPartial).toBe(true);
    expect(await faultOf(descendantsOf('solutions'))).toMatchObject({ kind: 'access_denied' });
  });
});

describe('a listing of tickets', () => {
  test('continues from the last change, because a list ends after 300 pages', async () => {
    const { ids, pages } = await descendantsOf('tickets', { autoSyncedSourceTypes: ['TICKET'] });
    expect(new Set(idsOf(ids))).toEqual(new Set(['tickets', 'ticket:5', 'ticket:6', 'ticket:7', 'ticket:8']));
    expect(pages).toBeGreaterThan(2);
    const queries = freshdesk.requests.map((one) => new URL(one, 'http://a').searchParams);
    // https://developers.freshdesk.com/api/#list_all_tickets: without updated_since only the last 30 days are listed.
    expect(queries.every((query) => query.has('updated_since') && query.get('order_type') === 'asc')).toBe(true);
    const since = [...new Set(queries.map((query) => query.get('updated_since')))];
    expect(since.length).toBeGreaterThan(1);
    // It is undocumented whether `updated_since` is inclusive, so a query begins a second before the last change.
    const changes = [...emulated.tickets.values()].map(({ updated = '' }) => Date.parse(updated));
    expect(since.slice(1).filter((one) => !changes.includes(Date.parse(one ?? '') + 1_000))).toEqual([]);
  });

  test('finds all tickets of one second, even if they fill more than a page', async () => {
    for (let id = 20; id < 27; id += 1)
      emulated.tickets.set(id, { subject: `T${id}`, text: '', updated: '2026-03-05T10:00:00Z' });
    const found = new Set(idsOf((await descendantsOf('tickets', { autoSyncedSourceTypes: ['TICKET'] })).ids));
    expect([20, 21, 22, 23, 24, 25, 26].filter((id) => !found.has(`ticket:${id}`))).toEqual([]);
  });

  test('contains attachments of tickets and replies if the filter includes them', async () => {
    const { items } = await descendantsOf('tickets', { autoSyncedSourceTypes: ['TICKET'], syncAttachments: true });
    expect(
      idsOf(items.filter(({ itemType }) => itemType === 'TICKET_ATTACHMENT').map((one) => one.externalId)),
    ).toEqual(['ticket:8/80', 'ticket:8/81']);
    expect(idsOf((await descendantsOf('ticket:8')).ids)).toEqual(['ticket:8', 'ticket:8/80', 'ticket:8/81']);
    expect(idsOf((await descendantsOf('ticket:8/81')).ids)).toEqual(['ticket:8/81']);
  });
});

test('a listed ticket that cannot be opened does not end the listing, and is reported as refused', async () => {
  freshdesk.injectFault((path) => (path.endsWith('/tickets/8') ? { status: 403 } : null));
  const refused: string[] = [];
  const ids: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await account.listDescendants(idOf('tickets'), cursor ?? null, NEVER, {
      autoSyncedSourceTypes: ['TICKET'],
      syncAttachments: true,
    });
    ids.push(...page.items.map(({ externalId }) => externalId));
    refused.push(...(page.refused ?? []));
    cursor = page.next;
  }
  expect(new Set(idsOf(ids))).toEqual(new Set(['tickets', 'ticket:5', 'ticket:6', 'ticket:7', 'ticket:8']));
  expect(new Set(idsOf(refused))).toEqual(new Set(['ticket:8']));
});

test('gives changed items a new version and leaves out deleted items and spam', async () => {
  const list = async () =>
    versionsOf([...(await descendantsOf('category:1')).items, ...(await descendantsOf('tickets')).items]);
  const before = await list();
  const article = emulated.articles.get(100)!;
  article.body = '<p>Other.</p>';
  article.updated = '2026-04-01T10:00:00Z';
  emulated.tickets.get(7)!.updated = '2026-04-01T10:00:00Z';
  emulated.articles.delete(101);
  emulated.tickets.get(5)!.deleted = true;
  emulated.tickets.get(6)!.spam = true;
  const after = await list();
  const deleted = ['article:101', 'ticket:5', 'ticket:6'].map(idOf);
  expect(Object.keys(after).toSorted()).toEqual(
    Object.keys(before)
      .filter((id) => !deleted.includes(id))
      .toSorted(),
  );
  const changed = Object.keys(after).filter((id) => after[id] !== before[id]);
  expect(changed.toSorted()).toEqual(['article:100', 'ticket:7'].map(idOf));
});

test('reports missing, deleted and spam items as not found', async () => {
  const wrong: string[] = [];
  emulated.tickets.get(5)!.deleted = true;
  emulated.tickets.get(6)!.spam = true;
  for (const id of [
    'category:9',
    'folder:9',
    'article:9',
    'article:103',
    'ticket:9',
    'ticket:5',
    'ticket:6',
    'ticket:8/9',
    'a',
    '..',
  ])
    for (const call of [() => descendantsOf(id), () => account.open(idOf(id), NEVER)]) {
      const { kind } = await faultOf(call());
      if (kind !== 'not_found' && !(kind === 'unsupported_type' && /^(?:category|folder)/.test(id))) wrong.push(id);
    }
  for (const id of ['quay/article:100', 'article:100'])
    if ((await faultOf(account.open(id, NEVER))).kind !== 'not_found') wrong.push(id);
  expect(wrong).toEqual([]);
});

describe('content', () => {
  test('of an article is its HTML below its title', async () => {
    const { format, mimeType, name, fileMetadata } = await account.open(idOf('article:104'), NEVER);
    expect({ format, mimeType, name }).toEqual({ format: 'FRESHDESK', mimeType: 'text/html', name: 'Tall & <wide>' });
    expect(fileMetadata).toMatchObject({ type: 'ARTICLE', folder_id: '11', labels: ['sea'] });
    expect(await textOf(account, idOf('article:104'))).toContain('<h1>Tall &amp; &lt;wide&gt;</h1>\n<p>Tower.</p>');
  });

  test('of a ticket is the conversation of all pages with its authors', async () => {
    const { fileMetadata } = await account.open(idOf('ticket:8'), NEVER);
    expect(fileMetadata).toMatchObject({ ticket_status: 'open', ticket_priority: 'high', ticket_type: 'Question' });
    expect((await textOf(account, idOf('ticket:8'))).split('\n\n')).toEqual([
      '# Pier',
      'Ben, 2026-03-03 10:00: It is broken.',
      'Agent, 2026-03-03 10:00: A carpenter comes.',
      'Ben, 2026-03-03 10:00: Thank you.',
      'Agent, 2026-03-03 10:00 (internal note): He is a nuisance.',
    ]);
  });

  test('of an attachment is downloaded from its signed URL, without the API key', async () => {
    const attached = await account.open(idOf('ticket:8/81'), NEVER);
    expect(Buffer.from(attached.bytes).toString()).toBe('A broken pier.');
    expect(attached).toMatchObject({
      ...{ name: 'pier.txt', contentType: 'text/plain' },
      fileMetadata: { type: 'TICKET_ATTACHMENT', parent_external_file_id: idOf('ticket:8') },
    });
  });

  test('of a container is unsupported', async () => {
    const kinds: string[] = [];
    for (const id of ['tickets', 'solutions', 'category:1', 'folder:10'])
      kinds.push((await faultOf(account.open(idOf(id), NEVER))).kind);
    expect(new Set(kinds)).toEqual(new Set(['unsupported_type']));
  });
});

describe('a broken response', () => {
  const broken = (call: () => Promise<unknown>) => acceptedBrokenAnswers(freshdesk, call);

  test('never counts as the end of a list', async () => {
    expect(await broken(async () => (await roots()).ids)).toEqual([]);
    expect(await broken(async () => (await descendantsOf('category:1')).items)).toEqual([]);
    expect(await broken(async () => (await descendantsOf('tickets')).items)).toEqual([]);
  });

  test('never replaces content', async () => {
    for (const id of ['article:104', 'ticket:8']) expect(await broken(() => account.open(idOf(id), NEVER))).toEqual([]);
  });
});

describe('the rate limit', () => {
  // Seconds in Retry-After: https://developers.freshdesk.com/api/#ratelimit
  const limited = (seconds: number) => () => ({ status: 429, headers: { 'retry-after': String(seconds) } });

  test('delays the retry by Retry-After', async () => {
    freshdesk.injectFault(nextRequests(1, limited(1)));
    const began = performance.now();
    expect((await roots()).ids).toHaveLength(4);
    expect(performance.now() - began).toBeGreaterThanOrEqual(990);
    expect(freshdesk.requests).toHaveLength(3);
  });

  test('throws a Fault with the remaining time if that is longer than the maximum wait', async () => {
    freshdesk.injectFault(nextRequests(1, limited(600)));
    const fault = await faultOf(accountOf({}, 100).listRoots(null, NEVER));
    expect(fault).toMatchObject({ kind: 'rate_limited', retryAfterMs: 600_000 });
    expect(freshdesk.requests).toHaveLength(1);
  });
});
