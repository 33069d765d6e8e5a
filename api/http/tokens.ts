import { randomBytes } from 'node:crypto';

import { LRUCache } from 'lru-cache';

import { atMost } from '../../contract/cacheSize.js';
import { createSigner, type SigningKey } from './signer.js';

/** What access tokens begin with. */
const KIND = 'alt.';

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

/** Signed access tokens, bound to organization and user. */
export function createTokens(keys: readonly SigningKey[], now: () => number = Date.now): Tokens {
  const signer = createSigner(keys, 'access-token');
  const verify = (token: string): Claims | null =>
    token.startsWith(KIND) ? (signer.read(token.slice(KIND.length)) as Claims | null) : null;
  const verified = new LRUCache<string, Claims>({ ...atMost(MOST_VERIFIED) });
  return {
    issue({ organizationId, userId }) {
      const claims = {
        o: organizationId,
        u: userId,
        e: now() + TOKEN_LIFE_MS,
        n: randomBytes(6).toString('base64url'),
      };
      // No operation takes the refresh token: clients ask for a new pair with their key.
      return {
        accessToken: `${KIND}${signer.sign(claims)}`,
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
