/**
 * Tests of the path of a request from the socket to the handler of an operation: refusals, handler input, and answers.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeEach, describe, expect, test } from '@jest/globals';
import express from 'express';
import Joi from 'joi';

import { createConcurrencyLimiter } from '../../api/http/limits/concurrency.js';
import { HttpError } from '../../api/http/errors.js';
import { errorHandler } from '../../api/http/middleware.js';
import { mount } from '../../api/http/mount.js';
import {
  type Call,
  FileAnswer,
  undocumented,
  type Operation,
  PageAnswer,
  RedirectAnswer,
} from '../../api/http/operation.js';
import { changesRecords } from '../../api/http/perform.js';
import { everyRow } from '../support/everyRow.js';
import { waitFor } from '../support/waitFor.js';
import { listening } from './listening.js';

const ADA = { organizationId: 1, userId: 2, customerId: 'ada' };
const state = { newer: null as number | null, isGone: false, rate: null as HttpError | null };
const calls: Call<'user', Record<string, unknown>, Record<string, unknown>>[] = [];
const discarded: unknown[] = [];
/** Runs given to the dispatcher, and the answers of idempotency keys. */
const started: number[] = [];
const answered = new Map<string, { fingerprint: string; answer: string }>();
/** Ends the calls of /hold. */
let release: () => void = () => undefined;
let released = new Promise<void>(() => undefined);

const deps = {
  store: {
    schema: {
      get newer() {
        return state.newer;
      },
    },
    users: {
      find: () => Promise.resolve(ADA),
      isLive: () => Promise.resolve(!state.isGone),
      ensure: () => Promise.resolve(ADA),
    },
    transaction: (work: (session: null) => unknown) => work(null),
    idempotency: {
      find: ({ key }: { key: string }) => Promise.resolve(answered.get(key) ?? null),
      claim: ({ key }: { key: string }, fingerprint: string) => {
        answered.set(key, { fingerprint, answer: '' });
        return Promise.resolve(true);
      },
      saveAnswer: ({ key }: { key: string }, answer: string) =>
        Promise.resolve(void answered.set(key, { fingerprint: answered.get(key)!.fingerprint, answer })),
    },
    organizations: { organizationOfKey: (key: string) => Promise.resolve(key === 'key' ? 1 : null) },
    originals: {
      receive: () => Promise.resolve({ id: 5 }),
      discard: ({ id }: { id: number }) => Promise.resolve(void discarded.push(id)),
    },
  },
  tokens: {
    read: (text: string) => {
      if (text === 'good') return { owner: ADA, scope: null };
      return text === 'reader' ? { owner: ADA, scope: 'read' } : null;
    },
  },
  settings: {
    maxJsonBytes: 200,
    maxContentsBytes: 400,
    maxUploadBytes: 100,
    redirectUriSchemes: [],
    publicUrl: null,
    publicUrlAliases: [],
  },
  addresses: { mayCall: () => true },
  dispatcher: { start: (runId: number) => Promise.resolve(void started.push(runId)) },
} as never;
const recordCall = (answer: unknown) => (call: never) => {
  calls.push(call);
  return Promise.resolve(answer);
};
const READ_ERROR = new Error('the storage failed');
/** Number of streams that were closed. */
let closedStreams = 0;
/** Streams a stored content whose reading fails after some parts. @param parts null: it has one part, and does not fail */
async function* streamOf(parts: number | null): AsyncGenerator<Uint8Array> {
  try {
    for (let part = 0; part < (parts ?? 1); part += 1) yield Buffer.alloc(100_000, 'x');
    if (parts !== null) throw READ_ERROR;
  } finally {
    closedStreams += 1;
  }
}
const body = Joi.object({
  a: Joi.number(),
  b: Joi.string().allow(null),
  list: Joi.array().items(Joi.number()).default([]),
});
const usual = { summary: 'A test.', answer: Joi.any() } as const;
const post = { ...usual, method: 'post', auth: 'user', body } as const;
const get = { ...usual, method: 'get', auth: 'user' } as const;
const OPERATIONS: readonly Operation[] = [
  undocumented({
    ...post,
    path: '/things/{thing_id}',
    query: Joi.object({ n: Joi.number() }),
    handle: recordCall({ fine: 'é' }),
  }),
  undocumented({ ...post, path: '/contents', takesContents: true, handle: recordCall({}) }),
  undocumented({ ...post, path: '/list', auth: 'reader', handle: recordCall({}) }),
  undocumented({ ...get, path: '/read', handle: recordCall({}) }),
  undocumented({ ...get, path: '/change', changesRecords: true, handle: recordCall({}) }),
  undocumented({ ...usual, method: 'delete', auth: 'user', path: '/remove', handle: recordCall({}) }),
  undocumented({ ...usual, method: 'post', auth: 'user', path: '/recount', handle: recordCall({}) }),
  undocumented({
    ...{ ...post, path: '/work', createsWork: true },
    async handle({ deps: { unit } }) {
      await unit.transaction(() => Promise.resolve());
      unit.start(7);
      return { run: 7 };
    },
  }),
  undocumented({ ...get, path: '/fails', auth: 'reader', handle: () => Promise.reject(new HttpError(409, 'busy')) }),
  undocumented({ ...get, path: '/file', handle: recordCall(new FileAnswer(Buffer.from('bytes'), 'application/pdf')) }),
  undocumented({
    ...{ ...get, path: '/stream', query: Joi.object({ parts: Joi.number() }) },
    handle: ({ query }) => {
      const { parts = null } = query as { parts?: number };
      return Promise.resolve(new FileAnswer(streamOf(parts), 'application/pdf'));
    },
  }),
  undocumented({
    ...get,
    path: '/page',
    auth: 'open',
    handle: recordCall(new PageAnswer(202, '<p>', { 'x-own': 'yes' })),
  }),
  undocumented({ ...get, path: '/redirect', auth: 'open', handle: recordCall(new RedirectAnswer('/page')) }),
  undocumented({
    ...usual,
    method: 'post',
    path: '/form',
    auth: 'open',
    takesForm: true,
    fromOwnPages: true,
    body: Joi.object({ a: Joi.string() }),
    handle: recordCall({}),
  }),
  undocumented({
    ...{ ...post, path: '/keep' },
    async handle(call) {
      await call.receive(Buffer.from('x'));
      throw new HttpError(409, 'busy');
    },
  }),
  undocumented({
    ...{ ...get, path: '/hold', auth: 'reader', searches: true },
    async handle(call) {
      calls.push(call as never);
      await released;
      return {};
    },
  }),
];

const app = express();
app.set('trust proxy', 1);
const logged: { err: unknown }[] = [];
const log = {
  ...{ info: () => undefined, warn: () => undefined },
  error: (context: { err: unknown }) => void logged.push(context),
} as never;
const admit = {
  rate: () => {
    if (state.rate) throw state.rate;
  },
  searches: createConcurrencyLimiter(1, 'searches'),
};
for (const operation of OPERATIONS) mount(app, operation, deps, admit);
app.use(errorHandler(log));
const { port } = listening(app);
beforeEach(() => {
  calls.length = 0;
  Object.assign(state, { newer: null, isGone: false, rate: null });
});

const TOKEN = { authorization: 'Token good' };
const JSON_TYPE = { 'content-type': 'application/json' };
async function ask(method: string, path: string, headers: Record<string, string> = TOKEN, content?: string) {
  const answer = await fetch(`http://127.0.0.1:${port()}${path}`, {
    ...{ method, headers, redirect: 'manual' },
    ...(content !== undefined && { body: content }),
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}
const send = (content: string, path = '/things/7', headers: Record<string, string> = { ...TOKEN, ...JSON_TYPE }) =>
  ask('POST', path, headers, content);

describe('request', () => {
  test('reaches its handler with its body, query and parameters, and is answered as JSON', async () => {
    const { status, headers, text } = await send('{"a": 1, "b": null, "more": 2}', '/things/7?n=5&m=6', {
      ...{ ...TOKEN, ...JSON_TYPE, 'x-forwarded-for': '9.9.9.9, 8.8.8.8' },
    });
    expect([status, text, headers.get('content-type'), headers.get('content-length')]).toEqual([
      ...[200, '{"fine":"é"}', 'application/json; charset=utf-8', '13'],
    ]);
    const [call] = calls;
    expect(call).toMatchObject({
      ...{ caller: ADA, body: { a: 1, b: null, list: [] }, query: { n: 5 }, params: { thing_id: '7' } },
      ...{ peer: '8.8.8.8', file: null },
    });
    expect(call!.body).not.toHaveProperty('more');
    // The caller sent only these fields; all others of the body are defaults.
    expect([...call!.given]).toEqual(['a', 'more']);
  });

  test('without a body counts as one without fields', async () => {
    expect((await ask('POST', '/things/7')).status).toBe(200);
    expect([calls[0]!.body, calls[0]!.given.size]).toEqual([{ list: [] }, 0]);
  });

  test('is checked for its credential first, then its rate, then its content', async () => {
    expect((await send('{', '/things/7', JSON_TYPE)).status).toBe(401);
    state.rate = new HttpError(429, 'Slow down.', 3);
    expect((await send('{')).status).toBe(429);
    state.rate = null;
    for (const content of ['{', '"text"', '{"a": "x"}', '{"__proto__": {}}'])
      expect((await send(content)).status).toBe(422);
    const { status, text } = await send('a=1', '/things/7', { ...TOKEN, 'content-type': 'text/plain' });
    expect([status, text]).toEqual([422, expect.stringContaining('content-type: application/json')]);
    expect(calls).toEqual([]);
  });

  test('may have the maximum length of its operation', async () => {
    const long = (length: number) => `{"b": "${'x'.repeat(length - 9)}"}`;
    expect([(await send(long(200))).status, (await send(long(201))).status]).toEqual([200, 413]);
    expect([(await send(long(400), '/contents')).status, (await send(long(401), '/contents')).status]).toEqual([
      200, 413,
    ]);
  });

  test('that changes records is refused while the schema is newer than the process', async () => {
    state.newer = 9;
    const change = await send('{}');
    expect([change.status, change.headers.get('retry-after')]).toEqual([503, '30']);
    expect((await ask('GET', '/change')).status).toBe(503);
    expect([(await send('{}', '/list')).status, (await ask('GET', '/read')).status]).toEqual([200, 200]);
  });

  test('that changes records needs more than the scope read, whatever its method and body', async () => {
    const reader = { authorization: 'Token reader' };
    await everyRow(
      OPERATIONS.filter(({ auth }) => auth !== 'open' && auth !== 'key'),
      ({ method, path }) => `${method} ${path}`,
      async (operation) => {
        const { method, path, searches } = operation;
        if (searches || path === '/fails') return;
        const { status } = await ask(method.toUpperCase(), path.replace('{thing_id}', '7'), reader);
        expect(status).toBe(changesRecords(operation) ? 403 : 200);
      },
    );
    expect(OPERATIONS.filter(changesRecords).map(({ method, body: has }) => `${method} ${has !== undefined}`)).toEqual(
      expect.arrayContaining(['get false', 'post true', 'post false', 'delete false']),
    );
  });

  test('with an Idempotency-Key starts its run at once, and only once', async () => {
    started.length = 0;
    const withKey = { ...TOKEN, ...JSON_TYPE, 'idempotency-key': 'once' };
    const answers = [await send('{}', '/work', withKey), await send('{}', '/work', withKey)];
    expect(answers.map(({ status, text, headers }) => [status, text, headers.get('idempotent-replayed')])).toEqual([
      [200, '{"run":7}', null],
      [200, '{"run":7}', 'true'],
    ]);
    expect(started).toEqual([7]);
    expect((await send('{}', '/work')).status).toBe(200);
    expect(started).toEqual([7, 7]);
  });

  test('of a deleted user is answered with 401, whatever the handler does', async () => {
    expect((await ask('GET', '/fails')).status).toBe(409);
    state.isGone = true;
    expect((await ask('GET', '/fails')).status).toBe(401);
    expect((await send('{}', '/list')).status).toBe(401);
    expect((await send('{"a": "x"}', '/list')).status).toBe(401);
  });

  test('that fails leaves no stored contents', async () => {
    expect((await send('{}', '/keep')).status).toBe(409);
    expect(discarded).toEqual([5]);
  });

  test('that searches counts against the limit of its user, and is aborted when its caller disconnects', async () => {
    released = new Promise((resolve) => (release = resolve));
    const disconnect = new AbortController();
    const firstAnswer = fetch(`http://127.0.0.1:${port()}/hold`, { headers: TOKEN, signal: disconnect.signal }).catch(
      () => null,
    );
    await waitFor(
      () => calls.length,
      (length) => length === 1,
    );
    const secondAnswer = await ask('GET', '/hold');
    expect([secondAnswer.status, secondAnswer.headers.get('retry-after')]).toEqual([429, '1']);
    disconnect.abort();
    await firstAnswer;
    await waitFor(
      () => calls[0]!.signal.aborted,
      (isAborted) => isAborted,
    );
    release();
    // After the disconnection, the slot of the search is free again.
    await waitFor(
      () => ask('GET', '/hold'),
      ({ status }) => status === 200,
    );
  });

  test('with a form is refused if a browser sends it from another site', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await send('a=1&b=2', '/form', form)).status).toBe(200);
    expect(calls[0]!.body).toEqual({ a: '1' });
    expect((await send('a=1', '/form', { ...form, origin: 'https://evil.example' })).status).toBe(403);
    expect((await send('a=1', '/form', { ...form, 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  });
});

test('files, pages and redirects have headers that forbid scripts, framing and sniffing', async () => {
  const headersOf = async (path: string, ...names: string[]) => {
    const { status, text, headers } = await ask('GET', path);
    return [status, text, ...names.map((name) => headers.get(name))];
  };
  expect(
    await headersOf(
      '/file',
      'content-type',
      'content-disposition',
      'content-security-policy',
      'x-content-type-options',
      'cache-control',
    ),
  ).toEqual([200, 'bytes', 'application/pdf', 'attachment', "default-src 'none'; sandbox", 'nosniff', 'private']);
  expect(await headersOf('/page', 'x-own', 'cache-control', 'referrer-policy', 'x-frame-options')).toEqual([
    ...[202, '<p>', 'yes', 'no-store', 'no-referrer', 'DENY'],
  ]);
  expect((await ask('GET', '/page')).headers.get('content-security-policy')).toMatch(
    /^default-src 'none'.*frame-ancestors 'none'$/,
  );
  expect(await headersOf('/redirect', 'location', 'cache-control')).toEqual([303, '', '/page', 'no-store']);
});

describe('stored content', () => {
  beforeEach(() => {
    logged.length = 0;
    closedStreams = 0;
  });

  test('is streamed completely, and closed', async () => {
    const { status, headers, text } = await ask('GET', '/stream');
    expect([status, headers.get('content-type'), text === 'x'.repeat(100_000)]).toEqual([200, 'application/pdf', true]);
    expect([closedStreams, logged]).toEqual([1, []]);
  });

  test('that cannot be read is answered with 500, and the error is logged', async () => {
    const { status, headers, text } = await ask('GET', '/stream?parts=0');
    expect([status, headers.get('content-type'), headers.get('content-disposition')]).toEqual([
      ...[500, expect.stringContaining('application/json'), null],
    ]);
    expect(JSON.parse(text)).toEqual({ detail: expect.stringContaining('Internal error') });
    expect(logged).toEqual([expect.objectContaining({ err: READ_ERROR })]);
  });

  test('that fails after its start ends the connection, and the error is logged', async () => {
    await expect(ask('GET', '/stream?parts=1')).rejects.toThrow();
    expect(logged).toEqual([expect.objectContaining({ err: READ_ERROR })]);
  });

  test('is closed, and nothing is logged, when the client disconnects', async () => {
    const disconnect = new AbortController();
    const { signal } = disconnect;
    const answer = await fetch(`http://127.0.0.1:${port()}/stream?parts=10000`, { headers: TOKEN, signal });
    expect(answer.status).toBe(200);
    disconnect.abort();
    await waitFor(
      () => closedStreams,
      (closed) => closed === 1,
    );
    expect(logged).toEqual([]);
  });
});

describe('connection', () => {
  /** Sends bytes. @returns all bytes received until the connection is closed */
  async function raw(content: string): Promise<string> {
    const socket = connect(port(), '127.0.0.1');
    let response = '';
    socket.on('data', (piece: Buffer) => (response += piece.toString()));
    socket.on('error', () => undefined);
    const closed = once(socket, 'close');
    socket.write(content);
    await closed;
    return response;
  }
  const head = 'host: here\r\nauthorization: Token good\r\n';

  test('with an invalid HTTP request is answered in the format of the contract', async () => {
    const refused = async (content: string) => {
      const response = await raw(content);
      return [/^HTTP\/1\.1 (\d+)/.exec(response)?.[1], /\{"detail":".+"\}$/.test(response)];
    };
    expect(await refused('nonsense\r\n\r\n')).toEqual(['400', true]);
    expect(await refused(`GET /read HTTP/1.1\r\n${head}x: ${'y'.repeat(20_000)}\r\n\r\n`)).toEqual(['431', true]);
    expect(await refused('CONNECT a.test:443 HTTP/1.1\r\nhost: a.test\r\n\r\n')).toEqual(['405', true]);
    expect(
      await refused(`POST /list HTTP/1.1\r\n${head}expect: more\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`),
    ).toEqual(['417', true]);
  });

  test('with pipelined requests is answered in order, and is closed if too many requests wait', async () => {
    const request = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\n${head}${headers}\r\n`;
    const response = await raw(`${request('/file')}${request('/page')}${request('/read', 'connection: close\r\n')}`);
    expect([...response.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['200', '202', '200']);
    const many = await raw(request('/read').repeat(200));
    expect([...many.matchAll(/HTTP\/1\.1 200/g)].length).toBeLessThanOrEqual(101);
  });
});
