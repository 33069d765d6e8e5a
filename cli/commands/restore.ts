import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { loadConfig } from '../../config/config.js';
import { readSecretKeys } from '../../config/secretKeys.js';
import type { Config } from '../../config/types.js';
import { refuseIncompleteRestore, RESTORING } from '../../engines/restoring.js';
import { syncFolder } from '../../store/contents/syncFolder.js';
import { copyHashed, LOST_AND_FOUND, readExisting } from '../backup/copy.js';
import { checkFreeSpace } from '../backup/freeSpace.js';
import { DATA, fingerprintOf, type Manifest, readManifest, readSums } from '../backup/manifest.js';
import { lockData, isThere, type Part, partsOf } from '../backup/parts.js';
import { bar, createProgressDisplay } from '../bars.js';
import { type Command, CommandError, type Terminal } from '../command.js';

const KEY_FILE = 'secret-key';

/**
 * Returns the first existing SECRET_KEY: that of the environment, of the key file in DATA_DIR, or of the key file in
 * the backup; null if there is none.
 */
function secretKeyAfter(folder: string, dataDir: string, env: NodeJS.ProcessEnv): string | null {
  if (env['SECRET_KEY']) return env['SECRET_KEY'];
  const keyFile = [path.join(dataDir, KEY_FILE), path.join(folder, DATA, KEY_FILE)].find((file) => existsSync(file));
  return keyFile === undefined ? null : readFileSync(keyFile, 'utf8').trim();
}

/** Returns the keys of a backup that a text of SECRET_KEY does not contain. */
function keysMissingIn(text: string, { secret_keys }: Manifest): Manifest['secret_keys'] {
  const fingerprints = readSecretKeys(text).map(fingerprintOf);
  return secret_keys.filter(({ fingerprint }) => !fingerprints.includes(fingerprint));
}

/**
 * Returns whether the key file of DATA_DIR stays: it contains all keys of the backup. It may contain a newer one too,
 * with which secrets in an external MongoDB are encrypted. Otherwise the key file of the backup, if it has one,
 * replaces it; the restore permits that only if the environment's SECRET_KEY has all keys, or to continue an
 * interrupted restore.
 */
function keepsKeyFile(dataDir: string, manifest: Manifest): boolean {
  const file = path.join(dataDir, KEY_FILE);
  return existsSync(file) && keysMissingIn(readFileSync(file, 'utf8').trim(), manifest).length === 0;
}

/** Checks that all secrets in the backup can be decrypted after the restore. @throws CommandError if not */
function checkSecretKeys(folder: string, dataDir: string, manifest: Manifest, env: NodeJS.ProcessEnv): void {
  const text = secretKeyAfter(folder, dataDir, env);
  if (text === null)
    throw new CommandError(
      'The backup contains no SECRET_KEY, and none is set. Set SECRET_KEY to that of the original deployment.',
    );
  const otherKeys = keysMissingIn(text, manifest);
  if (otherKeys.length === 0) return;
  throw new CommandError(
    `The backup was made with another SECRET_KEY (${otherKeys.map(({ id }) => id).join(', ')}), so its secrets could not be decrypted here. ` +
      `Set SECRET_KEY to that of the original deployment${existsSync(path.join(dataDir, KEY_FILE)) ? `, or move ${dataDir} away and restore into an empty one` : ''}.`,
  );
}

async function verifyFiles(
  folder: string,
  manifest: Manifest,
  doing: string,
  targetOf: (name: string) => string | null,
  terminal: Terminal,
): Promise<void> {
  const progressDisplay = createProgressDisplay(terminal);
  let done = 0;
  for await (const { path: name, sha256 } of readSums(folder, manifest)) {
    const from = path.join(folder, DATA, name);
    const sha256OfFile = await copyHashed(from, targetOf(name), terminal.stopped).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT')
          throw new CommandError(`${from} is missing, so the backup is incomplete. Use another one.`);
        throw error;
      },
    );
    if (sha256OfFile !== sha256)
      throw new CommandError(`${from} was modified, so the backup is damaged. Use another one.`);
    progressDisplay.paint([`${bar(++done, manifest.files)} files ${doing}`]);
  }
  progressDisplay.end();
  if (done !== manifest.files)
    throw new CommandError(
      `${folder} lists ${done} of ${manifest.files} files, so the backup is damaged. Use another one.`,
    );
}

/** Deletes the contents of a part. A folder itself stays: it may be the mount point of a volume, or a link to one. */
async function clearPart({ path: at }: Part): Promise<void> {
  const stats = await readExisting(at, stat);
  if (stats?.isDirectory() !== true) return rm(at, { force: true });
  for (const name of await readdir(at))
    if (name !== LOST_AND_FOUND) await rm(path.join(at, name), { recursive: true, force: true });
}

async function restoreFiles(
  folder: string,
  manifest: Manifest,
  { dataDir }: Config,
  parts: readonly Part[],
  terminal: Terminal,
): Promise<void> {
  const marker = path.join(dataDir, RESTORING);
  // Until the restore is complete, no process starts on this data, even after a crash.
  await writeFile(marker, `${folder}\n`, { flush: true });
  await syncFolder(dataDir);
  for (const part of parts) await clearPart(part);
  const pathOfPart = new Map(parts.map((part) => [part.name, part.path]));
  /** Null for a key file that stays. */
  const targetOf = (name: string): string | null => {
    const [part = '', ...below] = name.split('/');
    const at = pathOfPart.get(part);
    return at === undefined ? null : path.join(at, ...below);
  };
  await verifyFiles(folder, manifest, 'restored', targetOf, terminal);
  await syncFolder(dataDir);
  await rm(marker);
}

export const restore: Command = {
  usage: 'FOLDER',
  about: [
    'Verifies the checksum of every file of a backup, then restores it into DATA_DIR (and FILE_STORAGE_DIR).',
    'Existing data is replaced only with --force. To continue an interrupted restore, run the same command again;',
    'until it completes, npm start refuses to use the data.',
  ].join('\n'),
  options: { force: { about: 'Replaces existing data.' } },
  afterInterrupt: 'To continue the restore, run the same command again.',
  async run({ args, has, terminal }) {
    const folder = path.resolve(args[0] ?? '');
    const manifest = await readManifest(folder);
    const env = { ...terminal.env };
    // DATA_DIR is resolved before loadConfig, which needs a SECRET_KEY. If neither the environment nor DATA_DIR has one,
    // the backup supplies it.
    const dataDir = path.resolve(env['DATA_DIR'] || '.data');
    const wasInterrupted = existsSync(path.join(dataDir, RESTORING));
    // After an interrupted restore, npm start may have generated a key in DATA_DIR before it refused to use the data.
    // The restore replaces this key.
    const keepsKey = keepsKeyFile(dataDir, manifest);
    const replacesKey = wasInterrupted && !keepsKey && manifest.parts.includes(KEY_FILE);
    checkSecretKeys(folder, replacesKey ? path.join(dataDir, 'none') : dataDir, manifest, env);
    const config = loadConfig({ ...env, SECRET_KEY: secretKeyAfter(folder, dataDir, env) ?? undefined });
    const { included, excludedSettings } = partsOf(config, env);
    const external = manifest.parts.filter((name) => !included.some((part) => part.name === name));
    if (external.length > 0)
      throw new CommandError(
        `The backup contains ${external.join(', ')}, but external servers are set instead (${excludedSettings.join(', ')}). Unset these settings, or restore the servers with their own tools.`,
      );
    const parts = included.filter(
      ({ name, isKey }) => !isKey || (manifest.parts.includes(name) && !(name === KEY_FILE && keepsKey)),
    );
    await mkdir(dataDir, { recursive: true });
    const lock = await lockData(dataDir);
    try {
      const existing = await Promise.all(
        parts.map(async (part) => ((await isThere(part)) && !part.isKey ? [part.path] : [])),
      );
      if (existing.flat().length > 0 && !has('force') && !wasInterrupted)
        throw new CommandError(`Data already exists: ${existing.flat().join(', ')}. Replace all of it with --force.`);
      await verifyFiles(folder, manifest, 'checked', () => null, terminal);
      await checkFreeSpace(folder, parts);
      await restoreFiles(folder, manifest, config, parts, terminal);
    } finally {
      await lock.release();
    }
    refuseIncompleteRestore(dataDir);
    terminal.out(
      `${manifest.files} files of ${manifest.made_at} are restored: ${manifest.parts.join(', ')}. Run npm start.`,
    );
    if (manifest.outside.length > 0)
      terminal.out(`Not in the backup, restore separately: ${manifest.outside.join(', ')}`);
  },
};
