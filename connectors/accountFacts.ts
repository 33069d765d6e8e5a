import { Fault } from '../contract/failures.js';
import type { GrantStore } from '../contract/accounts/oauth.js';
import type { OAuthSpec } from './oauthSpec.js';
import { compareScopes, type GrantedScopes } from './oauth/scopes.js';

/** What is known of an account's limits, without asking its source. */
export interface AccountLimits {
  /** Requests that one process has under way at most. */
  readonly requestsAtOnce: number;
  /** For how long its source takes no request; 0: it takes some. */
  readonly pausedMs: number;
  /** The limit that it shares with others of its client; null where it shares none. */
  readonly shared: { readonly requestsAtOnce: number; readonly pausedMs: number } | null;
}

/** What is known of a grant, without asking its source. No secrets. */
export interface GrantFacts {
  readonly scopes: GrantedScopes;
  /** When the access token expires, milliseconds since 1970; null if unknown. */
  readonly expiresAt: number | null;
  readonly isRefreshable: boolean;
}

/** @throws Fault access_revoked where there is none */
export async function readGrantFacts(spec: OAuthSpec, keeper: GrantStore): Promise<GrantFacts> {
  const kept = await keeper.read();
  if (!kept) throw new Fault('access_revoked', 'There is no access to this account. Connect it again.');
  const { scopes, expiresAt, refreshToken } = kept.grant;
  return { scopes: compareScopes(spec, scopes ?? null), expiresAt, isRefreshable: refreshToken !== null };
}
