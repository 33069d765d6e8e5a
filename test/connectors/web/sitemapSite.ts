import type { Fault } from '../../../contract/failures.js';
import { type Loopback, serve } from '../../egress/loopback.js';
import { faultOf } from '../../support/faultOf.js';
import { list, source } from './webSource.js';

export const SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';
export const urlset = (...paths: string[]) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<urlset ${SPACE}>${paths.map((path) => `<url><loc>${path}</loc></url>`).join('')}</urlset>`;
export const index = (...paths: string[]) =>
  `<sitemapindex ${SPACE}>${paths.map((path) => `<sitemap><loc>${path}</loc></sitemap>`).join('')}</sitemapindex>`;

export type Body =
  | string
  | Uint8Array
  | { status?: number; headers?: Record<string, string>; body?: string | Uint8Array };

/** Serves the files by path. HOST in a body or header is replaced by the server's own host. */
export async function site(files: Record<string, Body>): Promise<Loopback> {
  const server: Loopback = await serve((request, response) => {
    const file = files[request.url ?? ''];
    const {
      status = file === undefined ? 404 : 200,
      headers = {},
      body = '',
    } = file === undefined ? {} : typeof file === 'string' || file instanceof Uint8Array ? { body: file } : file;
    response.writeHead(
      status,
      Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.replaceAll('HOST', server.host)])),
    );
    response.end(typeof body === 'string' ? body.replaceAll('HOST', server.host) : body);
  });
  return server;
}

/** Returns the paths that /sitemap.xml lists. */
export async function pathsOf(files: Record<string, Body>, settings = {}): Promise<string[]> {
  const server = await site(files);
  const { entries } = await list(source({ settings }), `${server.origin}/sitemap.xml`);
  return entries.map(({ url }) => url.replace(server.origin, ''));
}

/** Returns the Fault of reading /sitemap.xml. */
export async function failure(files: Record<string, Body>, settings = {}): Promise<Fault> {
  const server = await site(files);
  return faultOf(list(source({ settings }), `${server.origin}/sitemap.xml`));
}
