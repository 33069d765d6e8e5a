/** The parts of a deployment that a backup contains, with their locations. */
import { opendir, stat } from 'node:fs/promises';
import path from 'node:path';

import type { Config } from '../../config/types.js';
import { tryLock, type Lock } from '../../engines/lock.js';
import { runningEngines } from '../../engines/pidFile.js';
import { CommandError } from '../command.js';
import { LOST_AND_FOUND, readExisting } from './copy.js';

/** A folder or file of the deployment. */
export interface Part {
  readonly name: string;
  readonly path: string;
  /** Whether the part is a key file: secret-key decrypts all secrets, and api-key gives access to the API. */
  readonly isKey: boolean;
}

/** The embedded engines. The value is the setting that replaces the engine with an external server. */
const ENGINES = { mongodb: 'MONGODB_URI', qdrant: 'QDRANT_URL', temporal: 'TEMPORAL_ADDRESS' } as const;
const KEYS = ['secret-key', 'api-key'] as const;

export interface Parts {
  readonly included: readonly Part[];
  /** Settings whose servers or bucket need their own backup. */
  readonly excludedSettings: readonly string[];
}

/** Returns the parts of a deployment. @param env the environment, which determines the engines that are embedded */
export function partsOf({ dataDir, files }: Pick<Config, 'dataDir' | 'files'>, env: NodeJS.ProcessEnv): Parts {
  const engines = Object.entries(ENGINES);
  const folder = (name: string, at = path.join(dataDir, name)): Part => ({ name, path: at, isKey: false });
  return {
    included: [
      ...engines.flatMap(([name, setting]) => (env[setting] ? [] : [folder(name)])),
      ...(files.s3 === null ? [folder('files', files.dir)] : []),
      ...KEYS.map((name) => ({ name, path: path.join(dataDir, name), isKey: true })),
    ],
    excludedSettings: [
      ...engines.flatMap(([, setting]) => (env[setting] ? [setting] : [])),
      ...(files.s3 === null ? [] : ['S3_BUCKET']),
    ],
  };
}

/**
 * Returns whether a part exists. An empty folder counts as missing. @throws CommandError if its metadata cannot be
 * read, or an error of the file system if its folder cannot be opened
 */
export async function isThere({ path: at, isKey }: Part): Promise<boolean> {
  if ((await readExisting(at, stat)) === null) return false;
  if (isKey) return true;
  for await (const { name } of await opendir(at)) if (name !== LOST_AND_FOUND) return true;
  return false;
}

/**
 * Prevents `npm start` from using the data while it is copied: copies of files that an engine writes are inconsistent.
 * @throws CommandError if a service uses the data
 */
export async function lockData(dataDir: string): Promise<Lock> {
  const lock = await tryLock(path.join(dataDir, 'engines.json'));
  if (!lock)
    throw new CommandError(
      `A service or another backup uses ${dataDir}. Stop npm start first (Ctrl-C), then try again.`,
    );
  const running = await runningEngines(dataDir);
  if (running.length === 0) return lock;
  await lock.release();
  throw new CommandError(
    `${running.join(' and ')} of ${dataDir} still run without their service. Run npm start and stop it with Ctrl-C, then try again.`,
  );
}
