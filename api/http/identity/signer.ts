import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** A key of SECRET_KEY. */
export interface SigningKey {
  readonly id: string;
  readonly key: Buffer;
}

/** Signs claims as text: `key.claims.signature`. */
export interface Signer {
  sign(claims: object): string;
  /** Returns the signed claims; null if the text was not signed by this service or was modified. */
  read(text: string): unknown;
}

/**
 * Compares in constant time. Only the canonical base64url text matches: decoders ignore unused bits of the last
 * character, so several texts decode to the same bytes.
 */
export function isSignature(text: string, expected: Buffer): boolean {
  const received = Buffer.from(text);
  const canonical = Buffer.from(expected.toString('base64url'));
  return received.length === canonical.length && timingSafeEqual(received, canonical);
}

/**
 * Creates a signer for one purpose with keys derived from SECRET_KEY: the first key signs, all verify, so that keys can
 * be rotated. `jose` is not used: it is asynchronous, and only this service reads the claims.
 * @param purpose text from which the keys are derived, so that a signature is valid for one purpose only
 */
export function createSigner(keys: readonly SigningKey[], purpose: string): Signer {
  const signers = new Map(keys.map(({ id, key }) => [id, Buffer.from(hkdfSync('sha256', key, '', purpose, 32))]));
  const [signingKey] = keys;
  if (!signingKey) throw new Error('SECRET_KEY contains no key');
  const mac = (id: string, payload: string): Buffer | null => {
    const signer = signers.get(id);
    return signer ? createHmac('sha256', signer).update(`${id}.${payload}`).digest() : null;
  };
  return {
    sign(claims) {
      const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
      return `${signingKey.id}.${payload}.${mac(signingKey.id, payload)?.toString('base64url') ?? ''}`;
    },
    read(text) {
      const [id, payload, signature, ...extra] = text.split('.');
      if (!id || !payload || !signature || extra.length > 0) return null;
      const expected = mac(id, payload);
      if (!expected || !isSignature(signature, expected)) return null;
      return JSON.parse(Buffer.from(payload, 'base64url').toString()) as unknown;
    },
  };
}
