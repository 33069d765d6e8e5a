import type { Request, RequestHandler, Response } from 'express';

import type { Tenant } from '../../../store/users/accept.js';
import type { Identity } from '../identity/authenticate.js';
import type { Operation } from '../operation.js';

/** Returns the organization and the user of a request, if they are known. */
export function requestTenant(response: Response): Partial<Tenant> {
  const identity = response.locals['identity'] as Identity | undefined;
  const { organizationId, userId } = (identity?.caller ?? {}) as Partial<Tenant>;
  return { ...(organizationId !== undefined && { organizationId }), ...(userId !== undefined && { userId }) };
}

/**
 * Makes logs contain the path template instead of the path for open operations with a parameter, which is a secret.
 * This applies to every method and to longer paths, because such requests contain the secret too.
 */
export function hideSecretPaths(operations: readonly Pick<Operation, 'auth' | 'path'>[]): RequestHandler {
  const templates = operations.filter(({ auth, path }) => auth === 'open' && path.includes('{'));
  const hidden = templates.map(({ path }) => ({ template: path, prefix: path.slice(0, path.indexOf('{')) }));
  return (request, response, next) => {
    // Express ignores the case of paths.
    const path = request.path.toLowerCase();
    const match = hidden.find(({ prefix }) => path.startsWith(prefix.toLowerCase()));
    if (match) response.locals['shownPath'] = match.template;
    next();
  };
}

/** Returns a request's path as it may be logged. */
export function shownPath(request: Request, response: Response): string {
  const template: unknown = response.locals['shownPath'];
  return typeof template === 'string' ? template : request.path;
}
