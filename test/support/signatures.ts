/** What receivers check of a delivery, with the key that the registration showed. */
import { createHmac } from 'node:crypto';

import type { Received } from '../emulators/receiver.js';

/** Which of the three signatures are right: over the bytes, over the compact form, and that of Standard Webhooks. */
export interface Verified {
  readonly plain: boolean;
  readonly compact: boolean;
  readonly standard: boolean;
}

/** The check of the public library: the key in hex, the time, a point, the bytes. */
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
