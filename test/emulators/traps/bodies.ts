import { brotliCompressSync, deflateRawSync, gzipSync } from 'node:zlib';

import { answer, html, raw, type Trap } from './trap.js';

/** MAX_PAGE_BYTES as it is by default. */
const LIMIT = 20_000_000;

/** A page of exactly so many bytes, most of them in a comment: what counts is its size, not its text. */
function pageOf(bytes: number): Buffer {
  const [before, after] = [`<html><!--`, `--><p>The text of a page of ${bytes} bytes.</p></html>`];
  return Buffer.from(before + 'x'.repeat(bytes - before.length - after.length) + after);
}

const packed = (name: string, encoding: string, body: Buffer, outcome: Trap['outcome']): Trap => ({
  name,
  page: answer(200, body, { 'content-encoding': encoding }),
  outcome,
});

const bomb = gzipSync(Buffer.alloc(200_000_000, ' '), { level: 9 });
const small = html('Packed as it should be.');

/** Sizes, packings and ends of bodies. */
export const BODY_TRAPS: readonly Trap[] = [
  { name: 'just-20-MB', page: answer(200, pageOf(LIMIT)), outcome: { words: [`a page of ${LIMIT} bytes`] } },
  {
    name: 'just-over-20-MB',
    page: answer(200, pageOf(LIMIT + 1)),
    outcome: { sentence: /larger than the 20,000,000 bytes/ },
  },
  {
    name: 'over-20-MB-without-length',
    page: (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).write(pageOf(LIMIT + 1));
      response.end();
    },
    outcome: { sentence: /larger than the 20,000,000 bytes/, requests: 1 },
  },
  {
    name: 'endless',
    page: (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      const piece = Buffer.alloc(256 * 1024, 'x');
      const more = (): void => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', more);
      more();
    },
    outcome: { sentence: /larger than the 20,000,000 bytes/, requests: 1 },
  },
  {
    name: 'cut-off',
    page: raw('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\n6\r\n<p>hal\r\n'),
    outcome: { sentence: /failed or broke/, requests: 3 },
  },
  {
    name: 'shorter-than-its-length',
    page: raw('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 999\r\n\r\n<p>half'),
    outcome: { sentence: /failed or broke/, requests: 3 },
  },
  {
    name: 'broken-chunks',
    page: raw('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n<p>x'),
    outcome: { sentence: /failed or broke/ },
  },
  packed('gzip', 'gzip', gzipSync(small), { words: ['Packed as it should be.'] }),
  packed('brotli', 'br', brotliCompressSync(small), { words: ['Packed as it should be.'] }),
  packed('bare-deflate', 'deflate', deflateRawSync(small), { words: ['Packed as it should be.'] }),
  packed('packed-twice', 'gzip, gzip', gzipSync(gzipSync(small)), { words: ['Packed as it should be.'] }),
  packed('packed-thrice', 'gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(small))), {
    sentence: /encoding that was not asked for/,
  }),
  packed('gzip-bomb', 'gzip', bomb, { sentence: /larger than the 20,000,000 bytes/ }),
  packed('gzip-bomb-in-gzip', 'gzip, gzip', gzipSync(bomb), {
    sentence: /larger than the 20,000,000 bytes/,
  }),
  packed('says-gzip-is-not', 'gzip', Buffer.from(small), {
    sentence: /compressed answer of .* is damaged/,
    requests: 1,
  }),
  packed('half-a-gzip', 'gzip', gzipSync(small).subarray(0, 60), { sentence: /compressed answer of .* is damaged/ }),
  packed('unknown-encoding', 'zstd', Buffer.from(small), { sentence: /encoding that was not asked for \(zstd\)/ }),
];
