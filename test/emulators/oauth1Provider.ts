/** The consent page and token endpoints of an OAuth 1.0a provider (RFC 5849); it verifies the signatures. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ServerResponse } from 'node:http';

import type { Call } from './emulator.js';
import { consentPage, type EmulatedPerson } from './consentPage.js';
import { CLIENT_ID, CLIENT_SECRET, type OAuthRequest } from './oauthProvider.js';

interface RequestTokenState {
  readonly secret: string;
  readonly clientId: string;
  readonly callback: string;
  verifier: string | null;
  person: EmulatedPerson | null;
}

export interface OAuth1Provider {
  /** Answers a request for one of the provider's three paths. Returns false for any other request. */
  take(call: Call): boolean;
  /** Returns the owner of a key; null for an unknown or revoked key. */
  ownerOf(key: string): EmulatedPerson | null;
  readonly requests: OAuthRequest[];
  /** Every key, token secret and verifier issued so far. */
  readonly secrets: string[];
  revoke(): void;
  /** Issues a key without the consent flow. */
  grant(): string;
  /** Answers the next token requests with HTTP 502. */
  failNext(requests: number): void;
}

const percent = (text: string): string => {
  let encoded = '';
  for (const byte of Buffer.from(text)) {
    const character = String.fromCharCode(byte);
    encoded += /[A-Za-z0-9\-._~]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return encoded;
};

/** Returns the parameters of a signed request; null if the header has another scheme. */
function fieldsOf(header: string): Record<string, string> | null {
  if (!header.startsWith('OAuth ')) return null;
  const pairs = header
    .slice(6)
    .split(/,\s*/)
    .map((pair) => /^(\w+)="([^"]*)"$/.exec(pair));
  return Object.fromEntries(pairs.flatMap((pair) => (pair ? [[pair[1], decodeURIComponent(pair[2] ?? '')]] : [])));
}

const MAX_AGE_S = 300;

/** @param provider display name on the consent page @param clients secrets by client id */
export function createOAuth1Provider(
  provider: string,
  paths: Readonly<Record<'request' | 'authorize' | 'token', string>>,
  people: readonly EmulatedPerson[],
  clients: Readonly<Record<string, string>> = { [CLIENT_ID]: CLIENT_SECRET },
): OAuth1Provider {
  const pending = new Map<string, RequestTokenState>();
  const keys = new Map<string, EmulatedPerson>();
  const nonces = new Set<string>();
  const requests: OAuthRequest[] = [];
  const secrets: string[] = [];
  let requestsToFail = 0;

  const issue = (kind: string): string => {
    const value = `${kind}-${randomBytes(18).toString('base64url')}`;
    secrets.push(value);
    return value;
  };
  const answer = (response: ServerResponse, status: number, fields: Record<string, string>): void =>
    void response
      .writeHead(status, { 'content-type': 'application/x-www-form-urlencoded' })
      .end(new URLSearchParams(fields).toString());

  /** Returns the problem with a signed request; null for none. */
  const problemOf = (
    { request, method, url }: Call,
    fields: Record<string, string>,
    tokenSecret: string,
  ): string | null => {
    const { oauth_signature: signature = '', ...signed } = fields;
    const { oauth_consumer_key: id = '', oauth_nonce: nonce = '', oauth_timestamp: at = '' } = signed;
    if (!Object.hasOwn(clients, id)) return 'consumer_key_unknown';
    if (signed['oauth_signature_method'] !== 'HMAC-SHA1') return 'signature_method_rejected';
    if (Math.abs(Date.now() / 1000 - Number(at)) > MAX_AGE_S) return 'timestamp_refused';
    if (nonce === '' || nonces.has(nonce)) return 'nonce_used';
    nonces.add(nonce);
    const parameters = Object.entries(signed)
      .map(([name, value]) => `${percent(name)}=${percent(value)}`)
      .sort()
      .join('&');
    const base = `${method}&${percent(`http://${request.headers.host}${url.pathname}`)}&${percent(parameters)}`;
    const expected = createHmac('sha1', `${percent(clients[id] ?? '')}&${percent(tokenSecret)}`)
      .update(base)
      .digest();
    const givenSignature = Buffer.from(signature, 'base64');
    return givenSignature.length === expected.length && timingSafeEqual(givenSignature, expected)
      ? null
      : 'signature_invalid';
  };

  const signedRequest = (call: Call, isAccess: boolean): void => {
    const fields = fieldsOf(call.request.headers.authorization ?? '') ?? {};
    const entry: OAuthRequest = { kind: 'token', path: call.url.pathname, parameters: fields, outcome: 'refused' };
    requests.push(entry);
    if (requestsToFail > 0) {
      requestsToFail -= 1;
      return answer(call.response, 502, {});
    }
    const requestToken = isAccess ? pending.get(fields['oauth_token'] ?? '') : undefined;
    const problem = isAccess && !requestToken ? 'token_rejected' : problemOf(call, fields, requestToken?.secret ?? '');
    if (problem !== null) return answer(call.response, 401, { oauth_problem: problem });
    if (!requestToken) {
      const callback = fields['oauth_callback'] ?? '';
      if (!URL.canParse(callback)) return answer(call.response, 400, { oauth_problem: 'parameter_absent' });
      // The request token appears in addresses, so only its secret counts as a secret.
      const [token, secret] = [`request-${randomBytes(18).toString('base64url')}`, issue('request-secret')];
      const clientId = fields['oauth_consumer_key'] ?? '';
      pending.set(token, { secret, clientId, callback, verifier: null, person: null });
      entry.outcome = 'granted';
      return answer(call.response, 200, {
        oauth_token: token,
        oauth_token_secret: secret,
        oauth_callback_confirmed: 'true',
      });
    }
    const { verifier, person, clientId } = requestToken;
    if (
      verifier === null ||
      person === null ||
      verifier !== fields['oauth_verifier'] ||
      clientId !== fields['oauth_consumer_key']
    )
      return answer(call.response, 401, { oauth_problem: 'verifier_invalid' });
    pending.delete(fields['oauth_token'] ?? '');
    const key = issue('access');
    keys.set(key, person);
    entry.outcome = 'granted';
    // Zotero uses the API key as both token and token secret.
    answer(call.response, 200, {
      oauth_token: key,
      oauth_token_secret: key,
      userID: person.id,
      username: person.label,
    });
  };

  const consent = ({ method, response, query, body }: Call): void => {
    const isAnswer = method === 'POST';
    const parameters = Object.fromEntries(isAnswer ? new URLSearchParams(body.toString()) : query);
    requests.push({ kind: isAnswer ? 'consent' : 'authorize', path: paths.authorize, parameters });
    const token = parameters['oauth_token'] ?? '';
    const requestToken = pending.get(token);
    if (!requestToken) return void response.writeHead(400).end('No such token');
    if (!isAnswer) {
      const { host } = new URL(requestToken.callback);
      const question = { provider, app: requestToken.clientId, people, scopes: [], returnsTo: host, parameters };
      const page = consentPage(question);
      return void response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
    }
    const redirect = new URL(requestToken.callback);
    redirect.searchParams.set('oauth_token', token);
    if (parameters['decision'] === 'allow') {
      requestToken.person = people.find(({ id }) => id === parameters['person']) ?? people[0] ?? null;
      requestToken.verifier = issue('verifier');
      redirect.searchParams.set('oauth_verifier', requestToken.verifier);
    }
    response.writeHead(302, { location: redirect.href }).end();
  };

  return {
    requests,
    secrets,
    take(call) {
      const { pathname } = call.url;
      if (pathname === paths.authorize) consent(call);
      else if (pathname === paths.request || pathname === paths.token) signedRequest(call, pathname === paths.token);
      else return false;
      return true;
    },
    ownerOf: (key) => keys.get(key) ?? null,
    revoke: () => keys.clear(),
    grant() {
      const key = issue('access');
      const [person] = people;
      if (person) keys.set(key, person);
      return key;
    },
    failNext(count) {
      requestsToFail = count;
    },
  };
}
