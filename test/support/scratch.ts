import { mkdtemp, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY_FOLDER = '/dev/shm';
/** What the engines of a whole run write, several times over. */
const ROOMY_BYTES = 6_000_000_000;

/**
 * A new folder for what engines write: in memory where there is enough of it, for they wait for the disk at every write.
 * A process that is killed loses nothing by it, and no test cuts the power.
 */
export async function newEngineFolder(name: string): Promise<string> {
  const { bavail, bsize } = await statfs(MEMORY_FOLDER).catch(() => ({ bavail: 0, bsize: 0 }));
  const isRoomy = bavail * bsize >= ROOMY_BYTES && process.availableMemory() >= ROOMY_BYTES;
  return mkdtemp(join(isRoomy ? MEMORY_FOLDER : tmpdir(), `allotrope-${name}-`));
}
