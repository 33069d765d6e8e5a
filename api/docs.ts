import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import express, { type Express } from 'express';

import { openApiDocument } from './openapi.js';

const swaggerDir = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

/**
 * Swagger UI loads scripts and styles from its own folder, and sets styles of elements by itself; it calls this API from
 * "Try it out". It shows the summaries of our schemas, so nothing else may run here.
 */
const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
};

/** /openapi.json, made from the schemas that validate, and /docs, which shows it. */
export function mountDocs(app: Express): void {
  const document = openApiDocument();
  app.use('/docs', (_request, response, next) => {
    response.set(PAGE_HEADERS);
    // Files of the package: express.static lets browsers revalidate them.
    response.removeHeader('cache-control');
    next();
  });
  app.get('/openapi.json', (_request, response) => void response.json(document));
  app.get('/docs/swagger-initializer.js', (_request, response) => {
    const initializer = readFileSync(path.join(swaggerDir, 'swagger-initializer.js'), 'utf8');
    // Without validatorUrl: null the page of a public host asks validator.swagger.io about the document.
    const ours = initializer.replace(/url: "[^"]*"/, 'url: "/openapi.json",\n    validatorUrl: null');
    response.type('text/javascript').send(ours);
  });
  app.use('/docs', express.static(swaggerDir));
}
