/** Pages that need a browser: the pool of browsers, the rendering of one page, and when a page is rendered. */
import { EventEmitter } from 'node:events';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';

import { createBrowserPool, type BrowserPoolOptions } from '../../../connectors/web/browserPool.js';
import { createChromiumInstaller } from '../../../connectors/web/installChromium.js';
import { renderPage } from '../../../connectors/web/renderPage.js';
import type { Renderer } from '../../../connectors/web/createWebSource.js';
import type { FetchedPage } from '../../../connectors/types.js';
import type { Egress } from '../../../egress/types.js';
import { serve } from '../../egress/loopback.js';
import { faultOf } from '../../support/faultOf.js';
import { waitFor } from '../../support/waitFor.js';
import { NEVER } from '../account.js';
import { closeSources, fetchOne, source, text, webSettings } from './webSource.js';

afterEach(closeSources);

type ProxyOptions = Parameters<Egress['openProxy']>[0];

interface FakeBrowser {
  readonly browser: Browser;
  isClosed: boolean;
  crash(): void;
}
/** Returns a pool with browsers that do nothing, those that it started, and its notices. */
function poolOf(more: Partial<BrowserPoolOptions> = {}) {
  const [started, notices]: [FakeBrowser[], string[]] = [[], []];
  const launch = (): Promise<Browser> => {
    const events = new EventEmitter();
    const fake: FakeBrowser = {
      browser: Object.assign(events, { close: async () => void (fake.isClosed = true) }) as unknown as Browser,
      isClosed: false,
      crash: () => void events.emit('disconnected'),
    };
    started.push(fake);
    return Promise.resolve(fake.browser);
  };
  const options = { chromiumPath: null, find: () => '/chromium', installer: null, maxPages: 100, now: () => 0 };
  const pool = createBrowserPool({ ...options, launch, onNotice: (notice) => notices.push(notice), ...more });
  return { pool, started, notices };
}
const numberOf = (started: readonly FakeBrowser[]) => (running: Browser) =>
  Promise.resolve(started.findIndex(({ browser }) => browser === running));
/** Work of a page that ends when the test says so. */
function heldWork() {
  let end!: () => void;
  const ended = new Promise<void>((resolve) => (end = resolve));
  return { work: () => ended, end };
}

describe('the browser', () => {
  test('is started once, and again after its maximum number of pages', async () => {
    const { pool, started } = poolOf({ maxPages: 2 });
    const used: (number | null)[] = [];
    for (let page = 0; page < 5; page += 1) used.push(await pool.use(NEVER, numberOf(started)));
    expect(used).toEqual([0, 0, 1, 1, 2]);
    expect(started.map(({ isClosed }) => isClosed)).toEqual([true, true, false]);
    await pool.close();
    expect(started.map(({ isClosed }) => isClosed)).toEqual([true, true, true]);
  });

  test('that is replaced stays open until the last page in it ends, also if the page fails', async () => {
    const { pool, started } = poolOf({ maxPages: 1 });
    const held = heldWork();
    const page = pool.use(NEVER, held.work);
    const failing = pool.use(NEVER, () => Promise.reject(new Error('broken page')));
    await expect(failing).rejects.toThrow('broken page');
    expect(started.map(({ isClosed }) => isClosed)).toEqual([false, true]);
    held.end();
    await page;
    expect(started[0]!.isClosed).toBe(true);
  });

  test('that is in use by others is not closed by a page that ends', async () => {
    const { pool, started } = poolOf();
    await Promise.all([pool.use(NEVER, numberOf(started)), pool.use(NEVER, numberOf(started))]);
    expect(started.map(({ isClosed }) => isClosed)).toEqual([false]);
  });

  test('is started again after a crash', async () => {
    const { pool, started } = poolOf();
    await pool.use(NEVER, numberOf(started));
    started[0]!.crash();
    expect(await pool.use(NEVER, numberOf(started))).toBe(1);
  });

  test('renders four pages at once', async () => {
    const { pool } = poolOf();
    const held = heldWork();
    let [running, most] = [0, 0];
    const pages = Array.from({ length: 6 }, () =>
      pool.use(NEVER, async () => {
        running += 1;
        most = Math.max(most, running);
        await held.work();
        running -= 1;
      }),
    );
    await waitFor(
      () => running,
      (count) => count === 4,
    );
    held.end();
    await Promise.all(pages);
    expect(most).toBe(4);
  });

  test('that does not start is reported once, and tried again after five minutes', async () => {
    let time = 0;
    let launches = 0;
    const launch = () => {
      launches += 1;
      return Promise.reject(new Error('spawn EACCES\nmore'));
    };
    const { pool, notices } = poolOf({ launch, now: () => time });
    const use = () => pool.use(NEVER, () => Promise.resolve('used'));
    expect([await use(), await use(), launches]).toEqual([null, null, 1]);
    time = 299_999;
    expect([await use(), launches]).toEqual([null, 1]);
    time = 300_000;
    expect([await use(), launches]).toEqual([null, 2]);
    expect(notices).toEqual([expect.stringMatching(/\/chromium did not start: Error: spawn EACCES$/)]);
  });

  test('that CHROMIUM_PATH names is not replaced by another one', async () => {
    const installer = { install: () => Promise.resolve(true), close: () => undefined };
    const { pool, notices } = poolOf({ chromiumPath: '/named', find: () => null, installer });
    expect(await pool.use(NEVER, () => Promise.resolve('used'))).toBeNull();
    expect(notices).toEqual([expect.stringContaining('there is no file /named')]);
  });

  test('is installed once if there is none, and used at once after a late end of the installation', async () => {
    let [installs, isInstalled, isClosed] = [0, false, false];
    const held = heldWork();
    const installer = {
      async install(works: () => Promise<boolean>) {
        installs += 1;
        await held.work();
        isInstalled = true;
        return works();
      },
      close: () => void (isClosed = true),
    };
    const find = () => (isInstalled ? '/installed' : null);
    let time = 0;
    const { pool, notices } = poolOf({ find, installer, installWaitMs: 1, now: () => time });
    const use = () => pool.use(NEVER, () => Promise.resolve('used'));
    expect([await use(), installs]).toEqual([null, 1]);
    // The installation still runs at the next attempt.
    time = 300_000;
    expect([await use(), installs]).toEqual([null, 1]);
    held.end();
    expect(await waitFor(use, (used) => used !== null)).toBe('used');
    expect([installs, notices.length]).toEqual([1, 1]);
    await pool.close();
    expect(isClosed).toBe(true);
  });

  test('is installed by the first method whose browser works', async () => {
    const run = (script: string) => [{ command: '/bin/sh', args: ['-c', script] }];
    const install = async (scripts: readonly string[], works: readonly boolean[]) => {
      const answers = [...works];
      const installer = createChromiumInstaller(() => scripts.map(run));
      return [await installer.install(() => Promise.resolve(answers.shift() ?? false)), answers.length];
    };
    expect(await install(['exit 1', 'exit 0', 'exit 0', 'exit 0'], [false, true, true])).toEqual([true, 1]);
    expect(await install(['exit 0'], [false])).toEqual([false, 0]);
    // Secrets of the service are not in the environment of installers.
    process.env['SECRET_OF_TEST'] = 'x';
    expect(await install(['test -z "$SECRET_OF_TEST"'], [true])).toEqual([true, 0]);
    delete process.env['SECRET_OF_TEST'];
  });
});

/** A document that the fake browser shows. */
interface Shown {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly html?: string;
  readonly url?: string;
  readonly finished?: Error | null;
  readonly goto?: () => Promise<unknown>;
}
/** Renders a page in a browser that shows the given document. */
async function render(shown: Shown, { maxPageBytes = 1_000, signal = NEVER } = {}) {
  const closed: string[] = [];
  const opened: Record<string, unknown>[] = [];
  const proxied: ProxyOptions[] = [];
  const response = {
    status: () => shown.status ?? 200,
    allHeaders: async () => shown.headers ?? { 'content-type': 'text/html; charset=utf-8' },
    finished: async () => shown.finished ?? null,
  };
  const page = {
    on: () => page,
    goto: shown.goto ?? (async () => response),
    waitForLoadState: async () => undefined,
    url: () => shown.url ?? 'https://a.example/p',
    content: async () => shown.html ?? '<p>made by script</p>',
  } as unknown as Page;
  const context = { newPage: async () => page, close: async () => void closed.push('context') };
  const newContext = async (options: Record<string, unknown>) => {
    opened.push(options);
    return context;
  };
  const openProxy = async (options: ProxyOptions) => {
    proxied.push(options);
    return { url: 'http://127.0.0.1:1', close: async () => void closed.push('proxy') };
  };
  const egress = { openProxy } as unknown as Egress;
  const settings = webSettings({ maxPageBytes, userAgent: 'Allotrope/test' });
  const rendering = renderPage(
    { egress, settings, now: () => 0 },
    { newContext } as unknown as Browser,
    'https://a.example/p',
    signal,
  );
  const outcome = await rendering.catch((error: unknown) => error);
  return { outcome, closed, opened, proxied };
}

describe('a rendered page', () => {
  test('is the document after its scripts, at its final address, without validators', async () => {
    const headers = { 'content-type': 'text/html', etag: '"1"', 'last-modified': 'Wed, 01 Jan 2025 00:00:00 GMT' };
    const { outcome, closed, opened, proxied } = await render({ headers, url: 'https://a.example/moved#part' });
    expect(outcome).toEqual({
      bytes: Buffer.from('<p>made by script</p>'),
      contentType: 'text/html; charset=utf-8',
      finalUrl: 'https://a.example/moved',
      etag: null,
      lastModified: null,
      fetchedWith: 'browser',
    });
    expect(closed).toEqual(['context', 'proxy']);
    expect(proxied).toEqual([{ maxBytes: 1_000 }]);
    expect(opened).toEqual([
      expect.objectContaining({
        ...{ proxy: { server: 'http://127.0.0.1:1' }, userAgent: 'Allotrope/test' },
        ...{ serviceWorkers: 'block', acceptDownloads: false },
      }),
    ]);
  });

  test('is fetched by plain HTTP if it is not HTML, is truncated, or does not load', async () => {
    const shown: readonly Shown[] = [
      { headers: { 'content-type': 'application/pdf' } },
      { headers: {} },
      { finished: new Error('net::ERR_CONTENT_LENGTH_MISMATCH') },
      { goto: () => Promise.reject(new Error('net::ERR_CONNECTION_REFUSED')) },
      { goto: () => Promise.resolve(null) },
      { url: 'about:blank' },
    ];
    for (const one of shown) {
      const { outcome, closed } = await render(one);
      expect({ one, outcome, closed }).toEqual({ one, outcome: null, closed: ['context', 'proxy'] });
    }
  });

  test('fails with the status of its answer, above the maximum size, and with the reason of an abort', async () => {
    const missing = await render({ status: 404 });
    expect([missing.outcome, missing.closed]).toEqual([
      expect.objectContaining({ kind: 'not_found' }),
      ['context', 'proxy'],
    ]);
    expect((await render({ html: 'x'.repeat(1_001) })).outcome).toMatchObject({ kind: 'too_large' });
    expect((await render({ html: 'x'.repeat(1_000) })).outcome).toMatchObject({ fetchedWith: 'browser' });
    const aborted = await render({}, { signal: AbortSignal.abort(new RangeError('enough')) });
    expect([aborted.outcome, aborted.closed]).toEqual([new RangeError('enough'), ['context', 'proxy']]);
  });
});

const SHELL = '<body><div id="root"></div><script src="/app.js"></script></body>';
const HTML = { 'Content-Type': 'text/html', ETag: '"1"' };
/** Returns a renderer that returns the given pages in order, then null, and the addresses that it rendered. */
function rendererOf(...pages: readonly Partial<FetchedPage>[]) {
  const [left, rendered] = [[...pages], [] as string[]];
  let isClosed = false;
  const loadRenderer = (): Promise<Renderer> =>
    Promise.resolve({
      pool: { use: (_signal, work) => work({} as Browser), close: async () => void (isClosed = true) },
      async renderPage(_renderer, _browser, url) {
        rendered.push(url);
        const page = left.shift();
        const rest = { bytes: Buffer.from('rendered'), contentType: 'text/html', etag: null, lastModified: null };
        return page === undefined ? null : { ...rest, finalUrl: url, fetchedWith: 'browser', ...page };
      },
    });
  return { loadRenderer, rendered, isClosed: () => isClosed };
}

describe('a page', () => {
  test('is rendered if that is requested, else only if its document is an empty shell', async () => {
    const site = await serve((request, response) => {
      response.writeHead(200, HTML).end(request.url === '/shell' ? SHELL : `<p>${'words '.repeat(100)}</p>`);
    });
    const { loadRenderer, rendered, isClosed } = rendererOf({}, {});
    let areSlotsReleased = false;
    const limiter = { enter: async () => () => undefined, close: async () => void (areSlotsReleased = true) };
    const web = source({ loadRenderer, limiter });
    expect((await fetchOne(web, `${site.origin}/text`)).fetchedWith).toBe('http');
    expect((await fetchOne(web, `${site.origin}/text`, { downloadCssAndMedia: true })).fetchedWith).toBe('browser');
    expect(text(await fetchOne(web, `${site.origin}/shell`))).toBe('rendered');
    expect(rendered).toEqual([`${site.origin}/text`, `${site.origin}/shell`]);
    // Without a rendered page, an empty shell is used, without its validators: its scripts may show other data later.
    expect(await fetchOne(web, `${site.origin}/shell`)).toMatchObject({ fetchedWith: 'http', etag: null });
    const tried = rendered.length;
    await fetchOne(web, `${site.origin}/shell`, { downloadCssAndMedia: true });
    expect(rendered).toHaveLength(tried + 1);
    await web.close();
    expect([isClosed(), areSlotsReleased]).toEqual([true, true]);
  });

  test('is not rendered by a service that renders no pages', async () => {
    const site = await serve((_request, response) => void response.writeHead(200, HTML).end(SHELL));
    const { loadRenderer, rendered } = rendererOf({});
    const web = source({ loadRenderer, renders: false });
    expect((await fetchOne(web, `${site.origin}/`, { downloadCssAndMedia: true })).fetchedWith).toBe('http');
    expect(rendered).toEqual([]);
  });

  test('that the browser was led to by a script must be allowed by robots.txt too', async () => {
    const site = await serve((request, response) => {
      if (request.url === '/robots.txt') response.writeHead(200).end('User-agent: *\nDisallow: /private');
      else response.writeHead(200, HTML).end(SHELL);
    });
    const { loadRenderer } = rendererOf({ finalUrl: `${site.origin}/private` }, { finalUrl: `${site.origin}/public` });
    const web = source({ loadRenderer, settings: { obeyRobots: true } });
    const request = { downloadCssAndMedia: true };
    expect((await faultOf(fetchOne(web, `${site.origin}/`, request))).kind).toBe('robots_disallowed');
    expect((await fetchOne(web, `${site.origin}/`, request)).finalUrl).toBe(`${site.origin}/public`);
  });
});
