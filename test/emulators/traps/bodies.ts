import { brotliCompressSync, deflateRawSync, gzipSync } from 'node:zlib';

import { answer, html, raw, type Trap } from './trap.js';

/** MAX_PAGE_BYTES for a service that reads these traps: above the sizes of all other traps. */
export const MAX_PAGE_BYTES = 5_000_000;

/** Returns a page of exactly this size. Most of it is a comment, because the limit counts bytes, not text. */
function pageOf(bytes: number): Buffer {
  const [before, after] = [`<html><!--`, `--><p>The text of a page of ${bytes} bytes.</p></html>`];
  return Buffer.from(before + 'x'.repeat(bytes - before.length - after.length) + after);
}

const encoded = (name: string, encoding: string, body: Buffer, outcome: Trap['outcome']): Trap => ({
  name,
  page: answer(200, body, { 'content-encoding': encoding }),
  outcome,
});

const bomb = gzipSync(Buffer.alloc(8_000_000, ' '), { level: 9 });
const small = html('The encoding is valid.');

/** Bodies of extreme size, in valid and invalid encodings, and incomplete ones. */
export const BODY_TRAPS: readonly Trap[] = [
  {
    name: 'just-5-MB',
    page: answer(200, pageOf(MAX_PAGE_BYTES)),
    outcome: { words: [`a page of ${MAX_PAGE_BYTES} bytes`] },
  },
  {
    name: 'just-over-5-MB',
    page: answer(200, pageOf(MAX_PAGE_BYTES + 1)),
    outcome: { sentence: /larger than the 5,000,000 bytes/ },
  },
  {
    name: 'over-5-MB-without-length',
    page: (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).write(pageOf(MAX_PAGE_BYTES + 1));
      response.end();
    },
    outcome: { sentence: /larger than the 5,000,000 bytes/, requests: 1 },
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
    outcome: { sentence: /larger than the 5,000,000 bytes/, requests: 1 },
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
  encoded('gzip', 'gzip', gzipSync(small), { words: ['The encoding is valid.'] }),
  encoded('brotli', 'br', brotliCompressSync(small), { words: ['The encoding is valid.'] }),
  encoded('bare-deflate', 'deflate', deflateRawSync(small), { words: ['The encoding is valid.'] }),
  encoded('gzip-twice', 'gzip, gzip', gzipSync(gzipSync(small)), { words: ['The encoding is valid.'] }),
  encoded('gzip-thrice', 'gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(small))), {
    sentence: /encoding that was not requested/,
  }),
  encoded('gzip-bomb', 'gzip', bomb, { sentence: /larger than the 5,000,000 bytes/ }),
  encoded('gzip-bomb-in-gzip', 'gzip, gzip', gzipSync(bomb), {
    sentence: /larger than the 5,000,000 bytes/,
  }),
  encoded('declared-gzip-is-plain', 'gzip', Buffer.from(small), {
    sentence: /compressed answer of .* is damaged/,
    requests: 1,
  }),
  encoded('half-a-gzip', 'gzip', gzipSync(small).subarray(0, 60), { sentence: /compressed answer of .* is damaged/ }),
  encoded('unknown-encoding', 'zstd', Buffer.from(small), { sentence: /encoding that was not requested \(zstd\)/ }),
];
