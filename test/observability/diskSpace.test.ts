/** Tests of the free space of the disks to which the service writes. */
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';

import { diskProblem, megabytes, readDisks } from '../../observability/diskSpace.js';

const folder = { name: 'DATA_DIR', path: tmpdir() };
/** A folder that does not exist yet. Its disk is the disk of the nearest existing parent. */
const missingFolder = { name: 'DATA_DIR/new', path: path.join(tmpdir(), `missing-${process.pid}`, 'below') };

test('reads the size and the free space of each disk in bytes, once for all of its folders', async () => {
  const { bavail, blocks, bsize } = await statfs(tmpdir());
  const disks = await readDisks([folder, missingFolder]);
  expect(disks.map(({ name }) => name)).toEqual(['DATA_DIR']);
  expect(disks[0]!.totalBytes).toBe(blocks * bsize);
  // Other processes write to the disk between the two readings, so the values differ slightly.
  expect(Math.abs(disks[0]!.freeBytes - bavail * bsize)).toBeLessThan(blocks * bsize * 0.1);
  expect(await readDisks([missingFolder])).toMatchObject([{ ...missingFolder, totalBytes: blocks * bsize }]);
});

test('reports a disk whose free space is below the minimum, and no disk with enough', async () => {
  const [disk] = await readDisks([folder]);
  const problem = await diskProblem({ folders: [folder], minFreeBytes: disk!.totalBytes + 1 });
  expect(problem).toMatch(/^Free disk space is below \d+ MB \(MIN_FREE_DISK_BYTES\): \d+ MB at DATA_DIR\./);
  expect(await diskProblem({ folders: [folder], minFreeBytes: 0 })).toBeNull();
  expect([megabytes(1_999_999), megabytes(999_999)]).toEqual(['1 MB', '0 MB']);
});

test('reads a disk whose folder follows several folders of another disk in the list', async () => {
  const disks = await readDisks([folder, missingFolder, { name: 'DEVICES', path: '/dev' }]);
  expect(disks.map(({ name }) => name)).toEqual(['DATA_DIR', 'DEVICES']);
});

test('reports no disk with the minimum 0, even a full one', async () => {
  // A file system without blocks always has 0 bytes free.
  const full = { name: 'FULL', path: process.platform === 'linux' ? '/proc' : '/dev' };
  expect(await readDisks([full])).toMatchObject([{ freeBytes: 0 }]);
  expect(await diskProblem({ folders: [full], minFreeBytes: 0 })).toBeNull();
  expect(await diskProblem({ folders: [full], minFreeBytes: 1 })).toContain('0 MB at FULL');
});
