import type { Connection } from 'mongoose';

import { newestSchema, SCHEMA_VERSION } from './run.js';

/** Compares the stored version of the records with the one this code reads and writes. */
export interface SchemaWatch {
  /** Stored version at the last read, if it is newer than this code's; otherwise null. */
  readonly newer: number | null;
  /** Reads the stored version now, and returns `newer`. @throws when MongoDB does not answer */
  check(): Promise<number | null>;
  /** Calls the listener once, as soon as a newer version is read. */
  onNewer(listener: (version: number) => void): void;
  stop(): void;
}

/** Returns the message for callers and operators while the stored version is newer. */
export const outdatedMessage = (version: number): string =>
  `The records were migrated to version ${version} by a newer Allotrope; this process reads version ${SCHEMA_VERSION}. Replace it with the newer version`;

/**
 * Reads the stored version every `intervalMs`. A process that was started before a migration must stop writing, because
 * it would store records in the older format. While MongoDB does not answer, the last version read applies.
 */
export function watchSchema(connection: Connection, intervalMs: number): SchemaWatch {
  let newer: number | null = null;
  const listeners: ((version: number) => void)[] = [];
  const check = async (): Promise<number | null> => {
    const stored = await newestSchema(connection);
    newer = stored > SCHEMA_VERSION ? stored : null;
    if (newer !== null) for (const listener of listeners.splice(0)) listener(newer);
    return newer;
  };
  const timer = setInterval(() => void check().catch(() => undefined), intervalMs);
  timer.unref();
  return {
    get newer() {
      return newer;
    },
    check,
    onNewer: (listener) => void listeners.push(listener),
    stop: () => clearInterval(timer),
  };
}
