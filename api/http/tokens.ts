import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

import { LRUCache } from 'lru-cache';

/** How long an access token is good, as existing clients expect. */
export const TOKEN_LIFE_MS = 10 * 60 * 60 * 1000;

/** Tokens whose signature was found good and is not reckoned again: a caller asks with the same one for hours. */
const MOST_VERIFIED = 10_000;

export interface TokenOwner {
  readonly organizationId: number;
  readonly userId: number;
}

export interface Tokens {
  issue(owner: TokenOwner): { accessToken: string; refreshToken: string };
  /** Whose token it is; null when it is not ours, altered or expired. */
  read(token: string): TokenOwner | null;
}

/** What a token says: its organization, its user, and when it expires. */
interface Claims {
  readonly o: number;
  readonly u: number;
  readonly e: number;
}

/** Signed access tokens, bound to organization and user. The first key signs, all keys verify, so that keys can be rotated. */
export function createTokens(keys: readonly { id: string; key: Buffer }[], now: () => number = Date.now): Tokens {
  const signers = new Map(
    keys.map(({ id, key }) => [id, Buffer.from(hkdfSync('sha256', key, '', 'access-token', 32))]),
  );
  const mac = (id: string, payload: string): Buffer | null => {
    const signer = signers.get(id);
    return signer ? createHmac('sha256', signer).update(`${id}.${payload}`).digest() : null;
  };
  const first = keys[0];
  if (!first) throw new Error('SECRET_KEY holds no key');
  const verify = (token: string): Claims | null => {
    const [kind, id, payload, signature, ...rest] = token.split('.');
    if (kind !== 'alt' || !id || !payload || !signature || rest.length > 0) return null;
    const expected = mac(id, payload);
    const given = Buffer.from(signature, 'base64url');
    if (!expected || given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
    return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Claims;
  };
  const verified = new LRUCache<string, Claims>({ max: MOST_VERIFIED });
  return {
    issue({ organizationId, userId }) {
      const claims = {
        o: organizationId,
        u: userId,
        e: now() + TOKEN_LIFE_MS,
        n: randomBytes(6).toString('base64url'),
      };
      const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
      const signature = mac(first.id, payload)?.toString('base64url') ?? '';
      // No operation takes the refresh token: clients ask for a new pair with their key.
      return {
        accessToken: `alt.${first.id}.${payload}.${signature}`,
        refreshToken: `alr.${randomBytes(24).toString('base64url')}`,
      };
    },
    read(token) {
      const known = verified.get(token);
      const claims = known ?? verify(token);
      if (claims && !known) verified.set(token, claims);
      return claims && claims.e > now() ? { organizationId: claims.o, userId: claims.u } : null;
    },
  };
}
