import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import express, { type Express } from 'express';

import { openApiDocument } from './openapi/document.js';

const swaggerDir = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

/**
 * Content Security Policy for Swagger UI: it loads scripts and styles from its own folder, sets inline styles, and
 * calls this API from "Try it out". It renders texts of our schemas, so nothing else may run.
 */
const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
};

/** Serves /openapi.json, generated from the validation schemas, and /docs, which shows it. */
export function mountDocs(app: Express): void {
  // Made at the first request, so that the service starts no later for it, and kept as bytes.
  let document: Buffer | undefined;
  app.use('/docs', (_request, response, next) => {
    response.set(PAGE_HEADERS);
    // express.static serves the files of the package with cache validation.
    response.removeHeader('cache-control');
    next();
  });
  app.get('/openapi.json', (_request, response) => {
    document ??= Buffer.from(JSON.stringify(openApiDocument()));
    response.type('application/json').send(document);
  });
  app.get('/docs/swagger-initializer.js', (_request, response) => {
    const initializer = readFileSync(path.join(swaggerDir, 'swagger-initializer.js'), 'utf8');
    // validatorUrl: null prevents the page on a public host from sending the document to validator.swagger.io.
    const ours = initializer.replace(/url: "[^"]*"/, 'url: "/openapi.json",\n    validatorUrl: null');
    response.type('text/javascript').send(ours);
  });
  app.use('/docs', express.static(swaggerDir));
}
