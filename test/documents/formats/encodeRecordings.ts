/**
 * Recordings of every audio and video type, encoded in this run by ffmpeg, which is independent of this project's code.
 */
import { createHash } from 'node:crypto';
import { access, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { withLock } from '../../../engines/lock.js';
import { run } from '../../../engines/run.js';
import { DEFAULT_ENGINES_DIR, pipInstall } from '../../../engines/venv.js';
import { INPUTS, RECIPES, type Recipe, type RecordingType } from './rows/recordings.js';

const REQUIREMENTS = fileURLToPath(new URL('requirements.txt', import.meta.url));
const PROGRAM = path.join('imageio_ffmpeg', 'binaries', 'ffmpeg-linux-x86_64-v7.0.2');

export interface EncodedRecording extends Pick<Recipe, 'what' | 'unnamed' | 'isEncrypted'> {
  readonly type: RecordingType;
  /** File name extension, without the dot. */
  readonly ending: string;
  readonly bytes: Uint8Array;
}

/**
 * Returns the path of ffmpeg in DEFAULT_ENGINES_DIR. Downloads it (29 MB) if it is missing; concurrent calls download
 * it once.
 */
async function findEncoder(): Promise<string> {
  const pins = createHash('sha256').update(await readFile(REQUIREMENTS));
  const folder = path.join(DEFAULT_ENGINES_DIR, `encoder-${pins.digest('hex').slice(0, 16)}`);
  const program = path.join(folder, PROGRAM);
  const isInstalled = (): Promise<boolean> =>
    access(program).then(
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
      const python = path.join(DEFAULT_ENGINES_DIR, 'venv', 'bin', 'python');
      await run(python, [...pipInstall(REQUIREMENTS), '--target', draft]);
      await rename(draft, folder);
    },
  );
  return program;
}

/**
 * Encodes RECIPES in one run of ffmpeg. All of them take about two seconds.
 * @param firstOnly whether to encode only the first recipe of each type
 */
export async function encodeRecordings({ firstOnly = false } = {}): Promise<readonly EncodedRecording[]> {
  const encoder = await findEncoder();
  const folder = await mkdtemp(path.join(tmpdir(), 'allotrope-recordings-'));
  try {
    const files = Object.entries(RECIPES).flatMap(([type, recipes]) =>
      recipes.slice(0, firstOnly ? 1 : undefined).map((recipe, nth) => {
        const ending = type.toLowerCase();
        return { type: type as RecordingType, ending, ...recipe, file: path.join(folder, `${type}-${nth}.${ending}`) };
      }),
    );
    await run(encoder, [
      ...['-hide_banner', '-loglevel', 'error', '-nostdin'],
      ...INPUTS.flatMap((input) => ['-f', 'lavfi', '-i', input]),
      ...files.flatMap(({ args, file }) => [...args, file]),
    ]);
    return await Promise.all(
      files.map(async ({ file, args: _args, without = 0, ...recording }) => ({
        ...recording,
        bytes: Uint8Array.from((await readFile(file)).subarray(without)),
      })),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
