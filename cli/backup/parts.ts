/** What of a deployment a backup holds, and where each part lies. */
import { existsSync } from 'node:fs';
import { opendir } from 'node:fs/promises';
import path from 'node:path';

import type { Config } from '../../config/types.js';
import { tryLock, type Lock } from '../../engines/lock.js';
import { livingEngines } from '../../engines/pidFile.js';
import { CommandError } from '../command.js';

/** A folder, or a single file, of the deployment. */
export interface Part {
  readonly name: string;
  readonly path: string;
  /** Whoever has it can open all secrets, or call the API. */
  readonly isKey: boolean;
}

/** The embedded engines, by the setting that puts a server in the place of each. */
const ENGINES = { mongodb: 'MONGODB_URI', qdrant: 'QDRANT_URL', temporal: 'TEMPORAL_ADDRESS' } as const;
const KEYS = ['secret-key', 'api-key'] as const;

export interface Parts {
  readonly inside: readonly Part[];
  /** Settings whose servers, or bucket, are to be backed up by their own means. */
  readonly outside: readonly string[];
}

/** @param env the environment: which engines are embedded stands there alone */
export function partsOf({ dataDir, files }: Pick<Config, 'dataDir' | 'files'>, env: NodeJS.ProcessEnv): Parts {
  const engines = Object.entries(ENGINES);
  const folder = (name: string, at = path.join(dataDir, name)): Part => ({ name, path: at, isKey: false });
  return {
    inside: [
      ...engines.flatMap(([name, setting]) => (env[setting] ? [] : [folder(name)])),
      ...(files.s3 === null ? [folder('files', files.dir)] : []),
      ...KEYS.map((name) => ({ name, path: path.join(dataDir, name), isKey: true })),
    ],
    outside: [
      ...engines.flatMap(([, setting]) => (env[setting] ? [setting] : [])),
      ...(files.s3 === null ? [] : ['S3_BUCKET']),
    ],
  };
}

/** Whether anything lies there. */
export async function isThere({ path: at, isKey }: Part): Promise<boolean> {
  if (!existsSync(at)) return false;
  if (isKey) return true;
  for await (const _ of await opendir(at)) return true;
  return false;
}

/**
 * Keeps `npm start` away from the data while it is copied: files of engines that write are no backup.
 * @throws CommandError where a service runs on it
 */
export async function holdData(dataDir: string): Promise<Lock> {
  const lock = await tryLock(path.join(dataDir, 'engines.json'));
  if (!lock)
    throw new CommandError(
      `A service, or another backup, is at work on ${dataDir}. Stop npm start first (Ctrl-C), then try again.`,
    );
  const living = await livingEngines(dataDir);
  if (living.length === 0) return lock;
  await lock.release();
  throw new CommandError(
    `${living.join(' and ')} of ${dataDir} outlived their service. Run npm start and stop it with Ctrl-C, then try again.`,
  );
}
