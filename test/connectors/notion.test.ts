import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { fetchPage, postPage } from '../../connectors/notion/api.js';
import { renderBlocks } from '../../connectors/notion/render.js';
import { richText } from '../../connectors/notion/richText.js';
import type { Block } from '../../connectors/notion/blocks.js';
import { columnText } from '../../connectors/notion/properties.js';
import type { Account } from '../../connectors/account.js';
import type { Egress } from '../../egress/types.js';
import { type NotionEmulator, startNotion } from '../emulators/notion.js';
import { blockId, type EmulatedPage, notionId, PEOPLE, WORKSPACE } from '../emulators/notionObjects.js';
import { option, textRun } from '../emulators/notionBlocks.js';
import { accountWith, grantedAccount, readListing, loopbackEgress, NEVER } from './account.js';
import { faultOf } from '../support/faultOf.js';
import { acceptedBrokenAnswers } from './brokenAnswers.js';

const id = notionId;
const ROWS = id(50);
const DATABASE = `database:${ROWS}`;
const rowId = (number: number): string => `row:${id(number)}`;
let egress: Egress;
let emulator: NotionEmulator;
let account: Account;

const put = (number: number, more: Partial<EmulatedPage> = {}): void =>
  void emulator.pages.set(id(number), { title: `T${number}`, ...more });
const roots = () => readListing((cursor) => account.listRoots(cursor, NEVER));
const descendantsOf = (externalId: string) =>
  readListing((cursor) => account.listDescendants(externalId, cursor, NEVER));
const texts = async (externalId: string) => {
  const { bytes, plain } = await account.open(externalId, NEVER);
  return { markdown: Buffer.from(bytes).toString(), plain: Buffer.from(plain?.bytes ?? []).toString() };
};

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
  emulator.pages.clear();
  emulator.databases.clear();
  emulator.hidden.clear();
  emulator.search.isIncomplete = false;
  emulator.search.omitted.clear();
  account = grantedAccount('NOTION', emulator.settings, emulator.oauth.grant().accessToken, egress);
});

test('identifies the account by the workspace and the user', async () => {
  expect(await account.identify(NEVER)).toMatchObject({
    account: `${WORKSPACE}:${PEOPLE[0]!.id}`,
    metadata: { workspace_name: 'Harbour', user_name: 'Ada', user_email: 'ada@harbour.example' },
  });
});

test('ends a list at has_more: false, whatever the cursor', async () => {
  const clientOf = (answer: object) => ({ get: () => Promise.resolve(answer), post: () => Promise.resolve(answer) });
  const read = async (answer: object) => {
    const client = clientOf({ results: [], ...answer }) as never;
    const [got, posted] = [await fetchPage(client, ['users'], null), await postPage(client, ['search'], {}, null)];
    expect(got).toEqual(posted);
    return got.next;
  };
  expect(await read({ has_more: true, next_cursor: 'two' })).toBe('two');
  expect(await read({ has_more: false, next_cursor: 'two' })).toBeNull();
  expect(await read({ has_more: false, next_cursor: null })).toBeNull();
  await faultOf(read({ has_more: true, next_cursor: null }), 'server_error');
});

test('identifies the account of a personal token by the workspace that the caller names', async () => {
  const body = { object: 'user', id: 'u1', name: 'Ada', type: 'person', person: { email: 'ada@harbour.example' } };
  const answer = { wrongBody: JSON.stringify(body), contentType: 'application/json' };
  emulator.injectFault((path) => (path === '/v1/users/me' ? answer : null));
  expect((await faultOf(account.identify(NEVER))).message).toContain('workspace_id');
  const { accessToken } = emulator.oauth.grant();
  const facts = { workspace: WORKSPACE };
  const accountWithWorkspace = accountWith('NOTION', emulator.settings, { accessToken, facts }, egress);
  expect(await accountWithWorkspace.identify(NEVER)).toMatchObject({
    account: `${WORKSPACE}:u1`,
    metadata: { user_name: 'Ada', user_email: 'ada@harbour.example' },
  });
});

describe('a workspace', () => {
  beforeEach(() => {
    put(1);
    put(2, {
      parent: { page: id(1) },
      blocks: [{ type: 'column_list', children: [{ type: 'column', children: [] }] }],
    });
    put(3, { parent: { block: blockId(id(2), 0, 0) }, edited: 7 });
    emulator.databases.set(ROWS, { title: 'Tides', container: id(60), parent: { page: id(1) } });
    put(4, { parent: { database: ROWS } });
    put(5, { parent: { page: id(4) } });
    // This page is shared, but its parent is not.
    put(6, { parent: { page: id(9) } });
    put(7, { parent: { page: id(1) }, trashed: true });
    put(9);
    emulator.hidden.add(id(9));
  });

  const tree = [
    [id(1), null, null, 'PAGE'],
    [id(2), id(1), id(1), 'PAGE'],
    [id(3), id(2), id(1), 'PAGE'],
    [rowId(4), DATABASE, id(1), 'PAGE'],
    [id(5), rowId(4), id(1), 'PAGE'],
    [id(6), null, null, 'PAGE'],
    [DATABASE, id(1), id(1), 'TABLE'],
  ];
  const placesIn = ({ items }: Awaited<ReturnType<typeof roots>>) =>
    items
      .map(({ externalId, parentExternalId, rootExternalId, itemType }) => [
        externalId,
        parentExternalId,
        rootExternalId,
        itemType,
      ])
      .toSorted((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1));

  test('is listed by one search, each item with its parent, through columns and databases', async () => {
    const found = await roots();
    expect(found.pages).toBe(4);
    expect(placesIn(found)).toEqual(tree.toSorted((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1)));
    expect((await account.listRoots(null, NEVER)).isDeep).toBe(true);
  });

  test('lists the descendants of a page exactly as the search does', async () => {
    const found = await descendantsOf(id(1));
    expect(placesIn(found)).toEqual(
      placesIn({ ...found, items: (await roots()).items.filter(({ externalId }) => externalId !== id(6)) }),
    );
    expect((await descendantsOf(DATABASE)).ids).toEqual([DATABASE, rowId(4), id(5)]);
    // Notion's URLs contain the id without hyphens.
    expect((await descendantsOf(id(2).replaceAll('-', ''))).ids).toEqual([id(2), id(3)]);
    expect((await descendantsOf(id(4))).ids).toEqual([rowId(4), id(5)]);
    expect((await descendantsOf(id(6))).items).toMatchObject([
      { externalId: id(6), parentExternalId: null, rootExternalId: null },
    ]);
  });

  test('continues after a subpage without access, but fails without access to the listed page itself', async () => {
    put(8, { parent: { page: id(1) } });
    emulator.injectFault((path) => (path === `/v1/blocks/${id(2)}/children` ? { status: 403 } : null));
    expect((await descendantsOf(id(1))).ids.toSorted()).toEqual(
      [id(1), id(2), rowId(4), id(5), DATABASE, id(8)].toSorted(),
    );
    emulator.injectFault((path) => (path === `/v1/pages/${id(1)}` ? { status: 403 } : null));
    expect((await faultOf(descendantsOf(id(1)))).kind).toBe('access_denied');
  });

  test('marks a listing as partial if the search is incomplete', async () => {
    expect((await account.listRoots(null, NEVER)).isPartial).toBeUndefined();
    emulator.search.isIncomplete = true;
    expect((await account.listRoots(null, NEVER)).isPartial).toBe(true);
  });

  test('lists the rows of a database that one query does not return', async () => {
    const limited = await startNotion({ perQuery: 3 });
    try {
      const limitedAccount = grantedAccount('NOTION', limited.settings, limited.oauth.grant().accessToken, egress);
      limited.databases.set(ROWS, { title: 'Tides', container: id(60) });
      const list = () => readListing((cursor) => limitedAccount.listDescendants(DATABASE, cursor, NEVER));
      for (const number of [1, 2, 3, 4, 5, 6, 7])
        limited.pages.set(id(number), { title: 'T', parent: { database: ROWS }, created: number });
      const all = [1, 2, 3, 4, 5, 6, 7].map(rowId);
      expect([...new Set((await list()).ids)]).toEqual([DATABASE, ...all]);
      // One minute has more rows than a query returns. The missing rows must not be deleted.
      for (const number of [8, 9, 10])
        limited.pages.set(id(number), { title: 'T', parent: { database: ROWS }, created: 7 });
      const { ids, refused, skipped } = await list();
      expect(ids).toEqual(expect.arrayContaining(all));
      expect(refused).toEqual([DATABASE]);
      expect(skipped).toMatchObject([{ externalId: ROWS, reason: expect.stringMatching(/more rows/) }]);
    } finally {
      await limited.close();
    }
  });

  test('reports database rows as files of NOTION_DATABASE', () => {
    expect([id(1), rowId(4), DATABASE, 'nowhere'].map((one) => account.sourceOf(one))).toEqual([
      'NOTION',
      'NOTION_DATABASE',
      'NOTION',
      'NOTION',
    ]);
  });

  test.each(['nowhere', id(7), id(9), id(50), 'database:', `database:${id(1)}`, '../users/me'])(
    'rejects %s as not found',
    async (one) => {
      expect((await faultOf(account.listDescendants(one, null, NEVER))).kind).toBe('not_found');
      expect((await faultOf(account.open(one, NEVER))).kind).toBe('not_found');
    },
  );

  test('reports the content of a database as unsupported', async () => {
    expect((await faultOf(account.open(DATABASE, NEVER))).kind).toBe('unsupported_type');
  });
});

test('reports children of a page that are not shared as skipped', async () => {
  put(1, { blocks: [{ type: 'child_database', body: { title: 'Linked' } }] });
  put(8, { parent: { page: id(1) } });
  emulator.hidden.add(id(8));
  const first = await account.listDescendants(id(1), null, NEVER);
  const { items, skipped } = await account.listDescendants(id(1), first.next, NEVER);
  expect(items).toEqual([]);
  expect(skipped).toMatchObject([
    { externalId: blockId(id(1), 0), name: 'Linked', reason: expect.stringMatching(/view of another database/) },
    { externalId: id(8), reason: expect.stringMatching(/not shared/) },
  ]);
});

test('gives an item a version only after the minute of its last change has passed', async () => {
  put(1, { edited: new Date(Date.now() - 10_000).toISOString() });
  put(2, { edited: new Date(Date.now() - 300_000).toISOString() });
  const versions = new Map((await roots()).items.map(({ externalId, version }) => [externalId, version]));
  expect(versions.get(id(1))).toBeNull();
  expect(versions.get(id(2))).toEqual(expect.any(String));
});

test('reads a page as its title, columns and blocks, as Markdown and as plain text', async () => {
  emulator.databases.set(ROWS, { title: 'Tides', container: id(60) });
  put(1, {
    parent: { database: ROWS },
    columns: {
      Status: { id: 'st', type: 'status', status: option('Done') },
      Notes: { id: '%3Aa', type: 'rich_text', rich_text: [] },
      Near: { id: 're', type: 'relation', relation: [{ id: id(2) }] },
      Crew: {
        id: 'cr',
        type: 'people',
        people: Array.from({ length: 40 }, (_, index) => ({
          object: 'user',
          id: id(900 + index),
          name: `P${index}`,
          avatar_url: null,
        })),
      },
    },
    blocks: [
      { type: 'heading_2', text: 'High', body: {}, children: [{ type: 'paragraph', text: 'inside' }] },
      { type: 'synced_block', body: { synced_from: { type: 'block_id', block_id: blockId(id(2), 0) } } },
      { type: 'ai_block' },
    ],
  });
  put(2, {
    blocks: [{ type: 'synced_block', body: { synced_from: null }, children: [{ type: 'paragraph', text: 'twice' }] }],
  });
  const crew = Array.from({ length: 40 }, (_, index) => `P${index}`).join(', ');
  expect(await texts(rowId(1))).toEqual({
    markdown: `# T1\n\n- **Status**: Done\n- **Crew**: ${crew}\n\n## High\n\ninside\n\ntwice`,
    plain: `T1\n\nStatus: Done\nCrew: ${crew}\n\nHigh\n\ninside\n\ntwice`,
  });
  expect((await account.open(rowId(1), NEVER)).fileMetadata).toMatchObject({ type: 'PAGE', unread_blocks: 1 });
});

test('reads and lists the rest of a page with a block that the API of Notion does not support', async () => {
  put(1, {
    blocks: [{ type: 'paragraph', text: 'before' }, { type: 'unsupported' }, { type: 'paragraph', text: 'after' }],
  });
  put(8, { parent: { page: id(1) } });
  expect((await texts(id(1))).plain).toBe('T1\n\nbefore\n\nafter\n\nT8');
  expect((await account.open(id(1), NEVER)).fileMetadata).toMatchObject({ unread_blocks: 1 });
  const readable = await readListing((cursor) => account.listDescendants(id(1), cursor, NEVER));
  expect(readable.items.map(({ externalId }) => externalId)).toEqual(expect.arrayContaining([id(1), id(8)]));
});

test('reads and lists the rest of a page when Notion rejects the children of one block', async () => {
  put(1, {
    blocks: [
      { type: 'toggle', text: 'odd', children: [{ type: 'paragraph', text: 'inside' }] },
      { type: 'paragraph', text: 'after' },
    ],
  });
  put(8, { parent: { page: id(1) } });
  put(9, { parent: { page: id(1) } });
  const rejectedPath = `/v1/blocks/${blockId(id(1), 0)}/children`;
  emulator.injectFault((path) =>
    path === rejectedPath || path === `/v1/blocks/${id(8)}/children` ? { status: 400 } : null,
  );
  expect((await texts(id(1))).plain).toBe('T1\n\nodd\n\nafter\n\nT8\n\nT9');
  expect((await account.open(id(1), NEVER)).fileMetadata).toMatchObject({ unread_blocks: 1 });
  const { items } = await descendantsOf(id(1));
  expect(items.map(({ externalId }) => externalId)).toEqual(expect.arrayContaining([id(1), id(8), id(9)]));
});

test('reads nested blocks of all levels in their order, and not the contents of subpages', async () => {
  const numbers = Array.from({ length: 15 }, (_, index) => index);
  put(1, {
    blocks: numbers.map((number) => ({
      ...{ type: 'toggle', text: `outer ${number}` },
      children: [
        { type: 'toggle', text: `inner ${number}`, children: [{ type: 'paragraph', text: `deep ${number}` }] },
        { type: 'paragraph', text: `last ${number}` },
      ],
    })),
  });
  put(8, { parent: { page: id(1) }, blocks: [{ type: 'paragraph', text: 'of the subpage' }] });
  const expected = numbers.flatMap((number) => ['outer', 'inner', 'deep', 'last'].map((word) => `${word} ${number}`));
  expect((await texts(id(1))).plain.split('\n\n')).toEqual(['T1', ...expected, 'T8']);
});

test('reads the rest of a page with a synced block whose original is not shared', async () => {
  const synced = { synced_from: { type: 'block_id', block_id: blockId(id(2), 0) } };
  put(1, {
    blocks: [
      { type: 'synced_block', body: synced },
      { type: 'paragraph', text: 'after' },
    ],
  });
  put(2, { blocks: [{ type: 'synced_block', body: { synced_from: null }, children: [] }] });
  emulator.hidden.add(id(2));
  expect((await texts(id(1))).plain).toBe('T1\n\nafter');
});

test('reads a page without the contents of a block that is deleted meanwhile', async () => {
  put(1, { blocks: [{ type: 'toggle', text: 'odd', children: [{ type: 'paragraph', text: 'inside' }] }] });
  emulator.injectFault((path) => (path === `/v1/blocks/${blockId(id(1), 0)}/children` ? { status: 404 } : null));
  expect((await texts(id(1))).plain).toBe('T1\n\nodd');
});

test('fails if nested blocks cannot be read now, instead of reading the page without them', async () => {
  put(1, { blocks: [{ type: 'toggle', text: 'odd', children: [{ type: 'paragraph', text: 'inside' }] }] });
  for (const [status, kind] of [
    [403, 'access_denied'],
    [500, 'server_error'],
  ] as const) {
    emulator.injectFault((path) => (path === `/v1/blocks/${blockId(id(1), 0)}/children` ? { status } : null));
    expect((await faultOf(account.open(id(1), NEVER))).kind).toBe(kind);
  }
});

test('reads the title and columns of a row whose blocks Notion does not list', async () => {
  emulator.databases.set(ROWS, { title: 'Tides', container: id(60) });
  put(1, { parent: { database: ROWS }, columns: { Status: { id: 'st', type: 'status', status: option('Done') } } });
  emulator.injectFault((path) => (path === `/v1/blocks/${id(1)}/children` ? { status: 400 } : null));
  expect((await texts(rowId(1))).plain).toBe('T1\n\nStatus: Done');
  expect((await account.open(rowId(1), NEVER)).fileMetadata).toMatchObject({ unread_blocks: 1 });
});

test('rejects a page with too much text instead of truncating it', async () => {
  put(1, { blocks: Array.from({ length: 60 }, () => ({ type: 'paragraph', text: 'x'.repeat(200_000) })) });
  expect(await faultOf(account.open(id(1), NEVER))).toMatchObject({ kind: 'too_large' });
});

test('reports 429 and 529 as a rate limit with Retry-After', async () => {
  for (const status of [429, 529]) {
    emulator.injectFault(() => ({ status, headers: { 'retry-after': '99' } }));
    const one = grantedAccount('NOTION', emulator.settings, emulator.oauth.grant().accessToken, egress);
    expect(await faultOf(one.listRoots(null, NEVER))).toMatchObject({ kind: 'rate_limited', retryAfterMs: 99_000 });
  }
});

describe('text', () => {
  const marked = (annotations: object, more: object = {}) => textRun('a b', { annotations, ...more });
  test.each([
    [[textRun('plain')], 'plain'],
    [[marked({ bold: true, italic: true })], '***a b***'],
    [[marked({ code: true }), textRun(' '), marked({ strikethrough: true })], '`a b` ~~a b~~'],
    [[textRun(' x ', { annotations: { bold: true } })], ' **x** '],
    [[textRun('there', { href: 'https://a.example/?b=1' })], '[there](https://a.example/?b=1)'],
    [[textRun('there', { href: 'javascript:alert(1)' })], 'there'],
    [[textRun('E=mc', { type: 'equation' })], '$E=mc$'],
    ['nothing of the kind', ''],
  ])('is converted from %j', (runs, markdown) => {
    expect(richText(runs, 'markdown')).toBe(markdown);
    expect(richText(runs, 'plain')).toBe(Array.isArray(runs) ? runs.map((one) => one.plain_text).join('') : '');
  });
});

describe('blocks', () => {
  const block = (type: string, text?: string, body: Record<string, unknown> = {}, children: Block[] = []): Block => ({
    type,
    body: { ...(text === undefined ? {} : { rich_text: [textRun(text)] }), ...body },
    children,
  });
  test.each<[string, Block[], string, string]>([
    ['headings', [block('heading_1', 'A'), block('heading_3', 'B')], '# A\n\n### B', 'A\n\nB'],
    [
      'nested lists',
      [
        block('bulleted_list_item', 'a', {}, [block('numbered_list_item', 'b'), block('numbered_list_item', 'c')]),
        block('bulleted_list_item', 'd'),
      ],
      '- a\n    1. b\n    2. c\n- d',
      '- a\n    1. b\n    2. c\n- d',
    ],
    ['tasks', [block('to_do', 'a', { checked: true }), block('to_do', 'b')], '- [x] a\n- [ ] b', '[x] a\n[ ] b'],
    ['a quote with children', [block('quote', 'a', {}, [block('paragraph', 'b')])], '> a\n>\n> b', 'a\n\nb'],
    ['a callout', [block('callout', 'mind', { icon: { emoji: '!' } })], '> mind', 'mind'],
    ['a toggle', [block('toggle', 'more', {}, [block('paragraph', 'inside')])], 'more\n\ninside', 'more\n\ninside'],
    ['code', [block('code', 'if (a < b)', { language: 'c' })], '```c\nif (a < b)\n```', 'if (a < b)'],
    [
      'code that contains a fence',
      [block('code', 'a\n```\nb', { language: 'markdown' })],
      '````markdown\na\n```\nb\n````',
      'a\n```\nb',
    ],
    ['an equation', [block('equation', undefined, { expression: 'x^2' })], '$$x^2$$', 'x^2'],
    ['a rule', [block('paragraph', 'a'), block('divider'), block('paragraph', 'b')], 'a\n\n---\n\nb', 'a\n\nb'],
    [
      'a table',
      [
        block('table', undefined, { table_width: 2 }, [
          block('table_row', undefined, { cells: [[textRun('h|1')], [textRun('h2')]] }),
          block('table_row', undefined, { cells: [[textRun('a')], []] }),
        ]),
      ],
      '| h\\|1 | h2 |\n| --- | --- |\n| a |  |',
      'h|1 | h2\na | ',
    ],
    [
      'columns',
      [
        block('column_list', undefined, {}, [
          block('column', undefined, {}, [block('paragraph', 'l')]),
          block('column', undefined, {}, [block('paragraph', 'r')]),
        ]),
      ],
      'l\n\nr',
      'l\n\nr',
    ],
    ['a subpage as its title', [block('child_page', undefined, { title: 'Sub' })], 'Sub', 'Sub'],
    [
      'a bookmark',
      [block('bookmark', undefined, { url: 'https://a.example', caption: [textRun('A')] })],
      '[A](https://a.example)',
      'A: https://a.example',
    ],
    [
      'an external picture',
      [block('image', undefined, { external: { url: 'https://a.example/p.png' }, caption: [] })],
      '[https://a.example/p.png](https://a.example/p.png)',
      'https://a.example/p.png',
    ],
    [
      'a file at Notion without its expiring URL',
      [block('pdf', undefined, { file: { url: 'https://s3.example/x?secret' }, name: 'plan.pdf', caption: [] })],
      'plan.pdf',
      'plan.pdf',
    ],
    ['no navigation', [block('table_of_contents'), block('breadcrumb')], '', ''],
  ])('render %s', (_name, blocks, markdown, plain) => {
    expect(renderBlocks(blocks, 'markdown')).toEqual({ text: markdown, unread: 0 });
    expect(renderBlocks(blocks, 'plain')).toEqual({ text: plain, unread: 0 });
  });

  test('of unsupported types are counted', () => {
    expect(renderBlocks([block('unsupported'), block('paragraph', '')], 'plain')).toEqual({ text: '', unread: 1 });
  });
});

describe('columns', () => {
  test.each([
    [{ type: 'number', number: 0 }, '0'],
    [{ type: 'select', select: null }, ''],
    [{ type: 'multi_select', multi_select: [{ name: 'a' }, { name: 'b' }] }, 'a, b'],
    [{ type: 'date', date: { start: '2026-03-04', end: '2026-03-05' } }, '2026-03-04 – 2026-03-05'],
    [{ type: 'checkbox', checkbox: false }, 'no'],
    [{ type: 'url', url: 'https://a.example' }, 'https://a.example'],
    [{ type: 'unique_id', unique_id: { prefix: 'SEA', number: 3 } }, 'SEA-3'],
    [{ type: 'formula', formula: { type: 'number', number: 4 } }, '4'],
    [{ type: 'formula', formula: { type: 'boolean', boolean: true } }, 'yes'],
    [{ type: 'formula', formula: { type: 'date', date: { start: '2026-03-04', end: null } } }, '2026-03-04'],
    [
      {
        type: 'rollup',
        rollup: {
          type: 'array',
          array: [
            { type: 'number', number: 1 },
            { type: 'title', title: [textRun('x')] },
          ],
        },
      },
      '1, x',
    ],
    [{ type: 'rollup', rollup: { type: 'number', number: 9 } }, '9'],
    [{ type: 'files', files: [{ name: 'plan.pdf', file: { url: 'https://s3.example' } }] }, 'plan.pdf'],
    [{ type: 'created_by', created_by: { name: 'Ada' } }, 'Ada'],
    [{ type: 'relation', relation: [{ id: 'x' }] }, ''],
    [{ type: 'constructor' }, ''],
    [{}, ''],
  ])('are converted to text: %j', (column, text) => {
    expect(columnText(column, 'plain')).toBe(text);
  });
});

test('never treats a broken response as the end of a list', async () => {
  put(1);
  put(2, { parent: { page: id(1) } });
  const list = async () => [(await roots()).items, (await descendantsOf(id(1))).items];
  expect(await acceptedBrokenAnswers(emulator, list)).toEqual([]);
});
