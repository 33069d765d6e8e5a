import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

import { type DataPackage, PACKAGE_VERSION, packageOf } from './packages.js';

const TIMEOUT_MS = 600_000;
/** The variant of the data for the neural engine: smaller and more accurate than the package's other variants. */
const VARIANT = '4.0.0_best_int';

/** Downloads a package into an empty folder. */
export type Download = (name: string, folder: string, signal: AbortSignal) => Promise<void>;

/** Downloads by npm, which is configured for the proxy and the registry of this machine. */
export const byNpm: Download = async (name, folder, signal) => {
  await promisify(execFile)(
    'npm',
    ['pack', '--loglevel', 'error', '--fetch-retries', '1', '--pack-destination', folder, name],
    {
      cwd: folder,
      signal,
      timeout: TIMEOUT_MS,
    },
  );
};

/**
 * Downloads the package of a data code, such as `eng`, and stores its data as `file`. A killed or parallel download
 * leaves no partial file.
 * @throws Error if the download fails, or is not the file that the integrity pins
 */
export async function fetchPackage(
  code: string,
  { integrity }: DataPackage,
  file: string,
  signal: AbortSignal,
  download: Download = byNpm,
): Promise<void> {
  const draft = path.join(path.dirname(file), `draft-${randomUUID()}`);
  await mkdir(draft, { recursive: true });
  try {
    await download(`${packageOf(code)}@${PACKAGE_VERSION}`, draft, signal);
    const [archive] = (await readdir(draft)).filter((name) => name.endsWith('.tgz'));
    if (archive === undefined) throw new Error('npm downloaded nothing');
    const bytes = await readFile(path.join(draft, archive));
    const found = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
    if (found !== integrity) throw new Error(`its hash is ${found}, not ${integrity}`);
    const data = memberOf(await promisify(gunzip)(bytes), `package/${VARIANT}/${code}.traineddata.gz`);
    if (data === null) throw new Error(`it contains no ${VARIANT}/${code}.traineddata.gz`);
    const complete = path.join(draft, 'complete');
    await writeFile(complete, data);
    await rename(complete, file);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

const BLOCK = 512;

/** Returns a member of a tar archive, or null. The header of a member states its name, and its size in octal digits. */
function memberOf(archive: Buffer, wanted: string): Buffer | null {
  const text = (start: number, length: number): string =>
    archive.toString('latin1', start, start + length).replace(/\0.*$/s, '');
  for (let at = 0; at + BLOCK <= archive.length;) {
    const size = Number.parseInt(text(at + 124, 12).trim() || '0', 8);
    const start = at + BLOCK;
    if (text(at, 100) === wanted) return archive.subarray(start, start + size);
    at = start + Math.ceil(size / BLOCK) * BLOCK;
  }
  return null;
}
