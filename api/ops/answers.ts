import { randomBytes } from 'node:crypto';

import { PageAnswer } from '../http/operation.js';
import { pagePolicy } from './view/page.js';

/** A page of operators, with a policy that lets nothing run but what it carries itself. */
export function opsPage(
  status: number,
  write: (nonce: string) => string,
  headers: Readonly<Record<string, string>> = {},
): PageAnswer {
  const nonce = randomBytes(16).toString('base64');
  return new PageAnswer(status, write(nonce), {
    'content-security-policy': pagePolicy(nonce),
    // Else a browser would not say, of a form that it sends, that it comes from here.
    'referrer-policy': 'same-origin',
    ...headers,
  });
}
