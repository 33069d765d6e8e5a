import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** A key of SECRET_KEY. */
export interface SigningKey {
  readonly id: string;
  readonly key: Buffer;
}

/** Claims as texts that nobody else can make: `key.claims.signature`. */
export interface Signer {
  sign(claims: object): string;
  /** What was signed; null when it is not ours, or was altered. */
  read(text: string): unknown;
}

/**
 * Compares in constant time. Only the canonical base64url text matches: decoders ignore unused bits of the last character,
 * so that several texts have the same bytes.
 */
export function isSignature(text: string, expected: Buffer): boolean {
  const given = Buffer.from(text);
  const canonical = Buffer.from(expected.toString('base64url'));
  return given.length === canonical.length && timingSafeEqual(given, canonical);
}

/**
 * Signs with keys derived from SECRET_KEY for one purpose: the first signs, all verify, so that keys can be rotated. Not
 * `jose`: it is asynchronous throughout, and only this service reads the claims.
 * @param purpose what is signed for one is worth nothing for another
 */
export function createSigner(keys: readonly SigningKey[], purpose: string): Signer {
  const signers = new Map(keys.map(({ id, key }) => [id, Buffer.from(hkdfSync('sha256', key, '', purpose, 32))]));
  const [first] = keys;
  if (!first) throw new Error('SECRET_KEY holds no key');
  const mac = (id: string, payload: string): Buffer | null => {
    const signer = signers.get(id);
    return signer ? createHmac('sha256', signer).update(`${id}.${payload}`).digest() : null;
  };
  return {
    sign(claims) {
      const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
      return `${first.id}.${payload}.${mac(first.id, payload)?.toString('base64url') ?? ''}`;
    },
    read(text) {
      const [id, payload, signature, ...rest] = text.split('.');
      if (!id || !payload || !signature || rest.length > 0) return null;
      const expected = mac(id, payload);
      if (!expected || !isSignature(signature, expected)) return null;
      return JSON.parse(Buffer.from(payload, 'base64url').toString()) as unknown;
    },
  };
}
