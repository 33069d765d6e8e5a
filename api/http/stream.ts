import { once } from 'node:events';
import type { Response } from 'express';

import type { ListAnswer } from './operation.js';

/** Writes `{"results":[…],"count":n}`, or the bare array where there is no count, as the rows come, at the pace of the reader. */
export async function streamList(answer: ListAnswer, response: Response): Promise<void> {
  const rows = answer.results[Symbol.asyncIterator]();
  // The first rows are read before the head is sent, so that a fault at the start still gets its own status.
  let part = await rows.next();
  response.status(200).type('application/json');
  response.write(answer.count === null ? '[' : '{"results":[');
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
  response.end(answer.count === null ? ']' : `],"count":${answer.count}}`);
}
