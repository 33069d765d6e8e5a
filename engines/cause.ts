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
  const lines = (await tailOf(dataDir, name, logOffset)).split('\n').map(errorOf);
  const errors = lines.filter((error) => error !== '');
  const cause = errors.findLast((error) => !CONSEQUENCE.test(error)) ?? errors[0] ?? '';
  return { line: cause.slice(0, MAX_CAUSE_LENGTH), isDiskFull: false };
}

/** Lines that Temporal and the Qdrant engine print at each start. */
const START_LINE = /^(?:Temporal (?:CLI|Server|Persistence|UI|Metrics)\b|listening on )/;

/** Errors that mongod logs after the one that states the reason: they state only that it aborts. */
const CONSEQUENCE =
  /^(?:Fatal assertion$|\*\*\*aborting after |Error collecting stack trace|Writing fatal message(?:$|: (?:Got signal: |terminate\(\) called)))|the process must exit and restart/;

/**
 * Returns the error of a log line, in one line; empty if the line reports none. Of mongod's JSON lines, only severities
 * E and F are errors: the others are stack frames, addresses and versions.
 */
function errorOf(line: string): string {
  try {
    const { s: severity, msg = '', attr } = JSON.parse(line) as MongodLine;
    if (severity !== 'E' && severity !== 'F') return '';
    const reason = [attr?.error, attr?.message, attr?.reason].map(textOf).find((text) => text !== '');
    return oneLine(reason === undefined ? msg : `${msg}: ${reason}`);
  } catch {
    return START_LINE.test(line) ? '' : line.trim();
  }
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** Returns the text of a reason; empty for one without text, such as a number. WiredTiger's reasons are objects. */
function textOf(reason: unknown): string {
  if (typeof reason === 'string') return reason;
  const { msg, error_str: error } = (reason ?? {}) as Record<string, unknown>;
  return [msg, error].filter((text) => typeof text === 'string' && text !== '').join(': ');
}

/** A line of mongod's log: https://www.mongodb.com/docs/v7.0/reference/log-messages/ */
interface MongodLine {
  readonly s?: string;
  readonly msg?: string;
  readonly attr?: { readonly error?: unknown; readonly message?: unknown; readonly reason?: unknown };
}
