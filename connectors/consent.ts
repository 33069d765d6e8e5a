import type { OAuthClient, RequestToken, StoredGrant } from '../contract/accounts/oauth.js';
import type { Egress } from '../egress/types.js';
import type { OAuthSpec } from './oauthSpec.js';
import { beginConsent, exchangeVerifier } from './oauth/oauth1.js';
import { revokeGrant } from './oauth/revokeGrant.js';
import {
  type CodeExchange,
  type ConsentRequest,
  consentUrl,
  exchangeCode,
  type Provider,
} from './oauth/tokenRequests.js';

/** The URL for the user's consent, and the data for the later exchange. */
export interface BegunConsent {
  readonly url: string;
  /** Null if the source needs none. */
  readonly requestToken: RequestToken | null;
}

/** The consent flow of a source. */
export interface Consent {
  readonly spec: OAuthSpec;
  /** The deployment's OAuth client; null if none is configured. */
  readonly client: OAuthClient | null;
  /**
   * Returns the URL at which a user consents. @throws Fault if no URL can be built from the parameters of the
   * connection
   */
  url(facts: Readonly<Record<string, string>>, request: ConsentRequest): string;
  /** Begins a consent; with OAuth 1.0a, this requests a token from the provider first. @throws Fault */
  begin(facts: Readonly<Record<string, string>>, request: ConsentRequest): Promise<BegunConsent>;
  /** Exchanges a code, which works once. @throws Fault */
  exchange(request: CodeExchange): Promise<StoredGrant>;
  /** Revokes a grant at the source, if its specification supports that. @throws Fault */
  revoke(grant: StoredGrant): Promise<void>;
}

/**
 * Creates the consent flow of a source. @param providerOf returns the provider with the URLs for the given parameters
 * of a connection
 */
export function createConsent(
  spec: OAuthSpec,
  client: OAuthClient | null,
  providerOf: (facts: StoredGrant['facts']) => Provider,
  egress: Pick<Egress, 'request'>,
): Consent {
  return {
    spec,
    client,
    url: (facts, request) => consentUrl(providerOf(facts), request),
    revoke: (grant) => revokeGrant(providerOf(grant.facts), grant, egress),
    async begin(facts, request) {
      const provider = providerOf(facts);
      if (spec.isOAuth1) return beginConsent(provider, request, egress);
      return { url: consentUrl(provider, request), requestToken: null };
    },
    exchange(request) {
      const provider = providerOf(request.facts);
      const { requestToken = null, client: by, code } = request;
      if (requestToken) return exchangeVerifier(provider, { client: by, verifier: code, requestToken }, egress);
      return exchangeCode(provider, request, egress);
    },
  };
}
