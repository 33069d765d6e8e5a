import { tmpdir } from 'node:os';
import pLimit from 'p-limit';
import { chromium, type Browser } from 'playwright-core';

import { orAborted } from '../../egress/deadline.js';
import { findChromium } from './findChromium.js';
import type { ChromiumInstaller } from './installChromium.js';

export interface BrowserPool {
  /** Runs the work with a browser, when it is its turn; null when there is no browser. */
  use<T>(signal: AbortSignal, work: (browser: Browser) => Promise<T>): Promise<T | null>;
  close(): Promise<void>;
}

export interface BrowserPoolOptions {
  readonly chromiumPath: string | null;
  /** Where the browser is; unset: findChromium. */
  readonly find?: typeof findChromium;
  /** Asked once where there is no browser; null: none is installed. */
  readonly installer: ChromiumInstaller | null;
  /** Maximum wait of pages for the installation; it continues afterwards, for later pages. */
  readonly installWaitMs?: number;
  /** Pages after which the browser is restarted, which frees leaked memory. */
  readonly maxPages: number;
  readonly now: () => number;
  /** Told once why there is no browser. */
  readonly onNotice: (sentence: string) => void;
}

/** Pages rendered at once. Measured: four tabs keep two cores busy. */
const TABS = 4;
const LAUNCH_TIMEOUT_MS = 30_000;
const INSTALL_WAIT_MS = 60_000;
/** A browser that did not start is not tried again for each page. */
const RETRY_LAUNCH_MS = 300_000;

const FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
  // WebRTC speaks UDP past any proxy, to whatever address a page gives it.
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--js-flags=--max-old-space-size=512',
];

interface Running {
  readonly browser: Browser;
  pages: number;
  active: number;
  retired: boolean;
}

/** One Chromium, started for the first page that needs it, and installed for it where there is none. */
export function createBrowserPool(options: BrowserPoolOptions): BrowserPool {
  const { chromiumPath, installer, installWaitMs = INSTALL_WAIT_MS, maxPages, now, onNotice } = options;
  const { find = findChromium } = options;
  const inTurn = pLimit(TABS);
  let current: Promise<Running | null> | null = null;
  let tryAgainAt = 0;
  let told = false;
  let isInstalled: Promise<boolean> | null = null;

  const without = (why: string): null => {
    tryAgainAt = now() + RETRY_LAUNCH_MS;
    if (!told) onNotice(`Pages are fetched without a browser: ${why}`);
    told = true;
    return null;
  };

  async function start(): Promise<Running | null> {
    let executablePath = find(chromiumPath);
    if (executablePath === null && chromiumPath !== null)
      return without(`there is no file ${chromiumPath}, which the setting CHROMIUM_PATH names.`);
    if (executablePath === null && installer !== null) {
      isInstalled ??= install(installer);
      if (await inTime(isInstalled, installWaitMs)) executablePath = find(null);
    }
    if (executablePath === null) {
      const tried = installer === null ? '' : ' and none could be installed, or not soon';
      return without(
        `no Chromium was found${tried}. Install chromium-headless-shell, or name one in the setting CHROMIUM_PATH.`,
      );
    }
    try {
      const browser = await launch(executablePath);
      const running: Running = { browser, pages: 0, active: 0, retired: false };
      browser.on('disconnected', () => {
        retire(running);
      });
      return running;
    } catch (error) {
      return without(`${executablePath} did not start: ${String(error).split('\n', 1)[0] ?? ''}`);
    }
  }

  /** Pages that come after its end find the browser at once. */
  async function install(by: ChromiumInstaller): Promise<boolean> {
    const done = await by.install(() => starts(find(null)));
    if (done) tryAgainAt = 0;
    return done;
  }

  const retire = (running: Running): void => {
    if (!running.retired) current = null;
    running.retired = true;
  };

  async function take(signal: AbortSignal): Promise<Running | null> {
    if (current === null && now() < tryAgainAt) return null;
    const starting = (current ??= start());
    const running = await orAborted(starting, signal);
    if (running === null) {
      if (current === starting) current = null;
      return null;
    }
    // Others that waited for the same start may have used it up.
    if (running.retired) return take(signal);
    running.pages += 1;
    running.active += 1;
    if (running.pages >= maxPages) retire(running);
    return running;
  }

  return {
    use: (signal, work) =>
      inTurn(async () => {
        signal.throwIfAborted();
        const running = await take(signal);
        if (running === null) return null;
        try {
          return await work(running.browser);
        } finally {
          running.active -= 1;
          if (running.retired && running.active === 0) await running.browser.close().catch(() => undefined);
        }
      }),
    async close() {
      installer?.close();
      await isInstalled;
      const running = await current;
      current = null;
      tryAgainAt = Infinity;
      if (running === null || running === undefined) return;
      running.retired = true;
      await running.browser.close().catch(() => undefined);
    },
  };
}

/** Whether what was installed starts: Playwright's own lacks libraries on a bare system. */
async function starts(executablePath: string | null): Promise<boolean> {
  if (executablePath === null) return false;
  return launch(executablePath).then(
    async (browser) => {
      await browser.close();
      return true;
    },
    () => false,
  );
}

/** False when it takes longer. */
async function inTime(work: Promise<boolean>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: FLAGS,
    timeout: LAUNCH_TIMEOUT_MS,
    // Chromium does not run as root with its sandbox on.
    chromiumSandbox: process.getuid?.() !== 0,
    // No proxy listens there: only requests that a page's own proxy allows leave the browser.
    proxy: { server: 'http://127.0.0.1:9' },
    // Not ours, which holds the service's secrets.
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: tmpdir(), LANG: 'en_US.UTF-8' },
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
}
