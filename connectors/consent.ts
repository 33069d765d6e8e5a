import type { OAuthClient, RequestToken, StoredGrant } from '../contract/oauth.js';
import type { Egress } from '../egress/types.js';
import type { OAuthSpec } from './connector.js';
import { beginConsent, exchangeVerifier } from './oauth/oauth1.js';
import { revokeGrant } from './oauth/revokeGrant.js';
import {
  type CodeExchange,
  type ConsentRequest,
  consentUrl,
  exchangeCode,
  type Provider,
} from './oauth/tokenRequests.js';

/** Where a person consents, and what their answer is exchanged with. */
export interface BegunConsent {
  readonly url: string;
  /** Null where consent needs none. */
  readonly requestToken: RequestToken | null;
}

/** How people consent at a source. */
export interface Consent {
  readonly spec: OAuthSpec;
  /** The client of the deployment; null where none is configured. */
  readonly client: OAuthClient | null;
  /** The address at which a user consents. Throws a Fault if the facts give no address. */
  url(facts: Readonly<Record<string, string>>, request: ConsentRequest): string;
  /** Where a person consents; with OAuth 1.0a its provider is asked for a token first. Throws a Fault. */
  begin(facts: Readonly<Record<string, string>>, request: ConsentRequest): Promise<BegunConsent>;
  /** Exchanges a code, which works once. Throws a Fault. */
  exchange(request: CodeExchange): Promise<StoredGrant>;
  /** Has the source end a grant, where its spec says how. Throws a Fault. */
  revoke(grant: StoredGrant): Promise<void>;
}

/** @param providerOf the provider with its addresses filled in from the facts */
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
