import { expect, test } from '@jest/globals';

import { readContent, refuseCrashing } from '../../activities/ingest/prepare/readContent.js';
import type { ActivityDeps } from '../../activities/deps.js';
import { Fault } from '../../contract/failures.js';
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

test.each([
  ['counts a crash of the reader for the content', 'parse_limit', false, [[9, 3, 'abc']]],
  ['does not count unreadable content as a crash', 'no_text', false, []],
  ['does not count a crash of a cancelled run', 'parse_limit', true, []],
] as const)('%s', async (_name, kind, isCancelled, expected) => {
  const counted: unknown[][] = [];
  const stop = new AbortController();
  const deps = {
    store: { files: { recordCrash: async (...call: unknown[]) => void counted.push(call) } },
    documents: {
      process: async () => {
        if (isCancelled) stop.abort();
        throw new Fault(kind, 'no result');
      },
    },
  } as unknown as ActivityDeps;
  const file = { _id: 3, userId: 7, name: 'a.txt', crashes: null, options: {} } as unknown as FileDoc;
  const opened = { bytes: new Uint8Array(), contentType: 'text/plain', url: 'a.txt', format: 'TXT', html: null };
  const content = { opened, rawHash: 'abc', transferBytes: false, site: null };
  await expect(readContent(9, file, content as never, deps, stop.signal)).rejects.toThrow();
  expect(counted).toEqual(expected);
});
