/** What a person's consent brought: what connectors of sources with OAuth take as their credentials. */
export interface OAuthGrant {
  readonly accessToken: string;
  /** What the connection was made with, or its token's answer told: a tenant, a subdomain, an instance. No secrets. */
  readonly facts: Readonly<Record<string, string>>;
}

/** A fact that becomes part of addresses: a part of a field of the token response. */
export interface TokenResponseField {
  readonly key: string;
  /** Its first group is the fact; another value is refused, because our token would be sent elsewhere. */
  readonly pattern: RegExp;
  /** Where no answer has told: before there is one, and of tokens that were handed to us. */
  readonly otherwise: string;
}

/** How users grant access to a source. Its addresses `authorize` and `token`, with `revokes` also `revoke`, are in its row; `{name}` in them is a fact. */
export interface OAuthSpec {
  /**
   * It is OAuth 1.0a: its row has an address `request` as well, scopes are parameters of the address of consent
   * (`notes_access=1`), tokens live until they are taken back, and the client has a secret.
   */
  readonly isOAuth1?: true;
  /** Asked for where the caller names none. */
  readonly scopes: readonly string[];
  readonly scopeSeparator: ' ' | ',';
  /** The query parameter that carries them; null where scopes are chosen elsewhere. */
  readonly scopeParameter: string | null;
  /**
   * Scopes that an answer may name in other words, or cover by wider ones: any of these stands for them. None: no answer
   * names it.
   */
  readonly scopeAliases?: Readonly<Record<string, readonly string[]>>;
  readonly pkce: boolean;
  /** Where a token request has the client's credentials. */
  readonly clientAuth: 'post' | 'basic';
  readonly bodyFormat: 'form' | 'json';
  /** What else requests for tokens carry as headers. */
  readonly tokenHeaders?: Readonly<Record<string, string>>;
  /** What else the address of consent carries. */
  readonly authorizeParameters: Readonly<Record<string, string>>;
  /** Whether each refresh ends the refresh token that it used. */
  readonly rotates: boolean;
  /**
   * How the source refuses an expired refresh token, if not as RFC 6749 says: status, error and description, separated by
   * spaces.
   */
  readonly expiredRefresh?: string;
  /** Facts from the token response that are stored with the connection: by path, `team.id`, or by a pattern of the value. */
  readonly tokenResponseFields?: Readonly<Record<string, string | TokenResponseField>>;
  /** The part of the token response with the tokens, if it is not the whole. */
  readonly tokensIn?: string;
  /**
   * How a grant is revoked at the address `revoke`: the token is a form field (RFC 7009), or the bearer token
   * of the request. Unset: the source has no revocation.
   */
  readonly revokes?: 'form' | 'bearer';
}
