import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { loadConfig } from '../../config/config.js';
import type { SourceItem } from '../../connectors/sourceItem.js';
import { readSourceUrls } from '../../connectors/readSourceUrls.js';
import type { Account } from '../../connectors/account.js';
import { createConnectors } from '../../connectors/registry.js';
import { createEgress } from '../../egress/createEgress.js';
import { textOfComments } from '../../connectors/helpdesk.js';
import type { Egress } from '../../egress/types.js';
import { newZendeskAccount, startZendesk, type ZendeskAccount, type ZendeskEmulator } from '../emulators/zendesk.js';
import { loopbackEgress, NEVER } from './account.js';
import { faultOf } from '../support/faultOf.js';
import { acceptedBrokenAnswers } from './brokenAnswers.js';
import { accountWithStoredGrant, obtainGrant } from './grants.js';

let egress: Egress;
let zendesk: ZendeskEmulator;
let account: Account;
let emulated: ZendeskAccount;

/** @param person 501 is an administrator, 502 is not */
const accountOf = (
  person: string,
  accountEgress = egress,
  settings = zendesk.settings,
  subdomain = 'harbour',
  granting = zendesk,
): Account => {
  const { accessToken } = granting.oauth.grant(person);
  const connectors = createConnectors({
    egress: accountEgress,
    urls: readSourceUrls(settings),
    maxItemBytes: 1_000_000,
  });
  return connectors.account('ZENDESK', accessToken, JSON.stringify({ accessToken, facts: { subdomain } }));
};
const descendantsOf = async (
  id: string,
  from = account,
  filter?: Parameters<Account['listDescendants']>[3],
): Promise<SourceItem[]> => {
  const items: SourceItem[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await from.listDescendants(`harbour/${id}`, cursor ?? null, NEVER, filter);
    items.push(...page.items);
    cursor = page.next;
  }
  return items;
};
const idsOf = (items: readonly SourceItem[]): string[] =>
  items.map(({ externalId }) => externalId.replace(/^harbour\//, '')).toSorted();
const open = async (id: string): Promise<string> =>
  Buffer.from((await account.open(`harbour/${id}`, NEVER)).bytes).toString();

beforeAll(async () => {
  egress = loopbackEgress();
  zendesk = await startZendesk();
});
afterAll(async () => {
  await egress.close();
  await zendesk.close();
});
beforeEach(() => {
  emulated = newZendeskAccount();
  zendesk.accounts.clear();
  zendesk.accounts.set('harbour', emulated);
  zendesk.reset();
  zendesk.numbered.clear();
  zendesk.linkSize(false);
  account = accountOf('501');
  emulated.categories.set(1, 'Sea');
  emulated.sections.set(10, { category: 1, name: 'Sights' });
  emulated.sections.set(11, { category: 1, parent: 10, name: 'Towers' });
  emulated.sections.set(12, { category: 1, name: 'Ropes' });
  for (const [id, section] of [
    [100, 10],
    [101, 11],
    [102, 12],
  ] as const)
    emulated.articles.set(id, { section, title: `Article ${id}`, body: '<p>Text.</p>' });
  emulated.articles.set(103, { section: 11, title: 'Draft', body: 'x', draft: true });
  emulated.tickets.set(7, {
    subject: 'Pier broken',
    type: 'incident',
    priority: 'high',
    assignee: 501,
    comments: [
      { text: 'The pier is broken.', attachments: [{ id: 70, name: 'pier.txt', content: 'A broken pier.' }] },
      { text: 'Ben is a nuisance.', author: 501, isInternal: true },
      { text: 'Look.', attachments: [{ id: 71, name: 'inline.png', content: 'x', inline: true }] },
    ],
  });
});

describe('the subdomain', () => {
  test('is the host of API, consent and token requests, and part of the account identity', async () => {
    const settings = ['api', 'files', 'authorize', 'token'].map((part) => {
      const rest = {
        api: '/harbour/api/v2',
        files: '/harbour',
        authorize: '/harbour/oauth/authorizations/new',
        token: '/harbour/oauth/tokens',
      }[part];
      return `ZENDESK.${part}=http://{subdomain}.zendesk.test:${new URL(zendesk.origin).port}${rest}`;
    });
    const env = {
      ALLOWED_PRIVATE_HOSTS: '127.0.0.1,harbour.zendesk.test,quay.zendesk.test',
      SECRET_KEY: `k:${Buffer.alloc(32).toString('base64')}`,
    };
    const lookup = () => Promise.resolve([{ address: '127.0.0.1', family: 4 as const }]);
    const egressWithNames = createEgress(loadConfig(env).egress, { lookup });
    for (const subdomain of ['harbour', 'Quay']) {
      const identity = await accountOf('501', egressWithNames, settings.join(','), subdomain).identify(NEVER);
      expect(identity.account).toBe(`ada@harbour.example|${subdomain.toLowerCase()}`);
    }
    const port = new URL(zendesk.origin).port;
    expect(zendesk.hosts).toEqual([
      `harbour.zendesk.test:${port}/harbour/api/v2/users/me.json`,
      `quay.zendesk.test:${port}/harbour/api/v2/users/me.json`,
    ]);
    const consent = createConnectors({
      egress: egressWithNames,
      urls: readSourceUrls(settings.join(',')),
      maxItemBytes: 1,
    }).consent('ZENDESK')!;
    const request = {
      clientId: 'emulated-client',
      redirectUri: 'http://a.example/b',
      state: 's',
      scopes: consent.spec.scopes,
      verifier: 'v',
    };
    expect(new URL(consent.url({ subdomain: 'quay' }, request)).hostname).toBe('quay.zendesk.test');
    const client = { id: 'emulated-client', secret: 'wrong' };
    await faultOf(
      consent.exchange({
        client,
        code: 'c',
        redirectUri: 'r',
        verifier: 'v',
        facts: { subdomain: 'quay' },
        keepsClient: false,
      }),
    );
    expect(zendesk.hosts.at(-1)).toBe(`quay.zendesk.test:${port}/harbour/oauth/tokens`);
    await egressWithNames.close();
  });
});

test('requests tokens that expire, since Zendesk gives older clients no refresh token otherwise', async () => {
  const { grant } = await obtainGrant('ZENDESK', zendesk.settings, egress, { subdomain: 'harbour' });
  expect(grant).toMatchObject({ expiresAt: expect.any(Number), refreshToken: expect.any(String) });
  const stored = accountWithStoredGrant('ZENDESK', zendesk.settings, grant, egress);
  zendesk.oauth.expireAll();
  await stored.account.identify(NEVER);
  expect(stored.current()).toMatchObject({ expiresAt: expect.any(Number), refreshToken: expect.any(String) });
  expect(stored.current().refreshToken).not.toBe(grant.refreshToken);
});

test('reads all pages of lists that support only page numbers, no cursors', async () => {
  const byCursor = [...idsOf(await descendantsOf('category:1')), await open('ticket:7')];
  for (const name of ['categories', 'sections', 'articles', 'translations', 'comments']) zendesk.numbered.add(name);
  for (let id = 2; id < 6; id += 1) emulated.categories.set(id, `Category ${id}`);
  for (const hasSize of [false, true]) {
    zendesk.linkSize(hasSize);
    const roots: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page: Awaited<ReturnType<Account['listRoots']>> = await account.listRoots(cursor ?? null, NEVER);
      roots.push(...idsOf(page.items));
      cursor = page.next;
    }
    expect(roots).toEqual(['category:1', 'category:2', 'category:3', 'category:4', 'category:5', 'tickets']);
    expect([...idsOf(await descendantsOf('category:1')), await open('ticket:7')]).toEqual(byCursor);
  }
});

describe('the help centre', () => {
  test('is listed by category and section, without drafts', async () => {
    expect(idsOf((await account.listRoots(null, NEVER)).items)).toEqual(['category:1', 'tickets']);
    const all = await descendantsOf('category:1');
    expect(idsOf(all)).toEqual(
      ['category:1', 'section:10', 'section:11', 'section:12', 'article:100', 'article:101', 'article:102'].toSorted(),
    );
    expect(all.find(({ externalId }) => externalId === 'harbour/article:101')).toMatchObject({
      parentExternalId: 'harbour/section:11',
      rootExternalId: 'harbour/category:1',
      itemType: 'ARTICLE',
      typeAtSource: 'ARTICLE',
    });
    // Drafts are reported as skipped below their section, with the same form of ids as other items.
    const first = await account.listDescendants('harbour/section:11', null, NEVER);
    expect(await account.listDescendants('harbour/section:11', first.next, NEVER)).toMatchObject({
      skipped: [{ externalId: 'harbour/article:103', name: 'Draft', reason: expect.stringMatching(/not published/) }],
    });
    expect(idsOf(await descendantsOf('section:10'))).toEqual([
      'article:100',
      'article:101',
      'section:10',
      'section:11',
    ]);
    expect(idsOf(await descendantsOf('article:101'))).toEqual(['article:101']);
    for (const id of [
      'article:103',
      'article:9',
      'section:9',
      'category:9',
      'article:x',
      'ticket:9',
      'ticket:7/9',
      '../7',
    ])
      expect((await faultOf(descendantsOf(id))).kind).toBe('not_found');
    expect((await faultOf(open('article:103'))).kind).toBe('not_found');
    expect((await faultOf(open('category:1'))).kind).toBe('unsupported_type');
  });

  test('does not hide the tickets if it is missing or denied', async () => {
    zendesk.injectFault((path) => (path.includes('/help_center/') ? { status: 404 } : null));
    const missing = await account.listRoots(null, NEVER);
    expect([idsOf(missing.items), missing.isPartial]).toEqual([['tickets'], undefined]);
    zendesk.injectFault((path) => (path.includes('/help_center/') ? { status: 403 } : null));
    const denied = await account.listRoots(null, NEVER);
    expect([idsOf(denied.items), denied.isPartial]).toEqual([['help_center', 'tickets'], true]);
    // The listing is denied instead of empty, so that no article counts as deleted.
    expect((await faultOf(descendantsOf('help_center'))).kind).toBe('access_denied');
  });

  test('contains articles in all languages, the default one first', async () => {
    emulated.articles.set(104, {
      section: 12,
      title: 'Knots & <ropes>',
      body: '<p>A bowline.</p>',
      translations: [
        { locale: 'de', title: 'Knoten', body: '<p>Ein Palstek.</p>' },
        { locale: 'fr', title: 'Nœuds', body: '<p>Pas encore.</p>', draft: true },
      ],
    });
    const { name, format, fileMetadata, mimeType } = await account.open('harbour/article:104', NEVER);
    expect({ name, format, mimeType }).toEqual({ name: 'Knots & <ropes>', format: 'ZENDESK', mimeType: 'text/html' });
    expect(fileMetadata).toMatchObject({ type: 'ARTICLE', locale: 'en-us', labels: ['sea'] });
    const text = await open('article:104');
    expect(text.indexOf('Palstek')).toBeGreaterThan(text.indexOf('bowline'));
    expect(text).toContain('<h1>Knots &amp; &lt;ropes&gt;</h1>');
    expect(text).not.toContain('Pas encore');
  });
});

describe('tickets', () => {
  test('are listed with their attachments and tags, without deleted ones', async () => {
    emulated.tickets.set(8, { subject: 'Gone', status: 'deleted', comments: [] });
    emulated.tickets.set(9, { subject: 'Old', archived: true, comments: [{ text: 'Long ago.' }] });
    const all = await descendantsOf('tickets');
    expect(idsOf(all)).toEqual(['ticket:7', 'ticket:7/70', 'ticket:9', 'tickets']);
    expect(all.find(({ externalId }) => externalId === 'harbour/ticket:7')).toMatchObject({
      tags: {
        ticket_type: 'incident',
        ticket_status: 'open',
        ticket_priority: 'high',
        ticket_assignee: 'Ada@harbour.example',
        ticket_requester: 'ben@harbour.example',
        ticket_submitter: 'Ada@harbour.example',
      },
    });
    expect(all.find(({ externalId }) => externalId === 'harbour/ticket:7/70')).toMatchObject({
      parentExternalId: 'harbour/ticket:7',
      itemType: 'TICKET_ATTACHMENT',
      attachedTo: 'TICKET',
      fileFormat: 'TXT',
    });
    expect(idsOf(await descendantsOf('ticket:7'))).toEqual(['ticket:7', 'ticket:7/70']);
    expect(idsOf(await descendantsOf('ticket:7/70'))).toEqual(['ticket:7/70']);
    expect((await faultOf(descendantsOf('ticket:8'))).kind).toBe('not_found');
  });

  test('are reported by the change feed to administrators; after 50 syncs, its cursor is stale', async () => {
    expect(await faultOf(accountOf('502').changes!.now(NEVER))).toMatchObject({ kind: 'stale_cursor' });
    let cursor = await account.changes!.now(NEVER);
    emulated.tickets.set(8, {
      subject: 'Lamp',
      status: 'deleted',
      comments: [],
      updated: new Date(Date.now() - 90_000).toISOString(),
    });
    emulated.tickets.set(9, { subject: 'Oil', comments: [], updated: new Date().toISOString() });
    const syncOnce = async () => {
      const changed: unknown[] = [];
      for (let more = true; more;) {
        const page = await account.changes!.since(cursor, NEVER);
        expect(page.coveredRoots).toEqual(['harbour/tickets']);
        changed.push(...page.changes.map((change) => ('gone' in change ? change : change.item.externalId)));
        ({ more, next: cursor } = page);
      }
      return changed;
    };
    expect(await syncOnce()).toEqual([{ gone: 'harbour/ticket:8' }, 'harbour/ticket:9']);
    for (let syncs = 1; syncs < 50; syncs += 1) expect(await syncOnce()).toEqual(['harbour/ticket:9']);
    expect(await faultOf(syncOnce())).toMatchObject({ kind: 'stale_cursor' });
    cursor = await account.changes!.now(NEVER);
    zendesk.injectFault((path) => (path.includes('/incremental/') ? { status: 403 } : null));
    expect(await faultOf(syncOnce())).toMatchObject({ kind: 'stale_cursor' });
  });

  test('have all attachments listed and reported as changed, also for many tickets', async () => {
    const large = await startZendesk({ perPage: 100 });
    large.accounts.set('harbour', emulated);
    const from = accountOf('501', egress, large.settings, 'harbour', large);
    const ids = Array.from({ length: 41 }, (_, nth) => 1_000 + nth);
    const putTickets = (at: number) =>
      ids.forEach((id) =>
        emulated.tickets.set(id, {
          subject: `T${id}`,
          updated: new Date(at).toISOString(),
          comments: [{ text: 'See.', attachments: [{ id: id + 9_000, name: 'a.txt', content: 'x' }] }],
        }),
      );
    const attached = ids.map((id) => `ticket:${id}/${id + 9_000}`);
    const attachmentsIn = (found: readonly string[]) => found.filter((id) => /^ticket:1.*\//.test(id));
    putTickets(Date.now() - 3_600_000);
    expect(attachmentsIn(idsOf(await descendantsOf('tickets', from, { syncAttachments: true })))).toEqual(attached);

    let cursor = await from.changes!.now(NEVER);
    // Within the export, but too long ago for the list of the latest tickets, which would report them a second time.
    putTickets(Date.now() - 200_000);
    const changed: string[] = [];
    const reread: string[] = [];
    for (let more = true; more;) {
      const page = await from.changes!.since(cursor, NEVER);
      changed.push(...page.changes.map((change) => ('gone' in change ? change.gone : change.item.externalId)));
      reread.push(...(page.deletedPaths ?? []));
      ({ more, next: cursor } = page);
    }
    expect(attachmentsIn(changed.map((id) => id.replace(/^harbour\//, '')).toSorted())).toEqual(attached);
    await large.close();
    expect(reread.toSorted()).toEqual(ids.map((id) => `harbour/ticket:${id}`));
  });

  test('of the last minute, which the export omits, are also listed', async () => {
    emulated.tickets.set(9, {
      subject: 'New',
      updated: new Date().toISOString(),
      comments: [{ text: 'A moment ago.' }],
    });
    expect(idsOf(await descendantsOf('tickets'))).toContain('ticket:9');
  });

  test('are listed without archived ones if the account may not export', async () => {
    emulated.tickets.set(8, { subject: 'Old', archived: true, comments: [] });
    for (let id = 20; id < 25; id += 1) emulated.tickets.set(id, { subject: `T${id}`, comments: [] });
    const ids = idsOf(await descendantsOf('tickets', accountOf('502')));
    expect(ids).toEqual([
      'ticket:20',
      'ticket:21',
      'ticket:22',
      'ticket:23',
      'ticket:24',
      'ticket:7',
      'ticket:7/70',
      'tickets',
    ]);
  });

  test('and articles are not listed if their type is excluded; a listing requests comments only if attachments are synced', async () => {
    await descendantsOf('tickets', account, {});
    expect(zendesk.requests.filter((path) => path.includes('/comments'))).toEqual([]);
    await descendantsOf('tickets', account, { syncAttachments: true });
    expect(zendesk.requests.filter((path) => path.includes('/comments'))).toHaveLength(2);
    zendesk.reset();
    expect(idsOf(await descendantsOf('tickets', account, { autoSyncedSourceTypes: ['ARTICLE'] }))).toEqual(['tickets']);
    expect(idsOf(await descendantsOf('category:1', account, { autoSyncedSourceTypes: [] }))).toEqual(['category:1']);
    expect(zendesk.requests).toHaveLength(1);
  });

  test('show a comment without an author as one by "Unknown author"', () => {
    const at = '2026-03-03T10:00:00.000Z';
    expect(Buffer.from(textOfComments(null, [{ author: null, at, text: 'Ahoy' }])).toString()).toBe(
      'Unknown author, 2026-03-03 10:00: Ahoy',
    );
  });

  test('are read with all comments and their authors', async () => {
    const text = await open('ticket:7');
    expect(text).toContain('# Pier broken');
    expect(text).toContain('Ben, 2026-03-03 10:00: The pier is broken.');
    expect(text).toContain('Ada, 2026-03-03 10:00 (internal note): Ben is a nuisance.');
    const attached = await account.open('harbour/ticket:7/70', NEVER);
    expect(Buffer.from(attached.bytes).toString()).toBe('A broken pier.');
    expect(attached).toMatchObject({
      name: 'pier.txt',
      contentType: 'text/plain',
      fileMetadata: { parent_external_file_id: 'harbour/ticket:7' },
    });
  });
});

test('never treats a broken response as the end of a list', async () => {
  const list = async () => [
    (await account.listRoots(null, NEVER)).items,
    await descendantsOf('category:1'),
    await descendantsOf('tickets'),
  ];
  expect(await acceptedBrokenAnswers(zendesk, list)).toEqual([]);
});
