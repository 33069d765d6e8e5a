import { openCursor, sealCursor } from '../../connectors/cursors.js';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { noteText } from '../../connectors/box/note.js';
import type { Account } from '../../connectors/account.js';
import type { Egress } from '../../egress/types.js';
import { type BoxEmulator, startBox } from '../emulators/box.js';
import { grantedAccount, readListing, loopbackEgress, NEVER } from './account.js';
import { faultOf } from '../support/faultOf.js';
import { acceptedBrokenAnswers } from './brokenAnswers.js';

let egress: Egress;
let box: BoxEmulator;
let account: Account;

beforeAll(async () => {
  egress = loopbackEgress();
  box = await startBox();
});
afterAll(async () => {
  await egress.close();
  await box.close();
});
beforeEach(() => {
  box.items.clear();
  box.unready.times = 0;
  box.reset();
  account = grantedAccount('BOX', box.settings, box.oauth.grant().accessToken, egress);
});

/** Creates nested folders, a link, a file with the same number as a folder, and a file in the root folder. */
function fill(): void {
  const { items } = box;
  items.set('folder:1', { name: 'Sights' });
  items.set('folder:2', { name: 'Deep', parent: '1' });
  items.set('folder:3', { name: 'Boats' });
  items.set('1', { name: 'a.md', parent: '1', content: 'The lighthouse' });
  items.set('5', { name: 'b.txt', parent: '2', content: 'b' });
  items.set('6', { name: 'c.txt', parent: '2', content: 'c' });
  items.set('7', { name: 'top.txt', content: 'top' });
  items.set('web_link:1', { name: 'Harbour', url: 'https://harbour.example/', parent: '1' });
}
const descendantsOf = (id: string) => readListing((cursor) => account.listDescendants(id, cursor, NEVER));
const opened = async (id: string) => {
  const content = await account.open(id, NEVER);
  return { ...content, text: Buffer.from(content.bytes).toString() };
};
const feed = () => account.changes!;
/** Reads the change feed from a cursor to its end. Returns changed items by id, deleted ones with a minus sign. */
async function readChanges(from: string): Promise<{ changed: string[]; next: string }> {
  const changed: string[] = [];
  for (let cursor = from; ;) {
    const page = await feed().since(cursor, NEVER);
    changed.push(...page.changes.map((change) => ('gone' in change ? `-${change.gone}` : change.item.externalId)));
    cursor = page.next;
    if (!page.more) return { changed, next: cursor };
  }
}

describe('listing', () => {
  test('identifies the account by the user who consented', async () => {
    expect(await account.identify(NEVER)).toEqual({
      account: 'ada@harbour.example',
      metadata: { email: 'ada@harbour.example', user_id: '17738362', user_name: 'Ada' },
    });
  });

  test('lists the items of the root folder as roots, across all pages', async () => {
    fill();
    const { ids, items, pages } = await readListing((cursor) => account.listRoots(cursor, NEVER));
    expect(ids).toEqual(['folder:1', 'folder:3', '7']);
    expect(pages).toBe(2);
    expect(items[0]).toMatchObject({
      ...{ name: 'Sights', itemType: 'FOLDER', parentExternalId: null, rootExternalId: null, isExpandable: true },
      ...{ externalUrl: 'https://app.box.com/folder/1', createdAt: '2026-03-03T10:00:00.000Z' },
    });
    expect(items[2]).toMatchObject({ itemType: 'FILE', fileFormat: 'TXT', hasContent: true });
  });

  test('lists a folder recursively with the parent of each item, even if a folder and a file share a number', async () => {
    fill();
    const { items } = await descendantsOf('folder:1');
    expect(
      items.map(({ externalId, parentExternalId, rootExternalId }) => [externalId, parentExternalId, rootExternalId]),
    ).toEqual([
      ['folder:1', null, null],
      ['folder:2', 'folder:1', 'folder:1'],
      ['1', 'folder:1', 'folder:1'],
      ['web_link:1', 'folder:1', 'folder:1'],
      ['5', 'folder:2', 'folder:1'],
      ['6', 'folder:2', 'folder:1'],
    ]);
    expect(items.find(({ externalId }) => externalId === 'web_link:1')).toMatchObject({
      ...{ itemType: 'LINK', isSelectable: false, externalUrl: 'https://harbour.example/' },
    });
    expect((await descendantsOf('folder:2')).ids).toEqual(['folder:2', '5', '6']);
    expect((await descendantsOf('1')).ids).toEqual(['1']);
    // The number of a folder, as it appears in a Box URL. No file has this number.
    expect((await descendantsOf('3')).ids).toEqual(['folder:3']);
    for (const rootId of ['0', 'folder:0'])
      expect((await descendantsOf(rootId)).ids.toSorted()).toEqual([
        '1',
        '5',
        '6',
        '7',
        'folder:1',
        'folder:2',
        'folder:3',
        'web_link:1',
      ]);
  });

  test('reports a folder without access as refused and lists the rest', async () => {
    fill();
    box.items.set('folder:2', { name: 'Deep', parent: '1', isClosed: true });
    const refused: string[] = [];
    const { ids } = await readListing(async (cursor) => {
      const page = await account.listDescendants('folder:1', cursor, NEVER);
      refused.push(...(page.refused ?? []));
      return page;
    });
    expect(ids).toEqual(['folder:1', 'folder:2', '1', 'web_link:1']);
    expect(refused).toEqual(['folder:2']);
  });

  test('skips a folder that is deleted during the listing', async () => {
    fill();
    const first = await account.listDescendants('0', null, NEVER);
    box.items.delete('folder:1');
    const remainder = await readListing((cursor) => account.listDescendants('0', cursor ?? first.next, NEVER));
    expect(remainder.ids).toEqual(['7']);
  });

  test.each(['nothing', 'folder:', 'folder:x', '..', '1/2', '99', 'folder:99', 'web_link:7', '1'.repeat(30)])(
    'rejects %s as not found',
    async (id) => {
      fill();
      expect(await faultOf(account.listDescendants(id, null, NEVER))).toMatchObject({ kind: 'not_found' });
    },
  );

  test('gives a file another version if its content or its name changes', async () => {
    box.items.set('7', { name: 'top.txt', content: 'one' });
    const version = async () => (await descendantsOf('7')).items[0]?.version;
    const first = await version();
    expect(await version()).toBe(first);
    box.items.set('7', { name: 'top.txt', content: 'two' });
    const second = await version();
    box.items.set('7', { name: 'top.md', content: 'two' });
    expect(new Set([first, second, await version()]).size).toBe(3);
  });
});

describe('content', () => {
  test('is downloaded from another host without the token, together with its metadata', async () => {
    fill();
    expect(await opened('1')).toMatchObject({
      text: 'The lighthouse',
      ...{ contentType: 'text/markdown', format: null, name: 'a.md', url: 'https://app.box.com/file/1' },
      fileMetadata: {
        ...{ type: 'FILE', is_folder: false, modified_at: '2026-03-03T10:00:00.000Z' },
        sha1: createHash('sha1').update('The lighthouse').digest('hex'),
      },
    });
    // The emulator rejects a download that carries a token.
    expect(box.requests.some((path) => path.startsWith('/dl/'))).toBe(true);
  });

  test('fails with the delay that Box names while the file is not ready', async () => {
    fill();
    box.unready.times = 1;
    expect(await faultOf(account.open('1', NEVER))).toMatchObject({ kind: 'server_error', retryAfterMs: 0 });
    expect((await opened('1')).text).toBe('The lighthouse');
  });

  test('fails with a retryable error if its hash differs from the metadata', async () => {
    fill();
    const file = box.items.get('1')!;
    let requests = 0;
    // The file changes between the two requests.
    box.injectFault((path) => {
      if (path.endsWith('/content') && (requests += 1) === 1) file.content = 'Another';
      return null;
    });
    expect(await faultOf(account.open('1', NEVER))).toMatchObject({ kind: 'server_error', retryable: true });
    expect((await opened('1')).text).toBe('Another');
  });

  test.each([
    ['folder:1', 'unsupported_type', /sync the files in it/],
    ['web_link:1', 'unsupported_type', /Scrape the page/],
    ['99', 'not_found', /no such item/],
    ['x', 'not_found', /no such item/],
  ] as const)('is unavailable for %s: %s', async (id, kind, message) => {
    fill();
    const fault = await faultOf(account.open(id, NEVER));
    expect(fault.kind).toBe(kind);
    expect(fault.message).toMatch(message);
  });

  test('is Markdown for a note', async () => {
    const text = (content: string, ...marks: string[]) => ({
      type: 'text',
      text: content,
      marks: marks.map((type) => ({ type })),
    });
    const paragraph = (...content: object[]) => ({ type: 'paragraph', content });
    const item = (...content: object[]) => ({ type: 'list_item', content });
    const note = {
      version: 1,
      doc: {
        type: 'doc',
        content: [
          { type: 'heading', attrs: { level: 2 }, content: [text('Tides')] },
          paragraph(text('High at '), text('noon ', 'strong'), {
            type: 'text',
            text: 'sea',
            marks: [{ type: 'link', attrs: { href: 'https://sea.example' } }],
          }),
          {
            type: 'bullet_list',
            content: [
              item(paragraph(text('one')), { type: 'bullet_list', content: [item(paragraph(text('inner')))] }),
              item(paragraph(text('two'))),
            ],
          },
          {
            type: 'check_list',
            content: [{ type: 'check_list_item', attrs: { checked: true }, content: [paragraph(text('done'))] }],
          },
          {
            type: 'table',
            content: [
              {
                type: 'table_row',
                content: [
                  { type: 'table_header', content: [paragraph(text('a|b'))] },
                  { type: 'table_header', content: [paragraph(text('c'))] },
                ],
              },
              {
                type: 'table_row',
                content: [
                  { type: 'table_cell', content: [paragraph(text('1'))] },
                  { type: 'table_cell', content: [paragraph(text('2'))] },
                ],
              },
            ],
          },
          { type: 'something_new', content: [paragraph(text('kept'))] },
        ],
      },
    };
    box.items.set('8', { name: 'Tides.boxnote', content: JSON.stringify(note) });
    expect((await descendantsOf('8')).items[0]).toMatchObject({ fileFormat: 'MD' });
    const content = await opened('8');
    expect(content).toMatchObject({ contentType: 'text/markdown', name: 'Tides.boxnote' });
    expect(content.text).toBe(
      [
        '## Tides',
        'High at **noon** [sea](https://sea.example)',
        '- one\n  - inner\n- two',
        '- [x] done',
        '| a\\|b | c |\n| --- | --- |\n| 1 | 2 |',
        'kept',
      ].join('\n\n'),
    );
  });

  test('is plain text for a note of the older format, and null for a file that is not a note', () => {
    const read = (value: unknown) => noteText(Buffer.from(JSON.stringify(value)));
    expect(read({ atext: { text: 'First\n*one\n*two\n' } })).toBe('First\n- one\n- two\n');
    expect(read({ other: 1 })).toBeNull();
    expect(noteText(Buffer.from('{'))).toBeNull();
  });

  test('keeps the text of a note that is nested too deeply for its formatting to be read', () => {
    const line = (text: string) => `{"type":"paragraph","content":[{"type":"text","text":"${text}"}]}`;
    for (const levels of [98, 99, 100, 101, 2_000]) {
      const inner = `${line('High')},${line('Low')}`;
      const deep = '{"type":"blockquote","content":['.repeat(levels) + inner + ']}'.repeat(levels);
      const text = noteText(Buffer.from(`{"doc":{"content":[${deep}]}}`)) ?? '';
      expect([levels, text.split(/[>\s]+/).filter((word) => word !== '')]).toEqual([levels, ['High', 'Low']]);
    }
  });
});

describe('changes', () => {
  test('are reported once per page with the current state of the item, and not again from the next cursor', async () => {
    fill();
    const start = await feed().now(NEVER);
    box.items.set('9', { name: 'new.txt', parent: '3', content: 'n' });
    box.items.set('1', { name: 'a.md', parent: '2', content: 'moved' });
    await account.listRoots(null, NEVER);
    box.items.delete('9');
    box.items.delete('5');
    const { changed, next } = await readChanges(start);
    // The feed has two pages: an item that was created and deleted appears on both.
    expect([...new Set(changed)].toSorted()).toEqual(['-5', '-9', '1']);
    expect((await readChanges(next)).changed).toEqual([]);
    // Stream positions exceed Number.MAX_SAFE_INTEGER.
    expect(JSON.parse(openCursor(next))).toMatchObject({ position: expect.stringMatching(/^3040106807616\d{4}$/) });
  });

  test('report only the folder if it is deleted with its contents, and report an inaccessible folder as deleted', async () => {
    fill();
    const start = await feed().now(NEVER);
    for (const id of ['folder:2', '5', '6']) box.items.delete(id);
    expect((await readChanges(start)).changed).toEqual(['-folder:2']);
    const later = (await readChanges(start)).next;
    box.items.set('folder:3', { name: 'Boats renamed' });
    box.injectFault((path) => (path === '/2.0/folders/3' ? { status: 403 } : null));
    expect((await readChanges(later)).changed).toEqual(['-folder:3']);
  });

  test('report every item of a page, of each kind, also if there are more than are requested concurrently', async () => {
    const large = await startBox({ perPage: 100 });
    try {
      const largeAccount = grantedAccount('BOX', large.settings, large.oauth.grant().accessToken, egress);
      large.items.set('1', { name: 'a.md', content: 'a' });
      const start = (await largeAccount.changes?.now(NEVER)) ?? '';
      const ids = ['11', '12', '13', '14', '15', '16'];
      for (const id of ids) large.items.set(id, { name: `${id}.txt`, content: id });
      large.items.set('folder:4', { name: 'New' });
      large.items.set('web_link:2', { name: 'Pier', url: 'https://pier.example/' });
      large.items.delete('1');
      const found = (await largeAccount.changes?.since(start, NEVER))?.changes ?? [];
      const changed = found.map((change) => ('gone' in change ? `-${change.gone}` : change.item.externalId));
      expect(changed.toSorted()).toEqual([...ids, '-1', 'folder:4', 'web_link:2'].toSorted());
    } finally {
      await large.close();
    }
  });

  test('fail if an item cannot be read now: it does not count as deleted, and the next attempt reports it', async () => {
    fill();
    const start = await feed().now(NEVER);
    box.items.set('1', { name: 'a.md', parent: '1', content: 'changed' });
    for (const [status, kind] of [
      [500, 'server_error'],
      [401, 'access_revoked'],
    ] as const) {
      box.injectFault((path) => (path === '/2.0/files/1' ? { status } : null));
      expect(await faultOf(feed().since(start, NEVER))).toMatchObject({ kind });
    }
    box.injectFault(() => null);
    expect((await readChanges(start)).changed).toEqual(['1']);
  });

  test('fail if Box rejects the request for another reason than an invalid stream position', async () => {
    const start = await feed().now(NEVER);
    box.injectFault((path) => (path === '/2.0/events' ? { status: 500 } : null));
    expect(await faultOf(feed().since(start, NEVER))).toMatchObject({ kind: 'server_error' });
  });

  test('report a moved item with its new parent and the same id', async () => {
    fill();
    const start = await feed().now(NEVER);
    box.items.set('6', { name: 'c.txt', content: 'c', parent: '3' });
    const { changes } = await feed().since(start, NEVER);
    expect(changes).toMatchObject([
      { item: { externalId: '6', parentExternalId: 'folder:3', rootExternalId: 'folder:3' } },
    ]);
  });

  test.each([
    [
      'a cursor older than the retention of events',
      () => sealCursor(JSON.stringify({ position: '30401068076164269', at: Date.now() - 14 * 86_400_000 })),
    ],
    ['a cursor that Box rejects', () => sealCursor(JSON.stringify({ position: 'x', at: Date.now() }))],
    ['an invalid cursor', () => 'x'],
  ])('report %s as stale', async (_name, makeCursor) => {
    expect(await faultOf(feed().since(makeCursor(), NEVER))).toMatchObject({ kind: 'stale_cursor' });
  });
});

describe('refusals', () => {
  test.each([
    [401, 'access_revoked'],
    [403, 'access_denied'],
    [404, 'not_found'],
    [500, 'server_error'],
  ] as const)('reports HTTP %d as %s', async (status, kind) => {
    fill();
    box.injectFault(() => ({ status }));
    expect(await faultOf(account.listDescendants('1', null, NEVER))).toMatchObject({ kind });
  });
});

test('never treats a broken response as the end of a list', async () => {
  fill();
  const list = async () => [
    (await readListing((cursor) => account.listRoots(cursor, NEVER))).items,
    (await descendantsOf('folder:1')).items,
  ];
  expect(await acceptedBrokenAnswers(box, list)).toEqual([]);
});
