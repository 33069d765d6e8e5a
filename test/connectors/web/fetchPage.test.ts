import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';

import { parseRetryAfter } from '../../../connectors/statusFault.js';
import { serve } from '../../egress/loopback.js';
import { faultOf } from '../../support/faultOf.js';
import { closeSources, fetchOne, source, text } from './webSource.js';

afterEach(closeSources);

const answering = (status: number, headers: Record<string, string> = {}, body: string | Buffer = 'body') =>
  serve((_, response) => response.writeHead(status, headers).end(body));

test('returns bytes, type, validators and the final URL after redirects', async () => {
  const server = await serve((request, response) => {
    if (request.url === '/from') response.writeHead(301, { Location: '/to?x=1#part' }).end();
    else
      response
        .writeHead(200, {
          'Content-Type': 'text/html; charset=ISO-8859-1',
          ETag: '"e"',
          'Last-Modified': 'Wed, 01 May 2024 10:00:00 GMT',
          'Content-Encoding': 'gzip',
        })
        .end(gzipSync('<p>hi'));
  });
  const page = await fetchOne(source(), `${server.origin}/from#top`);
  expect({ ...page, bytes: text(page) }).toEqual({
    bytes: '<p>hi',
    contentType: 'text/html; charset=ISO-8859-1',
    finalUrl: `${server.origin}/to?x=1`,
    etag: '"e"',
    lastModified: 'Wed, 01 May 2024 10:00:00 GMT',
    fetchedWith: 'http',
  });
  expect(page.bytes).toBeInstanceOf(Uint8Array);
});

describe('statuses', () => {
  test.each<[number, Record<string, string>, string, boolean, number | null]>([
    [404, {}, 'not_found', false, null],
    [410, {}, 'gone', false, null],
    [401, {}, 'access_denied', false, null],
    [403, {}, 'access_denied', false, null],
    [451, {}, 'access_denied', false, null],
    [400, {}, 'bad_response', false, null],
    [418, {}, 'bad_response', false, null],
    [304, {}, 'bad_response', false, null],
    [302, {}, 'bad_response', false, null],
    [429, {}, 'rate_limited', true, null],
    [429, { 'Retry-After': '30' }, 'rate_limited', true, 30_000],
    [503, { 'Retry-After': 'Wed, 01 May 2024 10:01:00 GMT' }, 'rate_limited', true, 60_000],
    [503, {}, 'server_error', true, null],
    [503, { 'Retry-After': 'soon' }, 'server_error', true, null],
    [500, { 'Retry-After': '30' }, 'server_error', true, null],
    [502, {}, 'server_error', true, null],
    [599, {}, 'server_error', true, null],
  ])('%i with the headers %p is reported as %s', async (status, headers, kind, retryable, retryAfterMs) => {
    const server = await answering(status, headers);
    const fault = await faultOf(
      fetchOne(source({ now: () => Date.parse('2024-05-01T10:00:00Z') }), `${server.origin}/p?q=1`),
    );
    expect([fault.kind, fault.retryable, fault.retryAfterMs]).toEqual([kind, retryable, retryAfterMs]);
    expect(fault.message).toContain(`The page ${server.origin}/p?q=1 `);
    expect(fault.message).toContain(String(status));
    expect(fault.message).toMatch(/(Check|Remove|Make|Exclude|Try|Open)/);
  });

  test('404 and 410 of a file that a caller names do not mention a sitemap', async () => {
    for (const status of [404, 410]) {
      const server = await answering(status);
      const signal = new AbortController().signal;
      const { message } = await faultOf(source().download(`${server.origin}/report.pdf`, signal, async () => null));
      expect(message).toContain(`The file ${server.origin}/report.pdf `);
      expect(message).not.toContain('sitemap');
    }
  });

  test.each([200, 201, 203])('%i returns a page', async (status) => {
    const server = await answering(status, { 'Content-Type': 'text/plain' });
    expect(text(await fetchOne(source(), server.origin))).toBe('body');
  });

  test('404 does not read the whole body', async () => {
    const server = await serve((_, response) => {
      response.writeHead(404);
      const more = () => {
        while (response.write('x'.repeat(10_000)));
      };
      response.on('drain', more).on('error', () => undefined);
      more();
    });
    await faultOf(fetchOne(source(), server.origin), 'not_found');
  });

  test.each([
    ['5', 5000],
    ['0', 0],
    [' 7 ', 7000],
    ['-1', null],
    ['1.5', null],
    ['2 weeks', null],
    ['', null],
    [undefined, null],
    ['Thu, 01 Jan 1970 00:00:01 GMT', 1000],
    ['Thu, 01 Jan 1969 00:00:01 GMT', 0],
  ] as const)('Retry-After %p is parsed to milliseconds', (header, expected) => {
    expect(parseRetryAfter(header, 0)).toBe(expected);
  });
});

describe('types', () => {
  test.each([
    'text/html',
    'TEXT/HTML;charset=utf-8',
    'application/xhtml+xml',
    'text/plain',
    'text/markdown; variant=GFM',
  ])('%s is accepted', async (type) => {
    const server = await answering(200, { 'Content-Type': type });
    expect((await fetchOne(source(), server.origin)).contentType).toBe(type);
  });

  test.each([
    'image/png',
    'application/pdf',
    'application/json',
    'video/mp4',
    'application/octet-stream',
    'text/css',
    'application/xml',
  ])('%s is rejected by its header, before the body is read', async (type) => {
    const server = await serve((_, response) => {
      response.writeHead(200, { 'Content-Type': type }).write('a body without end');
    });
    const fault = await faultOf(fetchOne(source(), server.origin), 'unsupported_type');
    expect(fault.message).toContain(type);
    expect(fault.message).toContain(server.origin);
    // The page may come from a request or a link: the message must not assume a sitemap.
    expect(fault.message).not.toContain('sitemap');
  });

  test('a file that can be uploaded is rejected with the operation that ingests it', async () => {
    const messageOf = async (type: string): Promise<string> =>
      (await faultOf(fetchOne(source(), (await answering(200, { 'Content-Type': type })).origin), 'unsupported_type'))
        .message;
    expect(await messageOf('application/pdf')).toMatch(/as a file, with POST \/upload_file_from_url\.$/);
    expect(await messageOf('text/css')).toMatch(/Exclude it from the scrape\.$/);
  });

  test.each<[string, string | Buffer, string]>([
    ['an HTML document', '<!doctype html><p>x', 'text/html'],
    ['an HTML document after a byte order mark and blanks', '\ufeff\n  <html lang="en">', 'text/html'],
    ['a comment', '<!-- made by hand --><p>', 'text/html'],
    ['an HTML document in UTF-16', Buffer.from('\ufeff<!DOCTYPE html><p>', 'utf16le'), 'text/html'],
    ['plain text', 'Hello <world>', 'text/plain'],
    ['an empty body', '', 'text/plain'],
  ])('of %s without a header are detected', async (_name, body, type) => {
    const server = await answering(200, {}, body);
    expect((await fetchOne(source(), server.origin)).contentType).toBe(type);
  });

  test.each<[string, Buffer]>([
    ['a PDF', Buffer.from('%PDF-1.7 ...')],
    ['a PNG', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d])],
    ['a zip', Buffer.from('PK\x03\x04....')],
    ['binary data', Buffer.from([1, 2, 0, 4])],
  ])('of %s without a header are rejected', async (_name, body) => {
    await faultOf(fetchOne(source(), (await answering(200, {}, body)).origin), 'unsupported_type');
  });
});

test.each(['ftp://site.example/', 'http://u:p@site.example/', 'nothing', ''])('rejects the address %p', async (url) => {
  const fault = await faultOf(fetchOne(source(), url), 'address_refused');
  expect(fault.message).toContain('http://');
});

test('rejects private addresses, also after a redirect', async () => {
  const server = await answering(302, { Location: 'http://169.254.169.254/latest/' });
  await faultOf(fetchOne(source({ allowed: [] }), server.origin), 'address_refused');
  await faultOf(fetchOne(source({ allowed: [server.host] }), server.origin), 'address_refused');
});

test('limits size and time', async () => {
  const large = await answering(200, { 'Content-Type': 'text/html' }, 'x'.repeat(20_000));
  await faultOf(fetchOne(source({ settings: { maxPageBytes: 10_000 } }), large.origin), 'too_large');
  const slow = await serve(() => undefined);
  await faultOf(fetchOne(source({ settings: { pageTimeoutMs: 200 } }), slow.origin), 'timed_out');
});

test('rejects with the reason of an abort', async () => {
  const stop = new AbortController();
  const reason = new RangeError('enough');
  const server = await serve(() => {
    stop.abort(reason);
  });
  await expect(fetchOne(source(), server.origin, { signal: stop.signal })).rejects.toBe(reason);
  await expect(fetchOne(source(), server.origin, { signal: stop.signal })).rejects.toBe(reason);
});
