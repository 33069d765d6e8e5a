/** Errors in the middle of lists and feeds of Microsoft accounts, and the fields of attachments. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';

import type { Egress } from '../../../egress/types.js';
import { type GraphEmulator, startGraph } from '../../emulators/graph/index.js';
import { faultOf } from '../../support/faultOf.js';
import { accountOf, cursorOf, descendantsOf, idsOf, openEgress, readChanges } from './graphAccount.js';

let egress: Egress;
let graph: GraphEmulator;

beforeAll(async () => {
  egress = openEgress();
  graph = await startGraph();
});
afterAll(async () => {
  await egress.close();
  await graph.close();
});
beforeEach(() => {
  graph.drives.all.clear();
  graph.ownDrives.splice(0, Number.POSITIVE_INFINITY, 'b!mine');
  graph.drives.add('b!mine', 'Mine');
  graph.mailbox.clear();
  graph.mailbox.folders.set('BIN', { name: 'Deleted Items', parent: null, wellKnown: 'deleteditems' });
  graph.mailbox.folders.set('WORK', { name: 'Work', parent: null });
  graph.mailbox.folders.set('PLANS', { name: 'Plans', parent: 'WORK' });
  graph.reset();
});

const put = (id: string, folder: string, more: object = {}): void =>
  graph.mailbox.put(id, {
    ...{ folder, subject: `About ${id}`, text: `Text of ${id}.`, received: '2026-01-07T09:00:00Z' },
    ...more,
  });

test('a folder of the own drive without access fails the listing, so that its contents do not count as deleted', async () => {
  const account = accountOf(graph, 'ONEDRIVE', egress);
  for (const path of ['a/1.md', 'a/b/2.md']) graph.drives.put('b!mine', path, { content: path });
  graph.injectFault((path) => (path.endsWith('/items/a.b/children') ? { status: 403 } : null));
  expect(await faultOf(descendantsOf(account, 'b!mine/a'))).toMatchObject({ kind: 'access_denied' });
});

test('links to folders are followed from every page of a feed', async () => {
  const account = accountOf(graph, 'ONEDRIVE', egress);
  graph.drives.add('b!theirs');
  for (const name of ['first', 'last']) {
    graph.drives.put('b!theirs', `${name}/${name}.md`, { content: name });
    graph.drives.put('b!mine', `link-${name}`, { remote: { drive: 'b!theirs', item: name } });
    for (let nth = 0; nth < 4; nth += 1) graph.drives.put('b!mine', `${name}${nth}.md`, { content: name });
  }
  expect(idsOf((await descendantsOf(account, 'b!mine')).items)).toEqual(
    expect.arrayContaining(['b!theirs/first.first.md', 'b!theirs/last.last.md']),
  );
});

test('a renamed drive is reported once', async () => {
  const account = accountOf(graph, 'ONEDRIVE', egress);
  const start = await cursorOf(account);
  const { items } = graph.drives.all.get('b!mine')!;
  const renamed = graph.drives.add('b!mine', 'My files');
  for (const [id, item] of items) renamed.items.set(id, item);
  const { changed, cursor } = await readChanges(account, start);
  expect(changed).toEqual(['b!mine']);
  expect((await readChanges(account, cursor)).changed).toEqual([]);
});

test('a listing fails if Graph loses its position in a folder of messages again and again', async () => {
  const account = accountOf(graph, 'OUTLOOK', egress);
  for (const id of ['m1', 'm2', 'm3', 'm4', 'm5']) put(id, 'WORK');
  let requests = 0;
  graph.injectFault((path) => {
    if (!path.includes('/WORK/messages')) return null;
    requests += 1;
    // Each restart reads one page.
    return requests % 2 === 0 ? { status: 410, code: 'SyncStateNotFound' } : null;
  });
  expect(await faultOf(descendantsOf(account, 'folder:WORK'))).toMatchObject({ kind: 'stale_cursor' });
  expect(requests).toBeLessThan(20);
});

test('the feed of a mailbox reports the attachments of a new message', async () => {
  const account = accountOf(graph, 'OUTLOOK', egress);
  const start = await cursorOf(account);
  put('m1', 'PLANS', { attachments: { plan: { name: 'plan.md', content: 'The plan.' } } });
  expect((await readChanges(account, start)).changed).toEqual(['m1', 'm1/plan']);
});

test('an attachment has the format of its name or kind, and a version', async () => {
  const account = accountOf(graph, 'OUTLOOK', egress);
  put('m1', 'WORK', {
    attachments: {
      plan: { name: 'plan.md', content: 'The plan.' },
      mail: { name: 'Re: plan', content: 'Subject: Re: plan\r\n\r\nFine.', kind: 'item' },
    },
  });
  const { items } = await descendantsOf(account, 'm1');
  expect(items.filter(({ parentExternalId }) => parentExternalId === 'm1')).toMatchObject([
    { itemType: 'ATTACHMENT', fileFormat: 'MD', isAttachment: true, rootExternalId: 'folder:WORK' },
    { itemType: 'ATTACHMENT', fileFormat: 'EML', isAttachment: true },
  ]);
  for (const item of items) expect(item.version).toEqual(expect.any(String));
});
