/** The change logs of an emulated Drive, found by comparing its current state with its previous one. */
import type { Call } from './emulator.js';
import { refuseGoogle } from './googleApi.js';

/** An item for the log: the log it belongs to, and its compared state. */
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
  /** Returns the number of changes of an item. */
  versionOf(id: string): number;
  /** Returns the token of the log's current end. */
  now(): string;
  /** Returns a page of the changes since a token, each id once. Null if it refused the token. */
  since(call: Call, log: string, most: number): { ids: string[]; next: string; isLast: boolean } | null;
  /** Makes all tokens so far too old. */
  expireTokens(): void;
}

/** @param all returns the current items, by id */
export function createDriveLog(all: () => ReadonlyMap<string, Logged>): DriveLog {
  let previous = new Map<string, Logged>();
  const versions = new Map<string, number>();
  let entries: Entry[] = [];
  let end = 1;
  let oldest = 1;
  const enter = (log: string, id: string): void => {
    // A new change replaces the previous entry of the same item.
    entries = entries.filter((entry) => entry.id !== id || entry.log !== log);
    entries.push({ at: end, log, id });
    end += 1;
  };
  return {
    logChanges() {
      const now = new Map(all());
      for (const [id, item] of now) {
        const before = previous.get(id);
        if (before?.state === item.state && before.log === item.log) continue;
        versions.set(id, (versions.get(id) ?? 0) + 1);
        if (before && before.log !== item.log) enter(before.log, id);
        enter(item.log, id);
      }
      for (const [id, { log }] of previous) if (!now.has(id)) enter(log, id);
      previous = now;
    },
    versionOf: (id) => versions.get(id) ?? 1,
    now: () => String(end),
    since({ query, response }, log, most) {
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
      const page = found.slice(0, most);
      const isLast = found.length <= most;
      return { ids: page.map(({ id }) => id), next: isLast ? String(end) : String((page.at(-1)?.at ?? 0) + 1), isLast };
    },
    expireTokens() {
      oldest = end + 1;
      end += 1;
    },
  };
}
