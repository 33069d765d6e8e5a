import { createHmac } from 'node:crypto';

export interface DeliveryToSign {
  /** 2n hexadecimal digits for a key of n bytes. */
  readonly signingKey: string;
  /** The request body as sent. */
  readonly body: string;
  readonly eventId: string;
  /** Time of this attempt, in POSIX seconds. */
  readonly seconds: number;
}

/**
 * Returns the headers that authenticate a delivery: `Carbon-Signature` over the sent bytes; `Carbon-Signature-Compact`
 * over the same document without whitespace, for frameworks that pass on parsed bodies; and the headers of Standard
 * Webhooks, whose secret is `whsec_` and the key's bytes in base64.
 */
export function signDelivery({ signingKey, body, eventId, seconds }: DeliveryToSign): Record<string, string> {
  const key = Buffer.from(signingKey, 'hex');
  const mac = (message: string, encoding: 'hex' | 'base64'): string =>
    createHmac('sha256', key).update(message).digest(encoding);
  const compact = JSON.stringify(JSON.parse(body));
  return {
    'carbon-signature': `t=${seconds},v1=${mac(`${seconds}.${body}`, 'hex')}`,
    'carbon-signature-compact': `t=${seconds},v2=${mac(`${seconds}.${compact}`, 'hex')}`,
    'webhook-id': eventId,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${mac(`${eventId}.${seconds}.${body}`, 'base64')}`,
  };
}
