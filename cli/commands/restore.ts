import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { loadConfig, readSecretKeys } from '../../config/config.js';
import type { Config } from '../../config/types.js';
import { refuseHalfRestored, RESTORING } from '../../engines/restoring.js';
import { copyHashed, syncFolder } from '../backup/copy.js';
import { DATA, fingerprintOf, type Manifest, readManifest, readSums } from '../backup/manifest.js';
import { holdData, isThere, type Part, partsOf } from '../backup/parts.js';
import { bar, createPainter } from '../bars.js';
import { type Command, CommandError, type Terminal } from '../command.js';

const KEY_FILE = 'secret-key';

/** SECRET_KEY as it will be once all is restored; null where none is known. */
function secretKeyAfter(folder: string, dataDir: string, env: NodeJS.ProcessEnv): string | null {
  if (env['SECRET_KEY']) return env['SECRET_KEY'];
  const kept = [path.join(dataDir, KEY_FILE), path.join(folder, DATA, KEY_FILE)].find((file) => existsSync(file));
  return kept === undefined ? null : readFileSync(kept, 'utf8').trim();
}

/** @throws CommandError unless all that the backup holds could be opened afterwards */
function refuseOtherKey(folder: string, dataDir: string, { secret_keys }: Manifest, env: NodeJS.ProcessEnv): void {
  const text = secretKeyAfter(folder, dataDir, env);
  if (text === null)
    throw new CommandError(
      'The backup holds no SECRET_KEY, and none is set. Set SECRET_KEY to the one of the deployment that it was made of.',
    );
  const known = readSecretKeys(text).map(fingerprintOf);
  const lacking = secret_keys.filter(({ fingerprint }) => !known.includes(fingerprint));
  if (lacking.length === 0) return;
  throw new CommandError(
    `The backup was made with another SECRET_KEY (${lacking.map(({ id }) => id).join(', ')}): what it has sealed would not open here. ` +
      `Set SECRET_KEY to the one of that deployment${existsSync(path.join(dataDir, KEY_FILE)) ? `, or move ${dataDir} away and restore into an empty one` : ''}.`,
  );
}

async function readThrough(
  folder: string,
  manifest: Manifest,
  doing: string,
  placeOf: (name: string) => string | null,
  terminal: Terminal,
): Promise<void> {
  const painter = createPainter(terminal);
  let done = 0;
  for await (const { path: name, sha256 } of readSums(folder, manifest)) {
    const from = path.join(folder, DATA, name);
    const found = await copyHashed(from, placeOf(name), terminal.stopped).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT')
        throw new CommandError(`${from} is gone: the backup is not whole. Nothing of it can be trusted.`);
      throw error;
    });
    if (found !== sha256)
      throw new CommandError(`${from} is not what was written: the backup is broken. Take another one.`);
    painter.paint([`${bar(++done, manifest.files)} files ${doing}`]);
  }
  painter.end();
  if (done !== manifest.files)
    throw new CommandError(
      `${folder} lists ${done} files of ${manifest.files}: the backup is broken. Take another one.`,
    );
}

async function refuseTooLittleRoom({ dataDir }: Pick<Config, 'dataDir'>, { bytes }: Manifest): Promise<void> {
  const { bavail, bsize } = await statfs(dataDir);
  if (bavail * bsize < bytes)
    throw new CommandError(
      `${dataDir} has room for ${bavail * bsize} bytes, and ${bytes} are to be restored. Make room first.`,
    );
}

async function putBack(
  folder: string,
  manifest: Manifest,
  { dataDir }: Config,
  parts: readonly Part[],
  terminal: Terminal,
): Promise<void> {
  const marker = path.join(dataDir, RESTORING);
  // From here on nothing starts on this data until all of it is there, whatever dies.
  await writeFile(marker, `${folder}\n`, { flush: true });
  await syncFolder(dataDir);
  for (const part of parts) await rm(part.path, { recursive: true, force: true });
  const places = new Map(parts.map((part) => [part.name, part.path]));
  const placeOf = (name: string): string => {
    const [part = '', ...below] = name.split('/');
    return path.join(places.get(part) ?? '', ...below);
  };
  await readThrough(folder, manifest, 'restored', placeOf, terminal);
  await syncFolder(dataDir);
  await rm(marker);
}

export const restore: Command = {
  usage: 'FOLDER',
  about: [
    'Brings a backup back into DATA_DIR (and FILE_STORAGE_DIR), once every file of it was read and found to be what was written.',
    'Data that is there is replaced only with --force. A restore that is broken off is begun again by the same command;',
    'until then npm start refuses the data.',
  ].join('\n'),
  options: { force: { about: 'Replaces the data that is there.' } },
  async run({ args, has, terminal }) {
    const folder = path.resolve(args[0] ?? '');
    const manifest = await readManifest(folder);
    const env = { ...terminal.env };
    // Of an empty DATA_DIR the backup brings the key.
    const dataDir = path.resolve(env['DATA_DIR'] || '.data');
    const wasBrokenOff = existsSync(path.join(dataDir, RESTORING));
    refuseOtherKey(folder, wasBrokenOff ? path.join(dataDir, 'none') : dataDir, manifest, env);
    const config = loadConfig({ ...env, SECRET_KEY: secretKeyAfter(folder, dataDir, env) ?? undefined });
    const { inside, outside } = partsOf(config, env);
    const strange = manifest.parts.filter((name) => !inside.some((part) => part.name === name));
    if (strange.length > 0)
      throw new CommandError(
        `The backup holds ${strange.join(', ')}, in whose place servers of your own are set (${outside.join(', ')}). Unset these, or restore there by their own means.`,
      );
    const parts = inside.filter(({ name, isKey }) => !isKey || manifest.parts.includes(name));
    await mkdir(dataDir, { recursive: true });
    const lock = await holdData(dataDir);
    try {
      const there = await Promise.all(
        parts.map(async (part) => ((await isThere(part)) && !part.isKey ? [part.path] : [])),
      );
      if (there.flat().length > 0 && !has('force') && !wasBrokenOff)
        throw new CommandError(
          `There is data already: ${there.flat().join(', ')}. --force replaces it; nothing of it is kept.`,
        );
      await readThrough(folder, manifest, 'checked', () => null, terminal);
      if (!has('force')) await refuseTooLittleRoom(config, manifest);
      await putBack(folder, manifest, config, parts, terminal);
    } finally {
      await lock.release();
    }
    refuseHalfRestored(dataDir);
    terminal.out(
      `${manifest.files} files of ${manifest.made_at} are back: ${manifest.parts.join(', ')}. npm start goes on from there.`,
    );
    if (manifest.outside.length > 0)
      terminal.out(`Not in the backup, to be restored by their own means: ${manifest.outside.join(', ')}`);
  },
};
