import { open } from 'node:fs/promises';

/** Writes the entries of a folder to disk. Without it, a power failure can remove a file that was just created. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
