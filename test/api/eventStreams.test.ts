/**
 * Tests of event streams without HTTP: shared reads, limits, heartbeats and ends; and of slow clients with a socket.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Response } from 'express';
import { describe, expect, test } from '@jest/globals';

import { createPageCache } from '../../api/eventStreams/pages.js';
import { createEventStreams, message } from '../../api/http/streams/streams.js';
import { EventsAnswer } from '../../api/http/operation.js';
import { sendEvents } from '../../api/http/answers/stream.js';
import { waitFor } from '../support/waitFor.js';

const log = { warn: () => undefined } as never;
const SETTINGS = { perUser: 2, maxOpen: 3, tickMs: 5, lifetimeMs: 60_000 };

/** Starts streams of a feed whose events are the numbers up to `feed.head`. */
function start(settings: Partial<typeof SETTINGS> = {}, beatMs = 60_000) {
  const streams = createEventStreams({ ...SETTINGS, ...settings }, log, beatMs);
  const feed = { head: 2, reads: 0, isAway: false };
  const read = () => {
    feed.reads += 1;
    return feed.isAway ? Promise.reject(new Error('away')) : Promise.resolve(feed.head);
  };
  const watch = async (caller: string, cursor: string) => {
    const disconnect = new AbortController();
    const open = await streams.open(
      streams.heads,
      { caller, topic: 'feed', read },
      () => ({
        cursor,
        next: (upTo, after) => {
          const position = Number(after) + 1;
          const isNew = position <= upTo;
          return Promise.resolve({
            text: isNew ? message(String(position), null, '{}') : '',
            cursor: isNew ? String(position) : after,
            hasMore: position < upTo,
            isLast: position === 9,
          });
        },
      }),
      disconnect.signal,
    );
    const texts: string[] = [];
    const ended = (async () => {
      for await (const text of open!()) texts.push(text);
    })();
    const ids = () => texts.slice(1).flatMap((text) => /^id: (\d+)\ndata/m.exec(text)?.[1] ?? []);
    return { texts, ids, ended, disconnect };
  };
  return { streams, feed, watch };
}
const sent = ({ ids }: { ids: () => string[] }, count: number) =>
  waitFor(ids, (received) => received.length >= count).then(() => ids());

describe('streams', () => {
  test('continue after the cursor, each event once and in order, and end with the feed', async () => {
    const { streams, feed, watch } = start();
    const viewer = await watch('a', '0');
    expect(await sent(viewer, 2)).toEqual(['1', '2']);
    expect(viewer.texts[0]).toBe('retry: 3000\nid: 0\nevent: connected\ndata: {"cursor":"0"}\n\n');
    feed.head = 4;
    expect(await sent(viewer, 4)).toEqual(['1', '2', '3', '4']);
    const later = await watch('b', '3');
    expect(await sent(later, 1)).toEqual(['4']);
    feed.head = 9;
    await Promise.all([viewer.ended, later.ended]);
    expect(viewer.ids()).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9']);
    expect(later.ids()).toEqual(['4', '5', '6', '7', '8', '9']);
    await streams.close();
  });

  test('share one poll, which ends when the last client disconnects', async () => {
    const { feed, watch } = start({ tickMs: 50, maxOpen: 100, perUser: 100 });
    const begun = performance.now();
    const viewers = await Promise.all(Array.from({ length: 20 }, (_, nth) => watch(String(nth), '2')));
    await waitFor(
      () => feed.reads,
      (reads) => reads >= 24,
    );
    // Each of the 20 streams reads once at its start; after that, one read per poll serves all.
    expect(feed.reads - 20).toBeLessThanOrEqual((performance.now() - begun) / 50 + 1);
    for (const { disconnect } of viewers) disconnect.abort();
    await Promise.all(viewers.map(({ ended }) => ended));
    await new Promise((resolve) => setTimeout(resolve, 20));
    const { reads } = feed;
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(feed.reads).toBe(reads);
  });

  test('continue after a failed read; a failed first read frees the slot', async () => {
    const { feed, watch, streams } = start();
    const viewer = await watch('a', '2');
    feed.isAway = true;
    for (let nth = 0; nth < 5; nth += 1) await expect(watch('a', '2')).rejects.toThrow('away');
    feed.head = 3;
    feed.isAway = false;
    expect(await sent(viewer, 1)).toEqual(['3']);
    await streams.close();
  });

  test('are limited per caller with 429 and per process with 503; a disconnected client frees its slot', async () => {
    const { streams, watch } = start();
    const [firstViewer] = [await watch('a', '2'), await watch('a', '2')];
    await expect(watch('a', '2')).rejects.toMatchObject({ status: 429, retryAfterSeconds: 30 });
    await watch('b', '2');
    await expect(watch('c', '2')).rejects.toMatchObject({ status: 503 });
    firstViewer.disconnect.abort();
    await firstViewer.ended;
    await watch('c', '2');
    await streams.close();
    await expect(watch('d', '2')).rejects.toMatchObject({ status: 503 });
  });

  test('free their slot once: at their end, or if there is nothing to stream or the client has left already', async () => {
    const { streams, feed, watch } = start({ perUser: 1 });
    for (let nth = 0; nth < 3; nth += 1) {
      const viewer = await watch('a', '8');
      feed.head = 9;
      await viewer.ended;
      // The connection of the ended stream closes. This must not free the slot of the next stream.
      const next = await watch('a', '9');
      viewer.disconnect.abort();
      await expect(watch('a', '9')).rejects.toMatchObject({ status: 429 });
      next.disconnect.abort();
      await next.ended;
    }
    const subscription = { caller: 'a', topic: 'other', read: () => Promise.resolve(1) };
    const content = { cursor: '', next: () => Promise.reject(new Error('not read')) };
    const [open, left] = [new AbortController().signal, AbortSignal.abort()];
    for (let nth = 0; nth < 2; nth += 1) {
      expect(await streams.open(streams.heads, subscription, () => null, open)).toBeNull();
      expect(await streams.open(streams.heads, subscription, () => content, left)).toBeNull();
    }
    // No poll of a topic without viewers remains.
    await Promise.all([streams.heads.idle(), streams.close()]);
  });

  test('send heartbeats with the current id, and end after their lifetime', async () => {
    const { watch, streams } = start({ lifetimeMs: 2_000 }, 20);
    const viewer = await watch('a', '2');
    await viewer.ended;
    expect(viewer.texts.length).toBeGreaterThan(2);
    expect(new Set(viewer.texts.slice(1))).toEqual(new Set([': heartbeat\nid: 2\n\n']));
    await streams.close();
  });

  test('end when the server closes', async () => {
    const { watch, streams } = start();
    const viewer = await watch('a', '2');
    await streams.close();
    await viewer.ended;
    expect(viewer.texts).toHaveLength(1);
  });
});

test('pages are read once for all clients at the same position; a failed read is repeated', async () => {
  const pages = createPageCache();
  let reads = 0;
  const read = () => {
    reads += 1;
    return reads === 1 ? Promise.reject(new Error('away')) : Promise.resolve({ text: 't', next: 1 });
  };
  await expect(pages.of('a', read)).rejects.toThrow('away');
  await Promise.all([pages.of('a', read), pages.of('a', read)]);
  await pages.of('a', read);
  expect(reads).toBe(2);
  await pages.of('b', read);
  expect(reads).toBe(3);
});

test('the cache has the last 32 pages', async () => {
  const pages = createPageCache();
  const reads: number[] = [];
  const get = (nth: number) =>
    pages.of(String(nth), () => {
      reads.push(nth);
      return Promise.resolve({ text: String(nth), next: nth });
    });
  for (let nth = 0; nth < 33; nth += 1) expect((await get(nth)).text).toBe(String(nth));
  for (const nth of [1, 32, 0]) await get(nth);
  expect(reads.slice(33)).toEqual([0]);
});

test('a client that does not read is disconnected, and the generator of its events is closed', async () => {
  let hasEnded = false;
  async function* endless() {
    try {
      for (;;) {
        await Promise.resolve();
        yield 'x'.repeat(100_000);
      }
    } finally {
      hasEnded = true;
    }
  }
  const closed: Promise<unknown>[] = [];
  const server = createServer((_request, response) => {
    const like = Object.assign(response, {
      status: (code: number) => Object.assign(response, { statusCode: code }),
      set: (headers: Record<string, string>) => response.setHeaders(new Map(Object.entries(headers))),
    });
    closed.push(once(response, 'close'), sendEvents(new EventsAnswer(endless), like as unknown as Response, 100));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  await waitFor(
    () => hasEnded,
    (isEnded) => isEnded,
  );
  await Promise.all(closed);
  socket.destroy();
  server.close();
});
