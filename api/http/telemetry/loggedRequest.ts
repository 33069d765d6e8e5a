import type { Request, Response } from 'express';

import type { Tenant } from '../../../store/users/accept.js';
import type { Identity } from '../identity/authenticate.js';

/** Returns the organization and the user of a request, if they are known. */
export function requestTenant(response: Response): Partial<Tenant> {
  const identity = response.locals['identity'] as Identity | undefined;
  const { organizationId, userId } = (identity?.caller ?? {}) as Partial<Tenant>;
  return { ...(organizationId !== undefined && { organizationId }), ...(userId !== undefined && { userId }) };
}

/** Makes logs contain a path template instead of the path, for URLs that contain a secret. */
export const hidePath = (response: Response, template: string): void => void (response.locals['shownPath'] = template);

/** Returns a request's path as it may be logged. */
export function shownPath(request: Request, response: Response): string {
  const template: unknown = response.locals['shownPath'];
  return typeof template === 'string' ? template : request.path;
}
