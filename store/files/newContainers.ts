import type { Model } from 'mongoose';

import { coalesce } from '../../contract/coalesce.js';
import type { Atomically, EventWriter } from '../events/events.js';
import { insertRows } from '../database/insertOnce.js';
import type { RunDoc } from '../models/runs.js';
import type { FileDoc } from '../models/files.js';
import { transitionEvents } from './transitions.js';
import { readRows } from '../database/driver.js';

/** Maximum containers per transaction. */
const MAX_CONTAINERS = 50;

/** A new container, with the run that will find its children. */
export interface NewContainer {
  readonly file: FileDoc;
  readonly run: RunDoc;
}

export interface NewContainers {
  /**
   * Accepts a container together with those of concurrent requests, in one transaction. False if nothing was written
   * and the caller must accept it alone, because a file with its address exists or another container failed.
   */
  accept(container: NewContainer): Promise<boolean>;
}

/** Ends the shared transaction at the first error, because requests of other tenants wait for it. */
class GivenUp extends Error {}

const KEY_FIELDS = { organizationId: 1, userId: 1, source: 1, externalFileId: 1, accountId: 1 } as const;
/** Returns the fields that identify a file. */
const keyOf = ({ organizationId, userId, source, externalFileId, accountId }: FileDoc) => ({
  organizationId,
  userId,
  source,
  externalFileId,
  accountId,
});
const nameOf = (file: FileDoc): string => JSON.stringify(Object.values(keyOf(file)));

/**
 * Accepts new containers in batches: a transaction takes several commands, whether it inserts one container or many.
 */
export function createNewContainers(
  files: Model<FileDoc>,
  runs: Model<RunDoc>,
  events: EventWriter,
  atomically: Atomically,
): NewContainers {
  const knownAmong = async (some: readonly NewContainer[]): Promise<Set<string>> => {
    const keys = some.map(({ file }) => keyOf(file));
    const known = await readRows(files, keys.length === 1 ? (keys[0] ?? {}) : { $or: keys }, {
      fields: { _id: 0, ...KEY_FIELDS },
      maxRows: keys.length,
    });
    return new Set(known.map(nameOf));
  };
  const insert = (some: readonly NewContainer[]): Promise<void> =>
    atomically(async (session) => {
      try {
        await insertRows(
          files,
          some.map(({ file }) => file),
          session,
        );
        await events.write(
          some.flatMap(({ file }) => transitionEvents('create', [file], {})),
          session,
        );
        await insertRows(
          runs,
          some.map(({ run }) => run),
          session,
        );
      } catch (error) {
        throw new GivenUp('The rows could not be inserted together', { cause: error });
      }
    });
  return {
    accept: coalesce(
      async (some) => {
        const taken = await knownAmong(some);
        const fresh = some.filter(({ file }) => {
          const name = nameOf(file);
          if (taken.has(name)) return false;
          // If two containers have the same key, the second one counts as existing.
          taken.add(name);
          return true;
        });
        try {
          if (fresh.length > 0) await insert(fresh);
        } catch (error) {
          if (!(error instanceof GivenUp)) throw error;
          return some.map(() => false);
        }
        const done = new Set(fresh);
        return some.map((one) => done.has(one));
      },
      { maxItems: MAX_CONTAINERS },
    ),
  };
}
