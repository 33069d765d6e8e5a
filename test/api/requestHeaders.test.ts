/** Tests of headers and bodies of requests that only some clients send: byte order marks, charsets, cursors, proxies. */
import { beforeEach, expect, test } from '@jest/globals';
import express from 'express';
import Joi from 'joi';

import { cors, errorHandler, requireHost } from '../../api/http/middleware.js';
import { mount, peerOf } from '../../api/http/mount.js';
import { type Call, EventsAnswer, undocumented } from '../../api/http/operation.js';
import { everyRow } from '../support/everyRow.js';
import { listening } from './listening.js';

const ADA = { organizationId: 1, userId: 2, customerId: 'ada' };
const calls: Call<'user', { a?: unknown }>[] = [];
const deps = {
  store: { schema: { newer: null }, users: { find: () => Promise.resolve(ADA) }, originals: {} },
  tokens: { read: () => ({ owner: ADA, scope: null }) },
  settings: { maxJsonBytes: 1_000_000, maxContentsBytes: 1_000_000, redirectUriSchemes: [] },
  addresses: {},
  dispatcher: {},
} as never;
const usual = { summary: 'A test.', answer: Joi.any(), auth: 'user' } as const;
const recordCall = (call: never) => {
  calls.push(call);
  return Promise.resolve({});
};
const body = Joi.object({ a: Joi.any() });
async function* twoEvents(): AsyncIterable<string> {
  yield 'data: 1\n\n';
  yield await Promise.resolve('data: 2\n\n');
}
const OPERATIONS = [
  undocumented({ ...usual, method: 'post', path: '/echo', body, handle: recordCall }),
  undocumented({ ...usual, method: 'post', path: '/chunks', body, takesChunks: true, handle: recordCall }),
  undocumented({ ...usual, method: 'get', path: '/read', handle: recordCall }),
  undocumented({
    ...usual,
    method: 'get',
    path: '/events',
    handle: () => Promise.resolve(new EventsAnswer(twoEvents)),
  }),
  undocumented({ ...usual, method: 'get', path: '/over', handle: () => Promise.resolve(new EventsAnswer(null)) }),
];
const app = express();
const log = { info: () => undefined, warn: () => undefined, error: () => undefined } as never;
for (const operation of OPERATIONS) mount(app, operation, deps, { rate: () => undefined, searches: {} as never });
app.use(errorHandler(log));
const { server, port } = listening(app);
beforeEach(() => void (calls.length = 0));

const send = (path: string, headers: Record<string, string> = {}, content?: string | Buffer) =>
  fetch(`http://127.0.0.1:${port()}${path}`, {
    ...(content !== undefined && { method: 'POST', body: content }),
    headers: { authorization: 'Token t', ...headers },
  });

test('a body may have a byte order mark and a quoted charset, and must be UTF-8', () =>
  everyRow(
    [
      [Buffer.from('{"a":"ü"}'), 'application/json', 200],
      [Buffer.from('\uFEFF{"a":"ü"}'), 'application/json', 200],
      [Buffer.from('{"a":"ü"}'), 'application/json; charset="UTF-8"', 200],
      [Buffer.from('{"a":"ü"}'), 'application/json;charset=utf8', 200],
      [Buffer.from('{"a":"ü"}', 'latin1'), 'application/json; charset=iso-8859-1', 415],
      [Buffer.from('{"a":"ü"}', 'latin1'), 'application/json', 422],
    ] as [Buffer, string, number][],
    ([content, type]) => `${type} ${content.toString('hex')}`,
    async ([content, type, status]) => {
      calls.length = 0;
      expect((await send('/echo', { 'content-type': type }, content)).status).toBe(status);
      expect(calls.map((call) => call.body.a)).toEqual(status === 200 ? ['ü'] : []);
    },
  ));

test('a body may have 61,000 numbers only if the operation takes chunks', async () => {
  const content = JSON.stringify({ a: Array(61_000).fill(1) });
  const statusOf = async (path: string) => (await send(path, { 'content-type': 'application/json' }, content)).status;
  expect([await statusOf('/echo'), await statusOf('/chunks')]).toEqual([422, 200]);
});

test('a handler receives the header Last-Event-ID as the client sends it, or null', async () => {
  await send('/read', { 'last-event-id': '17' });
  await send('/read');
  expect(calls.map(({ lastEventId }) => lastEventId)).toEqual(['17', null]);
});

test('a parameter of an operation without parameters is reported, and refused in strict mode', async () => {
  const lenient = await send('/read?page=2');
  expect([lenient.status, lenient.headers.get('allotrope-ignored-fields')]).toEqual([200, '"query.page"']);
  expect(lenient.headers.get('preference-applied')).toBeNull();
  const strict = await send('/read?page=2', { prefer: 'handling=strict' });
  expect([strict.status, strict.headers.get('preference-applied')]).toEqual([422, 'handling=strict']);
});

test('a stream of events is not cached or buffered by proxies; 204 ends the reconnections of a browser', async () => {
  const { status, headers, ...answer } = await send('/events').then(async (sent) => ({
    ...{ status: sent.status, headers: sent.headers, text: await sent.text() },
  }));
  expect([status, answer.text]).toEqual([200, 'data: 1\n\ndata: 2\n\n']);
  expect(['content-type', 'cache-control', 'x-accel-buffering'].map((name) => headers.get(name))).toEqual([
    ...['text/event-stream; charset=utf-8', 'no-store', 'no'],
  ]);
  expect((await send('/over')).status).toBe(204);
});

test('idle connections stay open for more than 60 s, longer than most clients and load balancers keep them', () => {
  expect(server.keepAliveTimeout).toBeGreaterThan(60_000);
});

test('the address of a caller is the forwarded one, unless a proxy sends text that is not an address', () => {
  const peer = (ip: string | undefined) => peerOf({ ip, socket: { remoteAddress: '192.0.2.1' } } as never);
  expect(['203.0.113.9', '2001:db8::1', 'unknown', '', undefined].map(peer)).toEqual([
    ...['203.0.113.9', '2001:db8::1', '192.0.2.1', '192.0.2.1', '192.0.2.1'],
  ]);
});

test('HTTP/1.1 requires the header host, older versions do not', () => {
  const check = (httpVersion: string, host?: string) => () =>
    requireHost({ httpVersion, headers: { host } } as never, {} as never, () => undefined);
  expect(check('1.1')).toThrow(expect.objectContaining({ status: 400 }));
  for (const accepted of [check('1.1', 'here'), check('1.0')]) expect(accepted).not.toThrow();
});

test('with the origin * every page may read answers, and the answer does not depend on the origin', () => {
  const headers: Record<string, unknown> = {};
  const response = {
    setHeader: (name: string, value: unknown) => (headers[name] = value),
    vary: () => (headers['vary'] = 1),
  };
  cors(['*'])(
    { method: 'GET', headers: { origin: 'https://any.example' } } as never,
    response as never,
    () => undefined,
  );
  expect(headers).toMatchObject({ 'access-control-allow-origin': '*' });
  expect(headers).not.toHaveProperty('vary');
});
