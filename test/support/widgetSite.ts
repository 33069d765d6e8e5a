/** The published React widget that integrators embed, on a page of its own origin: installed once, built, served. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

import { withLock } from '../../engines/lock.js';
import { run } from '../../engines/run.js';

const FOLDER = fileURLToPath(new URL('../widget', import.meta.url));
const CACHE = fileURLToPath(new URL('../../.engines', import.meta.url));
const FAMILY = 'widget-';
const MANIFEST = ['package.json', 'package-lock.json'];

const isPresent = (place: string): Promise<boolean> =>
  stat(place).then(
    () => true,
    () => false,
  );

/** Installs the packages of test/widget from its lock file, unless they are installed. @returns their node_modules */
async function ensurePackages(): Promise<string> {
  const lock = await readFile(path.join(FOLDER, 'package-lock.json'));
  const name = FAMILY + createHash('sha256').update(lock).digest('hex').slice(0, 8);
  const modules = path.join(CACHE, name, 'node_modules');
  if (await isPresent(modules)) return modules;
  return withLock(
    path.join(CACHE, FAMILY),
    () => undefined,
    async () => {
      if (await isPresent(modules)) return modules;
      process.stderr.write('Installing the packages of test/widget (once)\n');
      await mkdir(CACHE, { recursive: true });
      // Remove older versions and leftovers of killed runs.
      const outdated = (await readdir(CACHE)).filter((entry) => entry.startsWith(FAMILY));
      await Promise.all(outdated.map((entry) => rm(path.join(CACHE, entry), { recursive: true, force: true })));
      // npm misidentifies packages behind a symbolic link, so use the real path.
      const draft = await mkdtemp(path.join(await realpath(CACHE), `${FAMILY}draft-`));
      for (const file of MANIFEST) await cp(path.join(FOLDER, file), path.join(draft, file));
      // package.json lists the widget's peer dependencies itself, so npm need not install them.
      await run('npm', ['ci', '--prefix', draft, '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund']);
      await rename(draft, path.join(CACHE, name));
      return modules;
    },
  );
}

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
    nodePaths: [await ensurePackages()],
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
