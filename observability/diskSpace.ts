import { stat, statfs } from 'node:fs/promises';
import path from 'node:path';

/** A folder that the service, or an engine that it starts (Temporal, MongoDB or Qdrant), writes to. */
export interface DiskFolder {
  /** The setting that names the folder; for a subfolder, the setting and the subfolder, such as `DATA_DIR/qdrant`. */
  readonly name: string;
  readonly path: string;
}

export interface DiskSettings {
  readonly folders: readonly DiskFolder[];
  /** Free space in bytes below which a disk is reported; 0: never. */
  readonly minFreeBytes: number;
}

/** A file system, named after the first of its folders. */
export interface Disk extends DiskFolder {
  /** Bytes that users without privileges can still write. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

const MEGABYTE = 1_000_000;
export const megabytes = (bytes: number): string => `${Math.floor(bytes / MEGABYTE)} MB`;

/** Returns the folder, or its nearest existing parent, with the device number of its file system. */
export async function nearestExisting(folder: string): Promise<{ at: string; device: number }> {
  try {
    return { at: folder, device: (await stat(folder)).dev };
  } catch (error) {
    const above = path.dirname(folder);
    if (above === folder) throw error;
    return nearestExisting(above);
  }
}

/** Returns the free space of each file system that contains one of the folders. */
export async function readDisks(folders: readonly DiskFolder[]): Promise<Disk[]> {
  const disks = new Map<number, Disk>();
  for (const folder of folders) {
    const { at, device } = await nearestExisting(folder.path);
    if (disks.has(device)) continue;
    const { bavail, blocks, bsize } = await statfs(at);
    disks.set(device, { ...folder, freeBytes: bavail * bsize, totalBytes: blocks * bsize });
  }
  return [...disks.values()];
}

/** Returns a sentence that names the file systems with too little free space; null if all have enough. */
export async function diskProblem({ folders, minFreeBytes }: DiskSettings): Promise<string | null> {
  const low = (await readDisks(folders)).filter(({ freeBytes }) => freeBytes < minFreeBytes);
  if (low.length === 0) return null;
  const found = low.map(({ name, freeBytes }) => `${megabytes(freeBytes)} at ${name}`).join(', ');
  return `Free disk space is below ${megabytes(minFreeBytes)} (MIN_FREE_DISK_BYTES): ${found}. Free some before stores fail`;
}
