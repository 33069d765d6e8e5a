import { createHmac } from 'node:crypto';

export interface DeliveryToSign {
  /** 2n hexadecimal digits: n bytes. */
  readonly signingKey: string;
  /** The bytes as they are sent. */
  readonly body: string;
  readonly eventId: string;
  /** POSIX seconds of this try. */
  readonly seconds: number;
}

/**
 * The headers by which a receiver knows that a delivery is ours: `Carbon-Signature` over the bytes as sent,
 * `Carbon-Signature-Compact` over the same document written without blanks (for frameworks that hand over parsed
 * bodies), and those of Standard Webhooks, whose secret is `whsec_` and the key's bytes in base64.
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
