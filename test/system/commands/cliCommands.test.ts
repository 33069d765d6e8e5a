import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { DocumentRecord, FileRecord } from '../../../contract/files/records.js';
import { samplePage, type Site, sitemapOf, startSite } from '../../emulators/site.js';
import { cli } from '../../support/cli.js';
import { startService, type TestService } from '../../support/service.js';

// test/system/commands/cli.test.ts tests the other commands.
let service: TestService;
let site: Site;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  site = await startSite();
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' });
  env = { ...service.env, PUBLIC_URL: service.url };
});
afterAll(async () => {
  await service.close();
  await site.close();
});

const call = (...args: string[]) => cli(env, ...args);

describe('help and failed calls', () => {
  test('--help lists every command, and each command has its own help', async () => {
    const { code, lines } = await call('--help');
    expect(code).toBe(0);
    const names = lines.flatMap((text) =>
      [...text.matchAll(/^ {2}(\w[\w -]*?) {2,}\S/gm)].map(([, name]) => name ?? ''),
    );
    expect(names.length).toBeGreaterThan(12);
    for (const name of names) {
      const help = await call(...name.split(' '), '--help');
      expect(help.code).toBe(0);
      expect(help.lines[0]).toContain(`npm run cli -- ${name}`);
    }
  });

  test.each([
    [['no-such'], 'There is no command no-such'],
    [['org', 'create'], 'NAME is missing'],
    [['org', 'list', 'more'], 'too many arguments'],
    [['key', 'revoke', 'x'], 'ID must be a number'],
    [['key', 'create', '--org', '-1'], '--org'],
    [['search', 'a', '--nonsense'], '--nonsense'],
  ])('an invalid call exits with code 2 and the reason: %j', async (args, message) => {
    const { code, stderr } = await call(...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test('prints a remedy if the service does not answer or rejects the key, or if a setting is missing', async () => {
    const unreachable = await call('status', '--url', 'http://127.0.0.1:9');
    expect([unreachable.code, unreachable.stderr]).toEqual([1, expect.stringContaining('npm start')]);
    const wrongKey = await cli({ ...env, API_KEY: 'not-a-key-of-anybody' }, 'status');
    expect([wrongKey.code, wrongKey.stderr]).toEqual([1, expect.stringContaining('key create')]);
    const withoutApiKey = await cli({ DATA_DIR: '/nonexistent' }, 'status');
    expect([withoutApiKey.code, withoutApiKey.stderr]).toEqual([1, expect.stringContaining('API_KEY is not set')]);
    const withoutSecretKey = await cli({ DATA_DIR: '/nonexistent' }, 'org', 'list');
    expect([withoutSecretKey.code, withoutSecretKey.stderr]).toEqual([1, expect.stringContaining('SECRET_KEY')]);
  });
});

test('scrapes and searches a site, and shows why a file is not searchable', async () => {
  site.pages.set('/good.html', samplePage(1, 2));
  site.pages.set('/sitemap.xml', sitemapOf(site.origin, ['/good.html', '/gone.html']));
  const scraped = await call('scrape', site.url('/sitemap.xml'), '--sitemap', '--customer', 'hugo', '--json');
  expect(scraped.code).toBe(0);
  expect(scraped.json<FileRecord>()).toMatchObject({ sync_status: 'READY', file_metadata: { pages_total: 2 } });

  const searchRun = await call('search', 'sample', '--customer', 'hugo', '--k', '2', '--json');
  expect(searchRun.json<DocumentRecord[]>()[0]?.source_url).toBe(site.url('/good.html'));
  expect((await call('search', 'sample', '--customer', 'hugo')).lines[0]).toMatch(/^1\. score -?[\d.]+ · file \d+/);

  const status = await call('status', '--customer', 'hugo');
  expect(status.lines[0]).toMatch(/^ready: mongodb \d+ ms/);
  expect(status.lines).toContainEqual(expect.stringMatching(/^hugo: 2 ready, 0 in progress, 1 failed/));
  const failedPage = await call('status', '--customer', 'hugo', '--find', 'gone');
  expect(failedPage.lines.join('\n')).toMatch(/SYNC_ERROR[\s\S]*404/);
  const good = (await call('status', '--customer', 'hugo', '--find', 'good', '--json')).json<{ chunks: number }[]>();
  expect(good).toEqual([expect.objectContaining({ sync_status: 'READY', chunks: expect.any(Number) })]);

  const unknownUser = await call('search', 'x', '--customer', 'nemo');
  expect([unknownUser.code, unknownUser.stderr]).toEqual([1, expect.stringContaining('There is no user nemo')]);
  expect((await call('status', '--customer', 'hugo', '--find', 'neverheardof')).code).toBe(1);
  const failed = await call('scrape', site.url('/nothing.xml'), '--sitemap', '--customer', 'hugo');
  expect([failed.code, failed.lines[0]]).toEqual([1, expect.stringContaining('SYNC_ERROR')]);
});

test('creates, lists, rotates and revokes keys, and creates and lists organizations', async () => {
  const isAccepted = async (key: string): Promise<boolean> =>
    (await fetch(`${service.url}/organization`, { headers: { authorization: `Bearer ${key}` } })).status === 200;
  const created = (await call('org', 'create', 'harbour', '--json')).json<{ id: number; api_key: string }>();
  expect(await isAccepted(created.api_key)).toBe(true);
  const org = String(created.id);
  const rows = (await call('key', 'list', '--org', org, '--json')).json<{ id: number; prefix: string }[]>();
  expect(rows).toEqual([expect.objectContaining({ prefix: created.api_key.slice(0, 8), revokedAt: null })]);
  const first = String(rows[0]!.id);
  const rotated = (await call('key', 'rotate', first, '--json')).json<{ id: number; api_key: string }>();
  expect([await isAccepted(created.api_key), await isAccepted(rotated.api_key)]).toEqual([false, true]);
  expect((await call('key', 'rotate', first)).code).toBe(1);

  const lastRevocation = await call('key', 'revoke', String(rotated.id));
  expect([lastRevocation.code, lastRevocation.stderr]).toEqual([1, expect.stringContaining('--last')]);
  expect(await isAccepted(rotated.api_key)).toBe(true);
  const another = (await call('key', 'create', '--org', org, '--json')).json<{ id: number; api_key: string }>();
  expect((await call('key', 'revoke', String(rotated.id))).code).toBe(0);
  expect([await isAccepted(rotated.api_key), await isAccepted(another.api_key)]).toEqual([false, true]);
  expect((await call('key', 'create', '--org', '999999')).code).toBe(1);
  const organizations = (await call('org', 'list', '--json')).json<object[]>();
  expect(organizations).toContainEqual(expect.objectContaining({ id: created.id, name: 'harbour', users: 0, keys: 1 }));
  expect((await call('org', 'list')).lines.join('\n')).toContain('harbour');
});

test('writes the new key to the file in DATA_DIR only if the rotated key is the one in that file', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'allotrope-keys-'));
  const make = async () => (await call('key', 'create', '--json')).json<{ id: number; api_key: string }>();
  const [own, other] = [await make(), await make()];
  await writeFile(path.join(dataDir, 'api-key'), `${own.api_key}\n`, { mode: 0o600 });
  const { API_KEY: _own, ...others } = env;
  const ofDataDir = { ...others, DATA_DIR: dataDir };
  const storedKey = async () => (await readFile(path.join(dataDir, 'api-key'), 'utf8')).trim();
  expect((await cli(ofDataDir, 'key', 'rotate', String(other.id))).stderr).toBe('');
  expect(await storedKey()).toBe(own.api_key);

  const rotated = await cli(ofDataDir, 'key', 'rotate', String(own.id), '--json');
  const newKey = rotated.json<{ id: number; api_key: string }>();
  expect(rotated.stderr).toContain('DATA_DIR/api-key contains the new key');
  expect(await storedKey()).toBe(newKey.api_key);
  expect((await cli(ofDataDir, 'status')).code).toBe(0);

  // A key that is set in the environment must be changed there by the operator.
  const inEnvironment = await cli({ ...ofDataDir, API_KEY: newKey.api_key }, 'key', 'rotate', String(newKey.id));
  expect(inEnvironment.stderr).toContain('Set API_KEY to the new one');
  expect(await storedKey()).toBe(newKey.api_key);
  await rm(dataDir, { recursive: true });
});
