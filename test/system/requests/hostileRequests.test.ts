import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type Joi from 'joi';

import { createApp } from '../../../api/app.js';
import type { AppDeps } from '../../../api/http/deps.js';
import { operations } from '../../../api/routes.js';
import { createLog } from '../../../observability/log.js';
import { createMetrics } from '../../../observability/metrics.js';
import type { Store } from '../../../store/connect.js';
import type { TestUser } from '../../support/client.js';
import { everyRow } from '../../support/everyRow.js';
import { startService, type TestService } from '../../support/service.js';
import { isThorough } from '../../support/thorough.js';

interface Refusal {
  detail: string | { loc: (string | number)[]; msg: string; type: string }[];
}

let service: TestService;
let user: TestUser;
/** Returns Joi's description of a schema, with the names of its fields. */
const fieldsIn = (schema: Joi.Schema | undefined): unknown => (schema ? schema.describe() : null);
/** The credentials that each kind of operation accepts. */
let credentials: Record<string, Record<string, string>>;

beforeAll(async () => {
  service = await startService({ MAX_JSON_BYTES: '1000000', MAX_CONTENTS_BYTES: '1000000' }, { worker: false });
  user = await service.user('mallory');
  const key = { authorization: `Bearer ${service.apiKey}` };
  const token = { authorization: `Token ${user.token}` };
  credentials = { user: token, reader: token, either: token, key, issuing: { ...key, 'customer-id': 'mallory' } };
});
afterAll(() => service.close());

async function send(path: string, body: string | Uint8Array | undefined, headers: Record<string, string> = {}) {
  const operation = operations.find((one) => one.path === path && one.method === 'post');
  const answer = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...credentials[operation?.auth ?? 'user'], ...headers },
    ...(body === undefined ? {} : { body }),
  });
  return { status: answer.status, body: (await answer.json()) as Refusal };
}

const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const posts = operations.filter(({ method, body }) => method === 'post' && body !== undefined);

type Hostile = readonly [
  what: string,
  body: string,
  headers: Record<string, string>,
  status: number,
  type: string | null,
];
const HOSTILE: readonly Hostile[] = [
  ['truncated JSON', '{"a": [1', {}, 422, 'json_invalid'],
  ['text that is not JSON', 'a=1', {}, 422, 'json_invalid'],
  ['a form', 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }, 422, 'json_invalid'],
  ['JSON declared as text', '{}', { 'content-type': 'text/plain' }, 422, 'json_invalid'],
  ['null', 'null', {}, 422, null],
  ['a number', '5', {}, 422, null],
  ['10,000 levels in an unknown field', `{"x":${deep(10_000)}}`, {}, 422, 'json_invalid'],
  ['10,000 nested lists', '['.repeat(10_000) + ']'.repeat(10_000), {}, 422, 'json_invalid'],
  ['a key that would change the prototype', '{"__proto__":{"admin":true}}', {}, 422, 'value_error'],
  ['the key __proto__ in a nested object', '{"filters":{"tags":{"__proto__":1}}}', {}, 422, 'value_error'],
  ['an unknown charset', '{}', { 'content-type': 'application/json; charset=klingon' }, 415, null],
  ['an unknown content encoding', '{}', { 'content-encoding': 'klingon' }, 415, null],
  ['bytes that do not decompress', '{}', { 'content-encoding': 'gzip' }, 400, null],
  ['more bytes than allowed', `{"x":"${'y'.repeat(1_000_000)}"}`, {}, 413, null],
];
/**
 * Returns the rows for one of many operations: one in `share`, since the same code refuses them for all operations;
 * test:long sends all.
 */
const rowsFor = <T>(rows: readonly T[], index: number, share: number): T[] =>
  isThorough() ? [...rows] : rows.filter((_row, at) => at % share === index % share);

test('every operation refuses a hostile body', () =>
  everyRow(
    posts.flatMap(({ path }, index) => rowsFor(HOSTILE, index, 7).map((row) => [path, ...row] as const)),
    ([path, what]) => `POST ${path} with ${what}`,
    async ([path, _what, body, headers, status, type]) => {
      const answer = await send(path, body, headers);
      expect(answer.status).toBe(status);
      if (status !== 422) expect(answer.body.detail).toEqual(expect.any(String));
      else expect(answer.body.detail).toContainEqual(expect.objectContaining({ msg: expect.any(String) }));
      if (type !== null) expect(answer.body.detail).toContainEqual(expect.objectContaining({ type }));
      expect(({} as Record<string, unknown>)['admin']).toBeUndefined();
    },
  ));

test('every operation treats an absent body as one without fields', () =>
  everyRow(
    posts.map(({ path }) => path),
    (path) => `POST ${path}`,
    async (path) => {
      const empty = await send(path, '{}');
      expect(await send(path, undefined)).toEqual(empty);
      expect(await send(path, undefined, { 'content-type': 'text/plain' })).toEqual(empty);
      expect([200, 400, 422]).toContain(empty.status);
    },
  ));

test('refuses a small body that decompresses to a large one', async () => {
  const bomb = gzipSync(`{"x":"${' '.repeat(50_000_000)}"}`);
  expect((await send('/scrape_sitemap', bomb, { 'content-encoding': 'gzip' })).status).toBe(413);
});

describe('validation errors', () => {
  const url = '"url":"https://example.com/s.xml"';
  const half = '\\ud800';
  const faults: readonly (readonly [string, string, (string | number)[]])[] = [
    ['/scrape_sitemap', `{${url},"tags":{"a":"${half}"}}`, ['tags', 'a']],
    ['/scrape_sitemap', `{${url},"tags":{"a":["fine","x${half}y"]}}`, ['tags', 'a', 1]],
    ['/scrape_sitemap', `{${url},"tags":{"${half}":"a"}}`, ['tags']],
    ['/scrape_sitemap', `{${url},"tags":{"a":"\\u0000"}}`, ['tags', 'a']],
    ['/scrape_sitemap', `{"url":"https://example.com/${half}"}`, ['url']],
    ['/scrape_sitemap', `{${url},"tags":{"__proto__":"x"}}`, ['tags', '__proto__']],
    ['/scrape_sitemap', `{${url},"tags":{"$where":"x"}}`, ['tags', '$where']],
    ['/scrape_sitemap', `{${url},"tags":{"a":{"$gt":""}}}`, ['tags', 'a']],
    ['/scrape_sitemap', `{${url},"tags":{"a":9007199254740993}}`, ['tags', 'a']],
    ['/scrape_sitemap', `{${url},"tags":{"a":1e400}}`, ['tags', 'a']],
    ['/scrape_sitemap', `{${url},"tags":{"a":"${'x'.repeat(70_000)}"}}`, ['tags']],
    ['/scrape_sitemap', `{${url},"chunk_size":9007199254740993}`, ['chunk_size']],
    ['/scrape_sitemap', `{${url},"max_pages_to_scrape":${'9'.repeat(400)}}`, ['max_pages_to_scrape']],
    ['/scrape_sitemap', `{${url},"urls_to_scrape":[${'"a",'.repeat(50_000)}"a"]}`, ['urls_to_scrape']],
    ['/scrape_sitemap', `{"url":"https://example.com/${'x'.repeat(10_000)}"}`, ['url']],
    ['/resync_file', '{"file_id":9007199254740992}', ['file_id']],
    ['/resync_file', '{"file_id":{"$gt":0}}', ['file_id']],
    ['/resync_file', '{"file_id":[1]}', ['file_id']],
    ['/user_files_v2', '{"filters":{"ids":{"$gt":0}}}', ['filters', 'ids']],
    ['/user_files_v2', '{"filters":{"ids":[{"$gt":0}]}}', ['filters', 'ids', 0]],
    ['/user_files_v2', '{"filters":{"ids":[-9007199254740993]}}', ['filters', 'ids', 0]],
    ['/user_files_v2', '{"filters":{"name":{"$regex":"a"}}}', ['filters', 'name']],
    ['/user_files_v2', `{"filters":{"name":"${half}"}}`, ['filters', 'name']],
    ['/user_files_v2', '{"filters":{"name":"a\\u0000b"}}', ['filters', 'name']],
    ['/user_files_v2', `{"filters":{"name":"${'('.repeat(40_000)}"}}`, ['filters', 'name']],
    ['/user_files_v2', '{"filters":{"tags":{"$where":"sleep(1)"}}}', ['filters', 'tags', '$where']],
    ['/user_files_v2', '{"filters":{"tags":{"a":{"$ne":1}}}}', ['filters', 'tags', 'a']],
    [
      '/user_files_v2',
      '{"filters":{"tags_v2":{"AND":[{"key":"a","value":{"$ne":1}}]}}}',
      ['filters', 'tags_v2', 'AND', 0, 'value'],
    ],
    [
      '/user_files_v2',
      '{"filters":{"tags_v2":{"AND":[{"key":"$where","value":1}]}}}',
      ['filters', 'tags_v2', 'AND', 0, 'key'],
    ],
    ['/user_files_v2', '{"pagination":{"starting_id":9007199254740993}}', ['pagination', 'starting_id']],
    ['/user_files_v2', '{"pagination":{"__proto__":{"limit":5}}}', ['pagination', '__proto__']],
    ['/embeddings', `{"query":"${half}","k":1}`, ['query']],
    ['/embeddings', '{"query":"x","k":1,"tags":{"a":{"$gt":0}}}', ['tags', 'a']],
    ['/embeddings', '{"query":"x","k":1,"file_ids":[9007199254740993]}', ['file_ids', 0]],
    ['/delete_files_v2', '{"filters":{"external_file_ids":[{"$exists":true}]}}', ['filters', 'external_file_ids', 0]],
  ];
  test('have the path of the invalid value in loc', () =>
    everyRow(
      faults,
      ([path, body]) => `${path} ${body.slice(0, 100)}`,
      async ([path, body, loc]) => {
        const answer = await send(path, body);
        expect(answer.status).toBe(422);
        expect(answer.body.detail).toContainEqual(expect.objectContaining({ loc: ['body', ...loc] }));
        expect(JSON.stringify(answer.body)).not.toContain('sleep(1)');
      },
    ));

  test('are limited to one for a body with very many faults, so that the answer stays small', async () => {
    const answer = await send('/user_files_v2', `{"filters":{"ids":[${'"",'.repeat(200_000)}""]}}`);
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toHaveLength(1);
  });
});

describe('unusual requests', () => {
  const served: readonly (readonly [string, string])[] = [
    ['a surrogate pair', '{"filters":{"name":"\\ud83d\\ude00"}}'],
    ['every special character of patterns', '{"filters":{"name":".*+?^${}()|[]\\\\/-"}}'],
    ['the longest searchable name', `{"filters":{"name":"${'('.repeat(2_048)}"}}`],
    ['tags named like properties of objects', '{"filters":{"tags":{"constructor":"a","toString":"b","a.b":"c"}}}'],
    ['the largest integers', '{"pagination":{"offset":9007199254740991,"starting_id":9007199254740991}}'],
    ['a list of no conditions', '{"filters":{"tags_v2":{"AND":[]}}}'],
    ['no conditions inside others', '{"filters":{"tags_v2":{"OR":[{"AND":[{"OR":[]}]},{"key":"a","value":[]}]}}}'],
    ['zero with a sign and an exponent', '{"pagination":{"offset":-0.0e10}}'],
  ];
  test('are served by lists of files and of chunks', () =>
    everyRow(
      served,
      ([what]) => what,
      async ([_what, body]) => {
        expect((await send('/user_files_v2', body)).status).toBe(200);
        const chunks = JSON.stringify({ filters: {}, ...(JSON.parse(body) as object) });
        expect((await send('/list_chunks_and_embeddings', chunks)).status).toBe(200);
      },
    ));

  test('to delete files are refused with 400 when the only filter is empty', async () => {
    for (const filters of [{}, { tags_v2: { AND: [] } }, { tags_v2: { OR: [{ AND: [] }] } }, { tags: {} }])
      expect((await user.post('/delete_files_v2', { filters })).status).toBe(400);
  });
});

test('without TRUST_PROXY, limits sign-in attempts per address of the connection, not per X-Forwarded-For', async () => {
  for (let number = 0; ; number += 1) {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': `203.0.113.${number}` };
    const body = new URLSearchParams({ api_key: 'alk_guess' });
    if ((await fetch(`${service.url}/ops/sign_in`, { method: 'POST', headers, body })).status === 429) break;
    expect(number).toBeLessThan(200);
  }
});

/** Spellings of addresses that are not public: loopback, private and metadata addresses. */
const PRIVATE = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '127.0.0.1.',
  '127.0.0.1:8080',
  '\u2460\u2461\u2466.0.0.1',
  '\uff11\uff12\uff17.0.0.1',
  '%31%32%37.0.0.1',
  '0',
  '10.0.0.1',
  '192.168.0.1',
  '172.16.0.1',
  '169.254.169.254',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[fd00:ec2::254]',
  '[fe80::1]',
];
const ADDRESS_OPERATIONS: readonly (readonly [
  string,
  'query' | 'body',
  (url: string) => unknown,
  (string | number)[],
])[] = [
  ['/scrape_sitemap', 'body', (url) => ({ url }), ['url']],
  ['/web_scrape', 'body', (url) => [{ url: 'https://example.com/' }, { url }], [1, 'url']],
  ['/integrations/rss_feed', 'body', (url) => ({ url }), ['url']],
  ['/upload_file_from_url', 'body', (url) => ({ url }), ['url']],
  ['/fetch_webpage', 'body', (url) => ({ url }), ['url']],
  ['/add_webhook', 'body', (url) => ({ url }), ['url']],
  [
    '/integrations/s3',
    'body',
    (url) => ({ access_key: 'a', access_key_secret: 'b', endpoint_url: url }),
    ['endpoint_url'],
  ],
  [
    '/integrations/connect',
    'body',
    (url) => ({ authentication: { source: 'S3', access_key: 'a', access_key_secret: 'b', endpoint_url: url } }),
    ['authentication', 'endpoint_url'],
  ],
  ['/fetch_urls', 'query', (url) => url, ['url']],
  ['/process_sitemap', 'query', (url) => url, ['url']],
];
test('every operation with an address refuses private addresses, whatever their spelling', () => {
  const call = async ([path, where, make]: (typeof ADDRESS_OPERATIONS)[number], url: string) => {
    if (where === 'body') return send(path, JSON.stringify(make(url)));
    const answer = await fetch(`${service.url}${path}?${new URLSearchParams({ url }).toString()}`, {
      headers: credentials['user']!,
    });
    return { status: answer.status, body: (await answer.json()) as Refusal };
  };

  return everyRow(
    ADDRESS_OPERATIONS.flatMap((row, index) => rowsFor(PRIVATE, index, 3).map((host) => [row, host] as const)),
    ([[path], host]) => `${path} with ${host}`,
    async ([row, host]) => {
      const [, where, , loc] = row;
      const { status, body } = await call(row, `http://${host}/x`);
      expect({ status, body }).toMatchObject({
        status: 422,
        body: { detail: [{ loc: [where, ...loc], msg: 'This service may not call this address' }] },
      });
    },
  );
});

test('the table has every operation with an address', () => {
  const withAddress = operations.filter(({ body, query }) =>
    /"(?:endpoint_)?url":\{"type":"string"/.test(JSON.stringify([body, query].map(fieldsIn))),
  );
  expect(withAddress.map(({ path }) => path).toSorted()).toEqual(ADDRESS_OPERATIONS.map(([path]) => path).toSorted());
});

test('answers an internal error with 500 and a request id, and reveals nothing else', async () => {
  const secret = 'mongodb://root:hunter2@db.internal';
  const broken = createApp({
    ...({} as AppDeps),
    store: { organizations: { organizationOfKey: () => Promise.reject(new Error(secret)) } } as unknown as Store,
    settings: {
      maxJsonBytes: 1_000,
      maxContentsBytes: 1_000,
      maxUploadBytes: 1_000,
      maxPagesPerScrape: 1,
      embeddingPrices: {},
      dryRun: { samplePages: 1, timeoutMs: 1_000 },
      publicUrl: null,
      trustProxy: [],
      redirectUriSchemes: [],
      publicUrlAliases: [],
      consentLifeMs: 60_000,
      connectPageLifeMs: 60_000,
      diagnosisTimeoutMs: 1_000,
      corsOrigins: [],
      rateLimits: { perUser: 0, perOrganization: 0 },
      maxConcurrentSearches: 0,
      maxQueryCharacters: 1,
      mcpMaxResultCharacters: 5_000,
    },
    log: createLog({ level: 'silent', name: 'test' }),
    metrics: createMetrics({ ofProcess: false }),
  });
  const server = createServer(broken).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`, {
    method: 'POST',
    headers: { authorization: 'Bearer key' },
  });
  const text = await answer.text();
  server.close();
  expect(answer.status).toBe(500);
  expect(Object.keys(JSON.parse(text) as object)).toEqual(['detail']);
  expect(text).toContain(answer.headers.get('x-request-id'));
  expect(text).not.toMatch(/mongodb|hunter2|Error|at .*\.ts/);
});

test('refuses an invalid path or query', () => {
  const wrong: readonly (readonly [string, number])[] = [
    ['/content/%E0%A4%A/1/1.raw', 400],
    ['/content/1/1/1.raw%00?key=a&expires=1&signature=b', 403],
    ['/content/1/1/1.raw?key[$ne]=1&expires=1&signature=b', 403],
    ['/content/1/1/1.raw?key=a&key=b&expires=1&signature=b', 422],
    ['/process_sitemap', 422],
    ['/process_sitemap?url[$gt]=', 422],
    ['/process_sitemap?url=a&url=b', 422],
    ['/process_sitemap?url=%00', 422],
  ];
  return everyRow(
    wrong,
    ([path]) => `GET ${path}`,
    async ([path, status]) => {
      const answer = await user.get<Refusal>(path);
      expect(answer.status).toBe(status);
      expect(answer.body.detail).toBeDefined();
    },
  );
});
