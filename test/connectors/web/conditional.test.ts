import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { WebSource } from '../../../connectors/types.js';
import { startSite, type Site } from '../../emulators/site.js';
import { closeSources, source } from './webSource.js';

let site: Site;
let web: WebSource;
const seen: (string | undefined)[] = [];

beforeAll(async () => {
  site = await startSite();
  site.pages.set('/a', (request, response) => {
    seen.push(request.headers['if-none-match'], request.headers['if-modified-since']);
    if (request.headers['if-none-match'] === '"v1"') response.writeHead(304, { etag: '"v1"' }).end();
    else
      response
        .writeHead(200, { 'content-type': 'text/html', etag: '"v1"', 'last-modified': 'Sat, 01 Nov 2025 00:00:00 GMT' })
        .end('<p>one</p>');
  });
  site.pages.set('/always304', { status: 304 });
  web = source();
});
afterAll(async () => {
  await closeSources();
  await site.close();
});

const signal = new AbortController().signal;
const get = (path: string, validators: { etag: string | null; lastModified: string | null } | null) =>
  web.fetchPage({
    url: site.url(path),
    downloadCssAndMedia: false,
    usePremiumProxies: false,
    known: validators,
    signal,
  });

test('sends the validators of the stored copy, and returns null if the page is unchanged', async () => {
  const first = await get('/a', null);
  expect(first).toMatchObject({ etag: '"v1"', lastModified: 'Sat, 01 Nov 2025 00:00:00 GMT' });
  expect(await get('/a', { etag: first?.etag ?? null, lastModified: first?.lastModified ?? null })).toBeNull();
  expect(seen).toEqual([undefined, undefined, '"v1"', 'Sat, 01 Nov 2025 00:00:00 GMT']);
  expect(await get('/a', { etag: '"v0"', lastModified: null })).toMatchObject({ etag: '"v1"' });
});

test('reports a 304 to an unconditional request as a fault', async () => {
  await expect(get('/always304', null)).rejects.toMatchObject({ name: 'Fault' });
});
