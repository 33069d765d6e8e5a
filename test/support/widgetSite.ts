/**
 * Serves a page with the published React widget that integrators embed. The widget is installed once and built here.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

import { installedPackages } from './fetchedOnce.js';

const FOLDER = fileURLToPath(new URL('../widget', import.meta.url));
const HTML = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Widget</title></head><body><div id="root"></div><script src="/page.js"></script></body></html>`;
const BRAND =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="4" fill="#5b3cc4"/></svg>';

/** An integrator's site: the page with the widget, and `/token`, from which the page fetches access tokens. */
export interface WidgetSite {
  readonly origin: string;
  close(): Promise<void>;
}

/** @param tokenOf returns the access token of one of the integrator's customers */
export async function startWidgetSite(tokenOf: (customer: string) => Promise<string>): Promise<WidgetSite> {
  const { outputFiles } = await build({
    entryPoints: [path.join(FOLDER, 'page.jsx')],
    nodePaths: [path.join(await installedPackages('widget-', FOLDER, 'the packages of test/widget'), 'node_modules')],
    bundle: true,
    format: 'iife',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    write: false,
    logLevel: 'error',
  });
  const served = new Map([
    ['/', ['text/html', HTML]],
    ['/page.js', ['text/javascript', outputFiles[0]?.text ?? '']],
    ['/brand.svg', ['image/svg+xml', BRAND]],
    ['/favicon.ico', ['image/svg+xml', BRAND]],
  ]);
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://site');
    if (pathname === '/token') {
      tokenOf(searchParams.get('customer') ?? '').then(
        (token) => response.setHeader('content-type', 'application/json').end(JSON.stringify({ access_token: token })),
        () => response.writeHead(502).end(),
      );
      return;
    }
    const [type, body] = served.get(pathname) ?? [];
    if (type === undefined) return void response.writeHead(404).end();
    response.setHeader('content-type', `${type}; charset=utf-8`).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
