import express, { type Express, type IRouter, Router } from 'express';

import type { AppDeps } from './deps.js';
import { mountDocs } from './docs.js';
import { createConcurrencyLimiter } from './http/concurrency.js';
import { HttpError, notFound } from './http/errors.js';
import { countRequests, takeRoute } from './http/metrics.js';
import { cors, errorHandler, requestIds, requireHost, safeHeaders } from './http/middleware.js';
import { expressPath, mount } from './http/mount.js';
import { createRateLimiter } from './http/rateLimit.js';
import { traceRequests } from './http/traces.js';
import { operations, pages } from './routes.js';

/** All that is served. */
const served = [...operations, ...pages];

/** The whole API as an Express application, not yet listening. */
export function createApp(deps: AppDeps): Express {
  const app = express();
  const admit = {
    rate: createRateLimiter(deps.settings.rateLimits),
    searches: createConcurrencyLimiter(deps.settings.maxConcurrentSearches, 'searches'),
  };
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('trust proxy', deps.settings.trustProxy);
  app.use(safeHeaders, requestIds(deps.log), countRequests(deps.metrics));
  if (deps.tracing) app.use(traceRequests(deps.tracing));
  app.use(requireHost, cors(deps.settings.corsOrigins));
  const serve = (on: IRouter, path: string): void => {
    const there = served.filter((operation) => operation.path === path);
    for (const operation of there) mount(on, operation, deps, admit);
    const methods = there.map(({ method }) => method.toUpperCase()).join(', ');
    on.all(expressPath(path), (_request, response) => {
      takeRoute(response, path);
      response.setHeader('allow', methods);
      throw new HttpError(405, `This path takes ${methods}.`);
    });
  };
  // Express tries one path after another, which for the last of all takes longer than to read its request.
  const byName = new Map<string, Router>();
  app.use((request, response, next) => {
    const router = byName.get(request.path);
    if (router) router(request, response, next);
    else next();
  });
  for (const path of paths()) {
    // Here too, for Express knows more spellings of a path: a slash at its end, capitals.
    serve(app, path);
    if (path.includes('{')) continue;
    const router = Router();
    serve(router, path);
    byName.set(path, router);
  }
  mountDocs(app);
  app.use(() => {
    throw notFound('path');
  });
  app.use(errorHandler(deps.log));
  return app;
}

/** Each path once; those without parameters first, for a parameter would take their last word for a value. */
function paths(): string[] {
  const all = [...new Set(served.map(({ path }) => path))];
  return all.toSorted((a, b) => Number(a.includes('{')) - Number(b.includes('{')));
}
