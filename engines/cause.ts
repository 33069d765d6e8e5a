/** Why an engine ended or did not start, read from its log and its disk. */
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';

import type { EngineName } from './engine.js';
import { readLogTail } from './logFile.js';

/** mongod writes some 20 kB of stack frames after the line that says why it aborts. */
const TAIL_BYTES = 64_000;
/** Below this, MongoDB, Temporal and Qdrant fail to write; their logs may not say so, for they are on the same disk. */
const FULL_BYTES = 50_000_000;
const LONGEST = 300;
/** As Linux, Rust, SQLite and Node word it. */
const FULL = /no space left on device|os error 28|disk is full|ENOSPC/i;

const tailOf = (dataDir: string, name: EngineName, logged: number): Promise<string> =>
  readLogTail(dataDir, name, TAIL_BYTES, logged).catch(() => '');

/**
 * Returns in one line that the disk of an engine is full; null where it is not.
 * @param logged bytes of the log that are older than this life of the engine
 */
export async function fullDisk(dataDir: string, name: EngineName, logged: number): Promise<string | null> {
  // An engine's folder may be a disk of its own.
  const folder = join(dataDir, name);
  const freeBytes = await statfs(folder).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => null,
  );
  if (freeBytes === null || (freeBytes >= FULL_BYTES && !FULL.test(await tailOf(dataDir, name, logged)))) return null;
  return `No space left on device (now ${Math.floor(freeBytes / 1_000_000)} MB free in ${folder}): free some space`;
}

/** Why an engine ended. */
export interface Cause {
  /** One line; empty where nothing is known. */
  readonly line: string;
  readonly isDiskFull: boolean;
}

/** @param logged bytes of the log that are older than this life of the engine */
export async function causeOf(dataDir: string, name: EngineName, logged: number): Promise<Cause> {
  const full = await fullDisk(dataDir, name, logged);
  if (full !== null) return { line: full, isDiskFull: true };
  const lines = (await tailOf(dataDir, name, logged)).split('\n').filter((line) => line.trim() !== '');
  return { line: (lines.findLast((line) => !isRoutine(line)) ?? '').slice(0, LONGEST), isDiskFull: false };
}

/** Whether mongod wrote a line that is no error: its frames, addresses and versions. */
function isRoutine(line: string): boolean {
  try {
    const { s: severity } = JSON.parse(line) as { s?: string };
    return severity !== 'E' && severity !== 'F';
  } catch {
    return false;
  }
}
