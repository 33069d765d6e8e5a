import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { confluence as connector } from '../../connectors/confluence/index.js';
import { htmlOfStorage } from '../../connectors/confluence/storage.js';
import type { Account } from '../../connectors/account.js';
import type { Egress } from '../../egress/types.js';
import { type ConfluenceEmulator, type EmulatedContent, startConfluence } from '../emulators/confluence.js';
import { grantedAccount, readListing, loopbackEgress, NEVER } from './account.js';
import { faultOf } from '../support/faultOf.js';
import { acceptedBrokenAnswers } from './brokenAnswers.js';

const SITE = 'cloud-1';
let egress: Egress;
let emulator: ConfluenceEmulator;
let account: Account;

const accountWith = (scopes: readonly string[]): Account => {
  const { accessToken } = emulator.oauth.grant('acc-ada', scopes);
  return grantedAccount('CONFLUENCE', emulator.settings, accessToken, egress);
};
const put = (id: string, more: Partial<EmulatedContent> = {}): void =>
  void emulator.sites.get(SITE)!.contents.set(id, { space: '100', title: `T${id}`, ...more });
const descendantsOf = (externalId: string) =>
  readListing((cursor) => account.listDescendants(externalId, cursor, NEVER));

beforeAll(async () => {
  egress = loopbackEgress();
  emulator = await startConfluence();
});
afterAll(async () => {
  await egress.close();
  await emulator.close();
});
beforeEach(() => {
  emulator.reset();
  emulator.sites.clear();
  emulator.sites.set(SITE, {
    subdomain: 'harbour',
    scopes: [],
    spaces: new Map([['100', 'Harbour']]),
    contents: new Map(),
  });
  account = accountWith(connector.oauth?.scopes ?? []);
});

test('uses the only site that has Confluence; if several have it, the error names confluence_subdomain', async () => {
  const empty = { spaces: new Map([['200', 'Pier']]), contents: new Map<string, EmulatedContent>() };
  const granted = ['read:me', 'read:page:confluence'];
  emulator.sites.set(SITE, { ...emulator.sites.get(SITE)!, scopes: granted });
  emulator.sites.set('cloud-2', { ...empty, subdomain: 'tickets', scopes: ['read:me', 'read:jira-work'] });
  const rootsOf = (one: Account) => readListing((cursor) => one.listRoots(cursor, NEVER));
  expect((await rootsOf(account)).items.map(({ name }) => name)).toEqual(['Harbour']);
  emulator.sites.set('cloud-3', { ...empty, subdomain: 'pier', scopes: granted });
  const fault = await faultOf(rootsOf(accountWith(connector.oauth?.scopes ?? [])));
  expect([fault.kind, fault.message.includes('confluence_subdomain')]).toEqual(['bad_response', true]);
});

describe('the tree', () => {
  beforeEach(() => {
    put('1');
    put('2', { parent: '1' });
    put('3', { kind: 'folder', parent: '2' });
    put('4', { kind: 'folder', parent: '3' });
    put('5', { parent: '4' });
    put('6', { parent: '4', status: 'archived' });
    put('7', { kind: 'whiteboard', parent: '1' });
    put('8', { parent: '7' });
    put('9', { kind: 'blogpost' });
    put('10', { kind: 'folder' });
    put('11', { parent: '5' });
  });

  test('of a space contains pages at any depth, each of their folders once, and blog posts', async () => {
    const { items, pages } = await descendantsOf('space:100');
    expect(items.map(({ externalId, parentExternalId, itemType }) => [externalId, parentExternalId, itemType])).toEqual(
      [
        ['space:100', null, 'SPACE'],
        ['1', 'space:100', 'PAGE'],
        ['2', '1', 'PAGE'],
        ['folder:4', 'folder:3', 'FOLDER'],
        ['folder:3', '2', 'FOLDER'],
        ['5', 'folder:4', 'PAGE'],
        // Its parent is a whiteboard, which the connector does not list.
        ['8', 'space:100', 'PAGE'],
        ['11', '5', 'PAGE'],
        ['blog:9', 'space:100', 'PAGE'],
      ],
    );
    expect(pages).toBe(4);
    expect(emulator.requests.filter((path) => path.includes('/folders/')).length).toBe(2);
  });

  test('of a page or a folder contains its descendants only', async () => {
    expect((await descendantsOf('2')).ids).toEqual(['2', 'folder:3', 'folder:4', '5', '11']);
    expect((await descendantsOf('folder:4')).ids).toEqual(['folder:4', '5', '11']);
    expect((await descendantsOf('blog:9')).ids).toEqual(['blog:9']);
    // A whiteboard below the page is reported as skipped, with the reason.
    const page = await account.listDescendants('1', (await account.listDescendants('1', null, NEVER)).next, NEVER);
    expect(page.skipped).toMatchObject([
      { externalId: 'whiteboard:7', reason: expect.stringMatching(/pages and blog posts/) },
    ]);
    for (let id = 20; id < 27; id += 1) put(String(id), { parent: '11' });
    expect((await descendantsOf('11')).ids).toEqual(['11', ...['20', '21', '22', '23', '24', '25', '26']]);
  });

  test('describes a page identically whether its space or a page above it is listed', async () => {
    const itemFive = (items: readonly { externalId: string }[]) => items.find(({ externalId }) => externalId === '5');
    const unfilteredItem = itemFive((await descendantsOf('space:100')).items);
    expect(itemFive((await descendantsOf('2')).items)).toEqual(unfilteredItem);
    expect(unfilteredItem).toMatchObject({
      name: 'T5',
      version: expect.stringMatching(/^1 2026/),
      externalUrl: 'https://harbour.atlassian.net/wiki/spaces/100/pages/5',
    });
    put('5', { parent: '4', version: 2 });
    expect(itemFive((await descendantsOf('2')).items)).not.toEqual(unfilteredItem);
  });

  test('of an empty folder is not found, because only its contents name its space', async () => {
    expect((await faultOf(descendantsOf('folder:10'))).kind).toBe('not_found');
    put('12', { parent: '10' });
    expect((await descendantsOf('folder:10')).items).toMatchObject([
      { externalId: 'folder:10', rootExternalId: 'space:100' },
      { externalId: '12' },
    ]);
  });

  test('continues if a folder is deleted during the listing', async () => {
    const [first] = [await account.listDescendants('2', null, NEVER)];
    const second = await account.listDescendants('2', first.next, NEVER);
    expect(second.items.map(({ externalId }) => externalId)).toEqual(['folder:3']);
    emulator.sites.get(SITE)!.contents.delete('3');
    expect(await account.listDescendants('2', second.next, NEVER)).toEqual({ items: [], next: null });
  });
});

test.each(['nowhere', 'space:', 'space:1', 'folder:7', '6', '../me', 'blog:1', '404'])(
  'rejects %s as not found',
  async (id) => {
    put('6', { status: 'trashed' });
    put('7');
    expect((await faultOf(account.listDescendants(id, null, NEVER))).kind).toBe('not_found');
    expect((await faultOf(account.open(id, NEVER))).kind).toBe('not_found');
  },
);

test('reports the content of a space or a folder as unsupported', async () => {
  put('3', { kind: 'folder' });
  for (const id of ['space:100', 'folder:3'])
    expect((await faultOf(account.open(id, NEVER))).kind).toBe('unsupported_type');
});

test('denies only the calls that need a missing scope', async () => {
  const narrow = accountWith(['read:me', 'read:space:confluence']);
  expect((await narrow.identify(NEVER)).account).toBe(`ada@harbour.example|${SITE}/harbour`);
  expect((await narrow.listRoots(null, NEVER)).items).toHaveLength(1);
  expect((await faultOf(narrow.listDescendants('space:100', null, NEVER))).kind).toBe('access_denied');
});

test('reads the wait after a 429 from Retry-After or X-RateLimit-Reset', async () => {
  const wait = async (headers: Record<string, string>) => {
    emulator.injectFault(() => ({ status: 429, headers }));
    const fault = await faultOf(
      grantedAccount('CONFLUENCE', emulator.settings, emulator.oauth.grant().accessToken, egress).listRoots(
        null,
        NEVER,
      ),
    );
    return [fault.kind, Math.round((fault.retryAfterMs ?? 0) / 1_000)];
  };
  expect(await wait({ 'retry-after': '77' })).toEqual(['rate_limited', 77]);
  const reset = new Date(Date.now() + 120_000).toISOString();
  expect(await wait({ 'x-ratelimit-reset': reset })).toEqual(['rate_limited', 120]);
});

test('fails if a page links to itself as the next page, instead of reading it forever', async () => {
  const body = { results: [], _links: { next: '/wiki/api/v2/spaces?cursor=c1' } };
  emulator.injectFault((path) => (path.endsWith('/spaces') ? { status: 200, body } : null));
  const { next } = await account.listRoots(null, NEVER);
  expect(next).toEqual(expect.any(String));
  expect((await faultOf(account.listRoots(next, NEVER))).kind).toBe('server_error');
  emulator.reset();
});

test('reports a list without results or with an invalid next link as a server error', async () => {
  for (const body of [{}, { results: [], _links: { next: '/wiki/api/v2/spaces' } }]) {
    await account.listRoots(null, NEVER);
    emulator.injectFault((path) => (path.endsWith('/spaces') ? { status: 200, body } : null));
    expect((await faultOf(account.listRoots(null, NEVER))).kind).toBe('server_error');
    emulator.reset();
  }
});

describe('the storage format', () => {
  test.each([
    [
      'HTML, and removes style and onclick attributes',
      '<p style="x" onclick="y">a &amp; <strong>b</strong>&nbsp;c</p>',
      '<p>a &amp; <strong>b</strong>\u00a0c</p>',
    ],
    [
      'table cells, and keeps colspan',
      '<table><tbody><tr><td colspan="2">x</td></tr></tbody></table>',
      '<table><tbody><tr><td colspan="2">x</td></tr></tbody></table>',
    ],
    [
      'code verbatim',
      '<ac:structured-macro ac:name="code"><ac:parameter ac:name="language">xml</ac:parameter><ac:plain-text-body><![CDATA[if (a < b) <p>]]></ac:plain-text-body></ac:structured-macro>',
      '<pre>if (a &lt; b) &lt;p&gt;</pre>',
    ],
    [
      'a panel with its title',
      '<ac:structured-macro ac:name="info"><ac:parameter ac:name="title">Mind</ac:parameter><ac:parameter ac:name="icon">false</ac:parameter><ac:rich-text-body><p>The gap</p></ac:rich-text-body></ac:structured-macro>',
      '<p><strong>Mind</strong></p><div><p>The gap</p></div>',
    ],
    [
      'a status',
      '<p><ac:structured-macro ac:name="status"><ac:parameter ac:name="title">Open</ac:parameter><ac:parameter ac:name="colour">Red</ac:parameter></ac:structured-macro></p>',
      '<p>Open</p>',
    ],
    [
      'an issue',
      '<ac:structured-macro ac:name="jira"><ac:parameter ac:name="key">SEA-1</ac:parameter></ac:structured-macro>',
      'SEA-1',
    ],
    [
      'a table of contents',
      'a<ac:structured-macro ac:name="toc"><ac:parameter ac:name="maxLevel">3</ac:parameter></ac:structured-macro>b',
      'ab',
    ],
    [
      'a link to a page as its title',
      '<ac:link>\n<ri:page ri:content-title="Tides &amp; winds" />\n</ac:link>',
      '\n\nTides &amp; winds',
    ],
    [
      'a link with its own text',
      '<ac:link><ri:page ri:content-title="Tides" /><ac:plain-text-link-body><![CDATA[see <here>]]></ac:plain-text-link-body></ac:link>',
      'see &lt;here&gt;',
    ],
    [
      'an external link',
      '<a href="https://a.example/?b=1&amp;c=2" target="x">there</a>',
      '<a href="https://a.example/?b=1&amp;c=2">there</a>',
    ],
    ['a picture', '<ac:image ac:width="5"><ri:attachment ri:filename="map.png" /></ac:image>', 'map.png'],
    [
      'a picture with an alternative text',
      '<ac:image ac:alt="The map"><ri:attachment ri:filename="m.png" /></ac:image>',
      'The map',
    ],
    [
      'tasks',
      '<ac:task-list><ac:task><ac:task-id>1</ac:task-id><ac:task-status>complete</ac:task-status><ac:task-body>Paint</ac:task-body></ac:task><ac:task><ac:task-id>2</ac:task-id><ac:task-status>incomplete</ac:task-status><ac:task-body>Dry</ac:task-body></ac:task></ac:task-list>',
      '<ul><li>[x] Paint</li><li>[ ] Dry</li></ul>',
    ],
    ['a date', '<time datetime="2026-03-04" />', '2026-03-04'],
    ['an emoticon', '<ac:emoticon ac:name="smile" ac:emoji-fallback="🙂" />', '🙂'],
    [
      'content of the newer editor once, without its fallback',
      '<ac:adf-extension><ac:adf-node type="panel"><ac:adf-attribute key="panel-type">note</ac:adf-attribute><ac:adf-content><p>x</p></ac:adf-content></ac:adf-node><ac:adf-fallback><p>x</p></ac:adf-fallback></ac:adf-extension>',
      '<div><p>x</p></div>',
    ],
    [
      'columns',
      '<ac:layout><ac:layout-section><ac:layout-cell><p>a</p></ac:layout-cell></ac:layout-section></ac:layout>',
      '<div><p>a</p></div>',
    ],
    ['an inline comment marker', 'a <ac:inline-comment-marker ac:ref="1">b</ac:inline-comment-marker>', 'a b'],
    [
      'an unknown macro',
      '<ac:structured-macro ac:name="x"><ac:parameter ac:name="y">z</ac:parameter><ac:rich-text-body>w</ac:rich-text-body></ac:structured-macro>',
      '<div>w</div>',
    ],
    ['an unclosed element', '<p>a<ac:link><ri:page ri:content-title="b">', '<p>ab</p>'],
    [
      'an escaped script',
      '<ac:plain-text-link-body><![CDATA[<script>alert(1)</script>]]></ac:plain-text-link-body>',
      '&lt;script&gt;alert(1)&lt;/script&gt;',
    ],
  ])('converts %s', (_name, storage, html) => {
    expect(htmlOfStorage(storage)).toBe(html);
  });

  test('is rejected within seconds if it is nested too deeply', () => {
    const began = Date.now();
    expect(() => htmlOfStorage('<div>'.repeat(1_000_000))).toThrow(/deep/);
    expect(Date.now() - began).toBeLessThan(5_000);
    expect(() => htmlOfStorage('<div>'.repeat(2_001))).toThrow(/nested more than 2000 deep/);
    expect(htmlOfStorage('<div>'.repeat(2_000))).toContain('<div>');
  });
});

test('never treats a broken response as the end of a list', async () => {
  put('1');
  put('2', { parent: '1' });
  put('3', { kind: 'folder', parent: '2' });
  put('4', { parent: '3' });
  const list = async () => [
    (await readListing((cursor) => account.listRoots(cursor, NEVER))).items,
    (await descendantsOf('space:100')).items,
    (await descendantsOf('1')).items,
  ];
  expect(await acceptedBrokenAnswers(emulator, list)).toEqual([]);
});
