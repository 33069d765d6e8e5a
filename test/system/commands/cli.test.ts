import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { Check } from '../../../cli/doctor/check.js';
import type { DocumentRecord, FileRecord } from '../../../contract/files/records.js';
import { samplePage, type Site, sitemapOf, startSite } from '../../emulators/site.js';
import { cli, type CliRun, watchCli } from '../../support/cli.js';
import { connectSource, revokeSource } from '../../support/dataSources.js';
import { withDatabase } from '../../support/mongo.js';
import { everyRow } from '../../support/everyRow.js';
import { startService, type TestService } from '../../support/service.js';
import { thoroughRows } from '../../support/thorough.js';
import { waitFor } from '../../support/waitFor.js';

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

/** Time limit of a process that cannot start. A process that hangs is killed at this limit. */
const END_MS = 240_000;

// npmCommands.test.ts tests the same of the worker, with a Temporal that it does not reach.
test('exits with code 1 and the cause if the API has no key', async () => {
  const file = fileURLToPath(new URL('../../../dist/api/server.js', import.meta.url));
  const child = fork(file, {
    env: {
      ...env,
      ...{ PORT: '0', LOG_LEVEL: 'silent', API_KEY: '', DATA_DIR: path.join(tmpdir(), 'allotrope-no-data') },
    },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), END_MS);
  const ended = once(child, 'exit');
  let stderr = '';
  child.stderr?.on('data', (part: Buffer) => (stderr += part.toString()));
  const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null];
  clearTimeout(timer);
  expect({ code, signal, stderr }).toEqual({ code: 1, signal: null, stderr: expect.stringContaining('API_KEY') });
});

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

test('deployment renew stores a new id in a restored copy', async () => {
  const uri = new URL(env['MONGODB_URI'] ?? '');
  // Use the database of a copy, because the service of this suite must keep its id.
  uri.pathname = `${uri.pathname}-copy`;
  const renew = async () => {
    const { code, json } = await cli({ ...env, MONGODB_URI: uri.href }, 'deployment', 'renew', '--json');
    expect(code).toBe(0);
    return json<{ before: string; now: string }>();
  };
  const first = await renew();
  expect(first.now).toMatch(/^[a-z0-9]{8}$/);
  expect(first.now).not.toBe(first.before);
  expect((await renew()).before).toBe(first.now);
});

test('reconcile exits with code 1 until the difference is repaired', async () => {
  expect(await call('reconcile')).toMatchObject({ code: 0, lines: expect.arrayContaining(['No difference.']) });
  await withDatabase(service, (connection) =>
    connection
      .collection('recognized_pages')
      .insertOne({ organizationId: 1, userId: 1, fileId: 77, reading: 'r', number: 1 }),
  );
  const found = await call('reconcile');
  expect([found.code, found.lines[0]]).toEqual([1, expect.stringContaining('stray_pages: 1')]);
  expect((await call('reconcile', '--mend', '--json')).json()).toMatchObject({
    differences: { stray_pages: { count: 1, mended: 1 } },
    left: 0,
  });
  expect((await call('reconcile', '--org', '1')).code).toBe(0);
});

test('redraws the progress of a scrape in status --watch until it is stopped', async () => {
  const heldAnswers: (() => void)[] = [];
  const content = samplePage(4, 1);
  site.pages.set('/w1.html', samplePage(3, 1));
  site.pages.set('/w2.html', (_request, response) => void heldAnswers.push(() => response.end(content)));
  site.pages.set('/watched.xml', sitemapOf(site.origin, ['/w1.html', '/w2.html']));
  const user = await service.user('wanda');
  const parent = await user.scrape({ url: site.url('/watched.xml') });
  const watch = watchCli(env, 'status', '--watch', '--customer', 'wanda');
  // Half of the scrape is done.
  const half = new RegExp(
    `wanda: 1 ready, 2 in progress, 0 failed\\n {2}=+-+ 1/2 · 0 failed · SYNCING · file ${parent.id}`,
  );
  await waitFor(watch.drawn, (drawn) => half.test(drawn));
  for (const answer of heldAnswers) answer();
  await user.settled(parent.id);
  await waitFor(watch.drawn, (drawn) => drawn.includes('wanda: 3 ready, 0 in progress, 0 failed'));
  // The cursor moves up by the number of drawn lines and clears them.
  expect(watch.drawn()).toContain('\u001B[3A\u001B[0Jready: ');
  expect(await watch.stop()).toBe(0);
});

describe('doctor', () => {
  const examined = async (settings: NodeJS.ProcessEnv = {}): Promise<{ code: number; checks: Check[] }> => {
    const run = await cli({ ...env, ...settings }, 'doctor', '--json');
    return { code: run.code, checks: run.json<Check[]>() };
  };
  const checksNamed = (checks: readonly Check[], name: string): Check[] =>
    checks.filter((check) => check.name === name);

  test('reports every check of a healthy service as ok, with its finding', async () => {
    // Temporal reports the pollers of a worker shortly after its start.
    const { checks } = await waitFor(examined, ({ code }) => code === 0);
    const names = ['settings', 'MongoDB', 'clock', 'Qdrant', 'Temporal', 'API', 'API_KEY', 'disk of DATA_DIR'];
    const more = [
      'file storage',
      'Chromium',
      'embedding model',
      'PUBLIC_URL',
      'worker',
      'SECRET_KEY',
      'stalled runs',
      'unfinished files',
      'outbox',
    ];
    expect(checks.map(({ name }) => name)).toEqual([...names, ...more, 'webhooks', 'data sources']);
    for (const { name, state } of checks)
      if (!name.startsWith('disk') && name !== 'Chromium') expect([name, state]).toEqual([name, 'ok']);
    expect(checksNamed(checks, 'MongoDB')[0]?.found).toMatch(/^\d+\.\d+\.\d+, replica set /);
    expect((await call('doctor')).lines.join('\n')).toContain('ok    Qdrant: 1.');
  });

  // Each setting alone has the same result. Checking them together saves time.
  test.each<[Record<string, string>, string[]]>([
    [
      {
        QDRANT_URL: 'http://127.0.0.1:2',
        TEMPORAL_ADDRESS: '127.0.0.1:2',
        PUBLIC_URL: 'http://127.0.0.1:2',
        SECRET_KEY: `k1:${randomBytes(32).toString('base64')}`,
        FILE_STORAGE_DIR: '/dev/null/files',
        CHROMIUM_PATH: '/nowhere/chromium',
        EMBEDDING_MODEL_PATH: '/nowhere/model.onnx',
      },
      ['Qdrant', 'Temporal', 'API', 'SECRET_KEY', 'file storage', 'Chromium', 'embedding model'],
    ],
    [{ MONGODB_URI: 'mongodb://127.0.0.1:2/?directConnection=true' }, ['MongoDB']],
    [{ TASK_QUEUE: 'unpolled', PUBLIC_URL: 'http://0.0.0.0:2' }, ['worker', 'API', 'PUBLIC_URL']],
    ...thoroughRows<[Record<string, string>, string[]]>([
      [{ PUBLIC_URL: '', HOST: '::', PORT: '2' }, ['API', 'PUBLIC_URL']],
    ]),
    [{ PORT: 'x' }, ['settings']],
  ])('reports each wrong setting of %j as bad, with a fix', async (settings, names) => {
    await connectSource(service, { organizationId: 1, userId: 1, customerId: 'hugo' });
    const { code, checks } = await examined(settings);
    expect(code).toBe(1);
    for (const name of names)
      expect(checksNamed(checks, name)[0]).toMatchObject({ name, state: 'bad', fix: expect.stringMatching(/\w{4,}/) });
    expect(checks.filter(({ state }) => state === 'bad')).toHaveLength(names.length);
  });

  test('reports unfinished files, disabled webhooks and revoked data sources, with a fix', async () => {
    const { id, organization_id, organization_user_id } = (
      await call('scrape', site.url('/absent.html'), '--customer', 'ida', '--depth', '0', '--json')
    ).json<FileRecord>();
    const owner = { organizationId: organization_id, userId: organization_user_id ?? 0, customerId: 'ida' };
    const source = await connectSource(service, owner, { externalId: 'BOX|revoked' });
    await revokeSource(service, owner, source._id);
    await withDatabase(service, async (connection) => {
      await connection.collection('files').updateOne({ _id: id as never }, { $set: { syncStatus: 'SYNCING' } });
      const at = new Date();
      const key = service.store.secrets.seal({ organizationId: 1, record: 'webhook:5', field: 'signing_key' }, 'k');
      const row = {
        organizationId: 1,
        url: 'https://gone.example/x',
        signingKey: key,
        status: 'FLAGGED',
        statusReason: '410',
      };
      await connection.collection('webhooks').insertOne({
        ...{ _id: 5 as never, ...row, cursor: 0, wake: null, wokenAt: null, deletedAt: null },
        ...{ disabledAt: at, createdAt: at, updatedAt: at },
      });
    });
    const { code, checks } = await examined();
    expect(code).toBe(1);
    expect(checksNamed(checks, 'unfinished files')).toEqual([
      expect.objectContaining({
        state: 'bad',
        found: expect.stringContaining(`file ${id}`),
        fix: expect.stringContaining('reconcile --mend'),
      }),
    ]);
    expect(checksNamed(checks, 'webhooks')[0]).toMatchObject({
      state: 'warn',
      found: expect.stringContaining('has been disabled since'),
    });
    expect(
      checksNamed(checks, 'data sources')
        .map(({ found }) => found)
        .join(),
    ).toContain(`data source ${source._id}`);
    const mended = await call('reconcile', '--mend');
    expect([mended.code, mended.lines.join()]).toEqual([0, expect.stringContaining('stuck: 1, 1 mended')]);
    // The command recommends watching the queued files only if it queued one.
    expect(mended.lines.join()).not.toContain('queued files');
    expect(checksNamed((await examined()).checks, 'unfinished files')[0]).toMatchObject({ state: 'ok' });
  });
});

/** A command that processes many items, some of which can fail. */
interface BatchCommand {
  readonly command: string;
  /** Runs the command while a part of its work fails. @returns the run, and the expected message about that part */
  failPartly(): Promise<{ readonly run: CliRun; readonly message: RegExp }>;
  /** Runs the command after the cause of the failure is removed. */
  succeed(): Promise<CliRun>;
}

/** Commands that change a single item or only show data. The tests above and test/cli/ cover their exit codes. */
const SINGLE_ITEM = [
  ...['status', 'search', 'doctor', 'deployment renew', 'source approve-deletions', 'org create', 'org list'],
  ...['key create', 'key list', 'key rotate', 'key revoke', 'record'],
  // A failed page is only counted in the parent record; the exit code depends on the start page or the sitemap.
  'scrape',
];

describe('a command that works on many items', () => {
  let root: string;
  let dataDir: string;
  let organizationId: number;
  let lost: number;
  beforeAll(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'allotrope-partly-'));
    dataDir = path.join(root, 'data');
    for (const file of ['mongodb/WiredTiger', 'qdrant/a/config.json', 'temporal/temporal.db', 'files/1/7/1.raw']) {
      await mkdir(path.dirname(path.join(dataDir, file)), { recursive: true });
      await writeFile(path.join(dataDir, file), file);
    }
    await writeFile(path.join(dataDir, 'secret-key'), `k1:${randomBytes(32).toString('base64')}`);
    const created = await service.store.organizations.create('partly');
    organizationId = created.organizationId;
    const user = await service.user('rita', created.apiKey);
    const sent = await Promise.all(
      ['heron', 'swallow'].map((bird) => user.send({ name: `${bird}.txt`, content: `A ${bird} at the river.` }, {})),
    );
    for (const { id } of sent) await user.settled(id);
    lost = sent[0]!.id;
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  const ofOrganization = (...args: string[]) => call(...args, '--org', String(organizationId));
  const onFiles = (...args: string[]) => cli({ DATA_DIR: dataDir }, ...args);
  const backupOf = (name: string): string => path.join(root, name);
  /** Path of a file that a backup cannot list: its name contains a line break. */
  const unlistable = (): string => path.join(dataDir, 'files/a\nb');
  const damagedFile = (): string => path.join(backupOf('whole'), 'data/files/1/7/1.raw');
  /** Gives the chunks of a file to another file id. */
  const moveChunks = (from: number, to: number) =>
    withDatabase(service, (connection) =>
      connection.collection('segments').updateMany({ fileId: from }, { $set: { fileId: to } }),
    );

  test.each([
    [['reconcile', '--org', '99'], /no organization 99/],
    [['vectors', 'rebuild', '--org', '99'], /no organization 99/],
    [['vectors', 'rebuild', '--space', 'mistyped'], /No file with vectors is in this scope/],
    [['vectors', 'rebuild', '--org', '1', '--customer', 'mistyped'], /No file with vectors is in this scope/],
  ])('fails if its options select nothing: %j', async (args, message) => {
    expect(await call(...args)).toMatchObject({ code: 1, stderr: expect.stringMatching(message) });
  });

  const ROWS: readonly BatchCommand[] = [
    {
      command: 'vectors rebuild',
      async failPartly() {
        await moveChunks(lost, -lost);
        return { run: await ofOrganization('vectors', 'rebuild'), message: /1 rebuilt .* 1 failed/ };
      },
      async succeed() {
        await moveChunks(-lost, lost);
        return ofOrganization('vectors', 'rebuild');
      },
    },
    {
      command: 'reconcile',
      async failPartly() {
        await moveChunks(lost, -lost);
        return { run: await ofOrganization('reconcile'), message: /chunk/ };
      },
      async succeed() {
        await moveChunks(-lost, lost);
        return ofOrganization('reconcile');
      },
    },
    {
      command: 'backup',
      async failPartly() {
        await writeFile(unlistable(), 'x');
        return { run: await onFiles('backup', backupOf('partly')), message: /line break/ };
      },
      async succeed() {
        await rm(unlistable());
        return onFiles('backup', backupOf('whole'));
      },
    },
    {
      command: 'ocr fetch',
      async failPartly() {
        // The English data is installed by npm ci. French must be fetched, but .npmrc names an unreachable registry.
        const folder = path.join(dataDir, 'ocr-languages');
        await mkdir(folder, { recursive: true });
        await writeFile(path.join(folder, 'package.json'), '{}');
        await writeFile(path.join(folder, '.npmrc'), 'registry=http://127.0.0.1:9/\nfetch-retry-mintimeout=10\n');
        const run = await onFiles('ocr', 'fetch', 'eng,fra');
        return { run, message: /French/ };
      },
      async succeed() {
        await writeFile(path.join(dataDir, 'ocr-languages/fra.traineddata.gz'), 'copied by hand');
        return onFiles('ocr', 'fetch', 'eng,fra');
      },
    },
    {
      command: 'restore',
      async failPartly() {
        await writeFile(damagedFile(), 'spoiled');
        return { run: await onFiles('restore', backupOf('whole'), '--force'), message: /was modified/ };
      },
      async succeed() {
        await writeFile(damagedFile(), 'files/1/7/1.raw');
        return onFiles('restore', backupOf('whole'), '--force');
      },
    },
  ];

  test('exits with code 1 and a message if a part of its work failed, and with 0 only if all succeeded', () =>
    everyRow(
      ROWS,
      ({ command }) => command,
      async ({ failPartly, succeed }) => {
        const { run, message } = await failPartly();
        expect([run.code, `${run.lines.join('\n')}${run.stderr}`]).toEqual([1, expect.stringMatching(message)]);
        const { code, stderr } = await succeed();
        expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
      },
    ));

  test('is in ROWS; all other commands of --help are in SINGLE_ITEM', async () => {
    const { lines } = await call('--help');
    const names = lines.flatMap((text) =>
      [...text.matchAll(/^ {2}(\w[\w -]*?) {2,}\S/gm)].map(([, name]) => name ?? ''),
    );
    expect(new Set([...ROWS.map(({ command }) => command), ...SINGLE_ITEM])).toEqual(new Set(names));
  });
});
