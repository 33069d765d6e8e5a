import express, { type Express } from 'express';

import type { ApiDeps } from './deps.js';
import { mountDocs } from './docs.js';
import { HttpError, notFound } from './http/errors.js';
import { cors, errorHandler, requestIds } from './http/middleware.js';
import { expressPath, mount } from './http/mount.js';
import { operations } from './routes.js';

/** The whole API as an Express application, not yet listening. */
export function createApp(deps: ApiDeps): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.use(requestIds(deps.log), cors(deps.settings.corsOrigins));
  for (const operation of operations) mount(app, operation, deps);
  mountDocs(app);
  const paths = new Map<string, string[]>();
  for (const { path, method } of operations) paths.set(path, [...(paths.get(path) ?? []), method.toUpperCase()]);
  for (const [path, methods] of paths) {
    app.all(expressPath(path), (_request, response) => {
      response.setHeader('allow', methods.join(', '));
      throw new HttpError(405, `This path takes ${methods.join(', ')}.`);
    });
  }
  app.use(() => {
    throw notFound('path');
  });
  app.use(errorHandler(deps.log));
  return app;
}
