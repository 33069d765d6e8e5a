import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { Store } from '../../store/connect.js';
import type { Tenant } from '../../store/users/accept.js';
import { type SharedService, sharedService } from '../support/sharedService.js';

const CHUNKS = 200;

let service: SharedService;
let store: Store;
let tenant: Tenant;
/** Ids of two files of the tenant, a file of another user and a missing file. */
let [short, long, foreign, missing] = [0, 0, 0, 0];
const keyOf = (fileId: number, chunkIndex: number, generation = 1) => ({ fileId, generation, chunkIndex });

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
  service = await sharedService({ worker: false });
  ({ store } = service);
  const { organizationId, firstId } = service;
  tenant = { organizationId, userId: 5 };
  [short, long, foreign, missing] = [firstId, firstId + 1, firstId + 2, firstId + 3];
  await store.chunks.write([
    { ...tenant, fileId: short, generation: 1, prefix: '', ...chunked(10) },
    // These rows reach their maximum length long before their maximum number of chunks.
    { ...tenant, fileId: long, generation: 1, prefix: '> ', ...chunked(40_001) },
    { ...tenant, userId: 6, fileId: foreign, generation: 1, prefix: '', ...chunked(10) },
  ]);
});
afterAll(() => service.close());

test('reads chunks by keys at any offset of their rows; omits missing chunks and those of old generations or other users', async () => {
  const keys = [0, 63, 64, 65, 127, 128, 199].flatMap((index) => [keyOf(short, index), keyOf(long, index)]);
  const missingKeys = [keyOf(short, CHUNKS), keyOf(short, 0, 2), keyOf(foreign, 0), keyOf(missing, 0)];
  const chunks = await store.chunks.byKeys(tenant, [...keys, ...missingKeys]);
  expect(new Set(chunks.map(({ key }) => key))).toEqual(
    new Set(keys.map(({ fileId, chunkIndex }) => `${fileId}:1:${chunkIndex}`)),
  );
  for (const { fileId, chunkIndex, text } of chunks) {
    expect(text.startsWith(fileId === long ? `> ${chunkIndex} ` : `${chunkIndex} `)).toBe(true);
    expect(text).toHaveLength(fileId === long ? 40_003 : 10);
  }
});

test('returns no chunks for no keys', async () => {
  expect(await store.chunks.byKeys(tenant, [])).toEqual([]);
});
