/**
 * The consent page and token endpoint of an emulated OAuth 2 provider, by RFC 6749 and 7636, with the deviations of
 * real providers. An emulator first passes each request to `take`, then gets the access of its token from `accessOf`.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

import { consentPage, type EmulatedPerson } from './consentPage.js';

export const CLIENT_ID = 'emulated-client';
export const CLIENT_SECRET = 'emulated-client-secret';

export interface OAuthProviderSettings {
  /** Display name on the consent page. */
  readonly name: string;
  /** Paths of its endpoints; a segment `*` matches any segment. `revoke` is the endpoint of RFC 7009. */
  readonly paths: { readonly authorize: string; readonly token: string; readonly revoke?: string };
  /** Secrets by client id. Default: CLIENT_ID with CLIENT_SECRET. */
  readonly clients?: Readonly<Record<string, string>>;
  /** The first one is preselected on the consent page. */
  readonly people: readonly EmulatedPerson[];
  /** How the client must send its credentials. Default: post. */
  readonly clientAuth?: 'post' | 'basic';
  /** Format of token requests. Default: form. */
  readonly bodyFormat?: 'form' | 'json';
  /** Whether a request without a code challenge is refused. Default: a challenge is verified if the request has one. */
  readonly requiresPkce?: boolean;
  /** Query parameter of the scopes; null: the request has no scopes. Default: scope. */
  readonly scopeParameter?: string | null;
  /** Whether refresh tokens are single-use. */
  readonly rotates?: boolean;
  /** Whether the code exchange returns a refresh token. Default: yes. */
  readonly refreshes?: boolean;
  /** Lifetime of access tokens in seconds; `ttl` changes it. Default: 3600. */
  readonly expiresIn?: number;
  /** Whether access tokens expire, and can be refreshed, only if the request has expires_in. Default: no. */
  readonly expiresOnRequest?: boolean;
  /** Whether responses contain expires_in. Default: yes. */
  readonly sendsExpiry?: boolean;
  /**
   * Member of the response that contains the tokens. In refresh responses the tokens are at the top level, and
   * this member contains the person's id.
   */
  readonly tokenMember?: string;
  /** Returns further members of the token response. */
  readonly facts?: (person: EmulatedPerson) => Readonly<Record<string, unknown>>;
  /** Headers that token requests must have. */
  readonly tokenHeaders?: Readonly<Record<string, string>>;
  /** HTTP status of refused grants. Default: 400. */
  readonly refusalStatus?: number;
}

/** A request that the provider received. It contains secrets. */
export interface OAuthRequest {
  readonly kind: 'authorize' | 'consent' | 'token' | 'revoke';
  /** The path of the request, including a tenant segment. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** Only for token requests: the result. */
  outcome?: 'granted' | 'refused' | 'lost';
}

/** The identity and scopes of an access token. */
export interface Access {
  readonly person: EmulatedPerson;
  readonly scopes: readonly string[];
  readonly clientId: string;
}

interface Grant extends Access {
  readonly expires: number;
}
interface Code extends Access {
  readonly redirectUri: string;
  readonly challenge: string | null;
  used: boolean;
}

export interface OAuthProvider {
  /** Answers a request for one of the provider's paths. Returns false for any other request, without reading it. */
  take(request: IncomingMessage, response: ServerResponse): Promise<boolean>;
  /** Returns the access of a request's bearer token; null if the token is missing or invalid. */
  accessOf(request: IncomingMessage): Access | null;
  readonly requests: OAuthRequest[];
  /** Every code and token issued so far. */
  readonly secrets: string[];
  /** Sets the lifetime of access tokens issued from now on, in seconds. */
  ttl(seconds: number): void;
  /** Expires all access tokens; refresh tokens stay valid. */
  expireAll(): void;
  /** Revokes all grants of a person. Unset: of every person. */
  revoke(personId?: string): void;
  /** Processes the next token requests, but closes the connection instead of answering. */
  loseReplies(requests: number): void;
  /** Refuses the next refreshes with the given answer, without changing any token. */
  refuseRefreshes(requests: number, answer: { readonly status: number; readonly body: unknown }): void;
  /**
   * Holds token and revocation requests before they are processed, until the returned function is called. A token
   * request whose sender has disconnected meanwhile is not processed.
   */
  hold(): () => void;
  /** Processes token requests, but holds their answers until the returned function is called. */
  holdReplies(): () => void;
  /** Issues tokens without the consent flow, for tests of a connector without the service. */
  grant(personId?: string, scopes?: readonly string[]): { readonly accessToken: string; readonly refreshToken: string };
}

const secret = (kind: string): string => `${kind}-${randomBytes(24).toString('base64url')}`;
const matches = (pattern: string, path: string): boolean => {
  const [expected, actual] = [pattern.split('/'), path.split('/')];
  return expected.length === actual.length && expected.every((part, at) => part === '*' || part === actual[at]);
};

export function createOAuthProvider(settings: OAuthProviderSettings): OAuthProvider {
  const { paths, people, clientAuth = 'post', bodyFormat = 'form', rotates = false, refreshes = true } = settings;
  const { clients = { [CLIENT_ID]: CLIENT_SECRET }, sendsExpiry = true, refusalStatus = 400, tokenMember } = settings;
  const { scopeParameter = 'scope' } = settings;
  let seconds = settings.expiresIn ?? 3_600;
  const codes = new Map<string, Code>();
  const accesses = new Map<string, Grant>();
  const refreshTokens = new Map<string, Access>();
  const requests: OAuthRequest[] = [];
  const secrets: string[] = [];
  let repliesToLose = 0;
  let refreshesToRefuse = 0;
  let refusal: { readonly status: number; readonly body: unknown } = { status: 500, body: {} };
  const held: Record<'requests' | 'replies', Promise<void> | null> = { requests: null, replies: null };

  const createSecret = (kind: string): string => {
    const value = secret(kind);
    secrets.push(value);
    return value;
  };
  const issue = ({ person, scopes, clientId }: Access, old: string | null) => {
    const access = { person, scopes, clientId };
    const accessToken = createSecret('access');
    accesses.set(accessToken, { ...access, expires: Date.now() + seconds * 1000 });
    if (old !== null && !rotates) return { accessToken, refreshToken: null };
    if (old !== null) refreshTokens.delete(old);
    const refreshToken = createSecret('refresh');
    refreshTokens.set(refreshToken, access);
    return { accessToken, refreshToken };
  };
  const send = (response: ServerResponse, status: number, body: unknown): void =>
    void response
      .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
      .end(JSON.stringify(body));

  const authorize = async (request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> => {
    const isConsent = request.method === 'POST';
    const parameters = Object.fromEntries(isConsent ? new URLSearchParams(await text(request)) : url.searchParams);
    requests.push({ kind: isConsent ? 'consent' : 'authorize', path: url.pathname, parameters });
    const { client_id: clientId = '', redirect_uri: redirectUri = '', state = '', person = '' } = parameters;
    const error = !Object.hasOwn(clients, clientId)
      ? 'unknown client'
      : URL.canParse(redirectUri)
        ? parameters['response_type'] === 'code'
          ? null
          : 'unsupported response type'
        : 'no redirect URI';
    // Never redirect for a request from an unknown client.
    if (error !== null) return send(response, 400, { error: 'invalid_request', error_description: error });
    const redirectBack = (answer: Record<string, string>): void => {
      const to = new URL(redirectUri);
      for (const [name, value] of Object.entries({ ...answer, ...(state === '' ? {} : { state }) }))
        to.searchParams.set(name, value);
      response.writeHead(302, { location: to.href }).end();
    };
    const challenge = parameters['code_challenge'] ?? null;
    if (
      (challenge === null && settings.requiresPkce) ||
      (challenge !== null && parameters['code_challenge_method'] !== 'S256')
    )
      return redirectBack({ error: 'invalid_request', error_description: 'a code challenge by S256 is needed' });
    const scopes = (scopeParameter === null ? '' : (parameters[scopeParameter] ?? '')).split(/[\s,]+/).filter(Boolean);
    if (!isConsent) {
      const page = consentPage({
        provider: settings.name,
        app: clientId,
        ...{ people, scopes, parameters, returnsTo: new URL(redirectUri).host },
      });
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
      return;
    }
    if (parameters['decision'] !== 'allow')
      return redirectBack({ error: 'access_denied', error_description: 'the person denied access' });
    const consenting = people.find(({ id }) => id === person) ?? people[0];
    if (!consenting) return redirectBack({ error: 'access_denied' });
    const code = createSecret('code');
    codes.set(code, { person: consenting, scopes, clientId, redirectUri, challenge, used: false });
    redirectBack({ code });
  };

  /** Returns the authenticated client of a token request; null if authentication fails. */
  const clientOf = (request: IncomingMessage, parameters: Record<string, string>): string | null => {
    const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    const [id = '', key = ''] =
      clientAuth === 'basic'
        ? Buffer.from(basic ?? '', 'base64')
            .toString()
            .split(':')
            .map(decodeURIComponent)
        : [parameters['client_id'], parameters['client_secret']];
    return Object.hasOwn(clients, id) && clients[id] === key ? id : null;
  };
  const exchange = (clientId: string, parameters: Record<string, string>) => {
    const { code = '', redirect_uri: redirectUri, code_verifier: verifier = '' } = parameters;
    const issuedCode = codes.get(code);
    const proven =
      issuedCode?.challenge === null ||
      createHash('sha256').update(verifier).digest('base64url') === issuedCode?.challenge;
    if (
      !issuedCode ||
      issuedCode.used ||
      issuedCode.clientId !== clientId ||
      issuedCode.redirectUri !== redirectUri ||
      !proven
    )
      return null;
    issuedCode.used = true;
    return { access: issuedCode, ...issue(issuedCode, null) };
  };
  const refresh = (clientId: string, parameters: Record<string, string>) => {
    const old = parameters['refresh_token'] ?? '';
    const refreshedGrant = refreshTokens.get(old);
    return refreshedGrant?.clientId === clientId ? { access: refreshedGrant, ...issue(refreshedGrant, old) } : null;
  };

  const tokens = async (request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> => {
    const body = await text(request);
    const isJson = (request.headers['content-type'] ?? '').startsWith('application/json');
    const parameters = isJson
      ? (JSON.parse(body) as Record<string, string>)
      : Object.fromEntries(new URLSearchParams(body));
    const entry: OAuthRequest = { kind: 'token', path: url.pathname, parameters };
    requests.push(entry);
    entry.outcome = 'refused';
    await held.requests;
    if (request.socket.destroyed) return;
    const { tokenHeaders = {} } = settings;
    if (Object.entries(tokenHeaders).some(([name, value]) => request.headers[name] !== value))
      return send(response, 400, { error: 'missing_version' });
    if (isJson !== (bodyFormat === 'json')) return send(response, 400, { error: 'invalid_request' });
    const clientId = clientOf(request, parameters);
    if (clientId === null) return send(response, 401, { error: 'invalid_client' });
    const isRefresh = parameters['grant_type'] === 'refresh_token';
    if (isRefresh && refreshesToRefuse > 0) {
      refreshesToRefuse -= 1;
      return send(response, refusal.status, refusal.body);
    }
    if (!isRefresh && parameters['grant_type'] !== 'authorization_code')
      return send(response, 400, { error: 'unsupported_grant_type' });
    const granted = isRefresh ? refresh(clientId, parameters) : exchange(clientId, parameters);
    if (!granted)
      return send(response, refusalStatus, { error: 'invalid_grant', error_description: 'expired, used or revoked' });
    if (repliesToLose > 0) {
      repliesToLose -= 1;
      entry.outcome = 'lost';
      request.socket.destroy();
      return;
    }
    await held.replies;
    entry.outcome = request.socket.destroyed ? 'lost' : 'granted';
    const { access, accessToken, refreshToken } = granted;
    const isPermanent = settings.expiresOnRequest === true && parameters['expires_in'] === undefined;
    const answer = {
      access_token: accessToken,
      token_type: 'Bearer',
      scope: access.scopes.join(' '),
      ...(sendsExpiry && !isPermanent ? { expires_in: seconds } : {}),
      ...(refreshes && !isPermanent && refreshToken !== null ? { refresh_token: refreshToken } : {}),
    };
    const facts = settings.facts?.(access.person) ?? {};
    if (tokenMember === undefined) return send(response, 200, { ...answer, ...facts });
    const parts = isRefresh ? { ...answer, [tokenMember]: { id: access.person.id } } : { [tokenMember]: answer };
    send(response, 200, { ok: true, ...facts, ...parts });
  };

  const revoke = (personId?: string): void => {
    for (const grants of [accesses, refreshTokens] as const)
      for (const [token, { person }] of grants)
        if (personId === undefined || person.id === personId) grants.delete(token);
  };
  /** Revokes all grants of the token's person, as some providers do. */
  const revocation = async (request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> => {
    const parameters = Object.fromEntries(new URLSearchParams(await text(request)));
    requests.push({ kind: 'revoke', path: url.pathname, parameters });
    await held.requests;
    const token = parameters['token'] ?? '';
    const revokedAccess = accesses.get(token) ?? refreshTokens.get(token);
    if (!revokedAccess) return send(response, 400, { error: 'invalid_token' });
    revoke(revokedAccess.person.id);
    send(response, 200, {});
  };
  const holding = (stage: keyof typeof held): (() => void) => {
    let release: () => void = () => undefined;
    held[stage] = new Promise((resolve) => {
      release = () => {
        held[stage] = null;
        resolve();
      };
    });
    return release;
  };

  return {
    requests,
    secrets,
    async take(request, response) {
      const url = new URL(request.url ?? '/', 'http://provider');
      if (paths.revoke !== undefined && matches(paths.revoke, url.pathname)) {
        await revocation(request, response, url);
        return true;
      }
      const isAuthorize = matches(paths.authorize, url.pathname);
      if (!isAuthorize && !matches(paths.token, url.pathname)) return false;
      await (isAuthorize ? authorize : tokens)(request, response, url);
      return true;
    },
    accessOf(request) {
      const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
      const found = accesses.get(token);
      return found && found.expires > Date.now() ? found : null;
    },
    ttl(next) {
      seconds = next;
    },
    expireAll: () => accesses.clear(),
    revoke,
    loseReplies(count) {
      repliesToLose = count;
    },
    refuseRefreshes(count, answer) {
      refreshesToRefuse = count;
      refusal = answer;
    },
    hold: () => holding('requests'),
    holdReplies: () => holding('replies'),
    grant(personId, scopes = []) {
      const person = people.find(({ id }) => id === personId) ?? people[0];
      const [clientId] = Object.keys(clients);
      if (!person || clientId === undefined)
        throw new Error('The provider needs a person and a client to grant access');
      const { accessToken, refreshToken } = issue({ person, scopes, clientId }, null);
      return { accessToken, refreshToken: refreshToken ?? '' };
    },
  };
}
