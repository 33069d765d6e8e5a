import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { Account } from '../../../connectors/account.js';
import { idOfOutlookQuery, readOutlookFilter } from '../../../contract/outlookQuery.js';
import type { Egress } from '../../../egress/types.js';
import { type GraphEmulator, startGraph } from '../../emulators/graph/index.js';
import type { EmulatedMessage } from '../../emulators/graph/mail.js';
import { acceptedBrokenAnswers } from '../brokenAnswers.js';
import { accountOf, allPages, below, faultOf, idsOf, NEVER, openEgress, pass } from './graphAccount.js';

let egress: Egress;
let graph: GraphEmulator;
let account: Account;

beforeAll(async () => {
  egress = openEgress();
  graph = await startGraph();
});
afterAll(async () => {
  await egress.close();
  await graph.close();
});
beforeEach(() => {
  graph.mailbox.clear();
  graph.mend();
  const { folders } = graph.mailbox;
  folders.set('INBOX', { name: 'Posteingang', parent: null, wellKnown: 'inbox' });
  folders.set('BIN', { name: 'Deleted Items', parent: null, wellKnown: 'deleteditems' });
  folders.set('SEARCH', { name: 'Unread mail', parent: null, isSearch: true });
  folders.set('WORK', { name: 'Work', parent: null });
  folders.set('PLANS', { name: 'Plans', parent: 'WORK' });
  folders.set('OLD', { name: 'Old', parent: 'PLANS' });
  folders.set('OLDER', { name: 'Old', parent: 'INBOX' });
  account = accountOf(graph, 'OUTLOOK', egress);
});

const put = (id: string, folder: string, more: Partial<EmulatedMessage> = {}): void =>
  graph.mailbox.put(id, {
    folder,
    subject: `About ${id}`,
    text: `Text of ${id}.`,
    received: '2026-01-07T09:00:00Z',
    ...more,
  });

describe('listings', () => {
  test('of folders leave out the bin and searches, and tell what lies in each', async () => {
    const roots = await allPages((cursor) => account.listRoots(cursor, NEVER));
    expect(roots.pages).toBe(2);
    expect(roots.items.map(({ externalId, name, itemType }) => [externalId, name, itemType])).toEqual([
      ['folder:INBOX', 'Posteingang', 'FOLDER'],
      ['folder:WORK', 'Work', 'FOLDER'],
    ]);
    for (const [id, folder] of [
      ['m1', 'WORK'],
      ['m2', 'PLANS'],
      ['m3', 'OLD'],
      ['m4', 'OLD'],
      ['m5', 'OLD'],
      ['m6', 'INBOX'],
    ] as const)
      put(id, folder);
    const { items } = await below(account, 'folder:WORK');
    expect(Object.fromEntries(items.map((item) => [item.externalId, item.parentExternalId]))).toEqual({
      'folder:WORK': null,
      'folder:PLANS': 'folder:WORK',
      'folder:OLD': 'folder:PLANS',
      m1: 'folder:WORK',
      m2: 'folder:PLANS',
      m3: 'folder:OLD',
      m4: 'folder:OLD',
      m5: 'folder:OLD',
    });
    expect(items.find(({ externalId }) => externalId === 'm3')).toMatchObject({
      rootExternalId: 'folder:WORK',
      name: 'About m3',
      itemType: 'FILE',
      hasContent: true,
      externalUrl: 'https://outlook.example/m3',
      createdAt: '2026-01-07T09:00:00Z',
      version: expect.stringMatching(/^key\d+$/),
    });
    expect(idsOf((await below(account, 'folder:OLD')).items)).toEqual(['folder:OLD', 'm3', 'm4', 'm5']);
  });

  test('tell what is attached to a message, which becomes a file only where it is asked for', async () => {
    put('m1', 'INBOX', {
      attachments: {
        plan: { name: 'plan.md', content: 'The plan.' },
        logo: { name: 'logo.png', content: 'x', isInline: true },
        link: { name: 'far.docx', content: '', kind: 'reference' },
      },
    });
    const found = async (id: string) =>
      (await below(account, id)).items
        .filter(({ itemType }) => itemType !== 'FOLDER')
        .map((item) => [item.externalId, item.parentExternalId, item.hasContent]);
    // A link to a file elsewhere is listed, and never becomes a file.
    const link = ['m1/link', 'm1', false];
    expect(await found('folder:INBOX')).toEqual([['m1', 'folder:INBOX', true], ['m1/plan', 'm1', false], link]);
    expect(await found('m1')).toEqual([['m1', 'folder:INBOX', true], ['m1/plan', 'm1', false], link]);
    expect((await below(account, 'm1')).items.at(-1)).toMatchObject({
      isSelectable: false,
      skipReason: expect.stringMatching(/elsewhere/),
    });
    expect(await found('m1/plan')).toEqual([['m1/plan', 'm1', true]]);
    expect(await found(idOfOutlookQuery({ folder: 'INBOX', filter: null, attachments: true })!)).toEqual([
      ['m1', 'folder:INBOX', true],
      ['m1/plan', 'm1', true],
      link,
    ]);
    expect(await found(idOfOutlookQuery({ folder: 'INBOX', filter: null, attachments: false })!)).toEqual([
      ['m1', 'folder:INBOX', true],
    ]);
  });

  test('survive a folder that goes away, and a feed that loses its place', async () => {
    for (const id of ['m1', 'm2', 'm3']) put(id, 'OLD');
    put('m4', 'PLANS');
    graph.misbehave((path) => (path.includes('/PLANS/messages') ? { status: 404 } : null));
    expect(idsOf((await below(account, 'folder:WORK')).items)).toEqual(expect.arrayContaining(['m1', 'm2', 'm3']));
    let asked = 0;
    graph.misbehave((path) =>
      path.includes('/OLD/messages') && ++asked === 2 ? { status: 410, code: 'SyncStateNotFound' } : null,
    );
    expect(new Set(idsOf((await below(account, 'folder:OLD')).items))).toEqual(
      new Set(['folder:OLD', 'm1', 'm2', 'm3']),
    );
  });

  test.each([
    'nowhere',
    'folder:NOWHERE',
    'folder:BIN',
    'folder:../me',
    'm1/../x',
    'm1/a/b',
    'filter:x',
    '',
    'a b',
    'm1/',
  ])('of %p are not there', async (id) => {
    put('m1', 'INBOX');
    expect(await faultOf(below(account, id))).toMatchObject({ kind: 'not_found' });
  });

  test('of a query for a folder that would lead elsewhere are not there', async () => {
    const id = idOfOutlookQuery({ folder: '../messages', filter: null, attachments: false })!;
    expect(await faultOf(below(account, id))).toMatchObject({ kind: 'not_found' });
    expect(graph.requests).toEqual([]);
  });
});

test.each([
  [{}, ['a', 'b', 'c', 'd']],
  [{ key: 'category', value: "Ada's" }, ['a']],
  [{ key: 'after', value: '2026/01/07' }, ['b', 'c', 'd']],
  [{ key: 'before', value: '2026/01/07' }, ['a']],
  [{ key: 'is', value: 'flagged' }, ['b']],
  [{ key: 'is', value: 'unread' }, ['a', 'b', 'd']],
  [{ key: 'from', value: 'ADA@harbour.example' }, ['d']],
  [
    {
      AND: [
        { key: 'after', value: '2026/01/07' },
        {
          OR: [
            { key: 'is', value: 'flagged' },
            { key: 'is', value: 'read' },
          ],
        },
      ],
    },
    ['b', 'c'],
  ],
])('a query for %j finds %j', async (filter, found) => {
  put('a', 'INBOX', { received: '2026-01-06T23:59:59Z', categories: ["Ada's", 'x'] });
  put('b', 'INBOX', { received: '2026-01-07T00:00:00Z', flagged: true });
  put('c', 'INBOX', { received: '2026-01-08T00:00:00Z', read: true });
  put('d', 'INBOX', { received: '2026-01-09T00:00:00Z', from: 'ada@harbour.example' });
  put('e', 'WORK', { flagged: true });
  const id = idOfOutlookQuery({ folder: 'INBOX', filter: readOutlookFilter(filter), attachments: false })!;
  expect(idsOf((await below(account, id)).items)).toEqual(found);
});

describe('contents', () => {
  test('are the subject and the text; who wrote it to whom stands beside it', async () => {
    put('m1', 'INBOX', {
      text: 'Dear Ada,\r\n\r\nhigh tide is at noon.',
      to: ['ada@harbour.example', 'bob@harbour.example'],
      cc: ['eve@harbour.example'],
      categories: ['Tides'],
    });
    const { bytes, ...content } = await account.open('m1', NEVER);
    expect(Buffer.from(bytes).toString()).toBe('# About m1\n\nDear Ada,\n\nhigh tide is at noon.');
    expect(content).toEqual({
      contentType: 'text/plain; charset=utf-8',
      format: 'OUTLOOK',
      mimeType: 'text/plain',
      name: 'About m1',
      url: 'https://outlook.example/m1',
      facts: {
        is_message: true,
        parent_external_file_id: 'INBOX',
        subject: 'About m1',
        from: 'grace <grace@harbour.example>',
        to: ['ada <ada@harbour.example>', 'bob <bob@harbour.example>'],
        cc: ['eve <eve@harbour.example>'],
        sent_at: '2026-01-07T09:00:00Z',
        received_at: '2026-01-07T09:00:00Z',
        message_id: '<m1@harbour.example>',
        conversation_id: 'conversation-m1',
        categories: ['Tides'],
        importance: 'normal',
      },
    });
  });

  test('attached to a message are read by their kinds', async () => {
    put('m1', 'INBOX', {
      attachments: {
        plan: { name: 'plan.md', content: 'The plan.', contentType: 'application/octet-stream' },
        mail: { name: 'Re: plan', content: 'Subject: Re: plan\r\n\r\nFine.', kind: 'item' },
        link: { name: 'far.docx', content: '', kind: 'reference' },
        big: { name: 'big.md', content: 'x'.repeat(2_000) },
      },
    });
    expect(await account.open('m1/plan', NEVER)).toMatchObject({
      contentType: 'text/markdown',
      name: 'plan.md',
      facts: { type: 'ATTACHMENT', parent_external_file_id: 'm1' },
    });
    expect(await account.open('m1/mail', NEVER)).toMatchObject({ contentType: 'message/rfc822', name: 'Re: plan' });
    expect(await faultOf(account.open('m1/link', NEVER))).toMatchObject({ kind: 'unsupported_type' });
    const small = accountOf(graph, 'OUTLOOK', egress, {}, 1_000);
    expect(await faultOf(small.open('m1/big', NEVER))).toMatchObject({ kind: 'too_large' });
    expect(graph.requests.some((path) => path.includes('/attachments/plan/$value'))).toBe(true);
  });

  test('that are none say why', async () => {
    expect(await faultOf(account.open('folder:INBOX', NEVER))).toMatchObject({ kind: 'unsupported_type' });
    for (const id of ['gone', 'gone/plan', 'filter:x', '../me'])
      expect(await faultOf(account.open(id, NEVER))).toMatchObject({ kind: 'not_found' });
    graph.misbehave((path) => (path.includes('/messages/') ? { status: 400, code: 'ErrorInvalidIdMalformed' } : null));
    expect(await faultOf(account.open('malformed', NEVER))).toMatchObject({ kind: 'not_found' });
  });

  test('that come as HTML in spite of what was asked are HTML', async () => {
    graph.misbehave((path) =>
      path.endsWith('/messages/m1')
        ? { status: 200, body: { id: 'm1', subject: 'A <b>', body: { contentType: 'HTML', content: '<p>x</p>' } } }
        : null,
    );
    const content = await account.open('m1', NEVER);
    expect(content).toMatchObject({ contentType: 'text/html; charset=utf-8', name: 'A <b>' });
    expect(Buffer.from(content.bytes).toString()).toBe('<h1>A &lt;b></h1>\n\n<p>x</p>');
  });
});

describe('folders', () => {
  const called = async (name: string) => (await account.read('folders', { called: name }, NEVER)).map(({ id }) => id);

  test.each([
    ['Inbox', ['INBOX']],
    ['inbox', ['INBOX']],
    ['Posteingang', ['INBOX']],
    ['WORK', ['WORK']],
    ['work', ['WORK']],
    ['Work/Plans', ['PLANS']],
    ['Work/Plans/Old', ['OLD']],
    ['OLDER', ['OLDER']],
    ['Old', ['OLD', 'OLDER']],
    ['Deleted Items', []],
    ['Nowhere', []],
    ['../me', []],
  ])('called %p are %j', async (name, ids) => {
    expect((await called(name)).toSorted()).toEqual(ids);
  });

  test('are all told, each behind the one it lies in', async () => {
    put('m1', 'OLD');
    expect(await account.read('folders', {}, NEVER)).toEqual([
      { id: 'INBOX', name: 'Posteingang', parent: null, root: 'INBOX', messages: 0 },
      { id: 'WORK', name: 'Work', parent: null, root: 'WORK', messages: 0 },
      { id: 'OLDER', name: 'Old', parent: 'INBOX', root: 'INBOX', messages: 0 },
      { id: 'PLANS', name: 'Plans', parent: 'WORK', root: 'WORK', messages: 0 },
      { id: 'OLD', name: 'Old', parent: 'PLANS', root: 'WORK', messages: 1 },
    ]);
  });

  test('that say they lie in themselves are told once', async () => {
    const value = [{ id: 'A', displayName: 'A', childFolderCount: 1 }];
    graph.misbehave((path) => (/mailFolders(\/A|$)/.test(path) ? { status: 200, body: { value } } : null));
    expect(await called('A')).toEqual(['A']);
  });

  test('categories are told as the mailbox has them', async () => {
    for (const index of [1, 2, 3])
      graph.mailbox.categories.push({ id: `c${index}`, displayName: `Kind ${index}`, color: `preset${index}` });
    const found = await account.read('categories', {}, NEVER);
    expect(found).toHaveLength(3);
    expect(found).toMatchObject([{ id: 'c1', name: 'Kind 1', color: 'preset1' }, {}, {}]);
  });
});

describe('the feed', () => {
  test('tells what came, changed and went since its point, of all folders', async () => {
    for (const id of ['m1', 'm2', 'm3']) put(id, 'INBOX');
    put('m4', 'OLD');
    const start = await account.changes!.now(NEVER);
    let { told, point } = await pass(account, start);
    expect(told).toEqual([]);
    graph.mailbox.write('m1', 'new');
    graph.mailbox.remove('m2');
    put('m5', 'OLD');
    ({ told, point } = await pass(account, point));
    expect(told.toSorted()).toEqual(['gone m2', 'm1', 'm5']);
    expect((await pass(account, point)).told).toEqual([]);
  });

  test('follows a message to another folder, whichever of the two is read first; into the bin it is gone', async () => {
    put('m1', 'INBOX');
    put('m2', 'OLD');
    put('m3', 'WORK');
    const start = await account.changes!.now(NEVER);
    graph.mailbox.move('m1', 'OLD');
    graph.mailbox.move('m2', 'INBOX');
    graph.mailbox.move('m3', 'BIN');
    const { told } = await pass(account, start);
    expect([...new Set(told)].toSorted()).toEqual(['gone m3', 'm1', 'm2']);
  });

  test('reads folders that are new from their beginning, and tells of folders that went', async () => {
    put('m1', 'PLANS');
    const start = await account.changes!.now(NEVER);
    graph.mailbox.folders.delete('OLDER');
    graph.mailbox.folders.set('NEW', { name: 'New', parent: null });
    put('m2', 'NEW');
    expect((await pass(account, start)).told).toEqual(['gone folder:OLDER', 'folder:NEW', 'm2']);
  });

  test('tells of a folder that has another name or lies elsewhere, once', async () => {
    const start = await account.changes!.now(NEVER);
    put('m1', 'INBOX');
    graph.mailbox.folders.set('PLANS', { name: 'Plans of 2027', parent: 'INBOX' });
    const { told, point } = await pass(account, start);
    // What lies in it has another outermost folder too.
    expect(told).toEqual(['folder:PLANS', 'folder:OLD', 'm1']);
    expect((await pass(account, point)).told).toEqual([]);
  });

  test('of a point that Outlook has forgotten is stale', async () => {
    put('m1', 'INBOX');
    const start = await account.changes!.now(NEVER);
    graph.mailbox.forgotten = 1_000_000;
    expect(await faultOf(pass(account, start))).toMatchObject({ kind: 'stale_cursor' });
  });
});

describe('a broken answer', () => {
  const broken = (call: () => Promise<unknown>) => acceptedBrokenAnswers(graph, call);
  const attached = { attachments: { a1: { name: 'a.txt', content: 'A' } } };

  test('is never taken for the end of a list', async () => {
    put('m1', 'WORK', attached);
    for (const id of ['m2', 'm3', 'm4']) put(id, 'PLANS');
    expect(await broken(async () => (await allPages((cursor) => account.listRoots(cursor, NEVER))).items)).toEqual([]);
    for (const id of ['folder:WORK', 'm1', 'm1/a1'])
      expect(await broken(async () => (await below(account, id)).items)).toEqual([]);
  });

  test('is never taken for the content of a message or an attachment', async () => {
    put('m1', 'WORK', attached);
    for (const id of ['m1', 'm1/a1']) {
      const accepted = await broken(() => account.open(id, NEVER));
      // The bytes of an attachment may be anything, a page of a proxy too.
      expect(accepted.filter((line) => !line.includes('/$value)'))).toEqual([]);
    }
  });

  test('is never taken for a deletion in the feed, nor for its end', async () => {
    for (const id of ['m1', 'm2', 'm3']) put(id, 'WORK');
    put('m4', 'BIN');
    const start = await account.changes!.now(NEVER);
    put('m1', 'INBOX');
    put('m2', 'WORK', attached);
    graph.mailbox.folders.delete('OLDER');
    expect(await broken(async () => (await pass(account, start)).told)).toEqual([]);
    expect(await broken(() => account.changes!.now(NEVER))).toEqual([]);
  });
});
