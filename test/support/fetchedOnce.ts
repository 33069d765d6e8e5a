/** Programs that tests download once, to `.engines/`. */
import { createHash } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';

import { withLock } from '../../engines/lock.js';
import { run } from '../../engines/run.js';
import { DEFAULT_ENGINES_DIR } from '../../engines/venv.js';

const isPresent = (place: string): Promise<boolean> =>
  stat(place).then(
    () => true,
    () => false,
  );

export interface Fetched {
  /** Prefix of the folder's name. Other folders with this prefix are older versions and are deleted. */
  readonly family: string;
  /** File that pins the versions. After a change of this file, the programs are downloaded again. */
  readonly pinnedBy: string;
  /** Name and size of the download, for the message that announces it. */
  readonly label: string;
  /** Downloads the programs to an empty folder, which is renamed afterwards. */
  readonly fetch: (draft: string) => Promise<unknown>;
}

/** Downloads programs unless they are present. @returns their folder */
export async function fetchedOnce({ family, pinnedBy, label, fetch }: Fetched): Promise<string> {
  const hash = createHash('sha256')
    .update(await readFile(pinnedBy))
    .digest('hex');
  const name = family + hash.slice(0, 8);
  const folder = path.join(DEFAULT_ENGINES_DIR, name);
  if (await isPresent(folder)) return folder;
  return withLock(
    path.join(DEFAULT_ENGINES_DIR, family),
    () => undefined,
    async () => {
      if (await isPresent(folder)) return folder;
      process.stderr.write(`Fetching ${label}, once\n`);
      await mkdir(DEFAULT_ENGINES_DIR, { recursive: true });
      // Remove older versions and leftovers of killed runs.
      const outdated = (await readdir(DEFAULT_ENGINES_DIR)).filter((entry) => entry.startsWith(family));
      await Promise.all(
        outdated.map((entry) => rm(path.join(DEFAULT_ENGINES_DIR, entry), { recursive: true, force: true })),
      );
      // npm misidentifies packages behind a symbolic link, so use the real path.
      const draft = await mkdtemp(path.join(await realpath(DEFAULT_ENGINES_DIR), `${family}draft-`));
      await fetch(draft);
      await rename(draft, folder);
      return folder;
    },
  );
}

/**
 * Installs npm packages unless they are installed.
 * @param from folder with package.json and package-lock.json
 * @returns the folder with their node_modules
 */
export const installedPackages = (family: string, from: string, label: string): Promise<string> =>
  fetchedOnce({
    family,
    pinnedBy: path.join(from, 'package-lock.json'),
    label,
    fetch: (draft) => install(from, draft),
  });

async function install(from: string, draft: string): Promise<void> {
  for (const file of ['package.json', 'package-lock.json'])
    await copyFile(path.join(from, file), path.join(draft, file));
  // package.json lists peer dependencies itself, so npm need not install them.
  await run('npm', ['ci', '--prefix', draft, '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund']);
}
