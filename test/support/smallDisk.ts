/** Small file systems in memory (tmpfs), for tests of full and of read-only disks. Mounting them needs root. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

function mount(folder: string, options: string): string | null {
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { encoding: 'utf8' });
  return mounted.status === 0 ? null : mounted.stderr || String(mounted.error);
}

/** Creates a folder and mounts a file system of `megabytes` MiB there. @returns the error; null on success */
export function mountSmallDisk(folder: string, megabytes: number): string | null {
  mkdirSync(folder, { recursive: true });
  return mount(folder, `size=${megabytes}m`);
}

/** Mounts an empty read-only file system at an existing folder. @returns the error; null on success */
export const mountReadOnly = (folder: string): string | null => mount(folder, 'ro,size=1m');

/** Resizes a mounted file system to `megabytes` MiB. @returns the error; null on success */
export const resizeSmallDisk = (folder: string, megabytes: number): string | null =>
  mount(folder, `remount,size=${megabytes}m`);

export const unmountSmallDisk = (folder: string): unknown => spawnSync('umount', ['--lazy', folder]);

/** Returns whether this machine allows mounts; prints why the suite is skipped if it does not. */
export function allowsMounts(suite: string): boolean {
  const folder = mkdtempSync(path.join(tmpdir(), 'allotrope-mount-'));
  const refused = mountSmallDisk(folder, 1);
  unmountSmallDisk(folder);
  rmSync(folder, { recursive: true });
  if (refused !== null) process.stderr.write(`SKIPPED: ${suite} mounts a tmpfs, which needs root: ${refused}\n`);
  return refused === null;
}
