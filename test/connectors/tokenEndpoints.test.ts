/**
 * Tests of the token endpoints of every OAuth source and of Google service accounts: which failures are retryable and
 * which are final, and what a refresh stores.
 */
import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from '@jest/globals';

import { CONNECTORS } from '../../connectors/catalogue.js';
import { readSourceUrls } from '../../connectors/readSourceUrls.js';
import { createConnectors } from '../../connectors/registry.js';
import type { GrantStore, StoredGrant } from '../../contract/accounts/oauth.js';
import type { Fault, FaultKind } from '../../contract/failures.js';
import type { ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import type { Egress, EgressRequest, EgressResponse } from '../../egress/types.js';
import { createAccessTokens } from '../../providers/embeddings/providers/googleToken.js';
import { everyRow } from '../support/everyRow.js';
import { faultOf } from '../support/faultOf.js';
import { NEVER, URL_PARAMETERS } from './account.js';

const SOURCES = (Object.keys(CONNECTORS) as ConnectedSourceType[]).filter((source) => CONNECTORS[source].oauth);
const CLIENT = { id: 'client', secret: 'client secret' };

interface Reply {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}
/** Temporary failures of a provider, with the minimum wait in milliseconds. */
const TRANSIENT: readonly (readonly [reply: Reply, waitMs?: number])[] = [
  [{ status: 429 }],
  [{ status: 429, headers: { 'retry-after': '7' } }, 7_000],
  [{ status: 429, body: '{"error":"rate_limit_exceeded"}' }],
  [{ status: 408 }],
  [{ status: 500 }],
  [{ status: 500, body: '{"error":"server_error"}' }],
  [{ status: 502, body: '<html>Bad Gateway</html>' }],
  [{ status: 503, body: '{"error":"temporarily_unavailable"}' }],
  [{ status: 503, headers: { 'retry-after': '7' } }],
  [{ status: 504 }],
  [{ status: 599 }],
  // The page of a proxy, and a truncated answer.
  [{ status: 200, body: '<html>' }],
  [{ status: 200, body: '{"access_token":"a' }],
  [{ status: 200, body: '{}' }],
];
/** Permanent refusals: the same request would be refused again. */
const FINAL: readonly (readonly [body: string, status: number, kind: FaultKind])[] = [
  ['{"error":"invalid_grant"}', 400, 'access_revoked'],
  ['{"error":"invalid_grant","error_description":"Token has been expired or revoked."}', 400, 'access_revoked'],
  ['{"error":"invalid_grant"}', 401, 'access_revoked'],
  ['{"error":"bad_refresh_token"}', 400, 'access_revoked'],
  // Microsoft, after a change of the sign-in policy.
  [
    '{"error":"interaction_required","error_description":"AADSTS50079: …","suberror":"basic_action"}',
    400,
    'access_revoked',
  ],
  ['{"error":"consent_required"}', 400, 'access_revoked'],
  // Salesforce, for a deactivated user.
  ['{"error":"inactive_user","error_description":"user is inactive"}', 400, 'access_revoked'],
  ['{"error":"inactive_org","error_description":"organization is inactive"}', 400, 'access_revoked'],
  ['{"error":"invalid_client"}', 401, 'not_configured'],
  ['{"error":"invalid_client"}', 400, 'not_configured'],
  ['{"error":"unauthorized_client"}', 400, 'not_configured'],
  ['{"error":"redirect_uri_mismatch"}', 400, 'not_configured'],
  ['<html>Unauthorized</html>', 401, 'not_configured'],
  ['{"error":"invalid_request"}', 400, 'bad_response'],
  ['<html>Not Found</html>', 404, 'bad_response'],
];
/** Refusals in OAuth 1.0a, whose answers are forms. */
const FINAL_OAUTH1: typeof FINAL = [
  ['oauth_problem=token_rejected', 401, 'access_revoked'],
  ['oauth_problem=verifier_invalid', 400, 'access_revoked'],
  ['oauth_problem=permission_denied', 403, 'access_revoked'],
  ['oauth_problem=consumer_key_unknown', 401, 'not_configured'],
  ['', 400, 'not_configured'],
];

/** Returns an egress that gives each request this answer and counts the requests. */
function answering({ status, body = '', headers = {} }: Reply) {
  const requests: EgressRequest[] = [];
  const request = (sentRequest: EgressRequest): Promise<EgressResponse> => {
    requests.push(sentRequest);
    return Promise.resolve({
      status,
      headers,
      bytes: () => Promise.resolve(Buffer.from(body)),
    } as unknown as EgressResponse);
  };
  return { egress: { request } as Pick<Egress, 'request'>, requests };
}

/** Returns an account whose access token is due for a refresh, and the changes of the stored grant. */
function dueAccount(source: ConnectedSourceType, egress: Pick<Egress, 'request'>) {
  const grant: StoredGrant = {
    ...{ accessToken: 'old', refreshToken: 'refresh', obtainedAt: 0, expiresAt: 1 },
    ...{ facts: URL_PARAMETERS, clientId: CLIENT.id, clientSecret: CLIENT.secret },
  };
  const events: string[] = [];
  const savedGrants: StoredGrant[] = [];
  const grantStore: GrantStore = {
    read: () => Promise.resolve({ grant, version: '1' }),
    claim: () => Promise.resolve(`claim ${events.push('claimed')}`),
    save(_claim, _version, fresh) {
      savedGrants.push(fresh);
      return Promise.resolve(`version ${events.push('kept')}`);
    },
    release: () => Promise.resolve(void events.push('released')),
    ownClient: () => Promise.resolve(CLIENT),
  };
  const connectors = createConnectors({ egress, urls: readSourceUrls(''), maxItemBytes: 1_000 });
  return { account: connectors.account(source, '1', grantStore), events, savedGrants };
}
const exchange = (source: ConnectedSourceType, egress: Pick<Egress, 'request'>): Promise<unknown> =>
  createConnectors({ egress, urls: readSourceUrls(''), maxItemBytes: 1_000 })
    .consent(source)!
    .exchange({
      ...{ client: CLIENT, code: 'code', redirectUri: 'https://here.example/back', verifier: 'v'.repeat(43) },
      ...{
        requestToken: isOAuth1(source) ? { token: 't', secret: 's' } : null,
        facts: URL_PARAMETERS,
        keepsClient: false,
      },
    });
const isOAuth1 = (source: ConnectedSourceType): boolean => CONNECTORS[source].oauth?.isOAuth1 === true;

test('a rate limit or failure of a token endpoint is retryable, and leaves the stored grant unchanged', () =>
  everyRow(
    SOURCES.flatMap((source) => TRANSIENT.map(([reply, waitMs]) => ({ source, reply, waitMs }))),
    ({ source, reply }) => `${source} ${JSON.stringify(reply)}`,
    async ({ source, reply, waitMs = 0 }) => {
      const faults: Fault[] = [];
      const forCode = answering(reply);
      faults.push(await faultOf(exchange(source, forCode.egress)));
      expect(forCode.requests).toHaveLength(1);
      // OAuth 1.0a has no refresh.
      if (!isOAuth1(source)) {
        const { egress, requests } = answering(reply);
        const { account, events } = dueAccount(source, egress);
        faults.push(await faultOf(account.identify(NEVER)));
        expect(requests).toHaveLength(1);
        expect(events).toEqual(['claimed', 'released']);
      }
      for (const { kind, retryable, retryAfterMs } of faults) {
        expect([kind, retryable]).toEqual([reply.status === 429 ? 'rate_limited' : 'server_error', true]);
        if (reply.status === 429) expect(retryAfterMs).toBeGreaterThanOrEqual(Math.max(waitMs, 1_000));
      }
    },
  ));

test('a refused grant, client or request is final at every token endpoint', () =>
  everyRow(
    SOURCES.flatMap((source) =>
      (isOAuth1(source) ? FINAL_OAUTH1 : FINAL).map(([body, status, kind]) => ({ source, body, status, kind })),
    ),
    ({ source, body, status }) => `${source} ${status} ${body}`,
    async ({ source, kind, ...reply }) => {
      const forCode = await faultOf(exchange(source, answering(reply).egress));
      expect([forCode.kind, forCode.retryable]).toEqual([kind, false]);
      if (isOAuth1(source)) return;
      const { account, events } = dueAccount(source, answering(reply).egress);
      const { kind: found, retryable } = await faultOf(account.identify(NEVER));
      expect([found, retryable]).toEqual([kind, false]);
      expect(events).toEqual(['claimed', 'released']);
    },
  ));

test('403 unauthorized_client is access_revoked if a refresh is refused, and not_configured if a code is refused', async () => {
  const refusal = { status: 403, body: '{"error":"unauthorized_client"}' };
  expect((await faultOf(exchange('BOX', answering(refusal).egress))).kind).toBe('not_configured');
  const { account } = dueAccount('BOX', answering(refusal).egress);
  expect((await faultOf(account.identify(NEVER))).kind).toBe('access_revoked');
});

test('a refresh keeps the client of the connection with its secret, the parameters, and a refresh token that is not replaced', () =>
  everyRow(
    SOURCES.filter((source) => !isOAuth1(source)),
    String,
    async (source) => {
      const { egress } = answering({ status: 200, body: '{"access_token":"new","expires_in":3600}' });
      const { account, savedGrants } = dueAccount(source, egress);
      // The fake egress answers the call to the source with the token response too, so the call itself fails.
      await account.identify(NEVER).catch(() => undefined);
      expect(savedGrants[0]).toMatchObject({
        ...{ accessToken: 'new', refreshToken: 'refresh', facts: URL_PARAMETERS },
        ...{ clientId: CLIENT.id, clientSecret: CLIENT.secret },
      });
    },
  ));

const KEY = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' });
const SERVICE_ACCOUNT = JSON.stringify({
  ...{ client_email: 'a@b.example', private_key: KEY, token_uri: 'https://token.example/' },
});

test("a rate limit or failure of Google's token endpoint is retryable, and the next request gets a token", () =>
  everyRow(
    TRANSIENT,
    ([reply]) => JSON.stringify(reply),
    async ([reply]) => {
      let currentReply = reply;
      const egress = { request: (request: EgressRequest) => answering(currentReply).egress.request(request) };
      const tokens = createAccessTokens({ serviceAccount: SERVICE_ACCOUNT }, egress);
      const { kind, retryable } = await faultOf(tokens.getToken(NEVER));
      expect([kind, retryable]).toEqual(['server_error', true]);
      currentReply = { status: 200, body: '{"access_token":"good","expires_in":3600}' };
      expect(await tokens.getToken(NEVER)).toBe('good');
    },
  ));

test("a refusal of Google's token endpoint is final and names the setting", () =>
  everyRow(
    FINAL,
    ([body, status]) => `${status} ${body}`,
    async ([body, status]) => {
      const tokens = createAccessTokens({ serviceAccount: SERVICE_ACCOUNT }, answering({ status, body }).egress);
      const { kind, retryable, message } = await faultOf(tokens.getToken(NEVER));
      expect([kind, retryable]).toEqual(['access_denied', false]);
      expect(message).toMatch(/VERTEX_CREDENTIALS/);
    },
  ));

/**
 * Lifetimes of tokens in seconds, and the age in milliseconds at which a token is replaced: 2 minutes before its end.
 */
const LIFETIMES: readonly (readonly [lifeS: number, replacedAtMs: number])[] = [
  [3_600, 3_480_000],
  [600, 480_000],
];

test('a token of Google is used until two minutes before its end', () =>
  everyRow(LIFETIMES, String, async ([lifeS, replacedAtMs]) => {
    const { egress, requests } = answering({ status: 200, body: `{"access_token":"a","expires_in":${lifeS}}` });
    let now = 1_700_000_000_000;
    const tokens = createAccessTokens({ serviceAccount: SERVICE_ACCOUNT }, egress, () => now);
    await tokens.getToken(NEVER);
    now += replacedAtMs - 1;
    await tokens.getToken(NEVER);
    expect(requests).toHaveLength(1);
    now += 1;
    await tokens.getToken(NEVER);
    expect(requests).toHaveLength(2);
    expect(tokens.discard()).toBe(true);
    await tokens.getToken(NEVER);
    expect(requests).toHaveLength(3);
  }));
