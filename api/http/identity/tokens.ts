import { randomBytes } from 'node:crypto';

import { LRUCache } from 'lru-cache';

import { atMost } from '../../../contract/cacheSize.js';
import { createSigner, type SigningKey } from './signer.js';

/** Prefix of access tokens. */
const TOKEN_PREFIX = 'alt.';

/** Lifetime of an access token, as existing clients expect. */
export const TOKEN_LIFE_MS = 10 * 60 * 60 * 1000;

/** Maximum number of cached tokens with a verified signature. Callers send the same token for hours. */
const MAX_VERIFIED = 10_000;

/** Returns whether a text has the form of an access token, valid or not. */
export const isLikeToken = (text: string): boolean => text.startsWith(TOKEN_PREFIX);

export interface TokenOwner {
  readonly organizationId: number;
  readonly userId: number;
}

/** The scope of a token, in the syntax of OAuth. */
export const TOKEN_SCOPES = ['read', 'read write'] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** Options of a new token. */
export interface TokenOptions {
  /** Absent: REST accepts the token for everything, MCP for reading. */
  readonly scope?: TokenScope;
  /** Absent: TOKEN_LIFE_MS. */
  readonly lifeMs?: number;
}

/** Owner and scope of a valid access token. */
export interface TokenGrant {
  readonly owner: TokenOwner;
  /** Null: the token was issued without a scope. */
  readonly scope: TokenScope | null;
}

export interface Tokens {
  issue(owner: TokenOwner, options?: TokenOptions): { accessToken: string; refreshToken: string };
  /** Returns the owner and the scope of a token; null if it was not issued here, was modified or has expired. */
  read(token: string): TokenGrant | null;
}

/** Claims of a token: its organization, its user, when it expires, and its scope if it has one. */
interface Claims {
  readonly o: number;
  readonly u: number;
  readonly e: number;
  readonly s?: TokenScope;
}

/** Issues and verifies signed access tokens, bound to organization and user. */
export function createTokens(keys: readonly SigningKey[], now: () => number = Date.now): Tokens {
  const signer = createSigner(keys, 'access-token');
  const verify = (token: string): Claims | null =>
    token.startsWith(TOKEN_PREFIX) ? (signer.read(token.slice(TOKEN_PREFIX.length)) as Claims | null) : null;
  const verified = new LRUCache<string, Claims>({ ...atMost(MAX_VERIFIED) });
  return {
    read(token) {
      const cached = verified.get(token);
      const claims = cached ?? verify(token);
      if (claims && !cached) verified.set(token, claims);
      if (!claims || claims.e <= now()) return null;
      return { owner: { organizationId: claims.o, userId: claims.u }, scope: claims.s ?? null };
    },
    issue({ organizationId, userId }, { scope, lifeMs = TOKEN_LIFE_MS } = {}) {
      const claims = {
        o: organizationId,
        u: userId,
        e: now() + lifeMs,
        ...(scope === undefined ? {} : { s: scope }),
        n: randomBytes(6).toString('base64url'),
      };
      // No operation accepts the refresh token: clients request a new pair with their key.
      return {
        accessToken: `${TOKEN_PREFIX}${signer.sign(claims)}`,
        refreshToken: `alr.${randomBytes(24).toString('base64url')}`,
      };
    },
  };
}
