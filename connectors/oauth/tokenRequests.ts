/** The authorization code flow (RFC 6749, with PKCE of RFC 7636), configured by a source's OAuthSpec. */
import { createHash } from 'node:crypto';

import { Fault } from '../../contract/failures.js';
import type { OAuthClient, RequestToken, StoredGrant } from '../../contract/accounts/oauth.js';
import { retryAfterMs } from '../../egress/retryAfter.js';
import type { Egress } from '../../egress/types.js';
import type { OAuthSpec } from '../oauthSpec.js';
import { asText, isObject } from '../json.js';

const MAX_ANSWER_BYTES = 200_000;
/** Maximum number of granted scopes that are stored. */
const MAX_SCOPES = 200;
const MAX_SCOPE = 300;
/**
 * Time limit of a token request. The lock on a refresh (liveGrant.ts) lasts longer than two token requests, so two
 * processes never refresh the same grant at once.
 */
export const TOKEN_TIMEOUT_MS = 20_000;

/** A provider, with the URLs for the parameters of one connection. */
export interface Provider {
  readonly name: string;
  readonly spec: OAuthSpec;
  readonly urls: Readonly<Record<string, string>>;
}

type Parameters = Readonly<Record<string, string>>;

/** Values that cannot change the rest of a host or path. */
const SAFE_PARAMETER = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/i;

/**
 * Replaces `{name}` in URLs by the parameters of a connection. @throws Fault for a value that could change the host or
 * path
 */
export function fillUrls(urls: Parameters, facts: Parameters): Parameters {
  const fill = (url: string): string =>
    url.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
      const fact = Object.hasOwn(facts, name) ? (facts[name] ?? '') : '';
      if (!SAFE_PARAMETER.test(fact))
        throw new Fault('bad_response', 'The connection has no valid address of its source. Connect it again.');
      return fact;
    });
  return Object.fromEntries(Object.entries(urls).map(([part, url]) => [part, fill(url)]));
}

/** Returns the parameters of a connection, with defaults for missing ones. */
export function withDefaults(spec: OAuthSpec | undefined, facts: Parameters): Parameters {
  const defaults = Object.entries(spec?.tokenResponseFields ?? {}).flatMap(([fact, field]) =>
    typeof field === 'string' ? [] : [[fact, field.otherwise] as const],
  );
  return { ...Object.fromEntries(defaults), ...facts };
}

export interface ConsentRequest {
  readonly clientId: string;
  /** For OAuth 1.0a, which signs requests with it. */
  readonly clientSecret?: string | null;
  readonly redirectUri: string;
  readonly state: string;
  readonly scopes: readonly string[];
  readonly verifier: string;
}

/** Returns the URL at which a user consents. */
export function consentUrl({ spec, urls }: Provider, request: ConsentRequest): string {
  const url = new URL(urls['authorize'] ?? '');
  const parameters: Record<string, string> = {
    response_type: 'code',
    client_id: request.clientId,
    redirect_uri: request.redirectUri,
    state: request.state,
    ...(spec.scopeParameter === null || request.scopes.length === 0
      ? {}
      : { [spec.scopeParameter]: request.scopes.join(spec.scopeSeparator) }),
    ...(spec.pkce
      ? {
          code_challenge: createHash('sha256').update(request.verifier).digest('base64url'),
          code_challenge_method: 'S256',
        }
      : {}),
    ...spec.authorizeParameters,
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}
/** Characters of a token that can be part of a header. */
const TOKEN_PATTERN = /^[\x21-\x7e]{1,16384}$/;

/** Error codes for an invalid or expired code or refresh token. */
const DEAD_GRANT =
  /^(invalid_grant|invalid_code|code_already_used|bad_verification_code|invalid_refresh_token|token_revoked|token_expired|bad_refresh_token)$/;
/**
 * Error codes that only a person can resolve: a changed sign-in policy at Microsoft, a deactivated user or organization
 * at Salesforce.
 * https://learn.microsoft.com/entra/identity-platform/reference-error-codes#handling-error-codes-in-your-application
 * https://github.com/AzureAD/azure-activedirectory-library-for-nodejs/issues/151
 * https://help.salesforce.com/s/articleView?id=sf.remoteaccess_oauth_flow_errors.htm
 */
const PERSON_NEEDED = /^(interaction_required|login_required|consent_required|inactive_user|inactive_org)$/;
/** Error codes for a refused client, or a refused request. */
const BAD_CLIENT =
  /^(invalid_client|invalid_client_id|bad_client_secret|incorrect_client_credentials|unauthorized_client|redirect_uri_mismatch|bad_redirect_uri)$/;

interface TokenRefusal {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Parameters;
  /** Whether a refresh was refused, and not the exchange of a code. */
  readonly isRefresh: boolean;
}

function refusalOf({ name, spec }: Provider, { status, body, headers, isRefresh }: TokenRefusal): Fault {
  const error = isObject(body) ? (asText(body['error']) ?? '') : '';
  const description = isObject(body) ? (asText(body['error_description']) ?? '') : '';
  const isExpired = isRefresh && spec.expiredRefresh === `${status} ${error} ${description}`;
  // Checked before BAD_CLIENT: one provider answers 403 unauthorized_client to an expired refresh token. At the
  // exchange of a code, the same answer means that the client is refused.
  const isDead = DEAD_GRANT.test(error) || PERSON_NEEDED.test(error) || isExpired;
  if (isDead || (isRefresh && status === 403 && error === 'unauthorized_client'))
    return new Fault('access_revoked', `${name} no longer accepts this consent. Connect the account again.`);
  if (BAD_CLIENT.test(error) || status === 401)
    return new Fault(
      'not_configured',
      `${name} does not accept the OAuth client of this service. The operator must check OAUTH_CLIENTS, or the white label.`,
    );
  if (status === 429)
    return new Fault('rate_limited', `${name} accepts no more requests for now. Try again later.`, {
      retryAfterMs: retryAfterMs(headers) ?? 1_000,
    });
  if (status >= 500 || status === 408) return new Fault('server_error', `${name} failed. Try again later.`);
  return new Fault('bad_response', `${name} rejected the token request as invalid (HTTP ${status}).`);
}

/** Sends a token request and returns the answer if the tokens are granted. @throws Fault */
async function requestTokens(
  provider: Provider,
  client: OAuthClient,
  given: Parameters,
  egress: Pick<Egress, 'request'>,
): Promise<Readonly<Record<string, unknown>>> {
  const { name, spec, urls } = provider;
  const isBasic = spec.clientAuth === 'basic';
  const secret = client.secret ?? '';
  const parameters = {
    ...given,
    ...spec.tokenParameters,
    ...(isBasic ? {} : { client_id: client.id, ...(secret === '' ? {} : { client_secret: secret }) }),
  };
  const isJson = spec.bodyFormat === 'json';
  const basic = `${encodeURIComponent(client.id)}:${encodeURIComponent(secret)}`;
  const answer = await egress.request({
    url: urls['token'] ?? '',
    method: 'POST',
    headers: {
      ...spec.tokenHeaders,
      accept: 'application/json',
      'content-type': isJson ? 'application/json' : 'application/x-www-form-urlencoded',
      ...(isBasic ? { authorization: `Basic ${Buffer.from(basic).toString('base64')}` } : {}),
    },
    body: isJson ? JSON.stringify(parameters) : new URLSearchParams(parameters).toString(),
    maxBytes: MAX_ANSWER_BYTES,
    totalTimeoutMs: TOKEN_TIMEOUT_MS,
    redirects: 'answer',
  });
  const text = Buffer.from(await answer.bytes()).toString();
  let body: unknown = null;
  try {
    body = JSON.parse(text) as unknown;
  } catch {
    // A refusal may have an invalid body; a grant may not.
  }
  const isGranted = answer.status >= 200 && answer.status < 300;
  // Some providers refuse with status 200 and an error in the body.
  if (!isGranted || (isObject(body) && (body['ok'] === false || asText(body['error']) !== null)))
    throw refusalOf(provider, {
      ...{ status: answer.status, headers: answer.headers, body },
      isRefresh: given['grant_type'] === 'refresh_token',
    });
  if (!isObject(body)) throw new Fault('server_error', `${name} gave an answer that is not JSON. Try again.`);
  return body;
}

/** Returns the granted scopes in an answer; null if it has none. */
function scopesIn(tokens: Readonly<Record<string, unknown>>): readonly string[] | null {
  const scope = tokens['scope'];
  const words = Array.isArray(scope)
    ? scope.filter((element) => typeof element === 'string')
    : asText(scope)?.split(/[\s,]+/);
  const scopes = words?.filter((word) => word !== '' && word.length <= MAX_SCOPE) ?? [];
  return scopes.length === 0 ? null : scopes.slice(0, MAX_SCOPES);
}

/** Builds a grant from an answer. @param previousGrant the grant that a refresh replaces */
function grantOf(
  { name, spec }: Provider,
  answer: Readonly<Record<string, unknown>>,
  storedFields: Pick<StoredGrant, 'facts' | 'clientId' | 'clientSecret'>,
  previousGrant: StoredGrant | null,
): StoredGrant {
  const nestedAnswer = spec.tokensIn === undefined ? answer : answer[spec.tokensIn];
  // With a refresh, the tokens are at the top level, even if the nested part exists.
  const tokens = isObject(nestedAnswer) && asText(nestedAnswer['access_token']) !== null ? nestedAnswer : answer;
  const accessToken = asText(tokens['access_token']);
  if (accessToken === null || !TOKEN_PATTERN.test(accessToken))
    throw new Fault('server_error', `${name} gave no access token. Try again.`);
  const life = Number(tokens['expires_in'] ?? Number.NaN);
  const now = Date.now();
  const factsOfAnswer = Object.entries(spec.tokenResponseFields ?? {}).flatMap(([fact, field]) => {
    const fieldPath = typeof field === 'string' ? field : field.path;
    const value = asText(
      fieldPath.split('.').reduce<unknown>((part, key) => (isObject(part) ? part[key] : null), answer),
    );
    if (value === null) return [];
    const part = typeof field === 'string' ? value : field.pattern.exec(value)?.[1];
    if (part === undefined)
      throw new Fault(
        'bad_response',
        `${name} granted access, but its answer contains an API address that does not belong to it. Try again.`,
      );
    return [[fact, part] as const];
  });
  const scopes = scopesIn(tokens) ?? previousGrant?.scopes;
  return {
    ...storedFields,
    ...(scopes === undefined ? {} : { scopes }),
    accessToken,
    refreshToken: asText(tokens['refresh_token']) ?? previousGrant?.refreshToken ?? null,
    obtainedAt: now,
    expiresAt: Number.isFinite(life) && life > 0 ? now + life * 1000 : null,
    facts: { ...storedFields.facts, ...Object.fromEntries(factsOfAnswer) },
  };
}

export interface CodeExchange {
  readonly client: OAuthClient;
  readonly code: string;
  readonly redirectUri: string;
  readonly verifier: string;
  /** Only with OAuth 1.0a. */
  readonly requestToken?: RequestToken | null;
  readonly facts: Parameters;
  /** Whether the client belongs to this connection: its secret is then stored with the grant. */
  readonly keepsClient: boolean;
}

/** Exchanges a code, which works once, for tokens. @throws Fault */
export async function exchangeCode(
  provider: Provider,
  { client, code, redirectUri, verifier, facts, keepsClient }: CodeExchange,
  egress: Pick<Egress, 'request'>,
): Promise<StoredGrant> {
  const answer = await requestTokens(
    provider,
    client,
    {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      ...(provider.spec.pkce ? { code_verifier: verifier } : {}),
    },
    egress,
  );
  const ownSecret = keepsClient && client.secret !== null ? { clientSecret: client.secret } : {};
  return grantOf(provider, answer, { facts, clientId: client.id, ...ownSecret }, null);
}

/** Requests a new access token. @throws Fault access_revoked if the refresh token is no longer valid */
export async function refreshGrant(
  provider: Provider,
  client: OAuthClient,
  grant: StoredGrant,
  egress: Pick<Egress, 'request'>,
): Promise<StoredGrant> {
  const fields = { grant_type: 'refresh_token', refresh_token: grant.refreshToken ?? '' };
  const answer = await requestTokens(provider, client, fields, egress);
  const { facts, clientSecret } = grant;
  const ownSecret = clientSecret === undefined ? {} : { clientSecret };
  return grantOf(provider, answer, { facts, clientId: client.id, ...ownSecret }, grant);
}
