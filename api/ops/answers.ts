import { randomBytes } from 'node:crypto';

import { PageAnswer } from '../http/operation.js';
import { pagePolicy } from './view/page.js';

/** Returns an operator page with a policy that allows only its own scripts and styles. */
export function opsPage(
  status: number,
  write: (nonce: string) => string,
  headers: Readonly<Record<string, string>> = {},
): PageAnswer {
  const nonce = randomBytes(16).toString('base64');
  return new PageAnswer(status, write(nonce), {
    'content-security-policy': pagePolicy(nonce),
    // With `no-referrer`, browsers send `Origin: null` with a form of this page, and `requireOwnPage` rejects it.
    'referrer-policy': 'same-origin',
    ...headers,
  });
}
