/** The change logs of an emulated Drive: the differences between its current and its previous state. */
import type { Call } from './emulator.js';
import { refuseGoogle } from './googleApi.js';

/** An item that a log watches: the log, and the state that is compared. */
export interface Logged {
  /** Id of the shared drive that logs the item; '' for the account's log. */
  readonly log: string;
  readonly state: string;
}

interface Entry {
  readonly at: number;
  readonly log: string;
  readonly id: string;
}

export interface DriveLog {
  /** Compares the current items with the previous ones and logs the differences. */
  logChanges(): void;
  /** Returns the version of an item; each change increases it. */
  versionOf(id: string): number;
  /** Returns the token of the log's current end. */
  now(): string;
  /** Returns a page of the changes since a token, each id once. Null if it refused the token. */
  since(call: Call, log: string, pageSize: number): { ids: string[]; next: string; isLast: boolean } | null;
  /** Invalidates all tokens issued so far. */
  expireTokens(): void;
}

/** @param readItems returns the current items, by id */
export function createDriveLog(readItems: () => ReadonlyMap<string, Logged>): DriveLog {
  let previous = new Map<string, Logged>();
  const versions = new Map<string, number>();
  let entries: Entry[] = [];
  let end = 1;
  let oldest = 1;
  const addEntry = (log: string, id: string): void => {
    // A new change replaces the previous entry of the same item.
    entries = entries.filter((entry) => entry.id !== id || entry.log !== log);
    entries.push({ at: end, log, id });
    end += 1;
  };
  return {
    logChanges() {
      const now = new Map(readItems());
      for (const [id, item] of now) {
        const before = previous.get(id);
        if (before?.state === item.state && before.log === item.log) continue;
        versions.set(id, (versions.get(id) ?? 0) + 1);
        if (before && before.log !== item.log) addEntry(before.log, id);
        addEntry(item.log, id);
      }
      for (const [id, { log }] of previous) if (!now.has(id)) addEntry(log, id);
      previous = now;
    },
    versionOf: (id) => versions.get(id) ?? 1,
    now: () => String(end),
    since({ query, response }, log, pageSize) {
      const from = Number(query.get('pageToken') ?? Number.NaN);
      if (!Number.isSafeInteger(from) || from < 1) {
        refuseGoogle(response, { status: 400, reason: 'invalid', message: 'Invalid Value', location: 'pageToken' });
        return null;
      }
      if (from < oldest) {
        refuseGoogle(response, { status: 410, reason: 'gone', message: 'The page token is too old.' });
        return null;
      }
      const found = entries.filter((entry) => entry.log === log && entry.at >= from);
      const page = found.slice(0, pageSize);
      const isLast = found.length <= pageSize;
      return { ids: page.map(({ id }) => id), next: isLast ? String(end) : String((page.at(-1)?.at ?? 0) + 1), isLast };
    },
    expireTokens() {
      oldest = end + 1;
      end += 1;
    },
  };
}
