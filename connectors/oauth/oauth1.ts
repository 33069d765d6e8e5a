/** OAuth 1.0a (RFC 5849): consent with a request token, and requests signed with HMAC-SHA1. */
import { createHmac, randomBytes } from 'node:crypto';

import { Fault } from '../../contract/failures.js';
import type { OAuthClient, RequestToken, StoredGrant } from '../../contract/accounts/oauth.js';
import { retryAfterMs } from '../../egress/retryAfter.js';
import type { Egress } from '../../egress/types.js';
import { type ConsentRequest, type Provider, TOKEN_TIMEOUT_MS } from './tokenRequests.js';

const MAX_ANSWER_BYTES = 20_000;
/** Characters of a token that can be part of a header and a URL. */
const TOKEN_PATTERN = /^[\x21-\x7e]{1,4096}$/;

type Parameters = Readonly<Record<string, string>>;

/** Percent-encodes by RFC 3986, which is stricter than encodeURIComponent. */
const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Returns the signature. @param url its query, if any, is signed as well */
export function signatureOf(
  { method, url, parameters }: { readonly method: string; readonly url: string; readonly parameters: Parameters },
  consumerSecret: string,
  tokenSecret: string,
): string {
  const { origin, pathname, searchParams } = new URL(url);
  const pairs = [...searchParams, ...Object.entries(parameters)].map(
    ([name, value]) => `${encode(name)}=${encode(value)}`,
  );
  const base = [method.toUpperCase(), `${origin}${pathname}`, pairs.toSorted().join('&')].map(encode).join('&');
  return createHmac('sha1', `${encode(consumerSecret)}&${encode(tokenSecret)}`)
    .update(base)
    .digest('base64');
}

/** Returns the Authorization header of a signed request. */
function authorizationOf(url: string, client: OAuthClient, ownParameters: Parameters, tokenSecret: string): string {
  const parameters: Parameters = {
    oauth_consumer_key: client.id,
    oauth_nonce: randomBytes(16).toString('hex'),
    oauth_signature_method: 'HMAC-SHA1',
    oauth_timestamp: String(Math.floor(Date.now() / 1000)),
    oauth_version: '1.0',
    ...ownParameters,
  };
  const signature = signatureOf({ method: 'POST', url, parameters }, client.secret ?? '', tokenSecret);
  const fields = Object.entries({ ...parameters, oauth_signature: signature });
  return `OAuth ${fields.map(([name, value]) => `${encode(name)}="${encode(value)}"`).join(', ')}`;
}

/** Sends a signed token request and returns the form in the answer. @throws Fault */
async function sendTokenRequest(
  { name }: Provider,
  url: string,
  authorization: string,
  egress: Pick<Egress, 'request'>,
): Promise<URLSearchParams> {
  const { status, headers, bytes } = await egress.request({
    url,
    method: 'POST',
    headers: { authorization, accept: 'application/x-www-form-urlencoded' },
    maxBytes: MAX_ANSWER_BYTES,
    totalTimeoutMs: TOKEN_TIMEOUT_MS,
    redirects: 'answer',
  });
  const answer = new URLSearchParams(Buffer.from(await bytes()).toString());
  if (status >= 200 && status < 300) return answer;
  if (status === 429)
    throw new Fault('rate_limited', `${name} accepts no more requests for now. Try again later.`, {
      retryAfterMs: retryAfterMs(headers) ?? 1_000,
    });
  if (status >= 500 || status === 408) throw new Fault('server_error', `${name} failed. Try again later.`);
  const problem = answer.get('oauth_problem') ?? '';
  if (/^(?:token_|verifier_|permission_)/.test(problem))
    throw new Fault('access_revoked', `${name} no longer accepts this consent. Connect the account again.`);
  throw new Fault(
    'not_configured',
    `${name} does not accept the OAuth client of this service (HTTP ${status}). The operator must check OAUTH_CLIENTS, or the white label.`,
  );
}

function tokenIn({ name }: Provider, answer: URLSearchParams): RequestToken {
  const [token, secret] = [answer.get('oauth_token') ?? '', answer.get('oauth_token_secret') ?? ''];
  if (!TOKEN_PATTERN.test(token) || !TOKEN_PATTERN.test(secret))
    throw new Fault('server_error', `${name} gave no token. Try again.`);
  return { token, secret };
}

/**
 * Requests a token for the user's consent. Returns the consent URL, and the token for the later exchange. @throws
 * Fault
 */
export async function beginConsent(
  provider: Provider,
  { clientSecret = null, ...request }: ConsentRequest,
  egress: Pick<Egress, 'request'>,
): Promise<{ readonly url: string; readonly requestToken: RequestToken }> {
  const { spec, urls } = provider;
  const client = { id: request.clientId, secret: clientSecret };
  // OAuth 1.0a has no state parameter, so the callback URL carries our state.
  const callback = new URL(request.redirectUri);
  callback.searchParams.set('state', request.state);
  const at = urls['request'] ?? '';
  const header = authorizationOf(at, client, { oauth_callback: callback.href }, '');
  const requestToken = tokenIn(provider, await sendTokenRequest(provider, at, header, egress));
  const url = new URL(urls['authorize'] ?? '');
  // Zotero's permissions are separate parameters, such as `notes_access=1`.
  const scopes = request.scopes.map((scope): [string, string] => {
    const [name = '', value = '1'] = scope.split('=', 2);
    return [name, value];
  });
  for (const [name, value] of [...Object.entries(spec.authorizeParameters), ...scopes])
    url.searchParams.set(name, value);
  url.searchParams.set('oauth_token', requestToken.token);
  return { url: url.href, requestToken };
}

/** Exchanges the verifier of a consent, which works once. @throws Fault */
export async function exchangeVerifier(
  provider: Provider,
  {
    client,
    verifier,
    requestToken,
  }: { readonly client: OAuthClient; readonly verifier: string; readonly requestToken: RequestToken },
  egress: Pick<Egress, 'request'>,
): Promise<StoredGrant> {
  const at = provider.urls['token'] ?? '';
  const ownParameters = { oauth_token: requestToken.token, oauth_verifier: verifier };
  const header = authorizationOf(at, client, ownParameters, requestToken.secret);
  const { token } = tokenIn(provider, await sendTokenRequest(provider, at, header, egress));
  // The token is valid until its user revokes it.
  return {
    accessToken: token,
    refreshToken: null,
    obtainedAt: Date.now(),
    expiresAt: null,
    facts: {},
    clientId: client.id,
  };
}
