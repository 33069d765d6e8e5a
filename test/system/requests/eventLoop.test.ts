/** No request may block the event loop of the API, whatever its outcome. */
import { once } from 'node:events';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { MAX_GIVEN_CHUNKS } from '../../../api/http/body/json/limits.js';
import { operations } from '../../../api/routes.js';
import { findPort } from '../../../engines/ports.js';
import type { SupervisedChild } from '../../../scripts/child.js';
import { bodyOf, ourDocument, sample } from '../../support/contract.js';
import { startProcess } from '../../support/processes.js';
import { startService, type TestService } from '../../support/service.js';
import { isThorough, thoroughRows } from '../../support/thorough.js';

/**
 * Maximum processor time of the main thread in one turn of the event loop, in milliseconds on an idle core of a 2.5 GHz
 * server (the reference speed).
 */
const MAX_TURN_MS = 100;
/**
 * Maximum number of attempts of a request while its longest turn exceeds MAX_TURN_MS. Other processes on the same cores
 * only add to the processor time of a turn, through shared caches and the second hardware thread of a core. So the
 * shortest of several attempts is nearest to the time of the request itself. The attempts are spread over half a
 * minute, because other suites keep the machine busy for seconds at a time.
 */
const ATTEMPTS = 10;

let service: TestService;
let api: SupervisedChild;
let port: number;
let url: string;
let probe: string;
let credentials: Record<string, Record<string, string>>;

beforeAll(async () => {
  service = await startService({}, { worker: false });
  port = await findPort('free');
  const probePort = String(await findPort('free'));
  const preloaded = fileURLToPath(new URL('../../support/turnProbe.mjs', import.meta.url));
  // Streams end after a second.
  const env = {
    EVENT_STREAM_LIFETIME_S: '1',
    PORT: String(port),
    NODE_OPTIONS: `--import=${preloaded}`,
    TURN_PROBE_PORT: probePort,
  };
  api = await startProcess('api/server', { ...service.env, ...env });
  url = `http://127.0.0.1:${port}`;
  probe = `http://127.0.0.1:${probePort}`;
  const key = { authorization: `Bearer ${service.apiKey}` };
  const token = { authorization: `Token ${(await service.user('mallory')).token}` };
  credentials = { user: token, reader: token, either: token, key, issuing: { ...key, 'customer-id': 'mallory' } };
});
afterAll(async () => {
  await api.stop();
  await service.close();
});

/**
 * Waits until the main thread is idle. Returns the longest turn since the last call, in milliseconds. If the measured
 * time is more than MAX_TURN_MS, test/support/turnProbe.mjs converts it to the reference speed.
 */
const longestTurn = async (): Promise<number> => Number(await (await fetch(`${probe}/?above=${MAX_TURN_MS}`)).text());

interface Outcome {
  readonly status: number;
  /** Longest turn of the event loop, in milliseconds. */
  readonly ms: number;
}

/** Measures a request, several times if it seems slow. @param attempted sends the request and returns its status */
async function measured(attempted: (attempt: number) => Promise<number>): Promise<Outcome> {
  let least: Outcome | null = null;
  for (let attempt = 1; attempt <= ATTEMPTS && (least === null || least.ms > MAX_TURN_MS); attempt += 1) {
    await delay((attempt - 1) * 700);
    await longestTurn();
    const status = await attempted(attempt);
    const ms = await longestTurn();
    if (least === null || ms < least.ms) least = { status, ms };
  }
  return least ?? { status: 0, ms: Infinity };
}

const isSlow = ({ ms }: Outcome): number | false => (ms > MAX_TURN_MS ? ms : false);

type Headers = Readonly<Record<string, string>>;

/** Sends a request with node:http, because fetch refuses some headers. Returns the status. */
async function sendRequest(
  method: string,
  address: string,
  headers: Headers = {},
  body: string | Buffer = '',
): Promise<number> {
  // The server may answer before it has the whole body. On a kept-alive connection it then also reads the rest, so the
  // measured turns include that.
  const agent = new Agent({ keepAlive: true });
  const sent = httpRequest(`${url}${address}`, { method, headers, agent });
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  sent.end(body);
  const [answer] = await answered;
  answer.resume();
  await once(answer, 'close');
  agent.destroy();
  return answer.statusCode ?? 0;
}

const credentialsFor = (address: string, method = 'post'): Headers =>
  credentials[operations.find((one) => one.path === address && one.method === method)?.auth ?? 'user'] ?? {};

/** Posts JSON. @param headers returns the headers of an attempt */
const send = (address: string, body: string, headers: (attempt: number) => Headers = () => ({})): Promise<Outcome> =>
  measured((attempt) =>
    sendRequest(
      'POST',
      address,
      { 'content-type': 'application/json', ...credentialsFor(address), ...headers(attempt) },
      body,
    ),
  );

const many = (count: number, of: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => of(index)).join();
const repeated = (count: number, piece: string): string => `${piece},`.repeat(count).slice(0, -1);

/**
 * Bodies that exceed JSON_LIMITS (depth, keys, values or numbers), refused before they are parsed. None is longer than
 * MAX_JSON_BYTES.
 */
const REFUSED: Readonly<Record<string, string>> = {
  '300,000 unknown keys': `{${many(300_000, (index) => `"k${index}":1`)}}`,
  '1,600,000 empty lists': `{"x":[${repeated(1_600_000, '[]')}]}`,
  '600,000 objects of one key': `{"x":[${repeated(600_000, '{"":1}')}]}`,
  '2,400,000 numbers': `{"x":[${repeated(2_400_000, '1')}]}`,
  '1,600,000 empty texts': `{"x":[${repeated(1_600_000, '""')}]}`,
  '2,400,000 levels of nesting': `${'['.repeat(2_400_000)}${']'.repeat(2_400_000)}`,
};

/**
 * Large bodies within JSON_LIMITS and MAX_JSON_BYTES, parsed and validated. Their fields are unknown, so every
 * operation accepts them.
 */
const ADMITTED: Readonly<Record<string, string>> = {
  '24,000 unknown keys': `"x":1,${many(24, (index) => `"y${index}":{${many(999, (key) => `"k${key}":1`)}}`)}`,
  '20,000 objects': `"x":[${repeated(20_000, '{"a":1}')}]`,
  '59,000 texts': `"x":[${many(59_000, (index) => `"text ${index}"`)}]`,
  'a text of 4,800,000 characters': `"x":"${'y'.repeat(4_800_000)}"`,
  'a text of 2,400,000 characters of two bytes': `"x":"${'é'.repeat(2_400_000)}"`,
};

const posts = operations.filter(({ method, body, takesForm }) => method === 'post' && body && !takesForm);
/**
 * Returns the same name for operations that handle unknown fields of a body with the same code: they have the same
 * outermost schema and size limits, and either all or none of them accept an Idempotency-Key.
 */
function kindOf({ body, takesContents, takesChunks, createsWork }: (typeof posts)[number]): string {
  const { type, rules, dependencies, matches } = body?.describe() ?? {};
  return JSON.stringify([type, rules, dependencies, matches?.length, takesContents, takesChunks, createsWork]);
}
const kinds = posts.map(kindOf);
/**
 * test:long sends all bodies to all operations. test:system sends each refused body to one operation only, because the
 * same code refuses it for all operations. It sends the n-th admitted body to the n-th operation of each kind, so kinds
 * with few operations do not receive all admitted bodies.
 */
const refusedFor = <T>(rows: readonly T[], index: number): T[] =>
  isThorough() ? [...rows] : rows.filter((_row, at) => at === index);
/** @param nth how many operations of the same kind precede the operation */
const admittedFor = <T>(rows: readonly T[], nth: number): T[] => (isThorough() ? [...rows] : rows.slice(nth, nth + 1));
const SENT_TO = posts.flatMap(({ path: address }, index) => {
  const refused = refusedFor(Object.entries(REFUSED), index);
  const nth = kinds.slice(0, index).filter((kind) => kind === kinds[index]).length;
  const admitted = admittedFor(Object.entries(ADMITTED), nth);
  return refused.length + admitted.length > 0 ? [[address, refused, admitted] as const] : [];
});

test.each(SENT_TO)(
  'POST %s does not block the event loop with any body',
  async (address, refused, admitted) => {
    const least = JSON.stringify(sample(ourDocument, bodyOf(ourDocument, 'post', address) ?? {})).slice(1, -1);
    const whole = admitted.map(([what, fields]) => [what, `{${[least, fields].filter(Boolean).join()}}`] as const);
    for (const [what, body] of [...refused, ...whole]) {
      const outcome = await send(address, body);
      expect({ what, isSlow: isSlow(outcome) }).toEqual({ what, isSlow: false });
      if (what in REFUSED) expect(outcome.status).toBe(422);
    }
  },
  120_000,
);

const ids = (count: number): string => `[${many(count, String)}]`;
const urls = (count: number): string => `[${many(count, (index) => `"https://x.example/page/${index}"`)}]`;
/** 100 scrapes with 98 CSS selectors each. */
const scrapes = (selector: (nth: number) => string): string =>
  `[${many(100, (at) => `{"url":"x","css_selectors_to_skip":[${many(98, (nth) => `"${selector(98 * at + nth)}"`)}]}`)}]`;
const NUMBERS = Array.from({ length: 2_500 }, (_, index) => String(Math.sin(index)));
/**
 * Chunks with vectors of `numbers` components, or without vectors if `numbers` is 0. With vectors, `count + numbers`
 * must be at most NUMBERS.length.
 */
const chunks = (count: number, numbers: number): string =>
  `{"embedding_model":"OPENAI","chunks_and_embeddings":[{"file_id":1,"chunks_and_embeddings":[${many(
    count,
    (at) =>
      `{"chunk_number":${at},"chunk":"a text"${numbers > 0 ? `,"embedding":[${NUMBERS.slice(at, at + numbers).join()}]` : ''}}`,
  )}]}]}`;

describe('bodies at the limits of an operation do not block the event loop', () => {
  test.each<[string, string, string]>([
    [
      '10,000 ids, twice',
      '/embeddings',
      `{"query":"x","k":1,"file_ids":${ids(10_000)},"parent_file_ids":${ids(10_000)}}`,
    ],
    [
      '10,000 ids and addresses',
      '/user_files_v2',
      `{"filters":{"ids":${ids(10_000)},"external_urls":${urls(10_000)}}}`,
    ],
    ['1,000 tags', '/embeddings', `{"query":"x","k":1,"tags":{${many(1_000, (index) => `"k${index}":1`)}}}`],
    [
      '10,000 conditions on tags',
      '/embeddings',
      `{"query":"x","k":1,"tags_v2":{"AND":[${many(10_000, (index) => `{"key":"a","value":${index}}`)}]}}`,
    ],
    ['50,000 addresses', '/scrape_sitemap', `{"url":"https://nowhere.invalid/s.xml","urls_to_scrape":${urls(50_000)}}`],
    [
      '9,800 CSS selectors of 97 levels',
      '/web_scrape',
      scrapes((nth) => `${':is('.repeat(96)}a${nth}${')'.repeat(96)}`),
    ],
    ['9,800 equal CSS selectors', '/web_scrape', scrapes(() => ':enabled'.repeat(60))],
    ['9,800 invalid CSS selectors', '/web_scrape', scrapes(() => 'p[')],
    [
      '10,000 items',
      '/integrations/files/sync',
      `{"data_source_id":1,"ids":[${many(10_000, (index) => `{"id":"${index}","root_id":"r"}`)}]}`,
    ],
    ['20,000 chunks', '/upload_chunks_and_embeddings', chunks(MAX_GIVEN_CHUNKS, 0)],
    ['19 MB of vectors', '/upload_chunks_and_embeddings', chunks(620, 1_536)],
    ['a text of 19 MB', '/upload_text', JSON.stringify({ contents: 'word '.repeat(3_800_000) })],
    [
      'a text of 19 MB with characters of two bytes',
      '/upload_text',
      JSON.stringify({ contents: 'é '.repeat(6_300_000) }),
    ],
    [
      'a query of 32,000 characters',
      '/embeddings',
      JSON.stringify({ query: `${'x'.repeat(99)}.`.repeat(320), k: 1, hybrid_search: true }),
    ],
    [
      'a Thai query of 32,000 characters',
      '/embeddings',
      JSON.stringify({ query: 'ภาษาไทย'.repeat(4_571), k: 1, hybrid_search: true }),
    ],
  ])(
    '%s: POST %s',
    async (_what, address, body) => {
      const isKeyed = operations.some((one) => one.path === address && one.createsWork);
      const withKey = (attempt: number) => ({ 'idempotency-key': `key ${body.length} ${attempt}` });
      // A key only adds work: a request without one takes a part of the same path.
      for (const headers of isKeyed ? [withKey, ...thoroughRows([() => ({})])] : [() => ({})]) {
        const outcome = await send(address, body, headers);
        expect(outcome.status).toBeLessThan(500);
        expect(isSlow(outcome)).toBe(false);
      }
    },
    120_000,
  );
});

/**
 * Bytes sent as address and headers: Node refuses more than 16 KB of both together
 * (https://nodejs.org/docs/latest-v20.x/api/http.html#httpmaxheadersize).
 */
const HEAD_BYTES = 15_000;
const fill = (piece: string, bytes = HEAD_BYTES): string => piece.repeat(Math.floor(bytes / piece.length));

const queried = operations.filter(({ query, path: address }) => query && !address.includes('{'));
const QUERIES: Readonly<Record<string, (names: readonly string[]) => string>> = {
  'thousands of unknown parameters': () => many(2_000, (index) => `${index.toString(36)}&`).replaceAll(',', ''),
  'its parameters, repeated': (names) => fill(names.map((name) => `${name}=1`).join('&') + '&'),
  'nested names': (names) => fill(`${names[0]}${fill('[a]', 1_000)}=1&`),
  'a long encoded text': (names) => `${names[0]}=${fill('%F0%9F%98%80', HEAD_BYTES - 100)}`,
  'a long text of digits': (names) =>
    names.map((name) => `${name}=${fill('1', HEAD_BYTES / names.length - 100)}`).join('&'),
};

/** test:long sends all queries to all operations; test:system sends one of them to each operation. */
const rowsFor = <T>(rows: readonly T[], index: number): T[] =>
  isThorough() ? [...rows] : rows.filter((_row, at) => at === index % rows.length);

test.each(queried.map(({ method, path: address }, index) => [method, address, index] as const))(
  '%s %s does not block the event loop with any query',
  async (method, address, index) => {
    const parameters = ourDocument.paths[address]?.[method]?.parameters ?? [];
    const names = parameters.filter((one) => one.in === 'query').map(({ name }) => name);
    expect(names.length).toBeGreaterThan(0);
    for (const [what, make] of rowsFor(Object.entries(QUERIES), index)) {
      const target = `${address}?${make(names)}`;
      const outcome = await measured(() => sendRequest(method.toUpperCase(), target, credentialsFor(address, method)));
      expect({ what, isSlow: isSlow(outcome) }).toEqual({ what, isSlow: false });
      expect(outcome.status).toBeLessThan(500);
      expect(outcome.status).not.toBe(431);
    }
  },
  120_000,
);

describe('addresses and headers do not block the event loop', () => {
  test.each(
    [
      `/content/${fill('%41')}/1/1.raw`,
      `/content/1/1/1.raw?${fill('key=1&')}`,
      `/connections/${fill('a')}`,
      `/${fill('a/')}`,
      `/raw_file/${fill('1')}`,
      `/whoami${fill('/')}`,
      `/${fill('%E0%A4')}`,
    ].map((address) => [address.slice(0, 30), address] as const),
  )('GET %s…', async (_begin, address) => {
    const outcome = await measured(() => sendRequest('GET', address, credentials['user']));
    expect(outcome.status).toBeLessThan(500);
    expect(isSlow(outcome)).toBe(false);
  });

  test.each<[string, string, Headers]>([
    ['1,500 headers', 'GET /whoami', Object.fromEntries(Array.from({ length: 1_500 }, (_, at) => [`x-${at}`, '1']))],
    ['a long key', 'GET /organization', { authorization: `Bearer ${fill('x')}` }],
    ['a long token', 'GET /whoami', { authorization: `Token alt.${fill('e.')}` }],
    ['many credentials', 'GET /whoami', { authorization: fill('Token x,') }],
    ['credentials of spaces', 'GET /whoami', { authorization: `Token ${fill(' ')} x y` }],
    ['many cookies', 'GET /ops', { cookie: fill('allotrope_ops=a.b; ') }],
    ['a long cookie', 'GET /ops', { cookie: `allotrope_ops=${fill('a')}` }],
    ['a long customer-id', 'GET /auth/v1/access_token', { 'customer-id': fill('é'.normalize('NFC')) }],
    ['many addresses of proxies', 'GET /whoami', { 'x-forwarded-for': fill('1.1.1.1,') }],
    ['a long origin', 'GET /whoami', { origin: `https://${fill('a.')}` }],
    ['a media type of spaces', 'POST /webhooks', { 'content-type': `application/json;${fill(' ')}x` }],
    ['a media type of parameters', 'POST /webhooks', { 'content-type': `application/json${fill(';charset=a')}` }],
    ['a long idempotency key', 'POST /upload_text', { 'idempotency-key': fill('a') }],
    ['a long traceparent', 'GET /whoami', { traceparent: fill('00-'), tracestate: 'a=1' }],
  ])('%s: %s', async (_what, operation, headers) => {
    const [method = '', address = ''] = operation.split(' ');
    const own = credentialsFor(address, method.toLowerCase());
    const outcome = await measured(() =>
      sendRequest(method, address, { ...own, ...headers }, method === 'POST' ? '{}' : ''),
    );
    expect(outcome.status).toBeLessThan(500);
    expect(outcome.status).not.toBe(431);
    expect(isSlow(outcome)).toBe(false);
  });
});

describe('forms with fields do not block the event loop', () => {
  const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
  const FORM_BYTES = 999_000;

  test.each([
    ['2,000 fields', fill('ids=a&', 6 * 2_000 - 6), '/connections/x'],
    ['more fields than the limit', fill('ids=a&', FORM_BYTES), '/connections/x'],
    ['2,000 fields of 500 bytes', fill(`ids=${'%41'.repeat(165)}&`, FORM_BYTES), '/connections/x'],
    ['2,000 fields in brackets', fill(`ids[${'1'.repeat(490)}]=&`, FORM_BYTES), '/connections/x'],
    ['2,000 names', many(2_000, (at) => `k${at}=${'x'.repeat(480)}`).replaceAll(',', '&'), '/connections/x'],
    ['one long field', `action=${fill('+', FORM_BYTES)}`, '/connections/x'],
    ['one field of brackets', fill('[', FORM_BYTES), '/connections/x'],
    ['a long key', `api_key=${fill('%41', FORM_BYTES)}`, '/ops/sign_in'],
    ['more bytes than the limit of forms', fill('a=1&', 3_000_000), '/ops/sign_in'],
    ['a form in place of JSON', fill('a=1&', 3_000_000), '/webhooks'],
  ])('%s', async (_what, body, address) => {
    const outcome = await measured(() => sendRequest('POST', address, { ...credentialsFor(address), ...FORM }, body));
    expect(outcome.status).toBeLessThan(500);
    expect(isSlow(outcome)).toBe(false);
  });
});

describe('forms with a file do not block the event loop', () => {
  const BOUNDARY = 'b';
  const disposition = (name: string): string => `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"`;
  const file = `${disposition('file')}; filename="a.txt"\r\n\r\nsome text\r\n`;
  const BYTES = 2_000_000;

  test.each<[string, number, string]>([
    ['thousands of fields before the file', 422, fill(`${disposition('x')}\r\n\r\n1\r\n`, BYTES) + file],
    ['thousands of fields after the file', 422, file + fill(`${disposition('x')}\r\n\r\n1\r\n`, BYTES)],
    ['thousands of files', 422, file + fill(`${disposition('file')}; filename="a"\r\n\r\n1\r\n`, BYTES)],
    ['thousands of parts without headers', 422, file + fill(`--${BOUNDARY}\r\n\r\n\r\n`, BYTES)],
    ['thousands of empty parts', 422, file + fill(`--${BOUNDARY}\r\n`, BYTES)],
    ['thousands of headers of a part', 200, `--${BOUNDARY}\r\n${fill('a: b\r\n', BYTES)}\r\n\r\n${file}`],
    ['thousands of folded headers', 200, `--${BOUNDARY}\r\na: b\r\n${fill(' b\r\n', BYTES)}\r\n\r\n${file}`],
    ['fields of a long name', 200, fill(`${disposition('x'.repeat(60_000))}\r\n\r\n1\r\n`, 3_000_000) + file],
    [
      'fields of many parameters',
      200,
      fill(`${disposition('x')}${fill(';a=1', 60_000)}\r\n\r\n1\r\n`, 3_000_000) + file,
    ],
    [
      'fields of encoded parameters',
      200,
      fill(`${disposition('x')};filename*=utf-8''${fill('%41', 60_000)}\r\n\r\n1\r\n`, 3_000_000) + file,
    ],
    ['long fields', 200, fill(`${disposition('x')}\r\n\r\n${fill('x', 60_000)}\r\n`, 3_000_000) + file],
    ['a file of near-boundaries', 200, `${disposition('file')}; filename="a"\r\n\r\n${fill('\r\n--', BYTES)}`],
    ['a file of line ends', 200, `${disposition('file')}; filename="a"\r\n\r\n${fill('\r\n', BYTES)}`],
    ['a long preamble', 422, fill('x', BYTES) + file],
    ['a long epilogue', 200, `${file}--${BOUNDARY}--\r\n${fill('x', BYTES)}`],
  ])('%s', async (_what, status, parts) => {
    const headers = { ...credentials['user'], 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
    const body = `${parts}\r\n--${BOUNDARY}--\r\n`;
    const outcome = await measured(() => sendRequest('POST', '/uploadfile', headers, body));
    expect(outcome.status).toBe(status);
    expect(isSlow(outcome)).toBe(false);
  });
});

describe('one connection does not block the event loop', () => {
  /** Sends raw bytes. Returns the status of each answer once the connection is closed. */
  async function sendRaw(bytes: string): Promise<number[]> {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1').on('data', (part: string) => (text += part));
    // The server may reset the connection before everything is sent. Ignore that error. `once(socket, 'close')` would
    // throw it (https://nodejs.org/api/events.html#eventsonceemitter-name-options).
    socket.on('error', () => undefined);
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.write(bytes, 'latin1');
    await closed;
    return [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
  }
  const head = (line: string, headers: Headers): string =>
    `${line} HTTP/1.1\r\nhost: x\r\n${Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')}\r\n`;

  test.each([head('GET /nowhere', {}), 'GET / HTTP/1.1\r\n\r\n'])(
    'with thousands of requests in one packet: %j',
    async (one) => {
      const outcome = await measured(async () => {
        await sendRaw(one.repeat(20_000));
        return 0;
      });
      expect(isSlow(outcome)).toBe(false);
    },
  );

  test('with the maximum of pipelined requests', async () => {
    const last = head('GET /nowhere', { connection: 'close' });
    let answers: number[] = [];
    const outcome = await measured(async () => {
      answers = await sendRaw(head('GET /nowhere', {}).repeat(99) + last);
      return 0;
    });
    expect(answers).toEqual(Array.from({ length: 100 }, () => 404));
    expect(isSlow(outcome)).toBe(false);
  });

  test.each([
    ['JSON', '/webhooks', 'application/json', ' ', 422],
    ['a form', '/connections/x', 'application/x-www-form-urlencoded', 'x', 422],
    ['a form with a file', '/uploadfile', 'multipart/form-data; boundary=b', 'x', 400],
  ])('with %s in chunks of one byte', async (_what, address, type, byte, wanted) => {
    const headers = { ...credentialsFor(address), 'content-type': type, 'transfer-encoding': 'chunked' };
    const body = fill(`1\r\n${byte}\r\n`, 6 * 100_000);
    const outcome = await measured(() =>
      sendRaw(`${head(`POST ${address}`, { ...headers, connection: 'close' })}${body}0\r\n\r\n`).then(
        ([status = 0]) => status,
      ),
    );
    expect(outcome.status).toBe(wanted);
    expect(isSlow(outcome)).toBe(false);
  });
});
