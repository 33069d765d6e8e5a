import { expect, test } from '@jest/globals';
import fc from 'fast-check';

import { createLog } from '../../observability/log.js';
import { HIDDEN, hideSecrets } from '../../observability/hideSecrets.js';
import { everyRow } from '../support/everyRow.js';

const SECRET = 's3cr3t-Value.of+us/0=';
/** Returns the line that a logger writes for some fields, and its parsed form. */
function written(
  fields: Record<string, unknown>,
  message = 'done',
  contextFields: object = {},
): { line: string; parsed: Record<string, unknown> } {
  const lines: string[] = [];
  createLog(
    { level: 'debug', name: 'x', fields: () => contextFields },
    { write: (line) => void lines.push(line) },
  ).info(fields, message);
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
  'access_token_secret',
  'account_key',
  'api_token',
];

test('hides a field with the name of a secret at any depth', () => {
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

/** Messages whose secrets begin with S3CR, and their expected form in the log. */
const MESSAGES: readonly (readonly [given: string, expected: string])[] = [
  ['a?token=S3CR-1&b=2&key=S3CR-2 then ?sig=S3CR-3', 'a?token=[hidden]&b=2&key=[hidden] then ?sig=[hidden]'],
  ['https://u:S3CR-1@h/x?code=S3CR-2&state=S3CR-3&page=2', 'https://[hidden]@h/x?code=[hidden]&state=[hidden]&page=2'],
  ['http://u:S3CR-1@a:1 http://v:S3CR-2@b:2', 'http://[hidden]@a:1 http://[hidden]@b:2'],
  [
    'postgres://u:S3CR-1@db:5432/x mongodb+srv://u:S3CR-2@c/x redis://:S3CR-3@h',
    'postgres://[hidden]@db:5432/x mongodb+srv://[hidden]@c/x redis://[hidden]@h',
  ],
  ['/p#access_token=S3CR-1&expires_in=9', '/p#access_token=[hidden]&expires_in=9'],
  ['/p?x=1&amp;token=S3CR-1 and ?x=1;key=S3CR-2', '/p?x=1&amp;token=[hidden] and ?x=1;key=[hidden]'],
  [
    '/login?next=https%3A%2F%2Fh%2F%3Ftoken%3DS3CR-1%26x%3D1',
    '/login?next=https%3A%2F%2Fh%2F%3Ftoken%3D[hidden]%26x%3D1',
  ],
  ['client_secret=S3CR-1&x=2&refresh_token=S3CR-2', 'client_secret=[hidden]&x=2&refresh_token=[hidden]'],
  ['sent password=S3CR-1 api_key=S3CR-2', 'sent password=[hidden] api_key=[hidden]'],
  ['Bearer S3CR-10001, Basic S3CR-2000= and Token S3CR-3000', 'Bearer [hidden], Basic [hidden] and Token [hidden]'],
  ['bearer S3CR-10001', 'bearer [hidden]'],
  ['a\nalk_S3CR12345678\nBearer S3CR-10001\npassword=S3CR-1', 'a\n[hidden]\nBearer [hidden]\npassword=[hidden]'],
  ['authorization: Bearer S3CR-1', 'authorization: [hidden]'],
  ['x-api-key: S3CR-1\r\ncookie: s=S3CR-2; t=S3CR-3\r\nhost: h', 'x-api-key: [hidden]\r\ncookie: [hidden]\r\nhost: h'],
  ['OAuth oauth_token="S3CR-1", oauth_signature="S3CR-2%3D"', 'OAuth [hidden]"[hidden]", oauth_signature="[hidden]"'],
  ['{"password":"S3CR-1","x":1,"client_secret":"S3CR-2"}', '{"password":"[hidden]","x":1,"client_secret":"[hidden]"}'],
  ['{"password":"S3CR-1\\"S3CR-2\\\\S3CR-3\\nS3CR-4","x":1}', '{"password":"[hidden]","x":1}'],
  ['{"secretKeys":["S3CR-1","S3CR-2"],"x":1}', '{"secretKeys":"[hidden]","x":1}'],
  ['{"credentials":{"a":"S3CR-1","b":"S3CR-2"},"x":1}', '{"credentials":"[hidden]","x":1}'],
  [JSON.stringify({ body: '{"password":"S3CR-1"}' }), JSON.stringify({ body: '{"password":"[hidden]"}' })],
  ['{"url":"https://h/?sig=S3CR-1","cookie":"a=S3CR-2"}', '{"url":"https://h/?sig=[hidden]","cookie":"[hidden]"}'],
  ['alk_S3CR12345678 and alt.k1.S3CRabcdefghij.kl', '[hidden] and [hidden]'],
  ['eyJS3CRaaaaaa.eyJS3CRbbbbbb.S3CRcccc and alr.k1.S3CRabcdefghij.kl', '[hidden] and [hidden]'],
];

test('hides every secret of a message, and nothing else', () =>
  everyRow(
    MESSAGES,
    ([given]) => given,
    ([given, expected]) => {
      expect(written({}, given).parsed['msg']).toBe(expected);
      expect(written({ a: [{ b: given }] }).parsed['a']).toEqual([{ b: expected }]);
      expect(written({ err: new Error(given) }).line).not.toContain('S3CR');
    },
  ));

/** Fields with secrets, and their expected form in the log. */
const FIELDS: readonly (readonly [given: object, expected: object])[] = [
  [
    { a: { password: 'S3CR-1', b: [{ api_key: 'S3CR-2', c: 1 }] } },
    { a: { password: HIDDEN, b: [{ api_key: HIDDEN, c: 1 }] } },
  ],
  [
    { password: 'S3CR-1"S3CR-2\\', x: 1 },
    { password: HIDDEN, x: 1 },
  ],
  [
    { 'set-cookie': ['a=S3CR-1; Path=/', 'b=S3CR-2'], x: 1 },
    { 'set-cookie': HIDDEN, x: 1 },
  ],
  [
    { credentials: { a: { b: 'S3CR-1' }, c: ['S3CR-2'] }, x: 1 },
    { credentials: HIDDEN, x: 1 },
  ],
  [{ premiumProxies: ['http://u:S3CR-1@a:1', 'http://S3CR-2@b:2'] }, { premiumProxies: HIDDEN }],
  [
    { headers: { Authorization: 'Basic S3CR-1', 'X-Api-Key': 'S3CR-2', a: 'b' } },
    { headers: { Authorization: HIDDEN, 'X-Api-Key': HIDDEN, a: 'b' } },
  ],
  [
    { password: null, token: 7, secret: '' },
    { password: null, token: 7, secret: HIDDEN },
  ],
  [
    { x: 'key=', y: 'S' },
    { x: 'key=', y: 'S' },
  ],
  [
    { x: 'password=\\', y: 'S' },
    { x: 'password=\\', y: 'S' },
  ],
];

test('hides every secret field, and nothing else', () =>
  everyRow(
    FIELDS,
    ([given]) => JSON.stringify(given),
    ([given, expected]) => expect(JSON.parse(hideSecrets(JSON.stringify(given)))).toEqual(expected),
  ));

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

test('a redacted line is still valid JSON, whatever its content', () => {
  const tricky = fc.oneof(
    fc.string(),
    fc.constantFrom(
      '"',
      '\\',
      '\\"',
      '?token=',
      '&sig="x"',
      '{"password":"a\\"b"}',
      'Bearer 1234567890"}',
      '//a:b@c',
      'key=',
      'token="',
      'cookie: ',
    ),
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
  for (const piece of [
    '"password":"',
    '\\"',
    '?token=',
    'Bearer ',
    '//a:',
    'eyJaaaaaaaa.',
    '"credentials":{',
    '"cookie":[{',
    '\\"password\\":\\"',
    'key=\\"',
    'cookie: ',
    '?token=%26',
  ]) {
    const startedAt = performance.now();
    hideSecrets(piece.repeat(20_000));
    expect([piece, performance.now() - startedAt < 2_000]).toEqual([piece, true]);
  }
});

test('a line does not contain fields of the previous line', () => {
  const lines: string[] = [];
  const always = { traceId: 'a' };
  const log = createLog({ level: 'info', name: 'x', fields: () => always }, { write: (line) => void lines.push(line) });
  log.info({ userId: 1 }, 'with a user');
  log.info({}, 'without a user');
  expect(JSON.parse(lines[1] ?? '')).not.toHaveProperty('userId');
  expect(JSON.parse(lines[1] ?? '')).toHaveProperty('traceId', 'a');
});
