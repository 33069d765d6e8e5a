import { createHash } from 'node:crypto';
import { access, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { withLock } from '../../../engines/lock.js';
import { run } from '../../../engines/run.js';
import { DEFAULT_ENGINES_DIR, pipInstall } from '../../../engines/venv.js';

const REQUIREMENTS = fileURLToPath(new URL('requirements.txt', import.meta.url));

/** Program that a test runs with `python` and PYTHONPATH. */
export const PYTHON_AGENT = fileURLToPath(new URL('agent.py', import.meta.url));
export const PYTHON = path.join(DEFAULT_ENGINES_DIR, 'venv', 'bin', 'python');

/** Returns the folder with the Python client, next to the engines. Installs it once; concurrent calls share it. */
export async function pythonClient(): Promise<string> {
  const pins = createHash('sha256').update(await readFile(REQUIREMENTS));
  const folder = path.join(DEFAULT_ENGINES_DIR, `mcp-${pins.digest('hex').slice(0, 16)}`);
  const isInstalled = (): Promise<boolean> =>
    access(folder).then(
      () => true,
      () => false,
    );
  await withLock(
    folder,
    () => undefined,
    async () => {
      if (await isInstalled()) return;
      // Install into a draft folder: a killed installation must not look complete.
      const draft = `${folder}.draft`;
      await rm(draft, { recursive: true, force: true });
      await run(PYTHON, [...pipInstall(REQUIREMENTS), '--target', draft]);
      await rename(draft, folder);
    },
  );
  return folder;
}
