import { Fault } from '../contract/failures.js';
import type { GrantStore } from '../contract/accounts/oauth.js';
import type { OAuthSpec } from './oauthSpec.js';
import { compareScopes, type GrantedScopes } from './oauth/scopes.js';

/** The known limits of an account; reading them sends no request to its source. */
export interface AccountLimits {
  /** Maximum number of concurrent requests of the account, over all processes of a deployment. */
  readonly requestsAtOnce: number;
  /** Milliseconds until the source accepts requests again; 0 if it accepts them now. */
  readonly pausedMs: number;
  /** The limit that it shares with other accounts of its OAuth client; null if it shares none. */
  readonly shared: { readonly requestsAtOnce: number; readonly pausedMs: number } | null;
}

/** Facts about a grant, without secrets; reading them sends no request to its source. */
export interface GrantInfo {
  readonly scopes: GrantedScopes;
  /** When the access token expires, milliseconds since 1970; null if unknown. */
  readonly expiresAt: number | null;
  readonly isRefreshable: boolean;
}

/** Returns the facts about a stored grant. @throws Fault access_revoked if there is no grant */
export async function readGrantInfo(spec: OAuthSpec, grantStore: GrantStore): Promise<GrantInfo> {
  const kept = await grantStore.read();
  if (!kept) throw new Fault('access_revoked', 'There is no access to this account. Connect it again.');
  const { scopes, expiresAt, refreshToken } = kept.grant;
  return { scopes: compareScopes(spec, scopes ?? null), expiresAt, isRefreshable: refreshToken !== null };
}
