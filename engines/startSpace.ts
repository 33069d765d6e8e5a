/** Checks the free disk space that the embedded engines need to start. */
import { existsSync, type StatsFs } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';

import { megabytes } from '../observability/diskSpace.js';
import type { EngineName } from './engine.js';
import { EngineError } from './errors.js';

const MEGABYTE = 1_000_000;
/**
 * Bytes that an engine writes while it starts: without data, and with data. mongod allocates its journal in files of
 * 100 MB (https://www.mongodb.com/docs/v7.0/core/journaling/), three of them at its first start. After a crash it
 * cannot reuse them before recovery, and with 97 MB free it aborts.
 */
const NEEDED: Readonly<Record<EngineName, { readonly first: number; readonly later: number }>> = {
  mongodb: { first: 350 * MEGABYTE, later: 200 * MEGABYTE },
  qdrant: { first: 30 * MEGABYTE, later: 30 * MEGABYTE },
  temporal: { first: 20 * MEGABYTE, later: 20 * MEGABYTE },
};

/** Returns whether a folder contains the file by which mongod recognizes its own data folder. */
const hasData = (dataDir: string): boolean => existsSync(join(dataDir, 'mongodb', 'WiredTiger'));

/**
 * Checks each file system that the engines write to before any of them starts, because mongod aborts on a full disk.
 * @param dataDir an existing folder
 * @param spaceOf returns the number of free blocks in a folder's file system, and the block size in bytes
 * @throws EngineError that names the folder, its free space and the required space
 */
export async function checkSpace(
  dataDir: string,
  need: Readonly<Record<EngineName, boolean>>,
  spaceOf: (folder: string) => Promise<Pick<StatsFs, 'bavail' | 'bsize'>> = statfs,
): Promise<void> {
  const kind = hasData(dataDir) ? 'later' : 'first';
  const disks = new Map<number, { readonly name: string; readonly folder: string; needed: number }>();
  for (const engine of ['mongodb', 'qdrant', 'temporal'] as const) {
    if (!need[engine]) continue;
    const own = join(dataDir, engine);
    // An engine's folder may be a separate volume. A folder that does not exist yet will be on the volume of DATA_DIR.
    const ofDataDir = await stat(dataDir);
    const { dev } = await stat(own).catch(() => ofDataDir);
    const where =
      dev === ofDataDir.dev ? { name: 'DATA_DIR', folder: dataDir } : { name: `DATA_DIR/${engine}`, folder: own };
    const disk = disks.get(dev) ?? { ...where, needed: 0 };
    disk.needed += NEEDED[engine][kind];
    disks.set(dev, disk);
  }
  for (const { name, folder, needed } of disks.values()) {
    const { bavail, bsize } = await spaceOf(folder);
    if (bavail * bsize < needed)
      throw new EngineError(
        `${name} (${folder}) has ${megabytes(bavail * bsize)} of free disk space, and the engines need ` +
          `${megabytes(needed)} to start. Free some space there, or move the folder to a larger disk.`,
      );
  }
}
