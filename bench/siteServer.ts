/** The generated site, in a separate process so that no measurement includes serving it. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { makePage } from './pages.js';
import type { SiteCounts } from './site.js';

/** Number of distinct pages. A longer sitemap repeats them under other addresses. */
const DISTINCT = 1_000;
const MODIFIED = new Date('2024-03-01T09:00:00Z').toUTCString();

const bodies = Array.from({ length: DISTINCT }, (_, number) => Buffer.from(makePage(number)));
const counts: { -readonly [Key in keyof SiteCounts]: number } = { full: 0, notModified: 0 };

function sendPage(number: number, request: IncomingMessage, response: ServerResponse): void {
  const body = bodies[number % DISTINCT];
  const etag = `"page-${number}"`;
  const headers = { etag, 'last-modified': MODIFIED, 'cache-control': 'max-age=0' };
  const { 'if-none-match': noneMatch, 'if-modified-since': since } = request.headers;
  if (noneMatch === undefined ? since === MODIFIED : noneMatch === etag) {
    counts.notModified += 1;
    response.writeHead(304, headers).end();
    return;
  }
  counts.full += 1;
  response
    .writeHead(200, { ...headers, 'content-type': 'text/html; charset=utf-8', 'content-length': body?.length })
    .end(body);
}

function sitemap(origin: string, from: number, count: number): string {
  const entry = (_: unknown, index: number): string =>
    `<url><loc>${origin}/pages/${from + index}.html</loc><lastmod>2024-03-01</lastmod></url>\n`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${Array.from({ length: count }, entry).join('')}</urlset>`;
}

const server = createServer((request, response) => {
  const path = request.url ?? '/';
  const page = /^\/pages\/(\d+)\.html$/.exec(path);
  if (page) {
    sendPage(Number(page[1]), request, response);
    return;
  }
  const listed = /^\/from\/(\d+)\/count\/(\d+)\/sitemap\.xml$/.exec(path);
  if (listed) {
    response.writeHead(200, { 'content-type': 'application/xml' });
    response.end(sitemap(`http://${request.headers.host ?? ''}`, Number(listed[1]), Number(listed[2])));
    return;
  }
  response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>');
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.on('message', () => process.send?.({ ...counts }));
// End with the bench, even if it is killed.
process.once('disconnect', () => process.exit(0));
process.send?.({ port: (server.address() as AddressInfo).port });
