/**
 * Tests of four parts of egress: reports to its observer, checks when the name server does not answer, streamed request
 * bodies, and peek().
 */
import { getEventListeners } from 'node:events';
import { afterEach, expect, test } from '@jest/globals';

import { createEgress } from '../../egress/createEgress.js';
import { peek } from '../../egress/peek.js';
import type { Egress, EgressRequest } from '../../egress/types.js';
import { faultOf } from '../support/faultOf.js';
import { closeAll, egressSettings, serve } from './loopback.js';

const closeables: Egress[] = [];
afterEach(async () => {
  await Promise.all(closeables.splice(0).map((created) => created.close()));
  await closeAll();
});
function opened(...parameters: Parameters<typeof createEgress>): Egress {
  const egress = createEgress(...parameters);
  closeables.push(egress);
  return egress;
}
const limits = { maxBytes: 1000, totalTimeoutMs: 30_000 };

test('reports each exchange to the observer once, by host and method, and an error status as failed', async () => {
  const server = await serve((request, response) =>
    response.writeHead(Number((request.url ?? '').slice(1, 4))).end('x'),
  );
  const calls: unknown[] = [];
  const egress = opened(egressSettings({ allowedPrivateHosts: ['127.0.0.1'] }), {
    watch: (call) => (end) => void calls.push({ ...call, ...end }),
  });
  const bytes = async (request: Pick<EgressRequest, 'url' | 'method'>) =>
    (await egress.request({ ...limits, ...request })).bytes();
  await bytes({ url: `${server.origin}/200?secret` });
  await bytes({ url: `${server.origin}/399`, method: 'POST' });
  await bytes({ url: `${server.origin}/400` });
  await (await egress.request({ ...limits, url: `${server.origin}/503` })).discard();
  await faultOf(egress.request({ ...limits, url: 'http://127.0.0.1:1/' }), 'unreachable');
  await faultOf(bytes({ url: 'http://10.0.0.1/' }), 'address_refused');
  const call = { system: 'http', operation: 'GET', target: '127.0.0.1' };
  expect(calls).toEqual([
    { ...call, failed: false, status: 200 },
    { ...call, operation: 'POST', failed: false, status: 399 },
    { ...call, failed: true, status: 400 },
    { ...call, failed: true, status: 503 },
    { ...call, failed: true },
  ]);
});

test('a check ends after the connect timeout if the name server does not answer, and on an abort', async () => {
  const lookup = () => new Promise<never>(() => undefined);
  const { signal } = new AbortController();
  const fault = await faultOf(
    opened(egressSettings({ connectTimeoutMs: 50 }), { lookup }).check('http://site.example/', signal),
    'dns_failed',
  );
  expect([fault.message.includes('0.05 s'), fault.retryable]).toEqual([true, true]);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  const stop = new AbortController();
  const aborted = opened(egressSettings(), { lookup }).check('http://site.example/', stop.signal);
  stop.abort(new RangeError('no longer needed'));
  await expect(aborted).rejects.toThrow('no longer needed');
});

test('sends a streamed body only if redirects are not followed', async () => {
  const server = await serve((_, response) => response.end());
  const egress = opened(egressSettings({ allowedPrivateHosts: ['127.0.0.1'] }));
  const body = (): AsyncIterable<Uint8Array> =>
    (async function* parts() {
      yield Buffer.from('a');
      yield Buffer.from('bc');
    })();
  const request = { ...limits, url: server.origin, method: 'POST' } as const;
  await expect(egress.request({ ...request, body: body() })).rejects.toThrow('redirects');
  await (await egress.request({ ...request, body: body(), redirects: 'answer' })).discard();
  await (await egress.request({ ...request, body: body(), bodyBytes: 3, redirects: 'answer' })).discard();
  expect(server.requests.map(({ body: sent, headers }) => [sent, headers['content-length']])).toEqual([
    ['abc', undefined],
    ['abc', '3'],
  ]);
});

test('peeks at the start of a stream without losing a piece, and closes the source when the reader stops', async () => {
  let closed = 0;
  const source = async function* pieces(): AsyncGenerator<Uint8Array> {
    try {
      for (const piece of ['a', 'bc', 'd', 'e']) yield Buffer.from(piece);
    } finally {
      closed += 1;
    }
  };
  const { head, all } = await peek(source(), 2);
  expect(Buffer.from(head).toString()).toBe('abc');
  const read: string[] = [];
  for await (const piece of all) read.push(Buffer.from(piece).toString());
  expect([read, closed]).toEqual([['abc', 'd', 'e'], 1]);
  for await (const _piece of (await peek(source(), 1)).all) break;
  expect(closed).toBe(2);
  expect((await peek(source(), 99)).head).toHaveLength(5);
});
