import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { createBrowserPool, type BrowserPool, type BrowserPoolOptions } from '../../../connectors/web/browserPool.js';
import { findChromium } from '../../../connectors/web/findChromium.js';
import {
  createChromiumInstaller,
  defaultMethods,
  type InstallMethod,
} from '../../../connectors/web/installChromium.js';

let folder: string;
let browser: string;
let runs: string;
let pools: BrowserPool[];
let notices: string[];
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'install-'));
  [browser, runs] = [path.join(folder, 'chromium'), path.join(folder, 'runs')];
  [pools, notices] = [[], []];
});
afterEach(async () => {
  for (const browserPool of pools) await browserPool.close();
  await rm(folder, { recursive: true, force: true });
});

/** Returns an install method that records its name, then runs the script. */
const fakeMethod = (name: string, script: string): InstallMethod => [
  { command: '/bin/sh', args: ['-c', `echo ${name} >> ${runs}; ${script}`] },
];
/** Returns a script that installs a link to the browser of this machine. */
const linkScript = () => {
  const real = findChromium(null);
  if (real === null) throw new Error('These tests need Chromium: apt-get install -y chromium-headless-shell');
  return `ln -sf ${real} ${browser}`;
};
const methodsRun = () => (existsSync(runs) ? readFileSync(runs, 'utf8').trim().split('\n') : []);

function pool(methods: readonly InstallMethod[] | null, more: Partial<BrowserPoolOptions> = {}): BrowserPool {
  const browserPool = createBrowserPool({
    chromiumPath: null,
    find: () => (existsSync(browser) ? browser : null),
    installer: methods && createChromiumInstaller(() => methods),
    maxPages: 100,
    now: Date.now,
    onNotice: (notice) => notices.push(notice),
    ...more,
  });
  pools.push(browserPool);
  return browserPool;
}
const never = new AbortController().signal;
const page = (browserPool: BrowserPool, signal = never) =>
  browserPool.use(signal, (running) => Promise.resolve(running.version()));

describe('a missing browser', () => {
  test('is installed once for the first pages that need it', async () => {
    const browserPool = pool([fakeMethod('first', `sleep 0.3; ${linkScript()}`)]);
    expect(existsSync(browser)).toBe(false);
    const versions = await Promise.all([page(browserPool), page(browserPool), page(browserPool)]);
    expect(versions).toEqual(Array(3).fill(expect.stringMatching(/^\d+\./)));
    expect([methodsRun(), notices]).toEqual([['first'], []]);
  });

  test('is installed by the next method if one fails or its browser does not start', async () => {
    const broken = `printf '#!/bin/sh\\nexit 3\\n' > ${browser}; chmod +x ${browser}`;
    const unknown: InstallMethod = [{ command: path.join(folder, 'no-such-installer'), args: [] }];
    const browserPool = pool([
      unknown,
      fakeMethod('fails', 'exit 1'),
      fakeMethod('broken', broken),
      fakeMethod('works', linkScript()),
      fakeMethod('last', ''),
    ]);
    expect(await page(browserPool)).toMatch(/^\d+\./);
    expect([methodsRun(), notices]).toEqual([['fails', 'broken', 'works'], []]);
  });

  test('is reported once if all methods fail, and its installation is not tried again', async () => {
    let time = 0;
    const browserPool = pool([fakeMethod('fails', 'exit 1')], { now: () => time });
    expect(await Promise.all([page(browserPool), page(browserPool)])).toEqual([null, null]);
    time += 3_600_000;
    expect(await page(browserPool)).toBeNull();
    expect(methodsRun()).toEqual(['fails']);
    expect(notices).toEqual([expect.stringMatching(/the installation failed.*CHROMIUM_PATH/)]);
  });

  test('is searched for again after the search or the installer threw an error', async () => {
    let time = 0;
    let isReadable = false;
    const find = () => {
      if (!isReadable) throw new Error('EACCES');
      return existsSync(browser) ? browser : null;
    };
    const installer: BrowserPoolOptions['installer'] = {
      install: () => Promise.reject(new Error('spawn ENOMEM')),
      close: () => undefined,
    };
    const browserPool = pool(null, { find, installer, now: () => time });
    expect(await page(browserPool)).toBeNull();
    isReadable = true;
    time += 3_600_000;
    expect(await page(browserPool)).toBeNull();
    spawnSync('/bin/sh', ['-c', linkScript()]);
    time += 3_600_000;
    expect(await page(browserPool)).toMatch(/^\d+\./);
    expect(notices).toEqual([expect.stringContaining('EACCES')]);
  });

  test('does not block pages while it is being installed; later pages use the browser', async () => {
    const gate = path.join(folder, 'gate');
    const browserPool = pool([fakeMethod('slow', `while [ ! -e ${gate} ]; do sleep 0.05; done; ${linkScript()}`)], {
      installWaitMs: 100,
    });
    expect(await page(browserPool)).toBeNull();
    expect([methodsRun(), existsSync(browser)]).toEqual([['slow'], false]);
    spawnSync('touch', [gate]);
    let version: string | null = null;
    for (let attempt = 0; version === null && attempt < 300; attempt += 1) {
      await wait(100);
      version = await page(browserPool);
    }
    expect(version).toMatch(/^\d+\./);
    expect(methodsRun()).toEqual(['slow']);
  });

  test('does not delay the rejection of an aborted page', async () => {
    const stop = new AbortController();
    const browserPool = pool([fakeMethod('slow', 'sleep 60')]);
    const waiting = page(browserPool, stop.signal);
    stop.abort(new RangeError('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });

  test('is not installed if installation is disabled, or if CHROMIUM_PATH is set', async () => {
    expect(await page(pool(null))).toBeNull();
    const configured = { chromiumPath: '/nowhere/chromium' };
    expect(await page(pool([fakeMethod('first', linkScript())], configured))).toBeNull();
    expect(methodsRun()).toEqual([]);
    expect(notices).toEqual([expect.stringContaining('no Chromium was found'), expect.stringContaining('/nowhere')]);
  });
});

describe('an installer', () => {
  const pidFile = () => path.join(folder, 'pid');
  /** Returns a method whose child process survives unless the whole process group is killed. */
  const hanging = () => [fakeMethod('hangs', `sleep 300 & echo $! > ${pidFile()}; wait`)];
  async function expectChildEnded(): Promise<void> {
    const pid = Number(readFileSync(pidFile(), 'utf8'));
    const isAlive = () =>
      existsSync(`/proc/${String(pid)}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${String(pid)}/status`, 'utf8'));
    for (let attempt = 0; isAlive() && attempt < 100; attempt += 1) await wait(50);
    expect(isAlive()).toBe(false);
  }
  async function untilStarted(): Promise<void> {
    for (let attempt = 0; !existsSync(pidFile()) && attempt < 200; attempt += 1) await wait(50);
  }

  test('is killed with all its children at its timeout', async () => {
    const installer = createChromiumInstaller(hanging, 4000);
    expect(await installer.install(() => Promise.resolve(true))).toBe(false);
    await expectChildEnded();
  });

  test('is killed by close()', async () => {
    const browserPool = pool(hanging());
    const waiting = page(browserPool);
    await untilStarted();
    await browserPool.close();
    expect(await waiting).toBeNull();
    await expectChildEnded();
  });

  test('does not receive the secrets of the service', async () => {
    process.env['SECRET_OF_THE_SERVICE'] = 'do not leak';
    const seen = path.join(folder, 'env');
    await createChromiumInstaller(() => [fakeMethod('env', `env > ${seen}`)]).install(() => Promise.resolve(true));
    delete process.env['SECRET_OF_THE_SERVICE'];
    expect(readFileSync(seen, 'utf8')).toContain('PATH=');
    expect(readFileSync(seen, 'utf8')).not.toContain('do not leak');
  });

  test('uses the method of Playwright first, which installs the required browser', () => {
    const first = defaultMethods()[0]?.[0];
    const [cli = '', ...args] = first?.args ?? [];
    const { status, stdout } = spawnSync(first?.command ?? '', [cli, ...args, '--dry-run'], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, expect.stringMatching(/headless.shell/i)]);
  });
});
