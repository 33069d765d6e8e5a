import { createSocket } from 'node:dgram';
import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import { findChromium } from '../../../connectors/web/findChromium.js';
import { serve } from '../../egress/loopback.js';
import { faultOf } from '../../support/faultOf.js';
import {
  closeSources,
  fetchOne,
  openSource,
  source,
  text,
  type SourceOptions,
} from '../../connectors/web/webSource.js';
import { thoroughly } from '../../support/thorough.js';

afterEach(closeSources);

const HTML = { 'Content-Type': 'text/html; charset=utf-8' };
const html = (pages: Record<string, string>) =>
  serve((request, response) => {
    const page = pages[request.url ?? ''];
    response
      .writeHead(
        page === undefined ? 404 : 200,
        request.url?.endsWith('.js') ? { 'Content-Type': 'text/javascript' } : HTML,
      )
      .end(page ?? '');
  });
const render = (web: ReturnType<typeof source>, url: string, signal?: AbortSignal) =>
  fetchOne(web, url, { downloadCssAndMedia: true, ...(signal ? { signal } : {}) });
const failOnNotice = (notice: string): never => {
  throw new Error(notice);
};
/** Returns a web source that fails the test with any notice, such as a missing browser. */
const browsing = (options: SourceOptions) => source({ onNotice: failOnNotice, ...options });
// Tests share these sources, because the start of a browser takes a second of processor time.
const shared = openSource({ onNotice: failOnNotice });
const sharedWithByteLimit = openSource({ onNotice: failOnNotice, settings: { maxPageBytes: 100_000 } });
afterAll(() => Promise.all([shared.close(), sharedWithByteLimit.close()]));

beforeAll(() => {
  if (findChromium(null) === null)
    throw new Error('These tests need Chromium: apt-get install -y chromium-headless-shell');
});

describe('a rendered page', () => {
  test('has its final address and the content that its scripts create, without the validators of the original document', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/from') response.writeHead(302, { Location: '/page' }).end();
      else if (request.url === '/page')
        response
          .writeHead(200, { ...HTML, ETag: '"e"', 'Last-Modified': 'Wed, 01 May 2024 10:00:00 GMT' })
          .end('<main id="m">loading</main><script src="/fill.js"></script><img src="/i.png">');
      else if (request.url === '/fill.js')
        response
          .writeHead(200, { 'Content-Type': 'text/javascript' })
          .end('fetch("/data").then((r) => r.text()).then((t) => { m.textContent = t; })');
      else if (request.url === '/data') response.writeHead(200).end('made by script: grün');
      else response.writeHead(404).end();
    });
    const page = await render(shared.web, `${server.origin}/from`);
    expect(text(page)).toContain('made by script: grün');
    expect({ ...page, bytes: null }).toEqual({
      bytes: null,
      contentType: 'text/html; charset=utf-8',
      finalUrl: `${server.origin}/page`,
      etag: null,
      lastModified: null,
      fetchedWith: 'browser',
    });
    expect(server.requests.map(({ url }) => url)).toContain('/i.png');
    expect(server.requests[0]?.headers['user-agent']).toBe('Allotrope/test');
  });

  test('is rendered only if requested; otherwise the page is fetched by plain HTTP', async () => {
    const server = await html({ '/': '<p>plain<script>document.body.textContent = "script"</script>' });
    const page = await fetchOne(shared.web, server.origin);
    expect([page.fetchedWith, text(page)]).toEqual(['http', expect.stringContaining('plain')]);
  });

  test.each<[number, string]>([
    [404, 'not_found'],
    [403, 'access_denied'],
    [429, 'rate_limited'],
    [500, 'server_error'],
  ])('with status %i fails as over plain HTTP', async (status, kind) => {
    const server = await serve((_, response) =>
      response.writeHead(status, { ...HTML, 'Retry-After': '9' }).end('<p>no'),
    );
    const fault = await faultOf(render(shared.web, server.origin));
    expect([fault.kind, fault.retryAfterMs]).toEqual([kind, status === 429 ? 9000 : null]);
  });

  test('that is not HTML is fetched by plain HTTP', async () => {
    const server = await serve((request, response) =>
      response.writeHead(200, { 'Content-Type': request.url === '/t' ? 'text/plain' : 'application/pdf' }).end('words'),
    );
    const { web } = shared;
    expect(await render(web, `${server.origin}/t`)).toMatchObject({ fetchedWith: 'http', contentType: 'text/plain' });
    await faultOf(render(web, `${server.origin}/p`), 'unsupported_type');
  });

  test('that is unreachable fails with the same reason as plain HTTP', async () => {
    const server = await html({});
    await server.close();
    await faultOf(render(shared.web, server.origin), 'unreachable');
    await faultOf(render(shared.web, 'http://10.0.0.1/'), 'address_refused');
  });

  test('that redirects to a page forbidden by robots.txt is refused', async () => {
    const server = await html({
      '/robots.txt': 'User-agent: *\nDisallow: /closed',
      '/': '<script>location.replace("/closed")</script>',
      '/closed': '<p>closed',
    });
    await faultOf(render(browsing({ settings: { obeyRobots: true } }), server.origin), 'robots_disallowed');
  });
});

describe('sub-requests of a rendered page', () => {
  test('never reach a forbidden address: no image, frame, script, redirect, fetch, websocket or form', async () => {
    const secret = await serve((_, response) =>
      response.writeHead(200, { 'Access-Control-Allow-Origin': '*', ...HTML }).end('secret'),
    );
    const { port } = secret;
    const server = await serve((request, response) => {
      if (request.url?.startsWith('/away')) response.writeHead(302, { Location: `${secret.origin}/redirected` }).end();
      else if (request.url === '/') {
        response.writeHead(200, HTML).end(`<p id=out>start</p>
          <link rel="dns-prefetch" href="${secret.origin}"><link rel="preconnect" href="${secret.origin}"><link rel="prefetch" href="${secret.origin}/prefetch">
          <img src="${secret.origin}/image"><img src="/away"><img src="http://localhost:${String(port)}/name"><img src="http://[::1]:${String(port)}/v6"><img src="http://rebind.example:${String(port)}/">
          <iframe src="${secret.origin}/frame"></iframe><iframe src="/away2"></iframe><script src="${secret.origin}/script"></script>
          <form id=f target=x action="${secret.origin}/form" method=post></form>
          <script>
            f.submit(); window.open('${secret.origin}/popup');
            new WebSocket('ws://127.0.0.1:${String(port)}/socket'); new EventSource('${secret.origin}/events'); navigator.sendBeacon('${secret.origin}/beacon', 'x');
            Promise.allSettled([fetch('${secret.origin}/fetch').then((r) => r.text()), fetch('/away3').then((r) => r.text())]).then((all) => { out.textContent = 'tried ' + JSON.stringify(all.map((a) => a.status + (a.value ?? ''))); });
          </script>`);
      } else response.writeHead(404).end();
    });
    const page = await render(
      browsing({ allowed: [server.host], lookup: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]) }),
      server.origin,
    );
    expect(page.fetchedWith).toBe('browser');
    expect(text(page)).toContain('tried ["rejected","rejected"]');
    expect(server.requests.map(({ url }) => url)).toEqual(expect.arrayContaining(['/away', '/away2', '/away3']));
    expect([secret.requests, secret.sockets.size]).toEqual([[], 0]);
  });

  test('install no service worker: its script is not even fetched', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/')
        response.writeHead(200, HTML).end(`<p id=out>start</p><script>
          navigator.serviceWorker.register('/worker.js');
          fetch('/wait').then(() => { out.textContent = 'waited'; });
        </script>`);
      else if (request.url === '/wait') setTimeout(() => response.end(), 500);
      else response.writeHead(200, { 'content-type': 'text/javascript' }).end('fetch("/from-worker")');
    });
    const page = await render(shared.web, server.origin);
    expect(text(page)).toContain('waited');
    expect(server.requests.map(({ url }) => url)).not.toContain('/worker.js');
  });

  test('send no UDP packets', async () => {
    const datagrams: Buffer[] = [];
    const udp = createSocket('udp4', (message) => datagrams.push(message));
    await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve));
    const stun = `stun:127.0.0.1:${String((udp.address() as AddressInfo).port)}`;
    const server = await html({
      '/': `<p id=out></p><script>const c = new RTCPeerConnection({ iceServers: [{ urls: '${stun}' }] }); c.createDataChannel('x');
        c.onicegatheringstatechange = () => { out.textContent += c.iceGatheringState; }; c.createOffer().then((o) => c.setLocalDescription(o));
        const end = Date.now() + 1500; (function tick() { if (Date.now() < end) fetch('/wait').finally(() => setTimeout(tick, 200)); })();</script>`,
    });
    expect((await render(shared.web, server.origin)).fetchedWith).toBe('browser');
    udp.close();
    expect(datagrams).toEqual([]);
  });

  test('stop at the byte limit; the document is kept', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/')
        response
          .writeHead(200, HTML)
          .end(`<p>words</p>${Array.from({ length: 20 }, (_, n) => `<img src="/${String(n)}.png">`).join('')}`);
      else {
        const more = () => {
          while (response.write('x'.repeat(50_000)));
        };
        response
          .writeHead(200, { 'Content-Type': 'image/png' })
          .on('drain', more)
          .on('error', () => undefined);
        more();
      }
    });
    const page = await render(sharedWithByteLimit.web, server.origin);
    expect([page.fetchedWith, text(page)]).toEqual(['browser', expect.stringContaining('words')]);
    // The proxy closes all connections at the limit, so the images fill the buffers of one or two connections, of about
    // 4 MB each. Without the limit, each of the 20 images fills its own.
    expect([...server.sockets].reduce((sum, { bytesWritten }) => sum + bytesWritten, 0)).toBeLessThan(30_000_000);
  });
});

describe('limits', () => {
  test('refuses a document above the byte limit instead of storing a part of it', async () => {
    const server = await html({
      '/': `<p>${'x'.repeat(300_000)}`,
      '/grows': '<script>document.write("x".repeat(300000))</script>',
    });
    const { web } = sharedWithByteLimit;
    await faultOf(render(web, server.origin), 'too_large');
    await faultOf(render(web, `${server.origin}/grows`), 'too_large');
  });

  test('ends an endless script at the page timeout, and renders the next page', async () => {
    const server = await html({ '/': '<p>x</p><script>for (;;);</script>', '/next': '<p>next' });
    const web = browsing({ settings: { pageTimeoutMs: 3000 } });
    await faultOf(render(web, server.origin), 'timed_out');
    expect((await render(web, `${server.origin}/next`)).fetchedWith).toBe('browser');
  });

  thoroughly('ends a script that loops after the document has loaded', async () => {
    const server = await html({ '/': '<p>x</p><script>setTimeout(() => { for (;;); }, 100)</script>' });
    await faultOf(render(browsing({ settings: { pageTimeoutMs: 3000 } }), server.origin), 'timed_out');
  });

  thoroughly('reads a page that never becomes idle', async () => {
    const server = await html({
      '/': '<p id=p></p><script>setInterval(() => { p.textContent = "alive"; fetch("/x"); }, 50)</script>',
    });
    expect(text(await render(shared.web, server.origin))).toContain('alive');
  });

  test('rejects with the reason of the abort', async () => {
    const stop = new AbortController();
    const reason = new RangeError('enough');
    const server = await serve(() => {
      stop.abort(reason);
    });
    await expect(render(shared.web, server.origin, stop.signal)).rejects.toBe(reason);
  });
});

thoroughly('renders all concurrent pages although the browser restarts after its maximum of pages', async () => {
  const server = await html({ '/': '<p id=p></p><script>p.textContent = "made by script"</script>' });
  const web = browsing({ settings: { browserMaxPages: 2 } });
  const pages = await Promise.all(Array.from({ length: 7 }, () => render(web, server.origin)));
  expect(pages.map(({ fetchedWith }) => fetchedWith)).toEqual(Array(7).fill('browser'));
});

test('isolates cookies and storage between pages', async () => {
  const server = await html({
    '/': '<p id=p></p><script>p.textContent = "seen " + document.cookie + localStorage.getItem("k"); document.cookie = "c=1"; localStorage.setItem("k", "v")</script>',
  });
  const { web } = shared;
  await render(web, server.origin);
  expect(text(await render(web, server.origin))).toContain('seen null');
});

describe('without a browser', () => {
  test('fetches all pages by plain HTTP, and emits a single notice that names CHROMIUM_PATH', async () => {
    const server = await html({ '/': '<p>plain' });
    const notices: string[] = [];
    const web = source({ settings: { chromiumPath: '/nowhere/chromium' }, onNotice: (notice) => notices.push(notice) });
    const pages = await Promise.all([render(web, server.origin), render(web, server.origin)]);
    expect([...pages, await render(web, server.origin)].map(({ fetchedWith }) => fetchedWith)).toEqual([
      'http',
      'http',
      'http',
    ]);
    expect(notices).toEqual([expect.stringContaining('CHROMIUM_PATH')]);
  });

  test('fetches all pages by plain HTTP, and emits a single notice, also if the browser does not start', async () => {
    const file = path.join(await mkdtemp(path.join(tmpdir(), 'chromium-')), 'chromium');
    await writeFile(file, '#!/bin/sh\nexit 3\n');
    await chmod(file, 0o755);
    const server = await html({ '/': '<p>plain' });
    const notices: string[] = [];
    const web = source({ settings: { chromiumPath: file }, onNotice: (notice) => notices.push(notice) });
    expect((await render(web, server.origin)).fetchedWith).toBe('http');
    expect((await render(web, server.origin)).fetchedWith).toBe('http');
    expect(notices).toEqual([expect.stringContaining(file)]);
  });
});
