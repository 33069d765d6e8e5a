import { once } from 'node:events';
import type { Response } from 'express';

import type { EventsAnswer, ListAnswer } from './operation.js';

/** Writes `{"results":[…],"count":n}`, or the bare array where there is no count, as the rows come, at the pace of the reader. */
export async function streamList(answer: ListAnswer, response: Response): Promise<void> {
  const rows = answer.results[Symbol.asyncIterator]();
  // Before the head is sent, so that a fault at the start still gets its own status; and at once, since neither needs the other.
  const [count, first] = await Promise.all([answer.count, rows.next()]);
  let part = first;
  response.status(200).type('application/json');
  response.write(count === null ? '[' : '{"results":[');
  let empty = true;
  while (part.done !== true) {
    const text = part.value.map((row) => JSON.stringify(row)).join(',');
    if (text !== '' && !response.write(empty ? text : `,${text}`))
      await Promise.race([once(response, 'drain'), once(response, 'close')]);
    empty &&= text === '';
    if (response.destroyed) {
      await rows.return?.();
      return;
    }
    part = await rows.next();
  }
  response.end(count === null ? ']' : `],"count":${count}}`);
}

/** Writes server-sent events as they come, at the pace of the reader, until either side ends them. */
export async function sendEvents({ open }: EventsAnswer, response: Response): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  // Proxies that gather an answer before they pass it on would pass nothing on.
  response.status(200).set({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'x-content-type-options': 'nosniff',
  });
  response.flushHeaders();
  for await (const text of open(gone.signal)) {
    if (!response.write(text)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    if (response.destroyed) return;
  }
  response.end();
}
