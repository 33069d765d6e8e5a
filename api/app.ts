import express, { type Express, type IRouter, Router } from 'express';

import type { AppDeps } from './http/deps.js';
import { mountDocs } from './docs/mount.js';
import { mountGuide } from './guide.js';
import { createConcurrencyLimiter } from './http/limits/concurrency.js';
import { HttpError, notFound } from './http/errors.js';
import { hideSecretPaths } from './http/telemetry/loggedRequest.js';
import { countRequests, setRoute } from './http/telemetry/metrics.js';
import { cors, errorHandler, requestIds, requireHost, safeHeaders } from './http/middleware.js';
import { expressPath, mount } from './http/mount.js';
import { mountMcp } from './mcp/mountMcp.js';
import { createRateLimiter } from './http/limits/rateLimit.js';
import { traceRequests } from './http/telemetry/traces.js';
import { operations, pages } from './routes.js';

/** All operations and pages of the API. */
const routes = [...operations, ...pages];

/** Returns the API as an Express application that does not listen yet. */
export function createApp(deps: AppDeps): Express {
  const app = express();
  const admit = {
    rate: createRateLimiter(deps.settings.rateLimits),
    searches: createConcurrencyLimiter(deps.settings.maxConcurrentSearches, 'searches'),
  };
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('trust proxy', deps.settings.trustProxy);
  app.use(safeHeaders, requestIds(deps.log), hideSecretPaths(routes), countRequests(deps.metrics));
  if (deps.tracing) app.use(traceRequests(deps.tracing));
  app.use(requireHost, cors(deps.settings.corsOrigins));
  const serve = (on: IRouter, path: string): void => {
    const matching = routes.filter((operation) => operation.path === path);
    for (const operation of matching) mount(on, operation, deps, admit);
    const methods = matching.map(({ method }) => method.toUpperCase()).join(', ');
    on.all(expressPath(path), (_request, response) => {
      setRoute(response, path);
      response.setHeader('allow', methods);
      throw new HttpError(405, `This path supports only ${methods}.`);
    });
  };
  // Paths without parameters are found in a map: Express compares a request with its routes one after another, which
  // for the last route takes longer than reading the request.
  const routersByPath = new Map<string, Router>();
  app.use((request, response, next) => {
    const router = routersByPath.get(request.path);
    if (router) router(request, response, next);
    else next();
  });
  for (const path of paths()) {
    // Express also matches variants of a path: with a trailing slash or capitals.
    serve(app, path);
    if (path.includes('{')) continue;
    const router = Router();
    serve(router, path);
    routersByPath.set(path, router);
  }
  mountMcp(app, deps, admit);
  mountDocs(app);
  mountGuide(app);
  app.use(() => {
    throw notFound('path');
  });
  app.use(errorHandler(deps.log));
  return app;
}

/** Returns each path once. Paths without parameters come first: a path with a parameter could match their requests. */
function paths(): string[] {
  const uniquePaths = [...new Set(routes.map(({ path }) => path))];
  return uniquePaths.toSorted((a, b) => Number(a.includes('{')) - Number(b.includes('{')));
}
