import { statfs } from 'node:fs/promises';
import path from 'node:path';

import { nearestExisting } from '../../observability/diskSpace.js';
import { CommandError } from '../command.js';
import { listFilesIn } from './copy.js';
import { DATA } from './manifest.js';
import type { Part } from './parts.js';

async function bytesIn(at: string): Promise<number> {
  let sum = 0;
  for await (const { bytes } of listFilesIn(at)) sum += bytes;
  return sum;
}

const freeBytesAt = async (at: string): Promise<number> => {
  const { bavail, bsize } = await statfs(at);
  return bavail * bsize;
};

/**
 * Checks that each disk has space for the parts that are restored to it. The restore first deletes the data
 * that they replace, so its space counts as free. @param folder the backup @throws CommandError if a disk is too small
 */
export async function checkFreeSpace(
  folder: string,
  parts: readonly Part[],
  readFreeBytes: (at: string) => Promise<number> = freeBytesAt,
): Promise<void> {
  const disks = new Map<number, { readonly at: string; readonly needed: number }>();
  for (const part of parts) {
    const { at, device } = await nearestExisting(part.path);
    const { needed } = disks.get(device) ?? { needed: 0 };
    const added = (await bytesIn(path.join(folder, DATA, part.name))) - (await bytesIn(part.path));
    disks.set(device, { at, needed: needed + added });
  }
  for (const { at, needed } of disks.values()) {
    const freeBytes = await readFreeBytes(at);
    if (freeBytes < needed)
      throw new CommandError(
        `The disk of ${at} has ${freeBytes} bytes free, but the restore needs ${needed} more than the data that it replaces. Free space first.`,
      );
  }
}
