/** Tests of the parts of the HTTP layer that all operations use: credentials, request contents, and error answers. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import express from 'express';
import { mongo } from 'mongoose';

import { authenticate } from '../../api/http/identity/authenticate.js';
import { HttpError } from '../../api/http/errors.js';
import { fingerprint } from '../../api/http/body/fingerprint.js';
import { html } from '../../api/http/answers/html.js';
import { idempotencyKeyOf } from '../../api/http/idempotency.js';
import { cors, errorHandler, requestIds, requireHost, safeHeaders } from '../../api/http/middleware.js';
import { type AuthScheme, ListAnswer } from '../../api/http/operation.js';
import { cookieHeader, createOpsSessions, endedAmong } from '../../api/http/identity/opsSessions.js';
import { pathId } from '../../api/http/pathId.js';
import { createNameLimiter } from '../../api/http/limits/rateLimit.js';
import { type ReceivedFile, receiveFile } from '../../api/http/body/receiveFile.js';
import { createRequestContents } from '../../api/http/body/requestContents.js';
import { createSigner } from '../../api/http/identity/signer.js';
import { hideSecretPaths } from '../../api/http/telemetry/loggedRequest.js';
import { storeAnswer, storeFailureOf } from '../../api/http/answers/storeAnswers.js';
import { streamList } from '../../api/http/answers/stream.js';
import { callSource, faultAnswer } from '../../api/integrations/callSource.js';
import { Fault } from '../../contract/failures.js';
import { StoreFailure } from '../../contract/storeFailures.js';
import { untilAborted } from '../../contract/untilAborted.js';
import type { DraftOriginal, Originals } from '../../store/originals/originals.js';
import { everyRow } from '../support/everyRow.js';
import { waitFor } from '../support/waitFor.js';

const KEYS = [{ id: 'k', key: randomBytes(32) }];
const thrownBy = async (act: () => unknown): Promise<unknown> => {
  try {
    await act();
  } catch (error) {
    return error;
  }
  return null;
};

describe('fingerprint of a request', () => {
  test('does not depend on the order of keys at any depth', async () => {
    const original = { a: 1, b: { c: [1, { d: 'x', e: null }], f: true } };
    const reordered = { b: { f: true, c: [1, { e: null, d: 'x' }] }, a: 1 };
    expect(await fingerprint([original])).toBe(await fingerprint([reordered]));
  });

  test('differs for similar values', async () => {
    const values = [
      ...[null, 1, '1', true, 'true', '', [], {}, [1], [[1]], [1, 2], [2, 1], [12], ['1', '2'], ['12'], ['1', 2]],
      ...[{ a: 1 }, { a: '1' }, { b: 1 }, { a: 1, b: 2 }, [{ a: 1 }, { b: 2 }], { a: { b: 1 } }, { a: ['b', 1] }, '{}'],
      // The same characters, divided differently into two texts.
      ...[
        ['a"b', ''],
        ['a', 'b"'],
      ],
      ...[
        'x'.repeat(250_000),
        'x'.repeat(250_001),
        `${'x'.repeat(250_000)}y`,
        Array.from({ length: 3_000 }, () => 0.5),
      ],
    ];
    const hashes = await Promise.all(values.map((value) => fingerprint(value)));
    expect(new Set(hashes).size).toBe(values.length);
  });
});

test('an Idempotency-Key has 1 to 255 characters', () => {
  const of = (key?: string | string[]) => idempotencyKeyOf({ 'idempotency-key': key } as never);
  expect([of(), of('a'), of('x'.repeat(255))]).toEqual([null, 'a', 'x'.repeat(255)]);
  for (const key of ['', 'x'.repeat(256), ['a']])
    expect(() => of(key)).toThrow(expect.objectContaining({ status: 422 }));
});

test('an id in a path must be a safe non-negative integer', () => {
  expect(pathId({ id: '9007199254740991' }, 'id')).toBe(Number.MAX_SAFE_INTEGER);
  for (const id of ['', '-1', '1.5', '1e3', ' 1', '9007199254740992', 'x'])
    expect(() => pathId({ id }, 'id')).toThrow(
      expect.objectContaining({ status: 422, detail: [expect.objectContaining({ loc: ['path', 'id'] })] }),
    );
});

test('html escapes every value', () => {
  const inner = html`<b>${'a<b>&"\'c'}</b>`;
  expect(html`<p title="${'"'}">${inner}${[inner, html`x`]}${5}</p>`.text).toBe(
    '<p title="&quot;"><b>a&lt;b&gt;&amp;&quot;&#39;c</b><b>a&lt;b&gt;&amp;&quot;&#39;c</b>x5</p>',
  );
});

test('a signed text is invalid for another purpose or after a change', () => {
  const signer = createSigner(KEYS, 'one');
  const text = signer.sign({ a: 1 });
  expect(signer.read(text)).toEqual({ a: 1 });
  expect(createSigner([{ id: 'new', key: randomBytes(32) }, ...KEYS], 'one').read(text)).toEqual({ a: 1 });
  expect(createSigner(KEYS, 'two').read(text)).toBeNull();
  const [id, , signature] = text.split('.');
  const changedPayload = Buffer.from('{"a":2}').toString('base64url');
  for (const altered of ['', `${text}.x`, `${id}.${changedPayload}.${signature}`, `${text}A`, text.slice(0, -1)])
    expect(signer.read(altered)).toBeNull();
});

describe('session of the operators page', () => {
  const OWNER = { organizationId: 7, keyId: 8 };
  const LIFE_MS = 60_000;

  test('is valid until it expires, and is renewed after half of its lifetime', () => {
    let now = 1_000_000;
    const sessions = createOpsSessions(KEYS, LIFE_MS, () => now);
    const { cookie, ms } = sessions.begin(OWNER);
    expect(ms).toBe(LIFE_MS);
    const read = (header: string) => sessions.read(header);
    const session = read(`a=b; allotrope_ops=${cookie}; c=d`)!;
    expect(session).toEqual({ ...OWNER, id: expect.any(String), expiresAt: now + LIFE_MS });
    expect(read(`other_allotrope_ops=${cookie}`)).toBeNull();
    expect([sessions.read(undefined), read(''), read('allotrope_ops=x')]).toEqual([null, null, null]);
    expect(
      createOpsSessions([{ id: 'k', key: randomBytes(32) }], LIFE_MS, () => now).read(`allotrope_ops=${cookie}`),
    ).toBeNull();
    now += LIFE_MS / 2;
    expect(sessions.isAging(session)).toBe(false);
    now += 1;
    expect(sessions.isAging(session)).toBe(true);
    // A renewed session keeps its id, so that a sign-out ends it too.
    expect(sessions.read(`allotrope_ops=${sessions.begin(session, session.id).cookie}`)).toEqual({
      ...{ ...session, expiresAt: now + LIFE_MS },
    });
    expect(sessions.read(`allotrope_ops=${sessions.begin(OWNER).cookie}`)!.id).not.toBe(session.id);
    now = session.expiresAt - 1;
    expect(read(`allotrope_ops=${cookie}`)).not.toBeNull();
    now += 1;
    expect(read(`allotrope_ops=${cookie}`)).toBeNull();
  });

  test('is ended by a sign-out, or when its key is revoked', async () => {
    const session = (id: string, keyId = 1) => ({ id, keyId, expiresAt: Date.now() + LIFE_MS, organizationId: 7 });
    const store = {
      endedSessions: { filterEnded: (ids: readonly string[]) => Promise.resolve(ids.filter((id) => id === 'ended')) },
      apiKeys: { validAmong: (ids: readonly number[]) => Promise.resolve(ids.filter((id) => id !== 2)) },
    };
    const cookies = [session('good'), session('ended'), session('revoked', 2)];
    expect(await endedAmong(cookies, store as never)).toEqual(['ended', 'revoked']);
  });

  test('has a cookie for its own pages only, with a lifetime in whole seconds', () => {
    expect(cookieHeader('v', 1_999, true).split('; ')).toEqual([
      ...['allotrope_ops=v', 'Path=/ops', 'Max-Age=1', 'HttpOnly', 'SameSite=Strict', 'Secure'],
    ]);
    expect(cookieHeader('v', 1_999, false)).not.toContain('Secure');
  });
});

describe('caller of a request', () => {
  const sessions = createOpsSessions(KEYS, 60_000);
  const { cookie } = sessions.begin({ organizationId: 1, keyId: 5 });
  const { cookie: revoked } = sessions.begin({ organizationId: 1, keyId: 6 });
  const deps = {
    opsSessions: sessions,
    tokens: {
      read(text: string) {
        const owner = { good: { organizationId: 1, userId: 2 }, gone: { organizationId: 1, userId: 3 } }[text];
        return owner ? { owner, scope: null } : null;
      },
    },
    store: {
      organizations: { organizationOfKey: (key: string) => Promise.resolve(key === 'key' ? 1 : null) },
      users: {
        find: ({ userId }: { userId: number }) =>
          Promise.resolve(userId === 2 ? { organizationId: 1, userId: 2, customerId: 'ada' } : null),
        isLive: ({ userId }: { userId: number }) => Promise.resolve(userId === 2),
        ensure: (organizationId: number, customerId: string) =>
          Promise.resolve({ organizationId, userId: 9, customerId }),
      },
      endedSessions: { filterEnded: () => Promise.resolve([]) },
      apiKeys: { validAmong: () => Promise.resolve([5]) },
    },
  } as never;
  const as = async (scheme: AuthScheme, headers: Record<string, string>): Promise<unknown> => {
    try {
      const { caller, confirmed } = await authenticate(scheme, headers, deps);
      await confirmed;
      return caller;
    } catch (error) {
      return (error as HttpError).status;
    }
  };
  const ADA = { organizationId: 1, userId: 2, customerId: 'ada' };
  const KEY = { organizationId: 1 };
  const BOB = { organizationId: 1, userId: 9, customerId: 'bob' };
  const token = { authorization: 'Token good' };
  const key = { authorization: 'Bearer key' };
  const keyOfBob = { ...key, 'customer-id': 'bob' };

  test('is identified by a credential that the operation accepts', () =>
    everyRow(
      [
        ['open', {}, null],
        ['user', {}, 401],
        ['user', token, ADA],
        ['user', { authorization: 'token good' }, ADA],
        ['user', { authorization: 'Token gone' }, 401],
        ['user', { authorization: 'Token bad' }, 401],
        ['user', { authorization: 'Basic good' }, 401],
        ['user', { authorization: 'Token' }, 401],
        ['user', { authorization: 'Bearer none', 'customer-id': 'bob' }, 401],
        // A browser joins the values of a header that is set twice; the last value is the newest credential.
        ['user', { authorization: 'Token bad, Token good' }, ADA],
        ['user', { authorization: 'Token good, Token bad' }, 401],
        ['user', key, 422],
        ['user', { ...key, 'customer-id': ' ' }, 422],
        ['user', { ...key, 'customer-id': 'x'.repeat(513) }, 422],
        ['user', { ...key, 'customer-id': 'x'.repeat(512) }, { ...BOB, customerId: 'x'.repeat(512) }],
        ['user', keyOfBob, BOB],
        ['reader', token, { organizationId: 1, userId: 2 }],
        ['reader', { authorization: 'Token gone' }, 401],
        ['reader', keyOfBob, BOB],
        ['reader', key, 422],
        ['key', key, KEY],
        ['key', keyOfBob, KEY],
        ['key', token, 403],
        ['either', token, ADA],
        ['either', key, KEY],
        ['either', keyOfBob, BOB],
        ['issuing', token, 401],
        ['issuing', keyOfBob, BOB],
        ['issuing', key, 422],
        ['operator', {}, null],
        ['operator', key, { organizationId: 1, session: null }],
        ['operator', token, 403],
        [
          'operator',
          { cookie: `allotrope_ops=${cookie}` },
          { organizationId: 1, session: expect.objectContaining({ keyId: 5 }) },
        ],
        ['operator', { cookie: `allotrope_ops=${revoked}` }, null],
        ['operator', { authorization: 'Bearer none', cookie: `allotrope_ops=${cookie}` }, 401],
      ] as [AuthScheme, Record<string, string>, unknown][],
      ([scheme, headers]) => `${scheme} ${JSON.stringify(headers).slice(0, 80)}`,
      async ([scheme, headers, caller]) => expect(await as(scheme, headers)).toEqual(caller),
    ));
});

test('counts attempts by name, and can refund an admitted attempt', () => {
  let now = 0;
  const attempts = createNameLimiter(2, () => now);
  const seconds = (name: string) => {
    try {
      attempts.admit(name);
      return 0;
    } catch (error) {
      return (error as HttpError).retryAfterSeconds;
    }
  };
  expect([seconds('a'), seconds('a'), seconds('a'), seconds('b')]).toEqual([0, 0, 30, 0]);
  attempts.refund('a');
  expect([seconds('a'), seconds('a')]).toEqual([0, 30]);
  now += 30_000;
  expect([seconds('a'), seconds('a')]).toEqual([0, 30]);
});

describe('failure of a store', () => {
  test('is answered with the name of the store and Retry-After', () =>
    everyRow(
      [
        ['unreachable', 503, 5, 'Qdrant does not answer'],
        ['failed', 503, 5, 'Qdrant reports an internal error'],
        ['full', 507, 30, 'Qdrant has no disk space left'],
      ] as const,
      ([kind]) => kind,
      ([kind, status, retryAfterSeconds, text]) => {
        const answer = storeAnswer(new StoreFailure('Qdrant', kind, new Error('10.1.2.3 secret')));
        expect(answer).toMatchObject({ status, retryAfterSeconds, detail: expect.stringContaining(text) });
        expect(answer.detail).not.toContain('secret');
      },
    ));

  test('is recognized from a StoreFailure or an error of the MongoDB driver, not from a defect', () => {
    const storeFailure = new StoreFailure('Temporal', 'failed', null);
    expect(storeFailureOf(storeFailure)).toBe(storeFailure);
    const networkError = new mongo.MongoNetworkError('closed');
    expect(storeFailureOf(new Error('in', { cause: networkError }))).toMatchObject({
      store: 'MongoDB',
      kind: 'unreachable',
    });
    expect(storeFailureOf(new TypeError('ours'))).toBeNull();
  });
});

describe('refusal of a source', () => {
  test('is 400, or 503 with Retry-After if the fault is retryable', async () => {
    expect(faultAnswer(new Fault('access_revoked', 'It is over.'))).toMatchObject({
      ...{ status: 400, detail: 'It is over.', retryAfterSeconds: null },
    });
    expect(faultAnswer(new Fault('rate_limited', 'Wait.', { retryAfterMs: 1_001 }))).toMatchObject({
      ...{ status: 503, retryAfterSeconds: 2 },
    });
    const call = (error: unknown) => thrownBy(() => callSource('Box', () => Promise.reject(error as Error)));
    expect(await call(new Fault('unreachable', 'Unreachable.'))).toMatchObject({ status: 503, detail: 'Unreachable.' });
    expect(await call(new DOMException('late', 'TimeoutError'))).toMatchObject({
      ...{ status: 503, detail: 'Box took too long to answer. Try again later.' },
    });
    const defect = new TypeError('ours');
    expect(await call(defect)).toBe(defect);
    expect(await callSource('Box', (signal) => Promise.resolve(signal.aborted))).toBe(false);
  });
});

describe('work with an abort signal', () => {
  test('settles with its own result, or rejects with the reason of the signal', async () => {
    const reason = new Error('stopped');
    const stop = new AbortController();
    const failed = new Error('failed');
    const never = new Promise<never>(() => undefined);
    expect(await untilAborted(stop.signal, Promise.resolve(5))).toBe(5);
    expect(await thrownBy(() => untilAborted(stop.signal, Promise.reject(failed)))).toBe(failed);
    const waiting = thrownBy(() => untilAborted(stop.signal, never));
    stop.abort(reason);
    expect(await waiting).toBe(reason);
    // The signal is already aborted: a later failure of the work is ignored.
    expect(await thrownBy(() => untilAborted(stop.signal, Promise.resolve(5)))).toBe(reason);
    expect(await thrownBy(() => untilAborted(stop.signal, Promise.reject(failed)))).toBe(reason);
  });

  test('removes its listener', async () => {
    let listeners = 0;
    const signal = {
      throwIfAborted: () => undefined,
      addEventListener: () => (listeners += 1),
      removeEventListener: () => (listeners -= 1),
    } as unknown as AbortSignal;
    await untilAborted(signal, Promise.resolve(1));
    await thrownBy(() => untilAborted(signal, Promise.reject(new Error('x'))));
    expect(listeners).toBe(0);
  });
});

test('uploaded contents belong to the user of the request; discard() is called for each, even if one call fails', async () => {
  const discarded: unknown[] = [];
  const received: [unknown, string][] = [];
  const originals = {
    async receive(owner: unknown, parts: AsyncIterable<Uint8Array>) {
      const all: Uint8Array[] = [];
      for await (const part of parts) all.push(part);
      received.push([owner, Buffer.concat(all).toString()]);
      return { id: received.length };
    },
    discard: ({ id }: { id: number }) =>
      id === 1 ? Promise.reject(new Error('unreachable')) : Promise.resolve(void discarded.push(id)),
  } as unknown as Originals;
  const owner = { organizationId: 1, userId: 2 };
  const contents = createRequestContents(originals, { ...owner, customerId: 'ada' } as never);
  await contents.receive(Buffer.from('one'));
  await contents.receive(Buffer.from('two'));
  // The real store's discard() keeps content that was assigned to a file.
  await contents.discardUnaccepted();
  expect([received, discarded]).toEqual([
    [
      [owner, 'one'],
      [owner, 'two'],
    ],
    [2],
  ]);
  for (const caller of [null, { organizationId: 1 }])
    await expect(createRequestContents(originals, caller).receive(Buffer.from('x'))).rejects.toThrow('end user');
});

describe('HTTP server', () => {
  const MAX_BYTES = 50;
  let received: string[] = [];
  const receive = async (content: unknown): Promise<DraftOriginal> => {
    const all: Buffer[] = [];
    for await (const part of content as AsyncIterable<Buffer>) all.push(part);
    const text = Buffer.concat(all).toString();
    if (text === 'store down') throw new StoreFailure('MongoDB', 'unreachable', null);
    received.push(text);
    return { id: received.length } as DraftOriginal;
  };
  const logged: [string, Record<string, unknown>, string][] = [];
  const log = Object.fromEntries(
    ['info', 'warn', 'error'].map((level) => [
      level,
      (fields: Record<string, unknown>, message: string) => void logged.push([level, fields, message]),
    ]),
  ) as never;
  const app = express();
  app.use(
    requestIds(log),
    hideSecretPaths([{ auth: 'open', path: '/pages/{name}' }]),
    safeHeaders,
    requireHost,
    cors(['https://app.example']),
  );
  app.post('/upload', async (request, response) => {
    response.json(await receiveFile(request, MAX_BYTES, receive));
  });
  let closedLists = 0;
  app.get('/list/:what', async (request, response) => {
    async function* rows() {
      const { what } = request.params;
      if (what === 'slow')
        try {
          yield [{ a: 1 }];
          await once(response, 'close');
          // More than the buffer of a connection, so that a writer would wait for its reader.
          yield [{ a: 'x'.repeat(1_000_000) }];
          yield [];
        } finally {
          closedLists += 1;
        }
      if (what === 'broken') throw new HttpError(409, 'broken');
      yield what === 'none' ? [] : [{ a: 1 }];
      yield [];
      if (what === 'half') throw new Error('half');
      yield what === 'none' ? [] : [{ a: 2 }, { a: 3 }];
    }
    const counts: Record<string, number | null> = { bare: null, none: 0 };
    const { what } = request.params;
    await streamList(new ListAnswer(what in counts ? counts[what]! : Promise.resolve(3), rows()), response);
  });
  const faults: Record<string, unknown> = {
    known: new HttpError(429, 'Slow down.', 7),
    store: new StoreFailure('Qdrant', 'unreachable', new Error('10.1.2.3')),
    defect: new Error('a secret of ours'),
    foreign: Object.assign(new Error('x'), { status: 404 }),
    exposed: Object.assign(new Error('x'), { status: 413, expose: true }),
    large: Object.assign(new Error('x'), { type: 'entity.too.large' }),
  };
  app.get('/fault/:name', (request) => {
    throw faults[request.params.name];
  });
  app.get('/decoded/:name', (_request, response) => void response.json({}));
  app.use(errorHandler(log));
  const server = createServer({ requireHostHeader: false }, app);
  let base = '';
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  describe('form with a file', () => {
    interface Part {
      readonly field?: string;
      readonly name?: string;
      readonly type?: string;
      readonly content: string;
    }
    const partOf = ({ field = 'file', name, type, content }: Part): string =>
      `--X\r\ncontent-disposition: form-data; name="${field}"${name === undefined ? '' : `; filename="${name}"`}\r\n` +
      `${type === undefined ? '' : `content-type: ${type}\r\n`}\r\n${content}\r\n`;
    const post = async (body: string, headers: Record<string, string> = {}) => {
      const answer = await fetch(`${base}/upload`, {
        ...{ method: 'POST', body, headers: { 'content-type': 'multipart/form-data; boundary=X', ...headers } },
      });
      return { status: answer.status, body: (await answer.json()) as ReceivedFile & { detail: unknown } };
    };
    const send = (...parts: Part[]) => post(`${parts.map(partOf).join('')}--X--\r\n`);
    const file = (fields: Partial<Part> = {}): Part => ({
      name: 'a.txt',
      type: 'text/plain',
      content: 'text',
      ...fields,
    });

    test('is received with its name and media type', async () => {
      received = [];
      expect(await send(file())).toEqual({
        ...{ status: 200, body: { name: 'a.txt', contentType: 'text/plain', draft: { id: 1 } } },
      });
      expect(await send(file({ type: 'application/octet-stream' }))).toMatchObject({ body: { contentType: null } });
      expect((await send(file({ name: 'x'.repeat(2_000) }))).body.name).toHaveLength(1_024);
      // Only the first file of the field is read; other files and fields are skipped.
      const otherFile = file({ field: 'other', content: 'other' });
      expect((await send({ field: 'a', content: 'b' }, otherFile, file({ content: 'first' }), file())).status).toBe(
        200,
      );
      expect(received).toEqual(['text', 'text', 'text', 'first']);
    });

    test('is refused if it is too large, has no file, or is malformed', () =>
      everyRow(
        [
          ['exactly the maximum size', () => send(file({ content: 'x'.repeat(MAX_BYTES) })), 200],
          ['one byte more', () => send(file({ content: 'x'.repeat(MAX_BYTES + 1) })), 413],
          ['another field', () => send(file({ field: 'other' })), 422],
          ['no part', () => post('--X--\r\n'), 422],
          ['no form', () => post('{}', { 'content-type': 'application/json' }), 422],
          ['no boundary', () => post('x', { 'content-type': 'multipart/form-data; x=y' }), 400],
          ['a missing end', () => post(partOf(file())), 400],
          ['a content encoding', () => post('x', { 'content-encoding': 'gzip' }), 415],
          ['50 fields', () => send(...Array.from({ length: 50 }, () => ({ field: 'a', content: 'b' })), file()), 200],
          ['51 fields', () => send(...Array.from({ length: 51 }, () => ({ field: 'a', content: 'b' })), file()), 422],
          ['61 parts', () => send(...Array.from({ length: 61 }, () => file({ field: 'a' }))), 422],
          ['a name with a NUL byte', () => send(file({ name: 'a\0b' })), 422],
          ['an unreachable store', () => send(file({ content: 'store down' })), 503],
        ] as [string, () => Promise<{ status: number }>, number][],
        ([what]) => what,
        async ([, act, status]) => expect((await act()).status).toBe(status),
      ));
  });

  test('streams lists, with their count or as a bare array', async () => {
    const list = async (what: string) => {
      const answer = await fetch(`${base}/list/${what}`);
      return [answer.status, await answer.text()];
    };
    expect(await list('whole')).toEqual([200, '{"results":[{"a":1},{"a":2},{"a":3}],"count":3}']);
    expect(await list('bare')).toEqual([200, '[{"a":1},{"a":2},{"a":3}]']);
    expect(await list('none')).toEqual([200, '{"results":[],"count":0}']);
    // A failure before the first row is answered with an error status; a later failure truncates the answer.
    expect((await list('broken'))[0]).toBe(409);
    await expect(list('half')).rejects.toThrow();
  });

  test('closes the rows of a list whose reader disconnects while the next rows are read', async () => {
    const closedBefore = closedLists;
    const aborter = new AbortController();
    await fetch(`${base}/list/slow`, { signal: aborter.signal });
    aborter.abort();
    await waitFor(
      () => closedLists,
      (closed) => closed === closedBefore + 1,
    );
  });

  test('answers faults in the format of the contract, without internal details', () => {
    const server500 = expect.stringMatching(/^Internal error.*request id [\da-f-]{36}/);
    return everyRow(
      [
        ['/fault/known', 429, 'Slow down.', '7', null],
        ['/fault/store', 503, expect.stringMatching(/^Qdrant does not answer/), '5', 'warn'],
        ['/fault/defect', 500, server500, null, 'error'],
        ['/fault/foreign', 500, server500, null, 'error'],
        ['/fault/exposed', 400, 'The request could not be read.', null, null],
        ['/fault/large', 413, expect.stringContaining('MAX_JSON_BYTES'), null, null],
        ['/decoded/%ff', 400, expect.any(String), null, null],
      ] as [string, number, string, string | null, string | null][],
      ([path]) => path,
      async ([path, status, detail, retryAfter, level]) => {
        logged.length = 0;
        const answer = await fetch(`${base}${path}`);
        expect([answer.status, await answer.json()]).toEqual([status, { detail }]);
        expect(answer.headers.get('retry-after')).toBe(retryAfter);
        expect(logged.map(([logLevel]) => logLevel).filter((logLevel) => logLevel !== 'info')).toEqual(
          level === null ? [] : [level],
        );
      },
    );
  });

  /** Returns the log lines of a request. */
  const logOf = (id: string | null) =>
    waitFor(
      () => logged.filter(([, { requestId }]) => requestId === id),
      ({ length }) => length > 0,
    );

  test('each answer has a request id, which is logged, and forbids caching, sniffing and framing', async () => {
    const { headers } = await fetch(`${base}/list/none?secret=1`);
    const requestId = headers.get('x-request-id');
    expect(['cache-control', 'x-content-type-options', 'x-frame-options'].map((name) => headers.get(name))).toEqual([
      ...['no-store', 'nosniff', 'DENY'],
    ]);
    expect(await logOf(requestId)).toEqual([
      ['info', { requestId, method: 'GET', path: '/list/none', status: 200, ms: expect.any(Number) }, 'request'],
    ]);
  });

  test('a request whose caller disconnects is logged without a status', async () => {
    const caller = new AbortController();
    const { headers } = await fetch(`${base}/list/slow`, { signal: caller.signal });
    caller.abort();
    expect(await logOf(headers.get('x-request-id'))).toEqual([
      ['info', expect.objectContaining({ path: '/list/slow', status: null }), 'request'],
    ]);
  });

  test('no log line has the secret in the path of a page, whatever the method and the rest of the path', () =>
    everyRow(
      [
        ['GET', '/pages/secret'],
        ['PUT', '/pages/secret'],
        ['OPTIONS', '/pages/secret'],
        ['GET', '/Pages/secret/more'],
      ],
      String,
      async ([method, path]) => {
        const preflight = { origin: 'https://app.example', 'access-control-request-method': 'POST' };
        const { headers } = await fetch(`${base}${path}`, { method: method!, headers: preflight });
        expect(await logOf(headers.get('x-request-id'))).toMatchObject([
          ['info', { path: '/pages/{name}' }, 'request'],
        ]);
      },
    ));

  test('only allowed origins may read answers, and get the allowed methods and headers', async () => {
    const ask = (headers: Record<string, string>, method = 'GET') => fetch(`${base}/list/none`, { method, headers });
    const allowed = async (origin: string) => (await ask({ origin })).headers.get('access-control-allow-origin');
    expect(await allowed('https://app.example')).toBe('https://app.example');
    expect(await allowed('https://evil.example')).toBeNull();
    const preflight = { origin: 'https://app.example', 'access-control-request-method': 'POST' };
    const { status, headers } = await ask(preflight, 'OPTIONS');
    expect([status, headers.get('access-control-allow-methods'), headers.get('vary')]).toEqual([
      ...[200, 'GET, POST, DELETE', 'origin'],
    ]);
    expect(headers.get('access-control-allow-headers')?.split(', ').toSorted()).toEqual([
      ...['authorization', 'content-type', 'customer-id', 'idempotency-key', 'last-event-id'],
      ...['mcp-protocol-version', 'prefer'],
    ]);
    expect(headers.get('access-control-expose-headers')?.split(', ').toSorted()).toEqual([
      ...['allotrope-ignored-fields', 'idempotent-replayed', 'preference-applied', 'retry-after', 'www-authenticate'],
      'x-request-id',
    ]);
    const refused = await ask({ ...preflight, origin: 'https://evil.example' }, 'OPTIONS');
    expect(refused.headers.get('access-control-allow-methods')).toBeNull();
  });
});
