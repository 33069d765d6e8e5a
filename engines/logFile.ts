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
 * Returns the end of an engine's log, from the start of a line.
 * @param bytes maximum length
 * @param from offset at which to start; a log that is shorter was rotated, and is read from its start
 */
export async function readLogTail(dataDir: string, engine: EngineName, bytes = TAIL_BYTES, from = 0): Promise<string> {
  const file = await open(logPath(dataDir, engine));
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - bytes, from > size ? 0 : from);
    // One byte more, to detect whether the first line is complete.
    const before = start > 0 ? 1 : 0;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes + before), 0, bytes + before, start - before);
    const text = buffer.toString('utf8', 0, bytesRead);
    return (before === 1 ? text.slice(text.indexOf('\n') + 1) : text).trim();
  } finally {
    await file.close();
  }
}
