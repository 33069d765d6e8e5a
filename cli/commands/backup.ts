import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, statfs } from 'node:fs/promises';
import path from 'node:path';
import { finished } from 'node:stream/promises';

import { loadConfig } from '../../config/config.js';
import type { Config } from '../../config/types.js';
import { copyHashed, filesBelow, syncFolder } from '../backup/copy.js';
import { DATA, fingerprintOf, sumLine, SUMS, writeManifest } from '../backup/manifest.js';
import { holdData, isThere, type Part, partsOf } from '../backup/parts.js';
import { bar, createPainter } from '../bars.js';
import { type Command, CommandError, JSON_OPTION, type Terminal } from '../command.js';

const MEGABYTE = 1_000_000;

/** Copies the parts, file by file, and writes down the hash of each. */
async function copyParts(folder: string, parts: readonly Part[], terminal: Terminal) {
  const sizes = { files: 0, bytes: 0 };
  for (const part of parts)
    for await (const { bytes } of filesBelow(part.path)) {
      sizes.files += 1;
      sizes.bytes += bytes;
    }
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < sizes.bytes)
    throw new CommandError(
      `${folder} has room for ${Math.floor((bavail * bsize) / MEGABYTE)} MB, and ${Math.ceil(sizes.bytes / MEGABYTE)} MB are to be copied.`,
    );
  const painter = createPainter(terminal);
  const list = createWriteStream(path.join(folder, SUMS), { mode: 0o600, flush: true });
  const sums = createHash('sha256');
  let done = 0;
  for (const part of parts)
    for await (const { below } of filesBelow(part.path)) {
      const name = below === '' ? part.name : `${part.name}/${below}`;
      if (name.includes('\n')) throw new CommandError(`${name} can't be listed: its name has a line break.`);
      const to = path.join(folder, DATA, name);
      const sha256 = await copyHashed(path.join(part.path, below), to, terminal.stopped);
      const line = sumLine({ sha256, path: name });
      sums.update(line);
      list.write(line);
      painter.paint([`${bar(++done, sizes.files)} files of ${Math.ceil(sizes.bytes / MEGABYTE)} MB`]);
    }
  painter.end();
  list.end();
  await finished(list);
  return { ...sizes, files: done, sums: sums.digest('hex') };
}

async function versionOf(): Promise<string> {
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8').catch(() => '{}');
  return (JSON.parse(text) as { version?: string }).version ?? 'unknown';
}

async function makeBackup(config: Config, folder: string, withKeys: boolean, terminal: Terminal) {
  const { inside, outside } = partsOf(config, terminal.env);
  const wanted = inside.filter(({ isKey }) => withKeys || !isKey);
  const there = await Promise.all(wanted.map(isThere));
  const parts = wanted.filter((_, index) => there[index]);
  if (parts.every(({ isKey }) => isKey))
    throw new CommandError(`${config.dataDir} holds no data of embedded engines. See DATA_DIR.`);
  if (parts.some((part) => !path.relative(part.path, folder).startsWith('..')))
    throw new CommandError(`${folder} lies inside of what is to be copied. Choose another folder.`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0) throw new CommandError(`${folder} is not empty. Choose a new folder.`);
  const copied = await copyParts(folder, parts, terminal);
  const manifest = {
    ...copied,
    made_at: new Date().toISOString(),
    version: await versionOf(),
    parts: parts.map(({ name }) => name),
    outside,
    secret_keys: config.secretKeys.map((one) => ({ id: one.id, fingerprint: fingerprintOf(one) })),
  };
  await writeManifest(folder, manifest);
  await syncFolder(folder);
  return manifest;
}

export const backup: Command = {
  usage: 'FOLDER',
  about: [
    'Copies the data of the embedded engines, stored files and the keys that npm start made into a new folder, with a manifest',
    'and checksums. The service must be stopped: runs in flight go on where they were once it is started again, here or',
    'where the backup is restored. Servers of your own (MONGODB_URI, QDRANT_URL, TEMPORAL_ADDRESS) and a bucket are not in it.',
  ].join('\n'),
  options: {
    'without-keys': { about: "Leaves secret-key and api-key out: without that SECRET_KEY it can't be restored." },
    ...JSON_OPTION,
  },
  async run({ args, has, terminal }) {
    const folder = path.resolve(args[0] ?? '');
    const config = loadConfig(terminal.env);
    const lock = await holdData(config.dataDir);
    try {
      const manifest = await makeBackup(config, folder, !has('without-keys'), terminal);
      if (has('json')) return terminal.out(JSON.stringify({ folder, ...manifest }));
      terminal.out(`${manifest.files} files, ${Math.ceil(manifest.bytes / MEGABYTE)} MB: ${manifest.parts.join(', ')}`);
      if (manifest.outside.length > 0)
        terminal.out(`Not in it, back up by their own means: ${manifest.outside.join(', ')}`);
      if (manifest.parts.includes('secret-key')) terminal.out('It holds SECRET_KEY: keep it as safe as that.');
      terminal.out(`npm run cli -- restore ${folder} brings it back.`);
    } finally {
      await lock.release();
    }
  },
};
