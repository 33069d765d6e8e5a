/** Finds an engine's program: one on PATH with a suitable version, else the one from the pinned wheel. */
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';

import { run } from './run.js';
import type { Venv } from './venv.js';

interface Wanted {
  /** Matches the output of `--version`; groups: major, minor. */
  readonly version: RegExp;
  readonly fits: (major: number, minor: number) => boolean;
  readonly inWheel: (venv: Venv) => string;
}

const WANTED = {
  temporal: {
    version: /temporal version (\d+)\.(\d+)\.\d+/,
    // 1.9 ships server 1.32, which supports fairness keys.
    fits: (major, minor) => major === 1 && minor >= 9,
    inWheel: (venv) => join(venv.binDir, 'temporal'),
  },
  mongod: {
    version: /db version v(\d+)\.(\d+)\.\d+/,
    // The wheel contains 6.0 and production uses 7.0. Neither version can open the files of a newer one.
    fits: (major, minor) => (major === 6 || major === 7) && minor === 0,
    inWheel: (venv) => join(venv.sitePackages, 'fiftyone', 'db', 'bin', 'mongod'),
  },
} as const satisfies Record<string, Wanted>;

/** Returns the absolute path of an engine's program. */
export async function findBinary(program: keyof typeof WANTED, venv: Venv): Promise<string> {
  const { version, fits, inWheel }: Wanted = WANTED[program];
  for (const dir of (process.env['PATH'] ?? '').split(':').filter(Boolean)) {
    const path = join(dir, program);
    if (!(await isExecutable(path))) continue;
    const output = await run(path, ['--version'], { timeoutMs: 20_000 }).catch(() => '');
    const [, major, minor] = version.exec(output) ?? [];
    if (fits(Number(major), Number(minor))) return path;
  }
  return inWheel(venv);
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
