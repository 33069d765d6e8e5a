import { once } from 'node:events';
import type { Response } from 'express';

import type { EventsAnswer, ListAnswer } from '../operation.js';

/**
 * Streams `{"results":[…],"count":n}`, or a bare array if there is no count, at the reader's pace. After the client has
 * disconnected, no more rows are read, and the iterator of the rows is closed.
 */
export async function streamList(answer: ListAnswer, response: Response): Promise<void> {
  const rows = answer.results[Symbol.asyncIterator]();
  const disconnected = new AbortController();
  response.once('close', () => disconnected.abort());
  try {
    // Count and first rows are read in parallel, before the headers are sent, so that an early error gets its own
    // status.
    const [count, first] = await Promise.all([answer.count, rows.next()]);
    let part = first;
    response.status(200).type('application/json');
    response.write(count === null ? '[' : '{"results":[');
    let empty = true;
    while (part.done !== true && !response.destroyed) {
      const text = part.value.map((row) => JSON.stringify(row)).join(',');
      if (text !== '' && !response.write(empty ? text : `,${text}`)) await drained(response, disconnected.signal);
      empty &&= text === '';
      if (!response.destroyed) part = await rows.next();
    }
    if (!response.destroyed) response.end(count === null ? ']' : `],"count":${count}}`);
  } finally {
    await rows.return?.();
  }
}

/** Time limit in milliseconds for a client to read the sent data. */
const SLOW_READER_MS = 30_000;

/**
 * Streams server-sent events at the reader's pace, until either side closes the connection. A client that does not read
 * for `slowMs` is disconnected, because it occupies memory and one of the allowed streams.
 */
export async function sendEvents(
  { open }: EventsAnswer,
  response: Response,
  slowMs: number = SLOW_READER_MS,
): Promise<void> {
  if (open === null) {
    response.status(204).end();
    return;
  }
  const disconnected = new AbortController();
  response.once('close', () => disconnected.abort());
  if (response.destroyed) disconnected.abort();
  // Proxies that buffer responses would deliver no event.
  response.status(200).set({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'x-content-type-options': 'nosniff',
  });
  if (!response.destroyed) response.flushHeaders();
  for await (const text of open(disconnected.signal)) {
    if (response.destroyed) return;
    if (!response.write(text) && !(await drained(response, disconnected.signal, slowMs))) {
      response.destroy();
      return;
    }
  }
  response.end();
}

/** Waits until a response has sent its buffer. @returns false if it was closed, or was not read in time */
async function drained(response: Response, disconnected: AbortSignal, ms?: number): Promise<boolean> {
  const signal = ms === undefined ? disconnected : AbortSignal.any([disconnected, AbortSignal.timeout(ms)]);
  return once(response, 'drain', { signal }).then(
    () => true,
    () => false,
  );
}
