/** A backup is a folder: manifest.json, written last, SHA256SUMS (sha256sum -c reads it), and data/ with the parts. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';

import type { SecretKey } from '../../config/types.js';
import { CommandError } from '../command.js';

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
  /** Settings of what is not in it. */
  readonly outside: readonly string[];
  /** The keys of SECRET_KEY that may have sealed what it holds. */
  readonly secret_keys: readonly { readonly id: string; readonly fingerprint: string }[];
  /** SHA-256 of SHA256SUMS. */
  readonly sums: string;
}

/** Tells keys apart and gives nothing of them away: they are 32 random bytes. */
export const fingerprintOf = ({ key }: Pick<SecretKey, 'key'>): string =>
  createHash('sha256').update('allotrope-backup').update(key).digest('hex').slice(0, 16);

/** Makes the backup a whole one. */
export async function writeManifest(folder: string, manifest: Omit<Manifest, 'format'>): Promise<void> {
  const draft = path.join(folder, `${MANIFEST}.draft`);
  await writeFile(draft, `${JSON.stringify({ format: FORMAT, ...manifest }, null, 2)}\n`, { mode: 0o600, flush: true });
  await rename(draft, path.join(folder, MANIFEST));
}

/** @throws CommandError for what is no whole backup */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(path.join(folder, MANIFEST), 'utf8').catch(() => null);
  if (text === null)
    throw new CommandError(`${folder} holds no ${MANIFEST}: it is no backup, or one that did not come to its end.`);
  const manifest = JSON.parse(text) as Manifest;
  if (manifest.format !== FORMAT)
    throw new CommandError(
      `${folder} was made by a newer version of Allotrope (format ${manifest.format}). Restore it with that.`,
    );
  return manifest;
}

export interface Sum {
  readonly sha256: string;
  /** Below data/, with its part first. */
  readonly path: string;
}

export const sumLine = ({ sha256, path: name }: Sum): string => `${sha256}  ${DATA}/${name}\n`;

/** The files of a backup, one by one. @throws CommandError for a list that was changed */
export async function* readSums(folder: string, { sums, parts }: Manifest): AsyncIterable<Sum> {
  const hash = createHash('sha256');
  const lines = createInterface({ input: createReadStream(path.join(folder, SUMS)), crlfDelay: Infinity });
  for await (const line of lines) {
    hash.update(`${line}\n`);
    const [, sha256, name] = /^([0-9a-f]{64}) {2}data\/(.+)$/.exec(line) ?? [];
    const [part = '', ...below] = name?.split('/') ?? [];
    const isInside = parts.includes(part) && below.every((word) => word !== '' && word !== '.' && word !== '..');
    if (sha256 === undefined || name === undefined || !isInside)
      throw new CommandError(`${path.join(folder, SUMS)} has a line that no backup has: ${line.slice(0, 200)}`);
    yield { sha256, path: name };
  }
  if (hash.digest('hex') !== sums) throw new CommandError(`${path.join(folder, SUMS)} is not what was written.`);
}
