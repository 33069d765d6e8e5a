import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { Egress } from '../../../egress/types.js';
import { type GraphEmulator, startGraph } from '../../emulators/graph/index.js';
import { SITE_HOST, siteId } from '../../emulators/graph/sites.js';
import { acceptedBrokenAnswers } from '../brokenAnswers.js';
import { accountOf, allPages, descendantsOf, idsOf, NEVER, openEgress, cursorOf, readChanges } from './graphAccount.js';
import { faultOf } from '../../support/faultOf.js';
import { nameOfSite } from '../../../connectors/microsoft/sharePoint/site.js';

let egress: Egress;
let graph: GraphEmulator;
const GUID = '3bf6b2b0-6a0c-4a3e-9b7e-1d4b9b0f7a11';

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
  graph.sites.clear();
  graph.reset();
  for (const [index, [path, displayName, drives]] of (
    [
      ['', 'Harbour', ['b!root']],
      ['sites/Marketing', 'Marketing', ['b!docs', 'b!assets', 'b!forms']],
      ['teams/Crew', 'The crew', ['b!crew']],
      ['sites/Marketing/Archive', 'Old things', ['b!old']],
    ] as const
  ).entries()) {
    graph.sites.set(path, { id: siteId(index), displayName, drives: [...drives], pages: new Map() });
    for (const drive of drives) graph.drives.add(drive);
  }
});

const accountFor = (site?: string) => accountOf(graph, 'SHAREPOINT', egress, site === undefined ? {} : { site });
const roots = async (site?: string) => {
  const account = accountFor(site);
  return allPages((cursor) => account.listRoots(cursor, NEVER));
};

describe('the site', () => {
  test.each([
    [undefined, 'harbour', ['b!root', 'pages']],
    ['', 'harbour', ['b!root', 'pages']],
    ['Marketing', 'harbour/Marketing', ['b!assets', 'b!docs', 'b!forms', 'pages']],
    ['sites/Marketing', 'harbour/Marketing', ['b!assets', 'b!docs', 'b!forms', 'pages']],
    ['teams/Crew', 'harbour/teams/Crew', ['b!crew', 'pages']],
    ['Marketing/Archive', 'harbour/Marketing/Archive', ['b!old', 'pages']],
  ])('%p is resolved to %s, with its libraries and pages', async (site, domain, containers) => {
    expect(await accountFor(site).identify(NEVER)).toMatchObject({
      account: `ada@harbour.example|${domain}`,
      metadata: { site_host: SITE_HOST },
    });
    expect(idsOf((await roots(site)).items)).toEqual(containers);
  });

  test.each([
    ['marketing', 'marketing'],
    ['Sites/MARKETING', 'Sites/MARKETING'],
    ['sites/marketing', 'marketing'],
  ])('%p is the same account as Marketing, also if an older version stored it as %s', async (site, former) => {
    expect(await accountFor(site).identify(NEVER)).toMatchObject({
      account: 'ada@harbour.example|harbour/Marketing',
      formerAccount: `ada@harbour.example|harbour/${former}`,
      metadata: { site_name: 'Marketing' },
    });
  });

  test('is requested by a path with an unescaped colon', async () => {
    await roots('Marketing');
    expect(graph.requests.some((path) => path.startsWith(`/v1.0/sites/${SITE_HOST}:/sites/Marketing?`))).toBe(true);
  });

  test.each(['Nowhere', '..', 'a/../b', 'Marketing:/drive', 'a?b', 'a#b', '%2e%2e', 'a/b/c/d/e/f/g/h/i/j/k'])(
    'named %p is not found, and causes no request to another path',
    async (site) => {
      expect(await faultOf(accountFor(site).identify(NEVER))).toMatchObject({ kind: 'not_found' });
      for (const path of graph.requests)
        expect(path).toMatch(/^\/v1\.0\/(me|sites\/root|sites\/harbour\.sharepoint\.com:\/sites\/Nowhere)\?/);
    },
  );
});

test('resolves a file by drive and id, or by its id alone in the default library', async () => {
  const id = graph.drives.put('b!docs', 'plans/plan.md', { content: 'The plan.' });
  const account = accountFor('Marketing');
  expect(idsOf((await descendantsOf(account, id)).items)).toEqual([`b!docs/${id}`]);
  expect(Buffer.from((await account.open(`b!docs/${id}`, NEVER)).bytes).toString()).toBe('The plan.');
});

test('reports changes in all libraries of the site', async () => {
  const account = accountFor('Marketing');
  const start = await cursorOf(account);
  for (const drive of ['b!docs', 'b!forms', 'b!crew']) graph.drives.put(drive, 'x.md', { content: 'x' });
  expect((await readChanges(account, start)).changed).toEqual(['b!docs/x.md', 'b!forms/x.md']);
});

describe('pages', () => {
  beforeEach(() => {
    const { pages } = graph.sites.get('sites/Marketing')!;
    for (let index = 4; index < 8; index += 1)
      pages.set(`${index}${GUID.slice(1)}`, { title: `Page ${index}`, parts: [`<p>Text ${index}.</p>`], version: 1 });
    pages.set(GUID, {
      title: 'Tides & <times>',
      parts: ['<p>High at noon.</p>', '<p>Low at six.</p>'],
      plain: ['5 < 6'],
      version: 3,
    });
  });

  test('are listed as one container, across all pages of the response', async () => {
    const { items, pages } = await descendantsOf(accountFor('Marketing'), 'pages');
    expect(pages).toBe(3);
    expect(items).toHaveLength(6);
    expect(items.at(-1)).toMatchObject({
      externalId: `pages/${GUID}`,
      parentExternalId: 'pages',
      rootExternalId: 'pages',
      name: 'Tides & <times>',
      itemType: 'PAGE',
      hasContent: true,
      version: `"{${GUID}},3"`,
    });
    expect(idsOf((await descendantsOf(accountFor('Marketing'), `pages/${GUID}`)).items)).toEqual([`pages/${GUID}`]);
  });

  test('are read as their text parts in order, with an escaped title', async () => {
    const { bytes, contentType, name } = await accountFor('Marketing').open(`pages/${GUID}`, NEVER);
    expect({ contentType, name }).toEqual({ contentType: 'text/html; charset=utf-8', name: 'Tides & <times>' });
    const html = Buffer.from(bytes).toString();
    expect(html).toContain('<h1>Tides &amp; &lt;times&gt;</h1>');
    expect(html).toMatch(/High at noon\.[^]*Low at six\.[^]*5 &lt; 6/);
  });

  test('that are new, changed or deleted appear in the change feed', async () => {
    const account = accountFor('Marketing');
    const { pages } = graph.sites.get('sites/Marketing')!;
    const start = await cursorOf(account);
    const first = await readChanges(account, start);
    expect(first.changed).toEqual([]);
    pages.set(GUID, { title: 'Tides', parts: [], version: 4 });
    const other = `9${GUID.slice(1)}`;
    pages.set(other, { title: 'New', parts: [], version: 1 });
    pages.delete(`4${GUID.slice(1)}`);
    const { changed, cursor } = await readChanges(account, first.cursor);
    expect(changed).toEqual([`pages/${GUID}`, `pages/${other}`, `gone pages/4${GUID.slice(1)}`]);
    expect((await readChanges(account, cursor)).changed).toEqual([]);
  });

  test.each(['pages/nowhere', 'pages/../drives', 'pages/', `pages/${GUID}/x`])('named %p are not found', async (id) => {
    expect(await faultOf(descendantsOf(accountFor('Marketing'), id))).toMatchObject({ kind: 'not_found' });
    expect(await faultOf(accountFor('Marketing').open(id, NEVER))).toMatchObject({ kind: 'not_found' });
  });

  test('with an invalid layout are unsupported content, not missing', async () => {
    graph.sites.get('sites/Marketing')!.pages.get(GUID)!.isBroken = true;
    expect(await faultOf(accountFor('Marketing').open(`pages/${GUID}`, NEVER))).toMatchObject({
      kind: 'unsupported_type',
      message: expect.stringContaining('republish'),
    });
    expect((await descendantsOf(accountFor('Marketing'), 'pages')).items).toHaveLength(6);
  });

  test('have a container without content of its own: opening it fails with unsupported_type', async () => {
    expect(await faultOf(accountFor('Marketing').open('pages', NEVER))).toMatchObject({ kind: 'unsupported_type' });
  });
});

describe('the sites of the tenant', () => {
  const read = (cursor?: string) => accountFor().read('sites', { cursor: cursor ?? null }, NEVER);

  test('are listed page by page, each with the name that a connection accepts', async () => {
    const first = await read();
    expect(first.sites).toEqual([
      { id: siteId(0), site_name: null, site_display_name: 'Harbour', site_url: `https://${SITE_HOST}` },
      {
        id: siteId(1),
        site_name: 'Marketing',
        site_display_name: 'Marketing',
        site_url: `https://${SITE_HOST}/sites/Marketing`,
      },
    ]);
    const second = await read(first.next_cursor ?? '');
    expect(second.sites.map((site) => site.site_name)).toEqual(['teams/Crew', 'Marketing/Archive']);
    expect(second.next_cursor).toBeNull();
    for (const name of [...first.sites, ...second.sites].map((site) => site.site_name ?? ''))
      expect((await accountFor(name).identify(NEVER)).account).toContain('|harbour');
  });

  test('have no name if their address has an invalid escape sequence', () => {
    const nameAt = (path: string) => nameOfSite({ webUrl: `https://${SITE_HOST}${path}` }, SITE_HOST);
    expect([nameAt('/sites/a%20b'), nameAt('/sites/100%')]).toEqual(['a b', undefined]);
  });

  test.each([
    'x',
    Buffer.from('{}').toString('base64url'),
    Buffer.from('[1]').toString('base64url'),
    Buffer.from('{"$expand":"drives"}').toString('base64url'),
    Buffer.from('{"$skiptoken":7}').toString('base64url'),
  ])('are not listed from the invalid cursor %s', async (cursor) => {
    expect(await faultOf(read(cursor))).toMatchObject({
      kind: 'bad_response',
      message: expect.stringMatching(/cursor/),
    });
  });
});

describe('a broken response', () => {
  const broken = (call: () => Promise<unknown>) => acceptedBrokenAnswers(graph, call);
  const account = () => accountFor('Marketing');
  let file: string;
  beforeEach(() => {
    const { pages } = graph.sites.get('sites/Marketing')!;
    for (const first of [1, 2, 3])
      pages.set(`${first}${GUID.slice(1)}`, { title: `Page ${first}`, parts: [`<p>Text ${first}.</p>`], version: 1 });
    file = graph.drives.put('b!docs', 'plans/plan.md', { content: 'The plan.' });
  });

  test('never counts as the end of a list', async () => {
    expect(await broken(async () => (await roots('Marketing')).items)).toEqual([]);
    const site = account();
    for (const id of ['b!docs', file, 'pages', `pages/1${GUID.slice(1)}`])
      expect(await broken(async () => (await descendantsOf(site, id)).items)).toEqual([]);
    expect(await broken(() => site.read('sites', { cursor: null }, NEVER))).toEqual([]);
  });

  test('never replaces the content of a file or a page', async () => {
    const site = account();
    for (const id of [`b!docs/${file}`, `pages/1${GUID.slice(1)}`]) {
      const accepted = await broken(() => site.open(id, NEVER));
      // The bytes of a file cannot be validated: even the HTML page of a proxy is valid content.
      expect(accepted.filter((line) => !line.includes('/content)'))).toEqual([]);
    }
  });

  test('never counts as a deletion in the change feed, nor as its end', async () => {
    const site = account();
    const start = await cursorOf(site);
    graph.drives.put('b!docs', 'plans/new.md', { content: 'New.' });
    graph.sites.get('sites/Marketing')!.pages.delete(`2${GUID.slice(1)}`);
    expect(await broken(async () => (await readChanges(site, start)).changed)).toEqual([]);
    expect(await broken(() => cursorOf(site))).toEqual([]);
  });
});
