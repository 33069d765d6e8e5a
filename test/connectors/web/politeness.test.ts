import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';

import { createHostLimiter } from '../../../connectors/hostLimiter.js';
import { serve } from '../../egress/loopback.js';
import { closeSources, fetchOne, list, source } from './webSource.js';

afterEach(closeSources);

const never = new AbortController().signal;

/** Returns a clock that advances only by sleeping. */
function clock() {
  const state = { time: 0 };
  return {
    now: () => state.time,
    sleep: (ms: number) => {
      state.time += ms;
      return Promise.resolve();
    },
  };
}

const limiter = (perHost: number, { now, sleep } = clock()) => createHostLimiter(perHost, now, sleep);
const settled = async (promise: Promise<unknown>) =>
  Promise.race([
    promise.then(
      () => true,
      () => true,
    ),
    wait(20).then(() => false),
  ]);

describe('slots', () => {
  test('are granted up to the limit, then in the order of arrival', async () => {
    const hosts = limiter(2);
    const leave = [await hosts.enter('a', 0, never), await hosts.enter('a', 0, never)];
    const order: number[] = [];
    const waiting = [1, 2, 3].map((n) => hosts.enter('a', 0, never).then((go) => (order.push(n), go)));
    expect(await settled(waiting[0] as Promise<unknown>)).toBe(false);
    leave[0]?.();
    // Releasing a slot twice counts once.
    leave[0]?.();
    (await waiting[0])?.();
    (await waiting[1])?.();
    await waiting[2];
    expect(order).toEqual([1, 2, 3]);
  });

  test('are independent between hosts', async () => {
    const hosts = limiter(1);
    await hosts.enter('a', 0, never);
    expect(await settled(hosts.enter('b', 0, never))).toBe(true);
  });

  test('reject with the reason of an abort, without affecting other waiting callers', async () => {
    const hosts = limiter(1);
    const leave = await hosts.enter('a', 0, never);
    const stop = new AbortController();
    const aborted = hosts.enter('a', 0, stop.signal);
    const next = hosts.enter('a', 0, never);
    stop.abort(new RangeError('enough'));
    await expect(aborted).rejects.toThrow('enough');
    expect(await settled(next)).toBe(false);
    leave();
    expect(await settled(next)).toBe(true);
    await expect(hosts.enter('a', 0, stop.signal)).rejects.toThrow('enough');
  });

  test('are not taken from other waiting callers by a late abort of a caller that has left the queue', async () => {
    const hosts = limiter(1);
    const stop = new AbortController();
    const leave = await hosts.enter('a', 0, never);
    const second = hosts.enter('a', 0, stop.signal);
    const third = hosts.enter('a', 0, never);
    leave();
    const leaveSecond = await second;
    stop.abort(new RangeError('enough'));
    leaveSecond();
    expect(await settled(third)).toBe(true);
  });

  test('are released by an abort while waiting for the interval', async () => {
    const stop = new AbortController();
    let time = 0;
    const hosts = createHostLimiter(
      1,
      () => time,
      (_ms, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    );
    (await hosts.enter('a', 1000, never))();
    const waiting = hosts.enter('a', 1000, stop.signal);
    stop.abort(new RangeError('enough'));
    await expect(waiting).rejects.toThrow('enough');
    // After the interval, only a slot that is still taken would block.
    time = 10_000;
    expect(await settled(hosts.enter('a', 0, never))).toBe(true);
  });
});

test('spaces starts at a host by the interval', async () => {
  const { now, sleep } = clock();
  const hosts = limiter(8, { now, sleep });
  const starts: number[] = [];
  for (let n = 0; n < 4; n += 1) {
    const leave = await hosts.enter('a', 500, never);
    starts.push(now());
    leave();
  }
  expect(starts).toEqual([0, 500, 1000, 1500]);
});

test('limits the concurrent requests to a host, for pages and sitemaps together', async () => {
  let concurrent = 0;
  let max = 0;
  const server = await serve((request, response) => {
    max = Math.max(max, (concurrent += 1));
    setTimeout(() => {
      concurrent -= 1;
      response
        .writeHead(200, { 'Content-Type': 'text/plain' })
        .end(request.url === '/s' ? `${server.origin}/1` : 'page');
    }, 20);
  });
  const web = source({ settings: { requestsPerHost: 3 } });
  await Promise.all([
    ...Array.from({ length: 12 }, (_, n) => fetchOne(web, `${server.origin}/${String(n)}`)),
    list(web, `${server.origin}/s`),
  ]);
  expect(max).toBe(3);
});

test('a web source uses the limiter passed to it, and releases its slot after a failed request', async () => {
  const entered: string[] = [];
  const server = await serve((_, response) => response.writeHead(404).end());
  const web = source({
    limiter: {
      enter: (host) => {
        entered.push(`in ${host}`);
        return Promise.resolve(() => entered.push('out'));
      },
    },
  });
  await expect(fetchOne(web, server.origin)).rejects.toThrow();
  expect(entered).toEqual([`in ${server.host}`, 'out']);
});
