import { randomBytes } from 'node:crypto';

import { createSigner, type SigningKey } from './signer.js';

/** How long an access token is good, as existing clients expect. */
export const TOKEN_LIFE_MS = 10 * 60 * 60 * 1000;
const PREFIX = 'alt.';

export interface TokenOwner {
  readonly organizationId: number;
  readonly userId: number;
}

export interface Tokens {
  issue(owner: TokenOwner): { accessToken: string; refreshToken: string };
  /** Whose token it is; null when it is not ours, altered or expired. */
  read(token: string): TokenOwner | null;
}

/** Signed access tokens, bound to organization and user. */
export function createTokens(keys: readonly SigningKey[], now: () => number = Date.now): Tokens {
  const signer = createSigner(keys, 'access-token');
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
        accessToken: `${PREFIX}${signer.sign(claims)}`,
        refreshToken: `alr.${randomBytes(24).toString('base64url')}`,
      };
    },
    read(token) {
      const claims = token.startsWith(PREFIX) ? signer.read(token.slice(PREFIX.length)) : null;
      if (claims === null) return null;
      const { o, u, e } = claims as { o: number; u: number; e: number };
      return e > now() ? { organizationId: o, userId: u } : null;
    },
  };
}
