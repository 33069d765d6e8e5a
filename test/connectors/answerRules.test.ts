/** Tests how connectors read single answers of their sources, including answers above their limits. */
import { expect, test } from '@jest/globals';

import { readBlocks } from '../../connectors/notion/blocks.js';
import { columnsOf } from '../../connectors/notion/properties.js';
import { itemOf as itemOfNotion } from '../../connectors/notion/adapter.js';
import { classify as classifyNotion } from '../../connectors/notion/api.js';
import { notion } from '../../connectors/notion/index.js';
import { renderBlocks } from '../../connectors/notion/render.js';
import { itemOf as itemOfDrive } from '../../connectors/microsoft/drives/adapter.js';
import { driveFeeds, placesOf } from '../../connectors/microsoft/drives/changes.js';
import { openFile } from '../../connectors/microsoft/drives/driveSource.js';
import { nextPage } from '../../connectors/microsoft/drives/listDrive.js';
import { contentOfMessage, itemOfAttachment, itemOfMessage } from '../../connectors/microsoft/outlook/adapter.js';
import { listQueryResults } from '../../connectors/microsoft/outlook/messages.js';
import { odataFilter } from '../../connectors/microsoft/outlook/odata.js';
import { sharePoint } from '../../connectors/microsoft/sharePoint/index.js';
import { pathOfSite } from '../../connectors/microsoft/sharePoint/site.js';
import { classify as classifyS3, regionIn } from '../../connectors/s3/refusals.js';
import { s3 } from '../../connectors/s3/index.js';
import { slack } from '../../connectors/slack/index.js';
import { userName, workspaceUrl } from '../../connectors/slack/names.js';
import { zendesk } from '../../connectors/zendesk/index.js';
import { Fault } from '../../contract/failures.js';
import { faultOf } from '../support/faultOf.js';
import { scriptedClient } from './scripted.js';

const GRANT = { accessToken: 'token', facts: {} };
const id = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

test('Notion: a column with 25 values or more is requested by its decoded id, up to about a thousand values', async () => {
  const column = (count: number) => ({
    ...{ id: 'a%3Ab', type: 'people', people: Array.from({ length: count }, (_, index) => ({ name: `P${index}` })) },
  });
  const read = async (count: number) => {
    const { client, requests } = scriptedClient(GRANT, ({ query }) => ({
      ...{ results: Array.from({ length: 100 }, () => ({ people: { name: 'x' } })), has_more: true },
      next_cursor: `${String(query['start_cursor'])}+`,
    }));
    const columns = await columnsOf(client, { object: 'page', id: id(1), properties: { Crew: column(count) } });
    return [requests.length, requests[0]?.path, (columns[0]![1]['people'] as unknown[]).length];
  };
  expect(await read(24)).toEqual([0, undefined, 24]);
  expect(await read(25)).toEqual([10, `pages/${id(1)}/properties/a:b`, 1_000]);
});

test('Notion: a page with too much text or too deep blocks fails instead of being cut', async () => {
  const block = (number: number, text = '') => ({
    ...{
      id: id(number),
      type: 'paragraph',
      has_children: text === '',
      paragraph: { rich_text: [{ plain_text: text }] },
    },
  });
  const read = (results: (path: string) => readonly object[]) =>
    readBlocks(scriptedClient(GRANT, ({ path }) => ({ results: results(path), has_more: false })).client, id(0));
  const text = 'x'.repeat(5_000_000);
  expect(await read(() => [block(1, text)])).toHaveLength(1);
  expect((await faultOf(read(() => [block(1, text), block(2, text)]))).kind).toBe('too_large');
  const levelOf = (path: string) => Number(path.split('/')[1]!.slice(-4));
  const nested = (depth: number) => read((path) => (levelOf(path) < depth ? [block(levelOf(path) + 1)] : []));
  expect(await nested(50)).toHaveLength(1);
  expect((await faultOf(nested(60))).kind).toBe('too_large');
});

test('Notion: numbered lists begin at 1 after another block, and a | in a table cell is escaped', () => {
  const block = (type: string, text: string) => ({ type, body: { rich_text: [{ plain_text: text }] }, children: [] });
  const item = (text: string) => block('numbered_list_item', text);
  const list = [item('a'), item('b'), block('paragraph', 'between'), item('c')];
  expect(renderBlocks(list, 'markdown').text).toBe('1. a\n2. b\n\nbetween\n\n1. c');
  const cells = { type: 'table_row', body: { cells: [[{ plain_text: 'a|b' }]] }, children: [] };
  expect(renderBlocks([{ type: 'table', body: {}, children: [cells] }], 'markdown').text).toBe('| a\\|b |\n| --- |');
});

test('Notion: a version needs two minutes without changes, and a conflict is temporary', () => {
  const now = Date.parse('2026-01-01T00:10:00Z');
  const versionAt = (edited: string) =>
    itemOfNotion(
      { object: 'page', last_edited_time: edited },
      { kind: 'page', id: id(1) },
      { parent: null, root: null },
      now,
    ).version;
  expect(versionAt('2026-01-01T00:08:00Z')).toBeNull();
  expect(versionAt('2026-01-01T00:07:00Z')).toBe('2026-01-01T00:07:00.000Z');
  const classOf = (status: number, code?: string) => classifyNotion({ status, headers: {}, body: { code } });
  expect([classOf(409, 'conflict_error'), classOf(529), classOf(400)]).toEqual(['server', 'rate_limited', null]);
});

test('Notion: a page in the trash has no content', async () => {
  for (const trashed of [{ in_trash: true }, { archived: true }]) {
    const { client } = scriptedClient(GRANT, () => ({ object: 'page', id: id(1), results: [], ...trashed }));
    expect((await faultOf(notion.open(client, id(1), { version: null, saveAs: null }))).kind).toBe('not_found');
  }
});

const hashes = { quickXorHash: 'xor', sha256Hash: 'sha' };
test('OneDrive: the version of a file is its hash, else its time and size; a link to another drive has none', () => {
  const place = { drive: 'd', rootId: 'r', root: 'd', parent: null };
  const file = (more: object) => itemOfDrive({ id: 'f', name: 'a.md', file: {}, ...more }, place);
  expect(file({ file: { hashes } })?.version).toBe('xor');
  expect(file({ file: { hashes: { sha256Hash: 'sha' } } })?.version).toBe('sha');
  expect(file({ lastModifiedDateTime: '2026-01-01T00:00:00Z', size: 7, eTag: 'e' })?.version).toBe(
    '2026-01-01T00:00:00Z 7',
  );
  expect(file({ eTag: 'e' })?.version).toBe('e');
  const remoteItem = { id: 't', parentReference: { driveId: 'other' }, file: { hashes } };
  expect(file({ file: { hashes }, remoteItem })).toMatchObject({ externalId: 'other/t', version: null });
  // A parent that is the root folder, by its id or by its path, is stored as the drive itself.
  const parentOf = (parentReference: object) => file({ parentReference })?.parentExternalId;
  expect(parentOf({ id: 'r' })).toBe('d');
  expect(parentOf({ id: 'x', path: '/drives/d/root:' })).toBe('d');
  expect(parentOf({ id: 'x', path: '/drives/d/root:/root' })).toBe('d/x');
  expect(parentOf({})).toBe('d');
});

test('OneDrive: the id of a deleted item names the drive of its feed, and a drive without an id has no feed', async () => {
  const values = [
    { id: 'root', root: {} },
    { id: 'a b' },
    { id: 'gone', deleted: {} },
    { id: 'f', name: 'a.md', file: {} },
  ];
  const { client } = scriptedClient(GRANT, () => ({ id: 'r' }));
  const changes = await driveFeeds.changes(
    client,
    { values, next: null, delta: null },
    { id: 'd', root: 'r' },
    new Map(),
  );
  expect(changes).toEqual([{ gone: 'd/gone' }, { item: expect.objectContaining({ externalId: 'd/f' }) }]);
  const places = await placesOf(client, [{ name: 'without id' }, { id: 'd1', name: 'D' }]);
  expect(places).toMatchObject([{ id: 'd1', root: 'r', item: { name: 'D' } }]);
});

test('OneDrive: the target of a link to a file of another drive is read from that drive', async () => {
  const { client, requests } = scriptedClient(GRANT, ({ path }) =>
    path === 'drives/d/items/f'
      ? { id: 'f', remoteItem: { id: 't', parentReference: { driveId: 'other' } } }
      : { id: 't', name: 'plan.md', file: {} },
  );
  const content = async (path: readonly string[]) => ({ bytes: Buffer.from(path.join('/')) });
  const opened = await openFile({ ...client, content: content as never }, 'd/f', 'OneDrive');
  expect([Buffer.from(opened.bytes).toString(), opened.name]).toEqual(['drives/other/items/t/content', 'plan.md']);
  expect(requests).toHaveLength(2);
});

test('OneDrive: a listing restarts its feed at most three times, and drops the shared folders found before', async () => {
  const { client } = scriptedClient(GRANT, () => new Fault('stale_cursor', 'expired'));
  const cursor = { drive: 'd', rootId: 'r', feed: { token: 'x' }, open: [['other', 'folder']] as const, at: null };
  const restarted = await nextPage(client, { ...cursor, restarts: 2 });
  expect(restarted.next).toMatchObject({ restarts: 3, open: [] });
  expect((await faultOf(nextPage(client, { ...cursor, restarts: 3 }))).kind).toBe('stale_cursor');
});

test('OneDrive: shared folders of all pages of the feed are followed, those in shared folders are not', async () => {
  const link = (name: string) => ({
    id: name,
    name,
    remoteItem: { id: name, folder: {}, parentReference: { driveId: 'other' } },
  });
  const { client } = scriptedClient(GRANT, () => ({ value: [link('b'), { id: 'own', folder: {} }] }));
  const cursor = { drive: 'd', rootId: 'r', at: null, restarts: 0 };
  const listed = await nextPage(client, { ...cursor, feed: { token: 'x' }, open: [['other', 'a']] });
  expect(listed.next?.open).toEqual([
    ['other', 'a'],
    ['other', 'b'],
  ]);
  const inside = await nextPage(client, { ...cursor, feed: null, open: [['other', 'a']] });
  expect(inside.next?.open).toEqual([['other', 'own']]);
});

test('Outlook: filters compare days, quote texts and keep their groups', () => {
  const filter = {
    AND: [
      {
        OR: [
          { key: 'category', value: "Ben's" },
          { key: 'from', value: ' a@b.example ' },
        ],
      },
      { key: 'after', value: '2026-01-01' },
      { key: 'before', value: '2026-02-01' },
      { AND: [{ key: 'is', value: 'unread' }] },
    ],
  } as const;
  expect(odataFilter(filter)).toBe(
    "((categories/any(category:category eq 'Ben''s') or from/emailAddress/address eq 'a@b.example')" +
      ' and receivedDateTime ge 2026-01-01T00:00:00Z and receivedDateTime lt 2026-02-01T00:00:00Z and isRead eq false)',
  );
});

test('Outlook: a message has its receipt time, else its sending time, and its author, else its sender', () => {
  const [received, sent] = ['2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z'];
  const created = (more: object) => itemOfMessage({ id: 'm', ...more }, 'root')?.createdAt;
  expect([created({ receivedDateTime: received, sentDateTime: sent }), created({ sentDateTime: sent })]).toEqual([
    received,
    sent,
  ]);
  const person = (address: string) => ({ emailAddress: { address } });
  const from = (more: object) => contentOfMessage({ id: 'm', ...more }, 'm').fileMetadata['from'];
  expect(from({ from: person('a'), sender: person('b') })).toBe('a');
  expect(from({ sender: person('b') })).toBe('b');
});

test('Outlook: a query lists attachments only if requested; a requested attachment that is a link has no isAttachment', async () => {
  const { client, requests } = scriptedClient(GRANT, ({ path }) => ({
    value: path.endsWith('attachments') ? [{ id: 'a', name: 'a.txt' }] : [{ id: 'm', hasAttachments: true }],
  }));
  const list = async (attachments: boolean) => {
    const { items } = await listQueryResults(
      client,
      { folder: 'F', filter: { key: 'is', value: 'read' }, attachments },
      null,
    );
    return items.map(({ externalId, hasContent }) => `${externalId} ${hasContent}`);
  };
  expect([await list(true), await list(false)]).toEqual([['m true', 'm/a true'], ['m true']]);
  expect(requests[0]!.query['$filter']).toBe('isRead eq true');
  const message = itemOfMessage({ id: 'm' }, 'root')!;
  const link = { id: 'a', '@odata.type': '#microsoft.graph.referenceAttachment' };
  expect(itemOfAttachment(link, message, true)).not.toHaveProperty('isAttachment');
  expect(itemOfAttachment(link, message, false)).toMatchObject({ isAttachment: true, hasContent: false });
});

test('SharePoint: a site has its title as name, else its own name, else its path; sites of other hosts are skipped', async () => {
  const site = (more: object) => ({ id: 'x', webUrl: 'https://a.sharepoint.com/sites/Crew', ...more });
  const { client } = scriptedClient(GRANT, ({ path }) =>
    path === 'sites/root'
      ? { id: 'r', webUrl: 'https://a.sharepoint.com' }
      : {
          value: [
            site({ displayName: 'The crew', name: 'crew' }),
            site({ name: 'crew' }),
            site({}),
            site({ webUrl: 'https://b.sharepoint.com/sites/Crew' }),
          ],
        },
  );
  const { sites } = (await sharePoint.reads!['sites']!(client, { cursor: null })) as {
    sites: readonly { site_display_name: string }[];
  };
  expect(sites.map(({ site_display_name: name }) => name)).toEqual(['The crew', 'crew', 'Crew']);
  expect(pathOfSite('Teams/Crew')).toEqual(['Teams', 'Crew']);
  expect(() => pathOfSite('a/b/c/d/e/f/g/h/i/j/k')).toThrow(Fault);
});

test('S3: a refusal is classified by its code, and only a valid region is followed', () => {
  const refusal = (code: string, more: object = {}) => ({
    status: 400,
    headers: {},
    body: `<Error><Code>${code}</Code></Error>`,
    ...more,
  });
  const classes = [
    'ExpiredToken',
    'SlowDown',
    'RequestTimeTooSkewed',
    'InvalidObjectState',
    'InvalidBucketName',
    'Other',
  ];
  expect(classes.map((code) => classifyS3(refusal(code)))).toEqual([
    ...['auth_revoked', 'rate_limited', 'server', 'not_exportable', 'not_found', null],
  ]);
  const encrypted = 'The object was stored using a form of Server Side Encryption.';
  expect(classifyS3(refusal('', { body: `<Code>InvalidRequest</Code>\n<Message>${encrypted}` }))).toBe(
    'not_exportable',
  );
  const region = (status: number, name: string) =>
    regionIn(refusal('', { status, headers: { 'x-amz-bucket-region': name } }));
  expect([region(301, 'eu-central-1'), region(307, 'eu-central-1'), region(403, 'eu-central-1')]).toEqual([
    ...['eu-central-1', 'eu-central-1', null],
  ]);
  expect([region(301, 'evil.example/'), region(301, '')]).toEqual([null, null]);
  const body = '<Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region>';
  expect(regionIn(refusal('', { body }))).toBe('eu-west-1');
});

test('S3: an object is requested as content, whose maximum size is that of files; a list is not', async () => {
  const { client } = scriptedClient(
    { accessKey: 'K', accessKeySecret: 's', endpointUrl: 'http://store.example' },
    () => null,
  );
  const sent: (readonly [url: string, isContent: boolean | undefined])[] = [];
  const bytes = Buffer.from(
    '<ListBucketResult><IsTruncated>false</IsTruncated><KeyCount>0</KeyCount></ListBucketResult>',
  );
  const send: typeof client.send = async ({ url, isContent }) => {
    sent.push([new URL(url).pathname, isContent]);
    return { status: 200, headers: { 'content-type': 'application/xml' }, bytes };
  };
  await s3.open({ ...client, send }, 'bucket/a.md', { version: null, saveAs: null });
  await s3.listDescendants({ ...client, send }, 'bucket', null, {});
  expect(sent).toEqual([
    ['/bucket/a.md', true],
    ['/bucket/', false],
  ]);
});

test('Slack: an invisible user is named by the id, and an invalid address of a workspace becomes empty', async () => {
  for (const kind of ['not_found', 'access_denied'] as const)
    expect(await userName(scriptedClient(GRANT, () => new Fault(kind, 'no')).client, 'U1')).toBe('U1');
  const away = scriptedClient(GRANT, () => new Fault('server_error', 'away'));
  expect((await faultOf(userName(away.client, 'U1'))).kind).toBe('server_error');
  const urlOf = (url: string) => workspaceUrl(scriptedClient(GRANT, () => ({ ok: true, url })).client);
  expect([
    await urlOf('https://a.slack.com/'),
    await urlOf('https://a.slack.com'),
    await urlOf('javascript:x/'),
  ]).toEqual([...['https://a.slack.com/', '', '']]);
});

test('Slack: all pages of a listing have the same end time, and omit messages before its `after` time', async () => {
  const { client, requests } = scriptedClient(GRANT, ({ path, query }) => {
    if (path !== 'conversations.history')
      return { ok: true, channel: { id: 'C1', name: 'pier' }, url: 'https://a.slack.com/' };
    const message = (ts: string) => ({ ts, user: 'U1', text: 'x' });
    const isFirst = query['cursor'] === undefined;
    const messages = isFirst
      ? [message('1800001800.000100')]
      : [message('1800000000.000100'), message('1799999999.000100')];
    return { ok: true, messages, ...(isFirst ? { response_metadata: { next_cursor: 'c' } } : {}) };
  });
  const ids: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page: Awaited<ReturnType<typeof slack.listDescendants>> = await slack.listDescendants(
      client,
      'C1?after=1800000000',
      cursor ?? null,
      {},
    );
    ids.push(...page.items.map(({ externalId }) => externalId));
    const stored: { latest?: string } = JSON.parse(page.next ?? '{}') as object;
    cursor = page.next === null ? null : JSON.stringify({ ...stored, latest: '1800009000.000000' });
  }
  expect(ids).toEqual(['C1/1800001800', 'C1/1800000000']);
  const history = requests.filter(({ path }) => path === 'conversations.history');
  expect(history.map(({ query }) => query['oldest'])).toEqual(['1800000000.000000', '1800000000.000000']);
  expect(history[1]!.query['latest']).toBe('1800009000.000000');
});

test('Zendesk: an attachment is requested by the decoded path and the query of its address, at the host of the account', async () => {
  const content_url = 'https://evil.example/attachments/a%20b/?name=x.txt&token=t';
  const { client } = scriptedClient({ ...GRANT, facts: { subdomain: 'acme' } }, () => ({
    ...{ comments: [{ attachments: [{ id: 70, file_name: 'x.txt', content_url }] }], meta: { has_more: false } },
  }));
  const asked: unknown[] = [];
  const content: typeof client.content = async (...request) => {
    asked.push(request);
    return { status: 200, bytes: Buffer.from('x'), headers: { 'content-type': 'text/plain' } };
  };
  await zendesk.open({ ...client, content }, 'acme/ticket:7/70', { version: null, saveAs: null });
  expect(asked).toEqual([[['attachments', 'a b'], { name: 'x.txt', token: 't' }, { at: 'files' }]]);
});
