/** What is sent to the OAuth endpoints of sources, and what their answers become. */
import { expect, test } from '@jest/globals';

import { readOAuthClients } from '../../connectors/oauth/clients.js';
import { createLiveGrant } from '../../connectors/oauth/liveGrant.js';
import { beginConsent, exchangeVerifier } from '../../connectors/oauth/oauth1.js';
import { revokeGrant } from '../../connectors/oauth/revokeGrant.js';
import { compareScopes } from '../../connectors/oauth/scopes.js';
import {
  consentUrl,
  exchangeCode,
  fillUrls,
  refreshGrant,
  TOKEN_TIMEOUT_MS,
  withDefaults,
  type Provider,
} from '../../connectors/oauth/tokenRequests.js';
import type { OAuthSpec } from '../../connectors/oauthSpec.js';
import type { GrantStore, StoredGrant } from '../../contract/accounts/oauth.js';
import { Fault } from '../../contract/failures.js';
import type { EgressRequest, EgressResponse } from '../../egress/types.js';
import { faultOf } from '../support/faultOf.js';
import { NEVER } from './account.js';

const SPEC: OAuthSpec = {
  ...{ scopes: ['read', 'files'], scopeSeparator: ',', scopeParameter: 'scope', pkce: true, clientAuth: 'post' },
  ...{ bodyFormat: 'form', authorizeParameters: { prompt: 'consent' }, rotates: true },
};
const URLS = Object.fromEntries(
  ['authorize', 'token', 'request', 'revoke'].map((part) => [part, `https://a.example/${part}`]),
);
const providerOf = (spec: Partial<OAuthSpec> = {}): Provider => ({
  name: 'Source',
  spec: { ...SPEC, ...spec },
  urls: URLS,
});
const CLIENT = { id: 'client', secret: 'secret' };
const GRANT: StoredGrant = {
  ...{ accessToken: 'old', refreshToken: 'refresh', obtainedAt: 0, expiresAt: 1, facts: { team: 'T1' } },
  ...{ clientId: 'client', scopes: ['read'] },
};
const bodyOf = (request: EgressRequest | undefined): string => (typeof request?.body === 'string' ? request.body : '');
/** An egress with one answer, and the requests that it received. */
function answering(answer: unknown, { status = 200, headers = {} as Readonly<Record<string, string>> } = {}) {
  const requests: EgressRequest[] = [];
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  const request = async (one: EgressRequest): Promise<EgressResponse> => {
    requests.push(one);
    return { status, headers, bytes: async () => Buffer.from(text) } as unknown as EgressResponse;
  };
  const form = () => Object.fromEntries(new URLSearchParams(bodyOf(requests[0])));
  return { egress: { request }, requests, form };
}
const EXCHANGE = {
  client: CLIENT,
  code: 'c',
  redirectUri: 'https://b.example/',
  verifier: 'v',
  facts: {},
  keepsClient: false,
};

test('the consent page gets the scopes, the state and the challenge of the verifier, if the source supports one', () => {
  // The example of https://www.rfc-editor.org/rfc/rfc7636#appendix-B
  const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
  const request = { clientId: 'client', redirectUri: 'https://b.example/', state: 's', scopes: SPEC.scopes, verifier };
  const parametersOf = (spec: Partial<OAuthSpec>) =>
    Object.fromEntries(new URL(consentUrl(providerOf(spec), request)).searchParams);
  expect(parametersOf({})).toEqual({
    ...{
      response_type: 'code',
      client_id: 'client',
      redirect_uri: 'https://b.example/',
      state: 's',
      scope: 'read,files',
    },
    ...{
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
      prompt: 'consent',
    },
  });
  expect(parametersOf({ pkce: false })).not.toHaveProperty('code_challenge');
  expect(parametersOf({ scopeParameter: null })).not.toHaveProperty('scope');
});

test('a code is exchanged with its verifier, and the client secret is stored only if the connection has its own client', async () => {
  const answer = { access_token: 'new', refresh_token: 'r', expires_in: 3_600, scope: 'read files' };
  const sent = answering(answer);
  const before = Date.now();
  const grant = await exchangeCode(providerOf(), { ...EXCHANGE, facts: { site: 'pier' } }, sent.egress);
  expect(grant).toMatchObject({
    accessToken: 'new',
    refreshToken: 'r',
    facts: { site: 'pier' },
    scopes: ['read', 'files'],
  });
  expect(grant.expiresAt! - grant.obtainedAt).toBe(3_600_000);
  expect(grant.obtainedAt).toBeGreaterThanOrEqual(before);
  expect(grant).not.toHaveProperty('clientSecret');
  expect(sent.form()).toEqual({
    ...{ grant_type: 'authorization_code', code: 'c', redirect_uri: 'https://b.example/', code_verifier: 'v' },
    ...{ client_id: 'client', client_secret: 'secret' },
  });
  expect(sent.requests[0]).toMatchObject({ url: URLS['token'], redirects: 'answer', totalTimeoutMs: TOKEN_TIMEOUT_MS });
  const own = await exchangeCode(
    providerOf({ pkce: false }),
    { ...EXCHANGE, keepsClient: true },
    answering(answer).egress,
  );
  expect(own.clientSecret).toBe('secret');
  const withoutPkce = answering(answer);
  await exchangeCode(providerOf({ pkce: false }), EXCHANGE, withoutPkce.egress);
  expect(withoutPkce.form()).not.toHaveProperty('code_verifier');
});

test('a client that authenticates by HTTP Basic sends its encoded secret in the header only', async () => {
  const sent = answering({ access_token: 'new' });
  const client = { id: 'a:b', secret: 'c d' };
  const provider = providerOf({ clientAuth: 'basic', bodyFormat: 'json', tokenHeaders: { version: '1' } });
  const { expiresAt } = await exchangeCode(provider, { ...EXCHANGE, client }, sent.egress);
  expect(expiresAt).toBeNull();
  const { headers } = sent.requests[0]!;
  expect(headers).toMatchObject({
    ...{ version: '1', 'content-type': 'application/json' },
    authorization: `Basic ${Buffer.from('a%3Ab:c%20d').toString('base64')}`,
  });
  expect(JSON.parse(bodyOf(sent.requests[0]))).not.toHaveProperty('client_secret');
});

test('a refresh keeps what its answer does not contain, and takes the facts of the answer', async () => {
  const spec: Partial<OAuthSpec> = {
    ...{ tokensIn: 'authed_user', tokenParameters: { expires_in: '7' } },
    tokenResponseFields: {
      team: 'team.id',
      host: { path: 'api', pattern: /^https:\/\/(\w+)\.example$/, otherwise: 'eu' },
    },
  };
  const sent = answering({ access_token: 'new', team: { id: 'T2' }, api: 'https://us.example' });
  const grant = await refreshGrant(providerOf(spec), CLIENT, { ...GRANT, clientSecret: 'own' }, sent.egress);
  expect(grant).toMatchObject({
    ...{ accessToken: 'new', refreshToken: 'refresh', scopes: ['read'], clientSecret: 'own', expiresAt: null },
    facts: { team: 'T2', host: 'us' },
  });
  expect(sent.form()).toMatchObject({ grant_type: 'refresh_token', refresh_token: 'refresh', expires_in: '7' });
  const kept = await refreshGrant(providerOf(spec), CLIENT, GRANT, answering({ access_token: 'new' }).egress);
  expect(kept.facts).toEqual({ team: 'T1' });
  const other = answering({ access_token: 'new', api: 'https://us.example.evil' });
  expect((await faultOf(refreshGrant(providerOf(spec), CLIENT, GRANT, other.egress))).kind).toBe('bad_response');
  expect(withDefaults({ ...SPEC, ...spec }, {})).toEqual({ host: 'eu' });
  expect(withDefaults({ ...SPEC, ...spec }, { host: 'us', team: 'T1' })).toEqual({ host: 'us', team: 'T1' });
});

test('a rate limit of the token endpoint has the wait of its answer', async () => {
  const limited = { status: 429, headers: { 'retry-after': '7' } };
  expect(await faultOf(refreshGrant(providerOf(), CLIENT, GRANT, answering('', limited).egress))).toMatchObject({
    ...{ kind: 'rate_limited', retryAfterMs: 7_000 },
  });
  const request = { clientId: 'c', redirectUri: 'https://b.example/', state: 's', scopes: [], verifier: '' };
  expect(await faultOf(beginConsent(providerOf(), request, answering('', limited).egress))).toMatchObject({
    ...{ kind: 'rate_limited', retryAfterMs: 7_000 },
  });
});

test('a parameter of a connection cannot change the host or the path of a request', async () => {
  const fill = (tenant: string) => fillUrls({ token: 'https://{tenant}.example/t' }, { tenant })['token'];
  expect(fill('pier-1')).toBe('https://pier-1.example/t');
  for (const tenant of ['', 'evil.example/', 'a?b', 'a#b', '-a', 'a@b', 'a b'])
    expect(() => fill(tenant)).toThrow(Fault);
});

test('OAuth 1.0a: permissions become parameters of the consent page, and the callback carries the state', async () => {
  const begun = answering('oauth_token=t&oauth_token_secret=s');
  const request = {
    ...{ clientId: 'client', clientSecret: 'secret', redirectUri: 'https://b.example/?x=1', state: 'the state' },
    ...{ scopes: ['library_access=1', 'all_groups=read', 'bare'], verifier: '' },
  };
  const { url, requestToken } = await beginConsent(
    providerOf({ authorizeParameters: { name: 'Search' } }),
    request,
    begun.egress,
  );
  expect(Object.fromEntries(new URL(url).searchParams)).toEqual({
    ...{ name: 'Search', library_access: '1', all_groups: 'read', bare: '1', oauth_token: 't' },
  });
  expect(requestToken).toEqual({ token: 't', secret: 's' });
  expect(decodeURIComponent(begun.requests[0]!.headers!['authorization']!)).toContain(
    'oauth_callback="https://b.example/?x=1&state=the+state"',
  );
  const exchanged = answering('oauth_token=key&oauth_token_secret=key');
  const grant = await exchangeVerifier(providerOf(), { client: CLIENT, verifier: 'v', requestToken }, exchanged.egress);
  expect(grant).toMatchObject({ accessToken: 'key', refreshToken: null, expiresAt: null, clientId: 'client' });
  expect(exchanged.requests[0]).toMatchObject({ url: URLS['token'], method: 'POST' });
});

test('a grant is revoked by its refresh token, or by its access token if it has no other or the source requires that', async () => {
  const revoke = async (revokes: OAuthSpec['revokes'], grant: StoredGrant, answer: unknown = {}, status = 200) => {
    const sent = answering(answer, { status });
    await revokeGrant(
      { ...providerOf(), spec: { ...SPEC, ...(revokes === undefined ? {} : { revokes }) } },
      grant,
      sent.egress,
    );
    return [sent.requests[0]?.url, bodyOf(sent.requests[0]), sent.requests[0]?.headers?.['authorization']];
  };
  expect(await revoke('form', GRANT)).toEqual([URLS['revoke'], 'token=refresh', undefined]);
  expect(await revoke('form', { ...GRANT, refreshToken: null })).toEqual([URLS['revoke'], 'token=old', undefined]);
  expect(await revoke('bearer', GRANT, 'no JSON')).toEqual([URLS['revoke'], '', 'Bearer old']);
  expect(await revoke(undefined, GRANT)).toEqual([undefined, '', undefined]);
  for (const refused of [
    revoke('form', GRANT, { ok: false }),
    revoke('form', GRANT, {}, 400),
    revoke('form', GRANT, {}, 302),
  ])
    expect((await faultOf(refused)).kind).toBe('bad_response');
});

test('OAuth clients of the deployment may have commas and colons in their secrets', () => {
  expect(readOAuthClients(' NOTION=id:a:b%2Cc , BOX=x:y,')).toEqual({
    ...{ NOTION: { id: 'id', secret: 'a:b,c' }, BOX: { id: 'x', secret: 'y' } },
  });
  for (const text of ['NOTION=id', 'NOWHERE=id:secret', 'NOTION=:secret'])
    expect(() => readOAuthClients(text)).toThrow(/pairs/);
});

test('scopes are compared by name, alias and address, and none is missing if the source reports none', () => {
  const spec = { scopes: ['read', 'Files.Read', 'offline'], scopeAliases: { offline: [], read: ['full'] } };
  const missing = (granted: readonly string[] | null) => compareScopes(spec, granted).missing;
  expect(missing(null)).toEqual([]);
  expect(missing([])).toEqual(['read', 'Files.Read']);
  expect(missing(['FULL', 'https://graph.example/files.read'])).toEqual([]);
  expect(missing(['read', 'xFiles.Read'])).toEqual(['Files.Read']);
});

test('the lock on a refresh outlasts two attempts; version() returns that of a refused grant', async () => {
  const locks: number[] = [];
  const stored = { grant: { ...GRANT, obtainedAt: 0, expiresAt: 1 }, version: '1' };
  const grantStore: GrantStore = {
    read: () => Promise.resolve(stored),
    claim: (_version, lockMs) => (locks.push(lockMs), Promise.resolve('claim')),
    save: () => Promise.resolve('2'),
    release: () => Promise.resolve(),
    ownClient: () => Promise.resolve(null),
  };
  const refresh = () => Promise.resolve({ ...GRANT, accessToken: 'new', expiresAt: null });
  await createLiveGrant('Source', grantStore, refresh).current(NEVER);
  expect(locks).toHaveLength(1);
  expect(locks[0]).toBeGreaterThan(2 * TOKEN_TIMEOUT_MS);
  const without = { ...stored, grant: { ...stored.grant, refreshToken: null } };
  const live = createLiveGrant('Source', { ...grantStore, read: () => Promise.resolve(without) }, refresh);
  expect((await faultOf(live.renewed('old', NEVER))).kind).toBe('access_revoked');
  // Only this version may be marked as revoked.
  expect(live.version()).toBe('1');
});

test('a caller whose refused token is the result of a shared refresh gets the newer stored token', async () => {
  const grants = ['first', 'second'].map((accessToken, index) => ({
    ...{ grant: { ...GRANT, accessToken, expiresAt: null }, version: String(index) },
  }));
  const grantStore: GrantStore = {
    read: () => Promise.resolve(grants[1]!),
    claim: () => Promise.reject(new Error('must not be called')),
    save: () => Promise.resolve(null),
    release: () => Promise.resolve(),
    ownClient: () => Promise.resolve(null),
  };
  // The refresh that the callers of this process share returns the token that was refused.
  const shared = () => Promise.resolve(grants[0]!);
  const live = createLiveGrant('Source', grantStore, () => Promise.reject(new Error('must not be called')), shared);
  expect((await live.renewed('first', NEVER)).accessToken).toBe('second');
});
