/** File permissions: what the service writes is accessible only to its own user. */
import { chmod, lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const PRIVATE_UMASK = 0o077;
const GROUP_AND_OTHERS = 0o077;
/** The sticky bit of folders that all users share, such as /tmp. */
const STICKY_BIT = 0o1000;

/**
 * Entries of DATA_DIR that the service writes. The folder may contain files of other programs, whose permissions must
 * not change.
 */
const DATA_DIR_ENTRIES = [
  ...['api-key', 'engines.json', 'restoring', 'secret-key'],
  ...['files', 'logs', 'mongodb', 'ocr-languages', 'pids', 'qdrant', 'temporal'],
];

/** Removes group and other permissions from every file that this process and its children create from now on. */
export function setPrivateUmask(): void {
  process.umask(PRIVATE_UMASK);
}

/** Makes DATA_DIR private like {@link makePrivate}, except for entries that the service does not write. */
export const makeDataDirPrivate = (dataDir: string): Promise<boolean> => makePrivate(dataDir, DATA_DIR_ENTRIES);

/**
 * Removes group and other permissions from a folder that an earlier version left readable. The folder itself is changed
 * last: if it is private, everything in it is too, so a start costs one call. Symbolic links are not followed, and
 * entries of other users stay as they are.
 * @param names entries to change; by default all
 * @returns false if the folder is open to other users and belongs to another user or has the sticky bit; it is
 * unchanged then
 */
export async function makePrivate(folder: string, names?: readonly string[]): Promise<boolean> {
  const { mode, uid } = await stat(folder);
  if ((mode & GROUP_AND_OTHERS) === 0) return true;
  if (uid !== process.getuid?.() || (mode & STICKY_BIT) !== 0) return false;
  for (const name of await readdir(folder)) if (names?.includes(name) ?? true) await tighten(join(folder, name));
  await chmod(folder, privateMode(mode));
  return true;
}

/** Returns the permissions without those of the group and others, and without the file type. */
const privateMode = (mode: number): number => mode & 0o7777 & ~GROUP_AND_OTHERS;

async function tighten(path: string): Promise<void> {
  const found = await lstat(path).catch(() => null);
  // The file may have been deleted since it was listed.
  if (found === null || found.isSymbolicLink()) return;
  // Only the owner can change permissions. The root of an ext4 volume contains lost+found, which only root can list.
  if (found.uid !== process.getuid?.()) return;
  if ((found.mode & GROUP_AND_OTHERS) !== 0) await chmod(path, privateMode(found.mode)).catch(ignoreGone);
  if (!found.isDirectory()) return;
  for (const name of (await readdir(path).catch(ignoreGone)) ?? []) await tighten(join(path, name));
}

function ignoreGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
