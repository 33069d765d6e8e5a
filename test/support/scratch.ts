import { mkdtemp, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY_FOLDER = '/dev/shm';
/** Required free memory in bytes: several times the data that the engines write in a whole run. */
const REQUIRED_BYTES = 6_000_000_000;

/**
 * Creates a folder for the engines' data: in memory if enough is free, because engines wait for the disk at every write.
 * Data in memory survives killed processes, and no test simulates a power failure.
 */
export async function newEngineFolder(name: string): Promise<string> {
  const { bavail, bsize } = await statfs(MEMORY_FOLDER).catch(() => ({ bavail: 0, bsize: 0 }));
  const fitsInMemory = bavail * bsize >= REQUIRED_BYTES && process.availableMemory() >= REQUIRED_BYTES;
  return mkdtemp(join(fitsInMemory ? MEMORY_FOLDER : tmpdir(), `allotrope-${name}-`));
}
