import { expect, test } from '@jest/globals';

import { readableLog } from '../../scripts/readableLog.js';

test('turns a log line into a sentence with its cause, without tokens, ids and stack', () => {
  const line = {
    level: 40,
    name: 'worker',
    taskToken: 'CiQ2Zj',
    error: { message: 'connect ECONNREFUSED 127.0.0.1:6343\nmore', stack: 'Error: connect' },
    msg: 'Activity failed',
  };
  expect(readableLog(JSON.stringify(line))).toBe('worker: Activity failed: connect ECONNREFUSED 127.0.0.1:6343');
});

test.each(['plain text', '{"no":"message"}', '12'])('does not change %s', (line) => {
  expect(readableLog(line)).toBe(line);
});
