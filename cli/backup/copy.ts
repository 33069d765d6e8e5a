import { createHash } from 'node:crypto';
import { type Stats, createReadStream, createWriteStream } from 'node:fs';
import { lstat, mkdir, opendir, stat } from 'node:fs/promises';
import path from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { CommandError } from '../command.js';

export interface FoundFile {
  /** Path relative to the searched folder; '' if the searched path is this file. */
  readonly relativePath: string;
  readonly bytes: number;
}

/**
 * Reads a path; returns null if it does not exist. @param read such as stat, or lstat for a link itself
 * @throws CommandError on any other error: a backup without the path would be incomplete
 */
export async function readExisting<T>(fullPath: string, read: (fullPath: string) => Promise<T>): Promise<T | null> {
  try {
    return await read(fullPath);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new CommandError(
      `${fullPath} cannot be read (${message}). Check its permissions and its disk, then try again.`,
    );
  }
}

/**
 * Folder that mkfs.ext4 creates at the root of a volume, for fsck. It contains no data of the deployment, and only the
 * root user can read it.
 */
export const LOST_AND_FOUND = 'lost+found';

/**
 * Yields every file of a folder, or the file itself; yields nothing if the path does not exist. The folder itself may be
 * a link, for example to another disk; links and sockets in it are skipped. @throws CommandError if a path cannot be
 * read
 */
export async function* listFilesIn(root: string, relativePath = ''): AsyncIterable<FoundFile> {
  const fullPath = path.join(root, relativePath);
  const stats = await readExisting<Stats>(fullPath, relativePath === '' ? stat : lstat);
  if (stats?.isFile() === true) yield { relativePath, bytes: stats.size };
  if (stats?.isDirectory() === true)
    for await (const { name } of await opendir(fullPath))
      if (relativePath !== '' || name !== LOST_AND_FOUND)
        yield* listFilesIn(root, relativePath === '' ? name : `${relativePath}/${name}`);
}

/** Reads a file, and copies it if a target is given. @param to the target; null: only read it @returns its SHA-256 */
export async function copyHashed(from: string, to: string | null, stopped: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  const hashing = new Transform({
    transform(part: Buffer, _encoding, done) {
      hash.update(part);
      // Without a target, the file is only read.
      done(null, to === null ? undefined : part);
    },
  });
  if (to === null) {
    await pipeline(createReadStream(from), hashing.resume(), { signal: stopped });
    return hash.digest('hex');
  }
  await mkdir(path.dirname(to), { recursive: true, mode: 0o700 });
  await pipeline(createReadStream(from), hashing, createWriteStream(to, { mode: 0o600, flush: true }), {
    signal: stopped,
  });
  return hash.digest('hex');
}
