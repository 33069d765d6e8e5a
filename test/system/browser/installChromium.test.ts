import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { createBrowserPool, type BrowserPool, type BrowserPoolOptions } from '../../../connectors/web/browserPool.js';
import { findChromium } from '../../../connectors/web/findChromium.js';
import { createChromiumInstaller, usualWays, type InstallWay } from '../../../connectors/web/installChromium.js';

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
  for (const one of pools) await one.close();
  await rm(folder, { recursive: true, force: true });
});

/** A stand-in for an installer: notes that it ran, then does what the script says. */
const way = (name: string, script: string): InstallWay => [
  { command: '/bin/sh', args: ['-c', `echo ${name} >> ${runs}; ${script}`] },
];
/** Makes the machine's own browser the one that was installed. */
const installs = () => {
  const real = findChromium(null);
  if (real === null) throw new Error('These tests need Chromium: apt-get install -y chromium-headless-shell');
  return `ln -sf ${real} ${browser}`;
};
const ran = () => (existsSync(runs) ? readFileSync(runs, 'utf8').trim().split('\n') : []);

function pool(ways: readonly InstallWay[] | null, more: Partial<BrowserPoolOptions> = {}): BrowserPool {
  const made = createBrowserPool({
    chromiumPath: null,
    find: () => (existsSync(browser) ? browser : null),
    installer: ways && createChromiumInstaller(() => ways),
    maxPages: 100,
    now: Date.now,
    onNotice: (notice) => notices.push(notice),
    ...more,
  });
  pools.push(made);
  return made;
}
const never = new AbortController().signal;
const page = (of: BrowserPool, signal = never) => of.use(signal, (running) => Promise.resolve(running.version()));

describe('where no browser is found', () => {
  test('the first pages that need one have it installed, once for all of them', async () => {
    const of = pool([way('first', `sleep 0.3; ${installs()}`)]);
    expect(existsSync(browser)).toBe(false);
    const versions = await Promise.all([page(of), page(of), page(of)]);
    expect(versions).toEqual(Array(3).fill(expect.stringMatching(/^\d+\./)));
    expect([ran(), notices]).toEqual([['first'], []]);
  });

  test('ways are tried in turn: after one that fails, and after one whose browser does not start', async () => {
    const broken = `printf '#!/bin/sh\\nexit 3\\n' > ${browser}; chmod +x ${browser}`;
    const unknown: InstallWay = [{ command: path.join(folder, 'no-such-installer'), args: [] }];
    const of = pool([
      unknown,
      way('fails', 'exit 1'),
      way('broken', broken),
      way('works', installs()),
      way('last', ''),
    ]);
    expect(await page(of)).toMatch(/^\d+\./);
    expect([ran(), notices]).toEqual([['fails', 'broken', 'works'], []]);
  });

  test('and none can be installed, the service goes on without, says so once and does not try again', async () => {
    let time = 0;
    const of = pool([way('fails', 'exit 1')], { now: () => time });
    expect(await Promise.all([page(of), page(of)])).toEqual([null, null]);
    time += 3_600_000;
    expect(await page(of)).toBeNull();
    expect(ran()).toEqual(['fails']);
    expect(notices).toEqual([expect.stringMatching(/could be installed.*CHROMIUM_PATH/)]);
  });

  test('and a slow installation is under way, pages do not wait for its end, and later ones use it', async () => {
    const gate = path.join(folder, 'gate');
    const of = pool([way('slow', `while [ ! -e ${gate} ]; do sleep 0.05; done; ${installs()}`)], {
      installWaitMs: 100,
    });
    expect(await page(of)).toBeNull();
    expect([ran(), existsSync(browser)]).toEqual([['slow'], false]);
    spawnSync('touch', [gate]);
    let version: string | null = null;
    for (let tries = 0; version === null && tries < 300; tries += 1) {
      await wait(100);
      version = await page(of);
    }
    expect(version).toMatch(/^\d+\./);
    expect(ran()).toEqual(['slow']);
  });

  test('an abort ends the wait of its page at once', async () => {
    const stop = new AbortController();
    const of = pool([way('slow', 'sleep 60')]);
    const waiting = page(of, stop.signal);
    stop.abort(new RangeError('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });

  test('none is installed where the setting forbids it, or CHROMIUM_PATH names another', async () => {
    expect(await page(pool(null))).toBeNull();
    const given = { chromiumPath: '/nowhere/chromium' };
    expect(await page(pool([way('first', installs())], given))).toBeNull();
    expect(ran()).toEqual([]);
    expect(notices).toEqual([expect.stringContaining('no Chromium was found'), expect.stringContaining('/nowhere')]);
  });
});

describe('an installer', () => {
  const pidFile = () => path.join(folder, 'pid');
  /** Starts a process that outlives its parent unless the whole group is ended. */
  const hanging = () => [way('hangs', `sleep 300 & echo $! > ${pidFile()}; wait`)];
  async function childIsGone(): Promise<void> {
    const pid = Number(readFileSync(pidFile(), 'utf8'));
    const lives = () =>
      existsSync(`/proc/${String(pid)}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${String(pid)}/status`, 'utf8'));
    for (let tries = 0; lives() && tries < 100; tries += 1) await wait(50);
    expect(lives()).toBe(false);
  }
  async function untilStarted(): Promise<void> {
    for (let tries = 0; !existsSync(pidFile()) && tries < 200; tries += 1) await wait(50);
  }

  test('is ended with all its children when its time is up', async () => {
    const installer = createChromiumInstaller(hanging, 4000);
    expect(await installer.install(() => Promise.resolve(true))).toBe(false);
    await childIsGone();
  });

  test('is ended by close()', async () => {
    const of = pool(hanging());
    const waiting = page(of);
    await untilStarted();
    await of.close();
    expect(await waiting).toBeNull();
    await childIsGone();
  });

  test("is not told the service's secrets", async () => {
    process.env['SECRET_OF_THE_SERVICE'] = 'do not tell';
    const seen = path.join(folder, 'env');
    await createChromiumInstaller(() => [way('env', `env > ${seen}`)]).install(() => Promise.resolve(true));
    delete process.env['SECRET_OF_THE_SERVICE'];
    expect(readFileSync(seen, 'utf8')).toContain('PATH=');
    expect(readFileSync(seen, 'utf8')).not.toContain('do not tell');
  });

  test("begins with Playwright's own, which knows the browser that is asked for", () => {
    const first = usualWays()[0]?.[0];
    const [cli = '', ...args] = first?.args ?? [];
    const { status, stdout } = spawnSync(first?.command ?? '', [cli, ...args, '--dry-run'], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, expect.stringMatching(/headless.shell/i)]);
  });
});
