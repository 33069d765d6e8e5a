import { expect, test } from '@jest/globals';

import { refuseCrashing } from '../../activities/ingest/prepare/readContent.js';
import { MAX_CRASHES } from '../../contract/files/uploads.js';
import type { FileDoc } from '../../store/models/files.js';

const refuse = (count: number, hash = 'abc'): void =>
  refuseCrashing({ crashes: { hash: 'abc', count } } as unknown as FileDoc, hash);

test('refuses a content whose reader has crashed the maximum number of times, and no other content', () => {
  expect(() => refuse(MAX_CRASHES - 1)).not.toThrow();
  expect(() => refuse(MAX_CRASHES)).toThrow(/crashed \d+ times/);
  expect(() => refuse(MAX_CRASHES, 'def')).not.toThrow();
  expect(() => refuseCrashing({ crashes: null } as unknown as FileDoc, 'abc')).not.toThrow();
});
