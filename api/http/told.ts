import type { Request, Response } from 'express';

import type { Tenant } from '../../store/users/accept.js';
import type { Identity } from './authenticate.js';

/** Who called, as far as that is known by now. */
export function whoseOf(response: Response): Partial<Tenant> {
  const identity = response.locals['identity'] as Identity | undefined;
  const { organizationId, userId } = (identity?.caller ?? {}) as Partial<Tenant>;
  return { ...(organizationId !== undefined && { organizationId }), ...(userId !== undefined && { userId }) };
}

/** Has the path of a request told as its template: of what is open to whoever knows its address, that is the secret. */
export const hidePath = (response: Response, template: string): void => void (response.locals['shownPath'] = template);

/** A request's path as logs may have it. */
export function shownPath(request: Request, response: Response): string {
  const template: unknown = response.locals['shownPath'];
  return typeof template === 'string' ? template : request.path;
}
