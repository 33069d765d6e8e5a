import { mkdir, open, rename, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { EngineName } from './engine.js';

const ROTATE_BYTES = 10_000_000;
const TAIL_BYTES = 3_000;

/** Returns the path of an engine's log. */
export const logPath = (dataDir: string, engine: EngineName) => join(dataDir, 'logs', `${engine}.log`);

/** Opens an engine's log for appending; a large log is first renamed to `.log.1`. */
export async function openLog(dataDir: string, engine: EngineName): Promise<FileHandle> {
  const path = logPath(dataDir, engine);
  await mkdir(dirname(path), { recursive: true });
  if ((await logSize(dataDir, engine)) > ROTATE_BYTES) await rename(path, `${path}.1`);
  return open(path, 'a');
}

/** Returns the size of an engine's log in bytes; 0 if it does not exist. */
export const logSize = (dataDir: string, engine: EngineName): Promise<number> =>
  stat(logPath(dataDir, engine)).then(
    (info) => info.size,
    () => 0,
  );

/**
 * Returns the end of an engine's log.
 * @param bytes maximum length
 * @param from offset at which to start; a log that is shorter was rotated, and is read from its start
 */
export async function readLogTail(dataDir: string, engine: EngineName, bytes = TAIL_BYTES, from = 0): Promise<string> {
  const file = await open(logPath(dataDir, engine));
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - bytes, from > size ? 0 : from);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, start);
    return buffer.toString('utf8', 0, bytesRead).trim();
  } finally {
    await file.close();
  }
}
