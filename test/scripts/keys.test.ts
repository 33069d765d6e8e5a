import { existsSync } from 'node:fs';
import * as files from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';

let isFull = false;
jest.unstable_mockModule('node:fs/promises', () => ({
  ...files,
  // A full disk has room for the entry of a file, but not for its content.
  writeFile: async (file: string, text: string, options: object) => {
    await files.writeFile(file, isFull ? '' : text, options);
    if (isFull) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  },
}));
const { ensureKeys } = await import('../../scripts/keys.js');

let folder = '';
const at = (name: string): string => path.join(folder, name);
beforeAll(async () => {
  folder = await files.mkdtemp(path.join(tmpdir(), 'allotrope-keys-'));
});
afterAll(() => files.rm(folder, { recursive: true, force: true }));

test('leaves no empty key file on a full disk, and generates the keys at the next start', async () => {
  isFull = true;
  await expect(ensureKeys({}, folder)).rejects.toThrow('ENOSPC');
  await expect(ensureKeys({ SECRET_KEY: 'k1:set' }, folder)).rejects.toThrow('ENOSPC');
  expect([existsSync(at('secret-key')), existsSync(at('api-key'))]).toEqual([false, false]);
  isFull = false;
  const apiKey = await ensureKeys({}, folder);
  expect(await files.readFile(at('api-key'), 'utf8')).toBe(`${apiKey}\n`);
  const secret = await files.readFile(at('secret-key'), 'utf8');
  expect(secret).toMatch(/^k1:\S{44}\n$/);
  expect(await ensureKeys({}, folder)).toBeNull();
  expect(await files.readFile(at('secret-key'), 'utf8')).toBe(secret);
});

test('of two concurrent starts, one generates the keys; the other fails, and does not change them', async () => {
  const shared = at('shared');
  await files.mkdir(shared);
  const starts = await Promise.allSettled([ensureKeys({}, shared), ensureKeys({}, shared)]);
  expect(starts.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(await files.readFile(path.join(shared, 'secret-key'), 'utf8')).toMatch(/^k1:/);
});
