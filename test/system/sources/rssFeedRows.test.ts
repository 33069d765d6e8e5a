/** Tests of connected sources, repeated for an RSS feed, which has no account. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { DataSourceRecord, FileRecord } from '../../../contract/files/records.js';
import { feedOf, linkedPage } from '../../emulators/linkedSite.js';
import { type Page, type Site, startSite } from '../../emulators/site.js';
import { historiesOf, rowsOf, shapesOf } from '../../support/keptTexts.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';
import type { Listed, TestUser } from '../../support/client.js';
import { thoroughly } from '../../support/thorough.js';

const PASSWORD = 'correct horse/battery+staple';
let service: TestService;
let user: TestUser;
let site: Site;
let customers = 0;
const logLines: string[] = [];

beforeAll(async () => {
  service = await startService(
    // Only 127.0.0.1 is allowed, so that other private addresses in a feed are refused.
    { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', LOG_LEVEL: 'debug' },
    { logTo: { write: (line) => void logLines.push(line) } },
  );
});
afterAll(() => service.close());
beforeEach(async () => {
  customers += 1;
  user = await service.user(`subscriber ${customers}`);
  site = await startSite({ '/feed.xml': feedOf({ one: 'The lighthouse was lit.', two: 'The harbour was dredged.' }) });
});
afterEach(() => site.close());

async function feedsOf(owner: TestUser): Promise<FileRecord[]> {
  const filters = { source: 'RSS_FEED', root_files_only: true };
  return (await owner.post<Listed<FileRecord>>('/user_files_v2', { filters })).body.results;
}
async function add(url = site.url('/feed.xml'), owner = user): Promise<{ feed: FileRecord; entries: FileRecord[] }> {
  expect((await owner.post('/integrations/rss_feed', { url })).status).toBe(200);
  const [found] = await feedsOf(owner);
  const feed = await owner.settled(found!.id);
  return { feed, entries: await owner.children(feed.id) };
}
async function resync(id: number, owner = user): Promise<FileRecord> {
  expect((await owner.post('/resync_file', { file_id: id })).status).toBe(200);
  return owner.settled(id);
}
const sourcesOf = async (owner: TestUser): Promise<DataSourceRecord[]> =>
  (await owner.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results;
const textOf = async (file: FileRecord | undefined, owner = user): Promise<string> =>
  (await owner.chunks({ ids: [file!.id] })).results.map((chunk) => chunk.source_content).join('\n');
const fileNamed = (files: readonly FileRecord[], name: string): FileRecord => files.find((file) => file.name === name)!;
const requestsOf = (path: string): number => site.requests.filter((one) => one === path).length;

/** A page that answers the first request with `refusal`, and all later requests with the body. */
const failFirst = (refusal: { status: number; headers?: Record<string, string> }, body: string): Page => {
  let count = 0;
  return (_request, response) => {
    count += 1;
    if (count === 1) response.writeHead(refusal.status, refusal.headers).end();
    else response.writeHead(200).end(body);
  };
};
/** A feed that requires a login (Basic authentication). `editions` contains its content by `user:password`. */
const withLoginRequired =
  (editions: Record<string, string>): Page =>
  (request, response) => {
    const login = Buffer.from((request.headers.authorization ?? '').replace(/^Basic /, ''), 'base64').toString();
    const edition = editions[login];
    if (edition === undefined) response.writeHead(401, { 'www-authenticate': 'Basic realm="news"' }).end();
    else response.writeHead(200, { 'content-type': 'application/rss+xml' }).end(edition);
  };
const withLogin = (name: string, password = PASSWORD): string =>
  site.url('/feed.xml').replace('//', `//${name}:${encodeURIComponent(password)}@`);

describe('faults', () => {
  test('waits out a 429, and syncs everything', async () => {
    site.pages.set('/feed.xml', failFirst({ status: 429, headers: { 'retry-after': '1' } }, feedOf({ one: 'Lit.' })));
    const before = Date.now();
    const { feed, entries } = await add();
    expect(Date.now() - before).toBeGreaterThanOrEqual(1_000);
    expect([feed.sync_status, feed.sync_error_message, entries.map(({ sync_status: status }) => status)]).toEqual([
      'READY',
      null,
      ['READY'],
    ]);
    expect(requestsOf('/feed.xml')).toBe(2);
  });

  thoroughly('retries a 500', async () => {
    site.pages.set('/feed.xml', failFirst({ status: 500 }, feedOf({ one: 'Lit.' })));
    expect((await add()).feed.sync_status).toBe('READY');
    expect(requestsOf('/feed.xml')).toBe(2);
  });

  test('stores the first part of a truncated feed, keeps the other entries, and reads the complete feed next time', async () => {
    const { feed, entries } = await add();
    const whole = feedOf({ one: 'Lit again.', three: 'Painted.', two: 'Dredged again.' });
    site.pages.set('/feed.xml', { headers: { etag: '"v1"' }, body: whole.slice(0, whole.indexOf('Dredged')) });
    expect((await resync(feed.id)).sync_status).toBe('READY');
    const then = await user.children(feed.id);
    expect(then.map(({ name }) => name)).toEqual(['News one', 'News three', 'News two']);
    expect(await textOf(fileNamed(entries, 'News one'))).toContain('Lit again.');
    expect(await textOf(fileNamed(entries, 'News two'))).toContain('The harbour was dredged.');
    site.pages.set('/feed.xml', { headers: { etag: '"v1"' }, body: whole });
    await resync(feed.id);
    expect(await textOf(fileNamed(entries, 'News two'))).toContain('Dredged again.');
  });

  thoroughly('fails only the missing entry, with the reason', async () => {
    site.pages.set(
      '/feed.xml',
      feedOf({ one: 'Lit.' }).replace('</channel>', '<item><guid>far</guid><link>/far</link></item></channel>'),
    );
    const { feed, entries } = await add();
    expect(feed).toMatchObject({ sync_status: 'READY', file_metadata: { pages_ready: 1, pages_failed: 1 } });
    expect(entries.map((file) => [file.sync_status, file.sync_error_message])).toContainEqual([
      'SYNC_ERROR',
      expect.stringContaining('/far does not exist'),
    ]);
  });
});

describe('a feed that has moved', () => {
  test('permanently is requested at its new address: feed, data source and entries stay the same', async () => {
    const { feed, entries } = await add();
    site.pages.set('/new.xml', { headers: { etag: '"v1"' }, body: feedOf({ one: 'Lit in 1901.', two: 'Dredged.' }) });
    site.pages.set('/feed.xml', { status: 301, headers: { location: '/new.xml' } });
    const syncedFeed = await resync(feed.id);
    expect(syncedFeed).toMatchObject({
      id: feed.id,
      sync_status: 'READY',
      external_url: site.url('/new.xml'),
      external_file_id: feed.external_file_id,
    });
    const then = await user.children(feed.id);
    expect(then.map(({ id }) => id)).toEqual(entries.map(({ id }) => id));
    expect(await textOf(then[0])).toContain('Lit in 1901.');
    expect(await sourcesOf(user)).toMatchObject([
      {
        data_source_external_id: `RSS_FEED|${site.url('/feed.xml')}`,
        data_source_metadata: { url: site.url('/new.xml') },
      },
    ]);
    site.requests.length = 0;
    // The entry is also read from the new address.
    await resync(feed.id);
    await resync(then[0]!.id);
    expect([requestsOf('/feed.xml'), requestsOf('/new.xml')]).toEqual([0, expect.any(Number)]);
    // If the old address is added again, it is recognized as the same feed.
    expect((await add()).feed).toMatchObject({ id: feed.id, external_url: site.url('/new.xml') });
    expect(await sourcesOf(user)).toHaveLength(1);
  });

  thoroughly('temporarily keeps its address', async () => {
    site.pages.set('/new.xml', feedOf({ one: 'Lit.' }));
    site.pages.set('/feed.xml', { status: 302, headers: { location: '/new.xml' } });
    const { feed } = await add();
    expect(feed).toMatchObject({ sync_status: 'READY', external_url: site.url('/feed.xml') });
  });
});

test('stops requesting a feed that is gone (410), and keeps its entries', async () => {
  const { feed, entries } = await add();
  const [entry] = entries;
  site.pages.set('/feed.xml', { status: 410 });
  site.requests.length = 0;
  const goneFeed = await resync(feed.id);
  expect(goneFeed).toMatchObject({
    sync_status: 'SYNC_ERROR',
    sync_error_message: expect.stringContaining('removed permanently'),
    file_metadata: { feed_gone: true },
  });
  expect(requestsOf('/feed.xml')).toBe(1);
  expect(await user.children(feed.id)).toEqual(entries);
  expect((await user.search({ query: 'Who lit the lighthouse?', k: 1 }))[0]?.content).toContain('lighthouse');
  expect(await resync(entry!.id)).toMatchObject({ sync_status: 'READY', sync_error_message: null });
  // A requested resync tries again, because the feed may exist again.
  site.pages.set('/feed.xml', feedOf({ one: 'Lit once more.' }));
  const back = await resync(feed.id);
  expect(back.sync_status).toBe('READY');
  expect(back.file_metadata).not.toHaveProperty('feed_gone');
});

thoroughly('downloads neither the feed nor its entries when nothing changed', async () => {
  const body = feedOf({ one: 'Lit.', two: 'Dredged.' });
  const sentBytes: number[] = [];
  site.pages.set('/feed.xml', (request, response) => {
    const isCached = request.headers['if-modified-since'] === 'Sat, 01 Nov 2025 00:00:00 GMT';
    sentBytes.push(isCached ? 0 : body.length);
    response.writeHead(isCached ? 304 : 200, { 'last-modified': 'Sat, 01 Nov 2025 00:00:00 GMT' });
    response.end(isCached ? undefined : body);
  });
  const { feed, entries } = await add();
  site.requests.length = 0;
  sentBytes.length = 0;
  await resync(feed.id);
  expect([site.requests, sentBytes]).toEqual([['/feed.xml'], [0]]);
  expect(await user.children(feed.id)).toEqual(entries);
});

test('reads hostile content as text, calls no private address, and fails only the bad entries', async () => {
  const item = (id: string, more: string) => `<item><guid>${id}</guid><title>${id}</title>${more}</item>`;
  const html =
    '<p>Calm sea.</p><script>alert(1)</script><img src=x onerror="alert(1)"><iframe src="//127.0.0.2/"></iframe>';
  site.pages.set('/page', linkedPage('far', []));
  site.pages.set(
    '/feed.xml',
    `<rss xmlns:content="c"><channel><title>&lt;b&gt;News</title>${[
      item('script', `<content:encoded><![CDATA[${html}]]></content:encoded>`),
      item('inside', '<link>http://169.254.169.254/latest/meta-data/</link>'),
      item('neighbour', '<link>http://127.0.0.2:1/</link>'),
      item('$where', '<content:encoded>{"$gt":""}</content:encoded>'),
      item('x'.repeat(5_000), '<link>/page</link>'),
    ].join('')}</channel></rss>`,
  );
  const { feed, entries } = await add();
  expect(feed).toMatchObject({
    sync_status: 'READY',
    file_metadata: { title: 'News', pages_ready: 3, pages_failed: 2 },
  });
  expect(await textOf(fileNamed(entries, 'script'))).toBe('# script\n\nCalm sea.');
  for (const [name, sentence] of [
    ['inside', 'is never called'],
    ['neighbour', 'ALLOWED_PRIVATE_HOSTS'],
  ] as const)
    expect(fileNamed(entries, name)).toMatchObject({
      sync_status: 'SYNC_ERROR',
      sync_error_message: expect.stringContaining(sentence),
    });
});

describe('a login in the address', () => {
  const editions = () => ({
    [`ada:${PASSWORD}`]: feedOf({ one: 'Said to Ada.' }),
    'ben:other': feedOf({ one: 'Said to Ben.' }),
  });

  test('gives access to the feed, and is stored nowhere in plain text', async () => {
    site.pages.set('/feed.xml', withLoginRequired(editions()));
    const { feed, entries } = await add(withLogin('ada'));
    expect([feed.sync_status, feed.external_url]).toEqual(['READY', site.url('/feed.xml')]);
    expect(await textOf(entries[0])).toContain('Said to Ada.');
    expect((await resync(entries[0]!.id)).sync_status).toBe('READY');
    expect(await sourcesOf(user)).toMatchObject([{ token: {}, data_source_metadata: { url: site.url('/feed.xml') } }]);
    const answers = [feed, entries, await sourcesOf(user), (await user.get('/events')).body];
    const storedTexts = [
      ...(await rowsOf(service)),
      ...(await historiesOf(service)),
      ...logLines,
      JSON.stringify(answers),
    ];
    // A text that is certainly present must be found, which proves that the place was really read.
    for (const existing of ['syncFeed', 'run finished', 'data_source_external_id', 'Said to Ada.'])
      expect([existing, storedTexts.some((text) => text.includes(existing))]).toEqual([existing, true]);
    for (const shape of [PASSWORD, `ada:${PASSWORD}`].flatMap(shapesOf))
      expect(storedTexts.filter((text) => text.includes(shape)).map((text) => text.slice(0, 300))).toEqual([]);
  });

  thoroughly('gives access only to its owner, not to other users of the same feed', async () => {
    site.pages.set('/feed.xml', withLoginRequired(editions()));
    const ada = await add(withLogin('ada'));
    const other = await service.user(`other ${customers}`);
    const ben = await add(withLogin('ben', 'other'), other);
    await resync(ada.entries[0]!.id);
    expect([await textOf(ada.entries[0]), await textOf(ben.entries[0], other)]).toEqual([
      expect.stringContaining('Said to Ada.'),
      expect.stringContaining('Said to Ben.'),
    ]);
    const stranger = await service.user(`stranger ${customers}`);
    const withoutLogin = await add(undefined, stranger);
    expect([withoutLogin.feed.sync_status, withoutLogin.entries]).toEqual(['SYNC_ERROR', []]);
    expect(withoutLogin.feed.sync_error_message).toContain('asks for a login');
  });

  thoroughly(
    'is deleted when access is revoked: no more requests, synced entries stay, and the feed can be added again',
    async () => {
      site.pages.set('/feed.xml', withLoginRequired(editions()));
      const { feed, entries } = await add(withLogin('ada'));
      const [source] = await sourcesOf(user);
      expect((await user.post('/revoke_access_token', { data_source_id: source!.id })).status).toBe(200);
      expect(await sourcesOf(user)).toMatchObject([{ token: null, revoked_access: true }]);
      site.requests.length = 0;
      for (const id of [feed.id, entries[0]!.id])
        expect(await resync(id)).toMatchObject({
          sync_status: 'SYNC_ERROR',
          sync_error_message: expect.stringContaining('was revoked'),
        });
      expect(site.requests).toEqual([]);
      expect(await textOf(entries[0])).toContain('Said to Ada.');
      expect((await add(withLogin('ada'))).feed).toMatchObject({ id: feed.id, sync_status: 'READY' });
      expect(await sourcesOf(user)).toMatchObject([{ id: source!.id, revoked_access: false }]);
    },
  );
});

test('deletes all data of a feed that is deleted while it is being read', async () => {
  let answer: () => void = () => undefined;
  const body = feedOf({ one: 'Lit.' });
  site.pages.set('/feed.xml', (_request, response) => {
    answer = () => void response.writeHead(200).end(body);
  });
  await user.post('/integrations/rss_feed', { url: site.url('/feed.xml') });
  while (site.requests.length === 0) await sleep(20);
  const [feed] = await feedsOf(user);
  expect((await user.post('/delete_files_v2', { filters: { ids: [feed!.id] }, delete_child_files: true })).status).toBe(
    200,
  );
  await waitFor(
    () => feedsOf(user),
    ({ length }) => length === 0,
  );
  answer();
  const hasRunEnded = () =>
    logLines.some((line) => line.includes(`"fileId":${feed!.id}`) && /run (finished|cancelled)/.test(line));
  await waitFor(() => Promise.resolve(hasRunEnded()), Boolean);
  expect((await user.post<Listed<FileRecord>>('/user_files_v2', {})).body.results).toEqual([]);
});
