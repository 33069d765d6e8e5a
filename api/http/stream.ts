import { once } from 'node:events';
import type { Response } from 'express';

import type { ListAnswer } from './operation.js';

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
