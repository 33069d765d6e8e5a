import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, statfs } from 'node:fs/promises';
import path from 'node:path';
import { finished } from 'node:stream/promises';

import { loadConfig } from '../../config/config.js';
import type { Config } from '../../config/types.js';
import { syncFolder } from '../../store/contents/syncFolder.js';
import { copyHashed, listFilesIn } from '../backup/copy.js';
import { DATA, fingerprintOf, sumLine, SUMS, writeManifest } from '../backup/manifest.js';
import { lockData, isThere, type Part, partsOf } from '../backup/parts.js';
import { bar, createProgressDisplay } from '../bars.js';
import { type Command, CommandError, JSON_OPTION, type Terminal } from '../command.js';

const MEGABYTE = 1_000_000;

/**
 * Copies the parts file by file, and writes the hash of each file to SUMS. @throws CommandError if the disk is too
 * small
 */
async function copyParts(folder: string, parts: readonly Part[], terminal: Terminal) {
  const sizes = { files: 0, bytes: 0 };
  for (const part of parts)
    for await (const { bytes } of listFilesIn(part.path)) {
      sizes.files += 1;
      sizes.bytes += bytes;
    }
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < sizes.bytes)
    throw new CommandError(
      `${folder} has ${Math.floor((bavail * bsize) / MEGABYTE)} MB free, but the backup needs ${Math.ceil(sizes.bytes / MEGABYTE)} MB. Free space or choose another folder.`,
    );
  const progressDisplay = createProgressDisplay(terminal);
  const list = createWriteStream(path.join(folder, SUMS), { mode: 0o600, flush: true });
  const sums = createHash('sha256');
  let done = 0;
  for (const part of parts)
    for await (const { relativePath } of listFilesIn(part.path)) {
      const name = relativePath === '' ? part.name : `${part.name}/${relativePath}`;
      if (name.includes('\n'))
        throw new CommandError(`${name} cannot be backed up, because its name contains a line break. Rename the file.`);
      const to = path.join(folder, DATA, name);
      const sha256 = await copyHashed(path.join(part.path, relativePath), to, terminal.stopped);
      const line = sumLine({ sha256, path: name });
      sums.update(line);
      list.write(line);
      progressDisplay.paint([`${bar(++done, sizes.files)} files, ${Math.ceil(sizes.bytes / MEGABYTE)} MB in total`]);
    }
  progressDisplay.end();
  list.end();
  await finished(list);
  return { ...sizes, files: done, sums: sums.digest('hex') };
}

async function readVersion(): Promise<string> {
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8').catch(() => '{}');
  return (JSON.parse(text) as { version?: string }).version ?? 'unknown';
}

async function makeBackup(config: Config, folder: string, withKeys: boolean, terminal: Terminal) {
  const { included, excludedSettings } = partsOf(config, terminal.env);
  const candidates = included.filter(({ isKey }) => withKeys || !isKey);
  const exists = await Promise.all(candidates.map(isThere));
  const parts = candidates.filter((_, index) => exists[index]);
  if (parts.every(({ isKey }) => isKey))
    throw new CommandError(`${config.dataDir} contains no data of embedded engines. Check DATA_DIR.`);
  if (parts.some((part) => !path.relative(part.path, folder).startsWith('..')))
    throw new CommandError(`${folder} is inside the data to copy. Choose another folder.`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0) throw new CommandError(`${folder} is not empty. Choose a new folder.`);
  const copied = await copyParts(folder, parts, terminal);
  const manifest = {
    ...copied,
    made_at: new Date().toISOString(),
    version: await readVersion(),
    parts: parts.map(({ name }) => name),
    outside: excludedSettings,
    secret_keys: config.secretKeys.map((secretKey) => ({ id: secretKey.id, fingerprint: fingerprintOf(secretKey) })),
  };
  await writeManifest(folder, manifest);
  await syncFolder(folder);
  return manifest;
}

export const backup: Command = {
  usage: 'FOLDER',
  about: [
    'Copies the data of the embedded engines, stored files and generated keys into a new folder, with a manifest and',
    'checksums. Stop the service first. Active runs resume when the service starts again, here or where the backup is',
    'restored. External servers (MONGODB_URI, QDRANT_URL, TEMPORAL_ADDRESS) and a bucket are not included.',
  ].join('\n'),
  options: {
    'without-keys': { about: 'Excludes secret-key and api-key. The restore then needs the same SECRET_KEY.' },
    ...JSON_OPTION,
  },
  afterInterrupt: 'The backup is incomplete. Delete its folder, and run the command again.',
  async run({ args, has, terminal }) {
    const folder = path.resolve(args[0] ?? '');
    const config = loadConfig(terminal.env);
    const lock = await lockData(config.dataDir);
    try {
      const manifest = await makeBackup(config, folder, !has('without-keys'), terminal);
      if (has('json')) return terminal.out(JSON.stringify({ folder, ...manifest }));
      terminal.out(`${manifest.files} files, ${Math.ceil(manifest.bytes / MEGABYTE)} MB: ${manifest.parts.join(', ')}`);
      if (manifest.outside.length > 0) terminal.out(`Not included, back up separately: ${manifest.outside.join(', ')}`);
      if (manifest.parts.includes('secret-key'))
        terminal.out('The backup contains SECRET_KEY. Protect it as you protect the key.');
      terminal.out(`Restore it with: npm run cli -- restore ${folder}`);
    } finally {
      await lock.release();
    }
  },
};
