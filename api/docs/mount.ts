import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import type { Express, Request, Response } from 'express';

import { openApiDocument } from '../openapi/document.js';
import { type Compressed, compressed, sendCompressed } from './compressed.js';
import { DOCS_SCRIPT, docsPage } from './page.js';

/** Written by `npm run build`. */
const SCALAR = new URL('scalar.js.gz', import.meta.url);

/**
 * Returns the Content Security Policy of the page. The page renders texts of our schemas, so only its own scripts, and
 * the styles that they add, are allowed. The page may call only this server.
 */
const policy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src-elem 'nonce-${nonce}'`,
    // Scalar sets colours and sizes as CSS variables in style attributes.
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const json = (): Compressed => compressed('application/json', gzipSync(JSON.stringify(openApiDocument())));
const scalar = async (): Promise<Compressed> => compressed('text/javascript', await readFile(SCALAR));

/** Serves /openapi.json, generated from the validation schemas, and /docs, which shows it. */
export function mountDocs(app: Express): void {
  // Created at the first request, so that they do not delay the start of the service.
  let document: Compressed | undefined;
  let script: Compressed | undefined;
  app.get('/openapi.json', (request, response) => {
    document ??= json();
    return sendCompressed(request, response, document);
  });
  app.get('/docs/scalar.js', async (request, response) => {
    script ??= await scalar();
    return sendCompressed(request, response, script);
  });
  app.get('/docs/page.js', (_request, response) => {
    response.set('cache-control', 'no-cache').type('text/javascript').send(DOCS_SCRIPT);
  });
  app.get('/docs', showPage);
}

function showPage({ path }: Request, response: Response): void {
  // Relative, because a proxy may serve the API below a path.
  if (!path.endsWith('/')) {
    response.status(302).set('location', 'docs/').end();
    return;
  }
  const nonce = randomBytes(16).toString('base64');
  response
    .set({
      'content-security-policy': policy(nonce),
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
    })
    .type('text/html')
    .send(docsPage(nonce));
}
