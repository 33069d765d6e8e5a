import type { Model } from 'mongoose';

import { coalesce } from '../../contract/coalesce.js';
import type { Atomically, EventWriter } from '../events/events.js';
import { insertRows } from '../database/insertOnce.js';
import type { RunDoc } from '../models/runs.js';
import type { FileDoc } from '../models/files.js';
import { transitionEvents } from './transitions.js';
import { readRows } from '../database/driver.js';

/** Maximum number of containers per transaction. */
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

/**
 * Thrown at the first error of the shared transaction, so that MongoDB does not repeat it: requests of other tenants
 * wait for this transaction.
 */
class BatchFailed extends Error {}

const KEY_FIELDS = { organizationId: 1, userId: 1, source: 1, externalFileId: 1, accountId: 1 } as const;
/** Returns the fields that identify a file. */
const keyOf = ({ organizationId, userId, source, externalFileId, accountId }: FileDoc) => ({
  organizationId,
  userId,
  source,
  externalFileId,
  accountId,
});
const keyText = (file: FileDoc): string => JSON.stringify(Object.values(keyOf(file)));

/**
 * Accepts new containers in batches: a transaction takes several commands, whether it inserts one container or many.
 */
export function createNewContainers(
  files: Model<FileDoc>,
  runs: Model<RunDoc>,
  events: EventWriter,
  atomically: Atomically,
): NewContainers {
  const existingKeys = async (batch: readonly NewContainer[]): Promise<Set<string>> => {
    const keys = batch.map(({ file }) => keyOf(file));
    const existing = await readRows(files, keys.length === 1 ? (keys[0] ?? {}) : { $or: keys }, {
      fields: { _id: 0, ...KEY_FIELDS },
      maxRows: keys.length,
    });
    return new Set(existing.map(keyText));
  };
  const insert = (batch: readonly NewContainer[]): Promise<void> =>
    atomically(async (session) => {
      try {
        await insertRows(
          files,
          batch.map(({ file }) => file),
          session,
        );
        await events.write(
          batch.flatMap(({ file }) => transitionEvents('create', [file], {})),
          session,
        );
        await insertRows(
          runs,
          batch.map(({ run }) => run),
          session,
        );
      } catch (error) {
        throw new BatchFailed('The rows could not be inserted together', { cause: error });
      }
    });
  return {
    accept: coalesce(
      async (batch) => {
        const taken = await existingKeys(batch);
        const fresh = batch.filter(({ file }) => {
          const key = keyText(file);
          if (taken.has(key)) return false;
          // If two containers have the same key, the second one counts as existing.
          taken.add(key);
          return true;
        });
        try {
          if (fresh.length > 0) await insert(fresh);
        } catch (error) {
          if (!(error instanceof BatchFailed)) throw error;
          return batch.map(() => false);
        }
        const inserted = new Set(fresh);
        return batch.map((container) => inserted.has(container));
      },
      { maxItems: MAX_CONTAINERS },
    ),
  };
}
