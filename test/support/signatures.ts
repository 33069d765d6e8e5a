/** Verifies the signatures of a webhook delivery with the signing key from its registration. */
import { createHmac } from 'node:crypto';

import type { Received } from '../emulators/receiver.js';

/** Which of the three signatures are valid: over the raw body, over the compact JSON, and that of Standard Webhooks. */
export interface Verified {
  readonly plain: boolean;
  readonly compact: boolean;
  readonly standard: boolean;
}

/**
 * Verifies as the public client library does: HMAC-SHA256 over the time, a dot and the body; the key is in hex. For
 * Standard Webhooks, the id and a dot come before the time.
 */
export function verified({ raw, headers }: Pick<Received, 'raw' | 'headers'>, signingKey: string): Verified {
  const bytes = Buffer.from(signingKey, 'hex');
  const mac = (message: string) => createHmac('sha256', bytes).update(message);
  const parts = (name: string) =>
    Object.fromEntries(
      String(headers[name])
        .split(',')
        .map((part) => part.split('=') as [string, string]),
    );
  const { t = '', v1 = '' } = parts('carbon-signature');
  const { t: t2 = '', v2 = '' } = parts('carbon-signature-compact');
  const [id, at] = [String(headers['webhook-id']), String(headers['webhook-timestamp'])];
  return {
    plain: v1 === mac(`${t}.${raw}`).digest('hex'),
    compact: v2 === mac(`${t2}.${JSON.stringify(JSON.parse(raw))}`).digest('hex'),
    standard: headers['webhook-signature'] === `v1,${mac(`${id}.${at}.${raw}`).digest('base64')}`,
  };
}
