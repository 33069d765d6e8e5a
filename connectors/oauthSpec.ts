/** The result of a user's consent: the credentials that connectors with OAuth receive. */
export interface OAuthGrant {
  readonly accessToken: string;
  /**
   * Parameters of the connection, from the connect request or the token response: a tenant, a subdomain, an instance.
   * No secrets.
   */
  readonly facts: Readonly<Record<string, string>>;
}

/** How a parameter that is used in URLs is extracted from a field of the token response. */
export interface TokenResponseField {
  /** Path of the field in the response, such as `team.id`. */
  readonly path: string;
  /**
   * Its first group is the parameter. A value that does not match is refused: the parameter is part of URLs, so the
   * value could send the token to another host.
   */
  readonly pattern: RegExp;
  /** Default without a token response: before the consent, and for tokens that a caller provides. */
  readonly otherwise: string;
}

/**
 * How users grant access to a source. The source's row of CONNECTED_SOURCES contains the addresses `authorize` and
 * `token`, and with `revokes` also `revoke`; `{name}` in them is a parameter of the connection.
 */
export interface OAuthSpec {
  /**
   * Whether the source uses OAuth 1.0a. Its row then also has an address `request`, and scopes are parameters of the
   * consent URL (`notes_access=1`). Tokens are valid until they are revoked, and the client has a secret.
   */
  readonly isOAuth1?: true;
  /** Requested if the caller names none. */
  readonly scopes: readonly string[];
  readonly scopeSeparator: ' ' | ',';
  /** The query parameter that contains the scopes; null if scopes are chosen elsewhere. */
  readonly scopeParameter: string | null;
  /**
   * Other names of a scope in token responses, and wider scopes that include it. An empty list: token responses never
   * contain the scope.
   */
  readonly scopeAliases?: Readonly<Record<string, readonly string[]>>;
  readonly pkce: boolean;
  /** The place of the client's credentials in token requests. */
  readonly clientAuth: 'post' | 'basic';
  readonly bodyFormat: 'form' | 'json';
  /** Additional parameters of token requests, both for the exchange of a code and for refreshes. */
  readonly tokenParameters?: Readonly<Record<string, string>>;
  /** Additional headers of token requests. */
  readonly tokenHeaders?: Readonly<Record<string, string>>;
  /** Additional parameters of the consent URL. */
  readonly authorizeParameters: Readonly<Record<string, string>>;
  /** Whether each refresh invalidates the refresh token that it used. */
  readonly rotates: boolean;
  /**
   * How the source refuses an expired refresh token, if this differs from RFC 6749: status, error and description,
   * separated by spaces.
   */
  readonly expiredRefresh?: string;
  /**
   * Parameters of the connection that are taken from the token response. The key is the parameter's name. The value is
   * the path of the response field (`team.id`), or the path with a pattern for the part of its value.
   */
  readonly tokenResponseFields?: Readonly<Record<string, string | TokenResponseField>>;
  /** The part of the token response with the tokens, if it is not the whole. */
  readonly tokensIn?: string;
  /**
   * How a grant is revoked at the address `revoke`: the token is a form field (RFC 7009), or the bearer token
   * of the request. Unset: the source has no revocation.
   */
  readonly revokes?: 'form' | 'bearer';
}
