import { expect, test } from '@jest/globals';
import fc from 'fast-check';

import { createLog } from '../../observability/log.js';
import { hideSecrets } from '../../observability/hideSecrets.js';
import { everyRow } from '../support/everyRow.js';

const SECRET = 's3cr3t-Value.of+us/0=';
/** Returns the line that a logger writes for some fields, and its parsed form. */
function written(
  fields: Record<string, unknown>,
  message = 'done',
  more: object = {},
): { line: string; parsed: Record<string, unknown> } {
  const lines: string[] = [];
  createLog({ level: 'debug', name: 'x', fields: () => more }, { write: (line) => void lines.push(line) }).info(
    fields,
    message,
  );
  expect(lines).toHaveLength(1);
  return { line: lines[0] ?? '', parsed: JSON.parse(lines[0] ?? '') as Record<string, unknown> };
}

const SECRET_FIELDS = [
  'authorization',
  'Authorization',
  'cookie',
  'set-cookie',
  'api_key',
  'apiKey',
  'x-api-key',
  'api-key',
  'password',
  'access_token',
  'accessToken',
  'refresh_token',
  'client_secret',
  'clientSecret',
  'signing_key',
  'signingKey',
  'secretKeys',
  'access_key_secret',
  'credentials',
  'private_key',
  'premiumProxies',
  'code_verifier',
  'sessionToken',
  'secretAccessKey',
  'aws_secret_access_key',
  'proxy-authorization',
  'passphrase',
  'secret',
  'client_key_secret',
  'id_token',
  'securityToken',
  'bearer_token',
  'botToken',
  'user_token',
  'request_token',
  'oauth_token',
  'oauth_token_secret',
  'x-amz-security-token',
  'PREMIUM_PROXY_URLS',
];

test('hides a field with the name of a secret at any place', () => {
  const places: readonly (readonly [string, (name: string, value: unknown) => Record<string, unknown>])[] = [
    ['at the top level', (name, value) => ({ [name]: value })],
    ['nested', (name, value) => ({ a: { b: [{ c: { [name]: value } }] } })],
    [
      'in an error',
      (name, value) => ({ err: Object.assign(new Error('x'), { request: { headers: { [name]: value } } }) }),
    ],
    ['in a JSON string', (name, value) => ({ body: JSON.stringify({ [name]: String(value) }) })],
  ];
  return everyRow(
    SECRET_FIELDS.flatMap((name) => places.map(([where, fieldsOf]) => ({ name, where, fieldsOf }))),
    ({ name, where }) => `${name} ${where}`,
    ({ name, fieldsOf }) => {
      const { line } = written(fieldsOf(name, SECRET));
      expect(line).not.toContain(SECRET);
      expect(line).toContain('[hidden]');
    },
  );
});

const SECRET_TEXTS = [
  `https://bucket.example/o?X-Amz-Signature=${SECRET}&X-Amz-Credential=${SECRET}&x=1`,
  ...['X-Goog-Signature', 'x-goog-credential', 'x-amz-security-token', 'X-Amz-Signature', 'X-Amz-Credential'].map(
    (name) => `https://bucket.example/o?${name}=${SECRET}`,
  ),
  ...['token', 'key', 'code', 'state', 'auth', 'sig', 'SIGNATURE', 'api_key'].map(
    (name) => `/path?a=1&${name}=${SECRET}`,
  ),
  ...['Token', 'OAuth', 'AWS4-HMAC-SHA256'].map((scheme) => `authorization: ${scheme} ${SECRET}`),
  'alr.k1.eyJvIjoxLCJ1Ijo3LCJlIjoxfQ.c2lnbmF0dXJlLW9mLW91cnM',
  `https://account.blob.example/c/o?sv=2024&sig=${SECRET}`,
  `/content/1/2/3.raw?key=k1&expires=1&signature=${SECRET}`,
  `https://api.example/callback?code=${SECRET}&state=${SECRET}`,
  `https://user:${encodeURIComponent(SECRET)}@proxy.example:8080`,
  `grant_type=x&refresh_token=${SECRET}`,
  `authorization: Bearer ${SECRET}`,
  `Basic ${SECRET}`,
  'alk_0123456789abcdefghijklmnopqrstuv',
  'alt.k1.eyJvIjoxLCJ1Ijo3LCJlIjoxfQ.c2lnbmF0dXJlLW9mLW91cnM',
];

test('hides a secret inside a message, a field or the stack of an error', () =>
  everyRow(SECRET_TEXTS, String, (text) => {
    const secret = /(alk_\w+|al[tr]\..+)$/.exec(text)?.[0] ?? SECRET;
    for (const output of [
      written({}, text),
      written({ url: text }),
      written({ err: new Error(`failed at ${text} again`) }),
    ]) {
      expect(output.line).not.toContain(secret);
      expect(output.line).not.toContain(encodeURIComponent(secret));
      expect(output.line).toContain('[hidden]');
    }
  }));

test('hides a signed token of another service at any place, and a list of secrets', () => {
  const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl';
  expect(hideSecrets(`got ${token} back`)).toBe('got [hidden] back');
  expect(hideSecrets(JSON.stringify({ secretKeys: [SECRET, 'b'], x: 1 }))).toBe('{"secretKeys":"[hidden]","x":1}');
  expect(hideSecrets(JSON.stringify({ credentials: { a: SECRET }, x: 1 }))).toBe('{"credentials":"[hidden]","x":1}');
});

test('does not change fields without secrets', () => {
  const fields = {
    requestId: 'd1b4',
    organizationId: 1,
    userId: 2,
    fileId: 3,
    runId: 4,
    workflowId: 'scrape:3',
    path: '/user_files_v2',
    url: 'https://example.com/a?page=2&sort=key',
    reason: 'Basic settings of the Token are wrong',
    sort: 'a token',
    num_tokens: 7,
    tokens: 8,
    keyed: 'x',
    message: 'is refused (HTTP 401)',
  };
  const { parsed } = written(fields, 'done', { traceId: 'abc' });
  expect(parsed).toMatchObject({ ...fields, traceId: 'abc', name: 'x', msg: 'done', level: 30 });
  expect(JSON.stringify(parsed)).not.toContain('[hidden]');
});

test('leaves a line of JSON valid, whatever it contains', () => {
  const tricky = fc.oneof(
    fc.string(),
    fc.constantFrom('"', '\\', '\\"', '?token=', '&sig="x"', '{"password":"a\\"b"}', 'Bearer 1234567890"}', '//a:b@c'),
  );
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.oneof(fc.constantFrom('password', 'cookie', 'url'), fc.string()),
        fc.oneof(tricky, fc.array(tricky), fc.object()),
      ),
      (fields) => {
        const line = hideSecrets(JSON.stringify({ a: fields, z: 1 }));
        expect((JSON.parse(line) as { z: number }).z).toBe(1);
      },
    ),
    { numRuns: 300 },
  );
});

test('takes linear time for long lines', () => {
  for (const piece of ['"password":"', '\\"', '?token=', 'Bearer ', '//a:', 'eyJaaaaaaaa.', '"credentials":{']) {
    const startedAt = performance.now();
    hideSecrets(piece.repeat(20_000));
    expect([piece, performance.now() - startedAt < 2_000]).toEqual([piece, true]);
  }
});

test('does not repeat fields of the previous line', () => {
  const lines: string[] = [];
  const always = { traceId: 'a' };
  const log = createLog({ level: 'info', name: 'x', fields: () => always }, { write: (line) => void lines.push(line) });
  log.info({ userId: 1 }, 'with a user');
  log.info({}, 'without a user');
  expect(JSON.parse(lines[1] ?? '')).not.toHaveProperty('userId');
  expect(JSON.parse(lines[1] ?? '')).toHaveProperty('traceId', 'a');
});
