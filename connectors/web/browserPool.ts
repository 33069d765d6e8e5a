import { tmpdir } from 'node:os';
import pLimit from 'p-limit';
import { chromium, type Browser } from 'playwright-core';

import { orAborted } from '../../egress/deadline.js';
import { findChromium } from './findChromium.js';
import type { ChromiumInstaller } from './installChromium.js';

export interface BrowserPool {
  /** Runs the work with a browser when a tab is free; null if there is no browser. */
  use<T>(signal: AbortSignal, work: (browser: Browser) => Promise<T>): Promise<T | null>;
  close(): Promise<void>;
}

export interface BrowserPoolOptions {
  readonly chromiumPath: string | null;
  /** Returns the path of the browser; unset: findChromium. */
  readonly find?: typeof findChromium;
  /** Installs a browser; called once if no browser is found. Null: no browser is installed. */
  readonly installer: ChromiumInstaller | null;
  /** Maximum wait of pages for the installation; it continues afterwards, for later pages. */
  readonly installWaitMs?: number;
  /** Pages after which the browser is restarted, which frees leaked memory. */
  readonly maxPages: number;
  readonly now: () => number;
  /** Receives the reason once if there is no browser. */
  readonly onNotice: (sentence: string) => void;
}

/** Maximum number of pages rendered at once. Measured: four tabs use two cores fully. */
const TABS = 4;
const LAUNCH_TIMEOUT_MS = 30_000;
const INSTALL_WAIT_MS = 60_000;
/** Minimum time between two attempts to start a browser that failed to start. */
const RETRY_LAUNCH_MS = 300_000;

const FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
  // Otherwise WebRTC would send UDP past the proxy, to any address that a page names.
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--js-flags=--max-old-space-size=512',
];

interface Running {
  readonly browser: Browser;
  pages: number;
  active: number;
  retired: boolean;
}

/** Creates a pool with one Chromium, which is started, or installed if missing, for the first page that needs it. */
export function createBrowserPool(options: BrowserPoolOptions): BrowserPool {
  const { chromiumPath, installer, installWaitMs = INSTALL_WAIT_MS, maxPages, now, onNotice } = options;
  const { find = findChromium } = options;
  const withTab = pLimit(TABS);
  let current: Promise<Running | null> | null = null;
  let tryAgainAt = 0;
  let isReported = false;
  let isInstalled: Promise<boolean> | null = null;

  const reportNoBrowser = (why: string): null => {
    tryAgainAt = now() + RETRY_LAUNCH_MS;
    if (!isReported) onNotice(`Pages are fetched without a browser: ${why}`);
    isReported = true;
    return null;
  };

  /** Never rejects: a rejected start would fail all later pages. */
  const start = (): Promise<Running | null> =>
    findAndLaunch().catch((error: unknown) => reportNoBrowser(`the search for a browser failed: ${String(error)}`));

  async function findAndLaunch(): Promise<Running | null> {
    let executablePath = find(chromiumPath);
    if (executablePath === null && chromiumPath !== null)
      return reportNoBrowser(`there is no file ${chromiumPath}, which the setting CHROMIUM_PATH names.`);
    if (executablePath === null && installer !== null) {
      isInstalled ??= install(installer);
      if (await finishesWithin(isInstalled, installWaitMs)) executablePath = find(null);
    }
    if (executablePath === null) {
      const tried = installer === null ? '' : ' and the installation failed or took too long';
      return reportNoBrowser(
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
      return reportNoBrowser(`${executablePath} did not start: ${String(error).split('\n', 1)[0] ?? ''}`);
    }
  }

  /** Installs a browser. Pages that are requested after the installation use the browser at once. */
  async function install(by: ChromiumInstaller): Promise<boolean> {
    const done = await by.install(() => starts(find(null))).catch(() => false);
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
    // Other callers that waited for the same start may have used its maximum number of pages.
    if (running.retired) return take(signal);
    running.pages += 1;
    running.active += 1;
    if (running.pages >= maxPages) retire(running);
    return running;
  }

  return {
    use: (signal, work) =>
      withTab(async () => {
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

/** Whether the installed browser starts. A browser from Playwright needs system libraries, which may be missing. */
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

/** Returns false if the work takes longer. */
async function finishesWithin(work: Promise<boolean>, ms: number): Promise<boolean> {
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
    // Chromium does not start as root with its sandbox enabled.
    chromiumSandbox: process.getuid?.() !== 0,
    // No proxy listens at this address: a page's requests leave the browser only through the page's own proxy.
    proxy: { server: 'http://127.0.0.1:9' },
    // A separate environment, because ours contains the service's secrets.
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: tmpdir(), LANG: 'en_US.UTF-8' },
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
}
