import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import express, { type Express } from 'express';

import { openApiDocument } from './openapi.js';

const swaggerDir = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

/** /openapi.json, made from the schemas that validate, and /docs, which shows it. */
export function mountDocs(app: Express): void {
  const document = openApiDocument();
  app.get('/openapi.json', (_request, response) => void response.json(document));
  app.get('/docs/swagger-initializer.js', (_request, response) => {
    const initializer = readFileSync(path.join(swaggerDir, 'swagger-initializer.js'), 'utf8');
    response.type('text/javascript').send(initializer.replace(/url: "[^"]*"/, 'url: "/openapi.json"'));
  });
  app.use('/docs', express.static(swaggerDir));
}
