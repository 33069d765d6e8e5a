/** The receipt of contents: which are kept in memory, and what remains of a failed one. */
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, jest, test } from '@jest/globals';

import { createFolderBlobs } from '../../store/contents/blobs.js';
import { createOriginals } from '../../store/originals/originals.js';
import { receive } from '../../store/originals/receive.js';

afterEach(() => void jest.useRealTimers());

const HEAD = 64 * 1024;

/** Parts of a content, and whether its sender was stopped. */
function contentOf(...lengths: number[]) {
  const sender = { isStopped: false };
  async function* parts() {
    try {
      for (const [nth, length] of lengths.entries()) yield await Promise.resolve(Buffer.alloc(length, nth + 1));
    } finally {
      sender.isStopped = true;
    }
  }
  return { parts: parts(), sender, whole: Buffer.concat(lengths.map((length, nth) => Buffer.alloc(length, nth + 1))) };
}

test('a content of at most the given size stays in memory; a larger one is streamed from its first byte', async () => {
  const stored: Buffer[] = [];
  const store = async (parts: AsyncIterable<Uint8Array>) => {
    const all: Uint8Array[] = [];
    for await (const part of parts) all.push(part);
    stored.push(Buffer.concat(all));
  };
  for (const [lengths, isSmall] of [
    [[6, 4], true],
    [[], true],
    [[6, 5], false],
    [[6, 5, 3, HEAD], false],
  ] as const) {
    const { parts, whole } = contentOf(...lengths);
    const received = await receive(parts, 10, store);
    const sha256 = createHash('sha256').update(whole).digest('hex');
    expect([received.size, received.sha256]).toEqual([whole.length, sha256]);
    expect(whole.subarray(0, HEAD).equals(received.head)).toBe(true);
    expect((isSmall ? received.bytes! : stored.pop()!).equals(whole)).toBe(true);
    expect([received.bytes === null, stored.length]).toEqual([!isSmall, 0]);
  }
});

test('the sender of a content that cannot be stored is stopped', async () => {
  const { parts, sender } = contentOf(20, 20, 20);
  await expect(receive(parts, 10, () => Promise.reject(new Error('full')))).rejects.toThrow('full');
  expect(sender.isStopped).toBe(true);
});

test('the heartbeats of a receipt end with it; a failed receipt deletes its row and bytes', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
  const deleted: unknown[] = [];
  const rows = {
    create: () => Promise.resolve(),
    updateOne: () => Promise.resolve({ matchedCount: 1 }),
    deleteOne: (query: object) => Promise.resolve(void deleted.push(query)),
  };
  let failure: Error | null = null;
  const blobs = {
    async putStream(_key: string, parts: AsyncIterable<Uint8Array>) {
      for await (const part of parts) expect(part.length).toBeGreaterThan(0);
      expect(jest.getTimerCount()).toBe(1);
      if (failure) throw failure;
    },
    delete: (key: string) => Promise.resolve(void deleted.push(key)),
  };
  const sequence = { next: () => Promise.resolve(9) };
  const originals = createOriginals(rows as never, blobs as never, sequence as never, 10);
  const owner = { organizationId: 1, userId: 2 };
  expect(await originals.receive(owner, contentOf(8, 8).parts)).toMatchObject({ id: 9, size: 16, bytes: null, owner });
  expect([jest.getTimerCount(), deleted]).toEqual([0, []]);
  failure = new Error('the disk is full');
  await expect(originals.receive(owner, contentOf(8, 8).parts)).rejects.toThrow('the disk is full');
  expect([jest.getTimerCount(), deleted]).toEqual([0, ['1/originals/9', { _id: 9, markedForDeletion: true }]]);
  // A small content has no row yet.
  await originals.receive(owner, contentOf(8).parts);
  expect([jest.getTimerCount(), deleted.length]).toEqual([0, 2]);
});

test('an interrupted upload to a folder closes its file', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'allotrope-receive-'));
  const openFiles = async () => {
    const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''));
    return (await Promise.all(links)).filter((link) => link.startsWith(folder));
  };
  async function* interrupted() {
    yield await Promise.resolve(Buffer.from('x'));
    throw new Error('interrupted');
  }
  const blobs = createFolderBlobs(folder);
  try {
    await expect(blobs.putStream('1/2/3.raw', interrupted())).rejects.toThrow('interrupted');
    await blobs.putStream('1/2/4.raw', contentOf(5).parts);
    await blobs.put('1/2/5.raw', Buffer.from('y'));
    expect(await openFiles()).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
