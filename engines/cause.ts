/** Finds out from an engine's log and its disk why it ended or did not start. */
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';

import type { EngineName } from './engine.js';
import { readLogTail } from './logFile.js';

/**
 * Bytes of the log's end that are read: mongod writes about 20 kB of stack frames after the line that states why it
 * aborts.
 */
const TAIL_BYTES = 64_000;
/**
 * Free bytes below which MongoDB, Temporal and Qdrant fail to write. Their logs may not show it, because they are on
 * the same disk.
 */
const FULL_BYTES = 50_000_000;
const MAX_CAUSE_LENGTH = 300;
/** Messages of Linux, Rust, SQLite and Node about a full disk. */
const DISK_FULL = /no space left on device|os error 28|disk is full|ENOSPC/i;

const tailOf = (dataDir: string, name: EngineName, logOffset: number): Promise<string> =>
  readLogTail(dataDir, name, TAIL_BYTES, logOffset).catch(() => '');

/**
 * Returns a line that reports that the disk of an engine is full; null if it is not full.
 * @param logOffset length of the log, in bytes, when this process of the engine started
 */
export async function fullDisk(dataDir: string, name: EngineName, logOffset: number): Promise<string | null> {
  // An engine's folder may be a separate volume.
  const folder = join(dataDir, name);
  const freeBytes = await statfs(folder).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => null,
  );
  if (freeBytes === null || (freeBytes >= FULL_BYTES && !DISK_FULL.test(await tailOf(dataDir, name, logOffset))))
    return null;
  return `No space left on device (now ${Math.floor(freeBytes / 1_000_000)} MB free in ${folder}): free some space`;
}

/** The reason why an engine ended. */
export interface Cause {
  /** One line; empty if the reason is unknown. */
  readonly line: string;
  readonly isDiskFull: boolean;
}

/**
 * Finds the reason why an engine ended.
 * @param logOffset length of the log, in bytes, when this process of the engine started
 */
export async function causeOf(dataDir: string, name: EngineName, logOffset: number): Promise<Cause> {
  const full = await fullDisk(dataDir, name, logOffset);
  if (full !== null) return { line: full, isDiskFull: true };
  const errors = (await tailOf(dataDir, name, logOffset)).split('\n').map(errorOf);
  return { line: (errors.findLast((error) => error !== '') ?? '').slice(0, MAX_CAUSE_LENGTH), isDiskFull: false };
}

/** Lines that Temporal and the Qdrant engine print at each start. */
const START_LINE = /^(?:Temporal (?:CLI|Server|Persistence|UI|Metrics)\b|listening on )/;

/**
 * Returns the error of a log line; empty if the line reports none. Of mongod's JSON lines, only severities E and F are
 * errors: the others are stack frames, addresses and versions.
 */
function errorOf(line: string): string {
  try {
    const { s: severity, msg = '', attr } = JSON.parse(line) as MongodLine;
    if (severity !== 'E' && severity !== 'F') return '';
    return typeof attr?.error === 'string' ? `${msg}: ${attr.error}` : msg;
  } catch {
    return START_LINE.test(line) ? '' : line.trim();
  }
}

/** A line of mongod's log: https://www.mongodb.com/docs/v7.0/reference/log-messages/ */
interface MongodLine {
  readonly s?: string;
  readonly msg?: string;
  readonly attr?: { readonly error?: unknown };
}
