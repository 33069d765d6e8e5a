import { mkdir, open, rename, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { EngineName } from './engine.js';

const ROTATE_BYTES = 10_000_000;
const TAIL_BYTES = 3_000;

/** Where an engine's output goes. */
export const logPath = (dataDir: string, engine: EngineName) => join(dataDir, 'logs', `${engine}.log`);

/** Opens an engine's log to append; one that has grown large becomes `.log.1` first. */
export async function openLog(dataDir: string, engine: EngineName): Promise<FileHandle> {
  const path = logPath(dataDir, engine);
  await mkdir(dirname(path), { recursive: true });
  const size = await stat(path).then(
    (info) => info.size,
    () => 0,
  );
  if (size > ROTATE_BYTES) await rename(path, `${path}.1`);
  return open(path, 'a');
}

/** The end of an engine's log, for the message that tells why it did not start. */
export async function readLogTail(dataDir: string, engine: EngineName): Promise<string> {
  const file = await open(logPath(dataDir, engine));
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(TAIL_BYTES), 0, TAIL_BYTES, start);
    return buffer.toString('utf8', 0, bytesRead).trim();
  } finally {
    await file.close();
  }
}
