import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Returns the path of LibreOffice, or null if it is not installed. */
export const findLibreOffice = (): string | null =>
  (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, 'soffice'))
    .find((file) => existsSync(file)) ?? null;

/** Opens a file in LibreOffice and saves it in each format, named by its extension. */
export async function saveByLibreOffice(
  office: string,
  bytes: Uint8Array | string,
  ending: string,
  formats: readonly string[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'allotrope-office-'));
  try {
    await writeFile(path.join(folder, `a.${ending}`), bytes);
    return new Map(
      formats.map((format) => {
        const args = ['--headless', '--convert-to', format, '--outdir', path.join(folder, 'out')];
        execFileSync(
          office,
          [`-env:UserInstallation=file://${folder}/profile`, ...args, path.join(folder, `a.${ending}`)],
          {
            stdio: 'ignore',
          },
        );
        return [format, Uint8Array.from(readFileSync(path.join(folder, 'out', `a.${format}`)))];
      }),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
