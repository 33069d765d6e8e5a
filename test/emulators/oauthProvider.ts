/**
 * The consent and token server part of a provider's stand-in, after RFC 6749 and 7636 with the liberties that providers
 * take. An emulator asks it first for each request, and then whose access token a request carries.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

import { consentPage, type EmulatedPerson } from './consentPage.js';

export const CLIENT_ID = 'emulated-client';
export const CLIENT_SECRET = 'emulated-client-secret';

export interface OAuthProviderSettings {
  /** As its consent page calls itself. */
  readonly name: string;
  /** Paths of its pages; a part that is `*` stands for any. `revoke` is that of RFC 7009. */
  readonly paths: { readonly authorize: string; readonly token: string; readonly revoke?: string };
  /** Secrets by client id; default: that of CLIENT_ID. */
  readonly clients?: Readonly<Record<string, string>>;
  /** The one that the consent page has chosen comes first. */
  readonly people: readonly EmulatedPerson[];
  /** Where the client's credentials must stand. Default: post. */
  readonly clientAuth?: 'post' | 'basic';
  /** Default: form. */
  readonly bodyFormat?: 'form' | 'json';
  /** Consent without a challenge is refused. Default: a challenge is verified where one was given. */
  readonly requiresPkce?: boolean;
  /** The query parameter that carries the scopes; null: scopes are chosen elsewhere. Default: scope. */
  readonly scopeParameter?: string | null;
  /** Whether a refresh token works once. */
  readonly rotates?: boolean;
  /** Whether the answer to a code has a refresh token. Default: yes. */
  readonly refreshes?: boolean;
  /** Seconds an access token lives; changed at will by `ttl`. Default: 3600. */
  readonly expiresIn?: number;
  /** Whether answers say how long it lives. Default: yes. */
  readonly saysExpiry?: boolean;
  /** The part of the answer the tokens stand in; of refreshes they stand outside, and it says whose they are. */
  readonly tokensIn?: string;
  /** What else the answer says. */
  readonly facts?: (person: EmulatedPerson) => Readonly<Record<string, unknown>>;
  /** Headers without which no request for tokens is answered. */
  readonly tokenHeaders?: Readonly<Record<string, string>>;
  /** Status of refusals of grants. Default: 400. */
  readonly refusalStatus?: number;
}

/** What the provider was asked. Secrets are in it: it is for tests alone. */
export interface OAuthRequest {
  readonly kind: 'authorize' | 'consent' | 'token' | 'revoke';
  /** The path as asked, so that a tenant in it can be seen. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** Of requests for tokens: what came of it. */
  outcome?: 'granted' | 'refused' | 'lost';
}

/** Who an access token speaks for. */
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
  /** Answers what is asked of its pages. False: the request is none of these, and is untouched. */
  take(request: IncomingMessage, response: ServerResponse): Promise<boolean>;
  /** Whose access token a request carries as a Bearer; null where it carries none that is good now. */
  accessOf(request: IncomingMessage): Access | null;
  readonly requests: OAuthRequest[];
  /** Every code and token that was ever given out. */
  readonly secrets: string[];
  /** Seconds that access tokens live from now on. */
  ttl(seconds: number): void;
  /** Ends all access tokens, as if their time was over; refresh tokens stay. */
  expireAll(): void;
  /** Ends everything that a person, or anybody, has granted. */
  revoke(personId?: string): void;
  /** Carries out the next requests for tokens, but breaks the connection instead of answering. */
  loseReplies(requests: number): void;
  /** Refuses the next refreshes with an answer of its own, without touching any token. */
  refuseRefreshes(requests: number, answer: { readonly status: number; readonly body: unknown }): void;
  /**
   * Keeps requests for tokens, and to end them, waiting before they are carried out, until what it returns is called. One whose sender is
   * gone by then is not carried out.
   */
  hold(): () => void;
  /** The same with their answers: the requests are carried out. */
  holdReplies(): () => void;
  /** A grant without the walk, for tests of a connector alone. */
  grant(personId?: string, scopes?: readonly string[]): { readonly accessToken: string; readonly refreshToken: string };
}

const secret = (kind: string): string => `${kind}-${randomBytes(24).toString('base64url')}`;
const matches = (pattern: string, path: string): boolean => {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  return wanted.length === given.length && wanted.every((part, at) => part === '*' || part === given[at]);
};

export function createOAuthProvider(settings: OAuthProviderSettings): OAuthProvider {
  const { paths, people, clientAuth = 'post', bodyFormat = 'form', rotates = false, refreshes = true } = settings;
  const { clients = { [CLIENT_ID]: CLIENT_SECRET }, saysExpiry = true, refusalStatus = 400, tokensIn } = settings;
  const { scopeParameter = 'scope' } = settings;
  let seconds = settings.expiresIn ?? 3_600;
  const codes = new Map<string, Code>();
  const accesses = new Map<string, Grant>();
  const refreshTokens = new Map<string, Access>();
  const requests: OAuthRequest[] = [];
  const secrets: string[] = [];
  let toLose = 0;
  let toRefuse = 0;
  let refusal: { readonly status: number; readonly body: unknown } = { status: 500, body: {} };
  const held: Record<'requests' | 'replies', Promise<void> | null> = { requests: null, replies: null };

  const give = (kind: string): string => {
    const value = secret(kind);
    secrets.push(value);
    return value;
  };
  const issue = ({ person, scopes, clientId }: Access, old: string | null) => {
    const who = { person, scopes, clientId };
    const accessToken = give('access');
    accesses.set(accessToken, { ...who, expires: Date.now() + seconds * 1000 });
    if (old !== null && !rotates) return { accessToken, refreshToken: null };
    if (old !== null) refreshTokens.delete(old);
    const refreshToken = give('refresh');
    refreshTokens.set(refreshToken, who);
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
    const wrong = !Object.hasOwn(clients, clientId)
      ? 'unknown client'
      : URL.canParse(redirectUri)
        ? parameters['response_type'] === 'code'
          ? null
          : 'unsupported response type'
        : 'no redirect URI';
    // Nobody may be led anywhere by a request that no known client made.
    if (wrong !== null) return send(response, 400, { error: 'invalid_request', error_description: wrong });
    const back = (answer: Record<string, string>): void => {
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
      return back({ error: 'invalid_request', error_description: 'a code challenge by S256 is needed' });
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
      return back({ error: 'access_denied', error_description: 'the person said no' });
    const who = people.find(({ id }) => id === person) ?? people[0];
    if (!who) return back({ error: 'access_denied' });
    const code = give('code');
    codes.set(code, { person: who, scopes, clientId, redirectUri, challenge, used: false });
    back({ code });
  };

  /** The client that a request for tokens proves to be; null where it proves nothing. */
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
    const known = codes.get(code);
    const proven =
      known?.challenge === null || createHash('sha256').update(verifier).digest('base64url') === known?.challenge;
    if (!known || known.used || known.clientId !== clientId || known.redirectUri !== redirectUri || !proven)
      return null;
    known.used = true;
    return { access: known, ...issue(known, null) };
  };
  const refresh = (clientId: string, parameters: Record<string, string>) => {
    const old = parameters['refresh_token'] ?? '';
    const known = refreshTokens.get(old);
    return known?.clientId === clientId ? { access: known, ...issue(known, old) } : null;
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
    if (isRefresh && toRefuse > 0) {
      toRefuse -= 1;
      return send(response, refusal.status, refusal.body);
    }
    if (!isRefresh && parameters['grant_type'] !== 'authorization_code')
      return send(response, 400, { error: 'unsupported_grant_type' });
    const granted = isRefresh ? refresh(clientId, parameters) : exchange(clientId, parameters);
    if (!granted)
      return send(response, refusalStatus, { error: 'invalid_grant', error_description: 'expired, used or revoked' });
    if (toLose > 0) {
      toLose -= 1;
      entry.outcome = 'lost';
      request.socket.destroy();
      return;
    }
    await held.replies;
    entry.outcome = request.socket.destroyed ? 'lost' : 'granted';
    const { access, accessToken, refreshToken } = granted;
    const answer = {
      access_token: accessToken,
      token_type: 'Bearer',
      scope: access.scopes.join(' '),
      ...(saysExpiry ? { expires_in: seconds } : {}),
      ...(refreshes && refreshToken !== null ? { refresh_token: refreshToken } : {}),
    };
    const facts = settings.facts?.(access.person) ?? {};
    if (tokensIn === undefined) return send(response, 200, { ...answer, ...facts });
    const parts = isRefresh ? { ...answer, [tokensIn]: { id: access.person.id } } : { [tokensIn]: answer };
    send(response, 200, { ok: true, ...facts, ...parts });
  };

  const revoke = (personId?: string): void => {
    for (const grants of [accesses, refreshTokens] as const)
      for (const [token, { person }] of grants)
        if (personId === undefined || person.id === personId) grants.delete(token);
  };
  /** As some providers do, it ends with one token all that its person has granted. */
  const revocation = async (request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> => {
    const parameters = Object.fromEntries(new URLSearchParams(await text(request)));
    requests.push({ kind: 'revoke', path: url.pathname, parameters });
    await held.requests;
    const token = parameters['token'] ?? '';
    const known = accesses.get(token) ?? refreshTokens.get(token);
    if (!known) return send(response, 400, { error: 'invalid_token' });
    revoke(known.person.id);
    send(response, 200, {});
  };
  const holding = (what: keyof typeof held): (() => void) => {
    let release: () => void = () => undefined;
    held[what] = new Promise((resolve) => {
      release = () => {
        held[what] = null;
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
      toLose = count;
    },
    refuseRefreshes(count, answer) {
      toRefuse = count;
      refusal = answer;
    },
    hold: () => holding('requests'),
    holdReplies: () => holding('replies'),
    grant(personId, scopes = []) {
      const person = people.find(({ id }) => id === personId) ?? people[0];
      const [clientId] = Object.keys(clients);
      if (!person || clientId === undefined) throw new Error('Nobody can grant anything');
      const { accessToken, refreshToken } = issue({ person, scopes, clientId }, null);
      return { accessToken, refreshToken: refreshToken ?? '' };
    },
  };
}
