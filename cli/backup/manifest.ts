/** A backup is a folder: manifest.json, written last, SHA256SUMS (for sha256sum -c), and data/ with the parts. */
import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { access, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';

import type { SecretKey } from '../../config/types.js';
import { CommandError } from '../command.js';
import { readExisting } from './copy.js';

const FORMAT = 1;
const MANIFEST = 'manifest.json';
export const SUMS = 'SHA256SUMS';
export const DATA = 'data';

export interface Manifest {
  readonly format: number;
  readonly made_at: string;
  readonly version: string;
  readonly files: number;
  readonly bytes: number;
  readonly parts: readonly string[];
  /** Settings that point to data outside the backup. */
  readonly outside: readonly string[];
  /** The keys in SECRET_KEY at the time of the backup. Each secret in the backup is encrypted with one of them. */
  readonly secret_keys: readonly { readonly id: string; readonly fingerprint: string }[];
  /** SHA-256 of SHA256SUMS. */
  readonly sums: string;
}

/**
 * Returns a fingerprint that distinguishes keys without revealing them: a key has 32 random bytes, too many to guess.
 */
export const fingerprintOf = ({ key }: Pick<SecretKey, 'key'>): string =>
  createHash('sha256').update('allotrope-backup').update(key).digest('hex').slice(0, 16);

/** Completes the backup by writing its manifest. */
export async function writeManifest(folder: string, manifest: Omit<Manifest, 'format'>): Promise<void> {
  const draft = path.join(folder, `${MANIFEST}.draft`);
  await writeFile(draft, `${JSON.stringify({ format: FORMAT, ...manifest }, null, 2)}\n`, { mode: 0o600, flush: true });
  await rename(draft, path.join(folder, MANIFEST));
}

/** @throws CommandError if manifest.json is missing, or a newer version of Allotrope wrote it */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readExisting(path.join(folder, MANIFEST), (at) => readFile(at, 'utf8'));
  if (text === null)
    throw new CommandError(
      `${folder} contains no ${MANIFEST}: it is not a backup, or the backup was interrupted. Choose another folder.`,
    );
  const manifest = JSON.parse(text) as Manifest;
  if (manifest.format !== FORMAT)
    throw new CommandError(
      `${folder} was made by a newer version of Allotrope (format ${manifest.format}). Restore it with that version.`,
    );
  return manifest;
}

export interface Sum {
  readonly sha256: string;
  /** Path relative to data/, beginning with the part. */
  readonly path: string;
}

export const sumLine = ({ sha256, path: name }: Sum): string => `${sha256}  ${DATA}/${name}\n`;

/** Yields the files of a backup. @throws CommandError if their list is missing or was modified */
export async function* readSums(folder: string, { sums, parts }: Manifest): AsyncIterable<Sum> {
  const hash = createHash('sha256');
  const sumsPath = path.join(folder, SUMS);
  if ((await readExisting(sumsPath, (at) => access(at, constants.R_OK))) === null)
    throw new CommandError(`${sumsPath} is missing, so the backup is damaged. Use another one.`);
  const lines = createInterface({ input: createReadStream(sumsPath), crlfDelay: Infinity });
  for await (const line of lines) {
    hash.update(`${line}\n`);
    const [, sha256, name] = /^([0-9a-f]{64}) {2}data\/(.+)$/.exec(line) ?? [];
    const [part = '', ...segments] = name?.split('/') ?? [];
    const isInside = parts.includes(part) && segments.every((word) => word !== '' && word !== '.' && word !== '..');
    if (sha256 === undefined || name === undefined || !isInside)
      throw new CommandError(
        `${sumsPath} contains an invalid line, so the backup is damaged. Use another one. The line: ${line.slice(0, 200)}`,
      );
    yield { sha256, path: name };
  }
  if (hash.digest('hex') !== sums)
    throw new CommandError(`${sumsPath} was modified, so the backup is damaged. Use another one.`);
}
