/** File storage on a full disk: the answers to callers, and the stored files afterwards. */
import { mkdtempSync } from 'node:fs';
import { rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { startService, type TestService } from '../../support/service.js';
import type { TestUser } from '../../support/client.js';
import { allowsMounts, mountSmallDisk, unmountSmallDisk } from '../../support/smallDisk.js';

const DISK_MB = 4;

const disk = mkdtempSync(path.join(tmpdir(), 'allotrope-disk-'));
const canMount = allowsMounts('test/system/outages/fullDisk.test.ts');
const onDisk = canMount ? test : test.skip;

let service: TestService;
let user: TestUser;
const filler = path.join(disk, 'filler');

beforeAll(async () => {
  if (!canMount) return;
  expect(mountSmallDisk(disk, DISK_MB)).toBe(null);
  service = await startService({ FILE_STORAGE_DIR: disk });
  user = await service.user('full');
});
afterAll(async () => {
  if (canMount) {
    await service.close();
    unmountSmallDisk(disk);
  }
  await rm(disk, { recursive: true, force: true });
});

const textOf = (bytes: number, word: string): string => `${word} `.repeat(Math.ceil(bytes / (word.length + 1)));

async function fillDisk(): Promise<void> {
  const { bavail, bsize } = await statfs(disk);
  await writeFile(filler, Buffer.alloc(bavail * bsize));
}

/** The ways in which content of a given size reaches file storage. */
const senders: Readonly<
  Record<string, (bytes: number) => Promise<{ status: number; headers: Headers; body: unknown }>>
> = {
  'a form': (bytes) =>
    user.upload({ name: 'tide.txt', content: textOf(bytes, 'tide') }, { skip_embedding_generation: true }),
  'a form with an Idempotency-Key': (bytes) =>
    user.upload(
      { name: 'ebb.txt', content: textOf(bytes, 'ebb') },
      { skip_embedding_generation: true },
      { 'idempotency-key': `key ${bytes}` },
    ),
  'a text': (bytes) => user.post('/upload_text', { contents: textOf(bytes, 'flood'), skip_embedding_generation: true }),
};

onDisk(
  'answers 507 with Retry-After on a full disk, keeps accepted files, and accepts more once there is space',
  async () => {
    const kept = await user.send(
      { name: 'kept.txt', content: textOf(400_000, 'kept') },
      { skip_embedding_generation: true },
    );
    expect(await user.settled(kept.id)).toMatchObject({ sync_status: 'READY' });
    await fillDisk();
    for (const bytes of [300_000, 600_000])
      for (const [name, sender] of Object.entries(senders)) {
        const { status, headers, body } = await sender(bytes);
        expect({ name, bytes, status, retryAfter: Number(headers.get('retry-after')) > 0, body }).toEqual({
          ...{ name, bytes, status: 507, retryAfter: true },
          body: { detail: expect.stringMatching(/^File storage has no disk space left/) },
        });
      }
    await rm(filler);
    const accepted: { id: number; bytes: number }[] = [];
    for (const bytes of [300_000, 600_000])
      for (const sender of Object.values(senders)) {
        const { status, body } = await sender(bytes);
        expect(status).toBe(200);
        accepted.push({ id: (body as { id: number }).id, bytes });
      }
    for (const { id, bytes } of [...accepted, { id: kept.id, bytes: 400_000 }]) {
      expect(await user.settled(id)).toMatchObject({ sync_status: 'READY' });
      const { results } = (
        await user.post<{ results: { presigned_url: string }[] }>('/user_files_v2', {
          filters: { ids: [id] },
          include_raw_file: true,
        })
      ).body;
      const content = await (await fetch(results[0]?.presigned_url ?? '')).text();
      expect(content.length).toBeGreaterThanOrEqual(bytes);
    }
  },
);

onDisk('makes the service degraded, with the reason, before the disk is full', async () => {
  const { body } = await user.get<{ status: string; reasons: string[] }>('/ready');
  expect(body).toMatchObject({ status: 'degraded' });
  expect(body.reasons.join()).toMatch(/Free disk space is below 2000 MB .*: \d MB at FILE_STORAGE_DIR/);
});
