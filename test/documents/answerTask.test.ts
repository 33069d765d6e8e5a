import { expect, test } from '@jest/globals';

import { answerTask } from '../../documents/answerTask.js';
import { LIMITS } from './page.js';

/** Returns the error that `call` throws. */
function errorOf(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return error;
  }
}
const overflow = (): unknown => [overflow()];

test.each([
  ['parse_limit', 'a stack overflow', overflow],
  ['parse_limit', 'a string that is too long', () => 'x'.repeat(2 ** 30)],
  ['parse_limit', 'an array that is too long', () => Object.assign([], { length: 2 ** 32 })],
  ['broken_content', 'a wrong count', () => ' '.repeat(-1)],
  ['broken_content', 'a wrong character', () => String.fromCodePoint(-1)],
])('reports %s for %s', async (kind, _what, call) => {
  const error = errorOf(call);
  expect(error).toHaveProperty('name', 'RangeError');
  const input = {
    get bytes(): Uint8Array {
      throw error;
    },
    ...{ contentType: null, name: 'a.txt' },
  };
  const [answer] = await answerTask({ documents: [{ input, links: {} } as never], limits: LIMITS });
  expect(answer).toMatchObject({ fault: { kind } });
});
