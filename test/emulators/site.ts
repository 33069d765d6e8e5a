import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** The answer of a path. A function can keep state between requests. */
export type Page =
  | string
  | { status?: number; type?: string; headers?: Record<string, string>; body?: string | Buffer; delayMs?: number }
  | ((request: IncomingMessage, response: ServerResponse) => void);

export interface Site {
  readonly origin: string;
  readonly host: string;
  /** All requested paths in order, including robots.txt. */
  readonly requests: string[];
  /** Answers by path with query; tests may change them while the site runs. */
  readonly pages: Map<string, Page>;
  /** Returns the address of a path. */
  url(path: string): string;
  close(): Promise<void>;
}

/** Starts a web site on loopback with a request log. Unknown paths answer 404. */
export async function startSite(pages: Record<string, Page> = {}): Promise<Site> {
  const pagesByPath = new Map(Object.entries(pages));
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    requests.push(path);
    const page = pagesByPath.get(path);
    if (page === undefined)
      return void response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>');
    if (typeof page === 'function') return page(request, response);
    const {
      status = 200,
      type,
      headers = {},
      body = '',
      delayMs = 0,
    } = typeof page === 'string' ? { body: page } : page;
    const defaultType = path.endsWith('.xml')
      ? 'application/xml'
      : path.endsWith('.txt')
        ? 'text/plain'
        : 'text/html; charset=utf-8';
    setTimeout(
      () => response.writeHead(status, { 'content-type': type ?? defaultType, ...headers }).end(body),
      delayMs,
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const host = `127.0.0.1:${port}`;
  return {
    origin: `http://${host}`,
    host,
    requests,
    pages: pagesByPath,
    url: (path) => `http://${host}${path}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Returns a sitemap of the given paths or addresses. */
export function sitemapOf(origin: string, paths: readonly string[]): string {
  const entries = paths.map((path) => `<url><loc>${new URL(path, origin).href.replaceAll('&', '&amp;')}</loc></url>`);
  return `<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries.join('')}</urlset>`;
}

const TOPICS = [
  'orchards',
  'lighthouses',
  'printing presses',
  'glaciers',
  'violins',
  'canals',
  'beekeeping',
  'telescopes',
  'pottery',
  'railways',
];

/**
 * Returns a page of a few hundred words about one topic, with navigation, style and footer. The same number gives the
 * same page.
 */
export function samplePage(number: number, paragraphs = 6): string {
  const topic = TOPICS[number % TOPICS.length] ?? 'things';
  const sentences = (paragraph: number): string =>
    Array.from(
      { length: 5 },
      (_, sentence) =>
        `Fact ${number}.${paragraph}.${sentence} about ${topic}: the ${topic} of district ${number} were first described in year ${1700 + ((number * 7 + paragraph * 3 + sentence) % 300)} by an observer who counted them with care.`,
    ).join(' ');
  const body = Array.from(
    { length: paragraphs },
    (_, paragraph) => `<h2>Part ${paragraph}</h2><p>${sentences(paragraph)}</p>`,
  ).join('\n');
  return `<!doctype html><html lang="en"><head><title>Page ${number} on ${topic}</title><style>body{color:red}</style></head>
<body><nav><a href="/">Home</a> <a href="/about">About us</a></nav><main><h1>Page ${number} on ${topic}</h1>${body}</main><footer>All rights reserved</footer></body></html>`;
}

/** Starts a site of `count` sample pages under /pages/ with its sitemap at /sitemap.xml. */
export async function startSampleSite(count: number, paragraphs?: number): Promise<Site> {
  const site = await startSite();
  const paths = Array.from({ length: count }, (_, number) => `/pages/${number}.html`);
  paths.forEach((path, number) => site.pages.set(path, samplePage(number, paragraphs)));
  site.pages.set('/sitemap.xml', sitemapOf(site.origin, paths));
  return site;
}
