import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { Store } from '../../store/connect.js';
import { startService, type TestService } from '../support/service.js';

const TENANT = { organizationId: 1, userId: 5 };
const keyOf = (fileId: number, chunkIndex: number, generation = 1) => ({ fileId, generation, chunkIndex });
const CHUNKS = 200;

let service: TestService;
let store: Store;

/** Returns a text of chunks of the given length, each beginning with its number. */
function chunked(characters: number): { text: string; cuts: { start: number; end: number; tokens: number }[] } {
  const texts = Array.from({ length: CHUNKS }, (_, index) => `${index} `.padEnd(characters, '😀x'));
  let end = 0;
  return {
    text: texts.join(''),
    cuts: texts.map((chunkText) => ({ start: end, end: (end += chunkText.length), tokens: 1 })),
  };
}

beforeAll(async () => {
  service = await startService({}, { worker: false });
  ({ store } = service);
  await store.chunks.write([
    { ...TENANT, fileId: 1, generation: 1, prefix: '', ...chunked(10) },
    // These rows reach their maximum length long before their maximum number of chunks.
    { ...TENANT, fileId: 2, generation: 1, prefix: '> ', ...chunked(40_001) },
    { ...TENANT, userId: 6, fileId: 3, generation: 1, prefix: '', ...chunked(10) },
  ]);
});
afterAll(() => service.close());

test('reads chunks by keys at any offset of their rows; omits missing chunks and those of old generations or other users', async () => {
  const keys = [0, 63, 64, 65, 127, 128, 199].flatMap((index) => [keyOf(1, index), keyOf(2, index)]);
  const missingKeys = [keyOf(1, CHUNKS), keyOf(1, 0, 2), keyOf(3, 0), keyOf(9, 0)];
  const chunks = await store.chunks.byKeys(TENANT, [...keys, ...missingKeys]);
  expect(new Set(chunks.map(({ key }) => key))).toEqual(
    new Set(keys.map(({ fileId, chunkIndex }) => `${fileId}:1:${chunkIndex}`)),
  );
  for (const { fileId, chunkIndex, text } of chunks) {
    expect(text.startsWith(fileId === 2 ? `> ${chunkIndex} ` : `${chunkIndex} `)).toBe(true);
    expect(text).toHaveLength(fileId === 2 ? 40_003 : 10);
  }
});

test('returns no chunks for no keys', async () => {
  expect(await store.chunks.byKeys(TENANT, [])).toEqual([]);
});
