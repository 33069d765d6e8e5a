/** What `npm start` writes down of embedded engines that ended and do not run yet. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { DownEngine } from './keepRunning.js';

/**
 * Returns why an embedded engine is down, in one line; null if it runs or is none of this data folder's.
 * @param name as the engine's folder in DATA_DIR is called
 */
export async function whyDown(dataDir: string, name: string): Promise<string | null> {
  try {
    const notes = JSON.parse(await readFile(join(dataDir, 'engines.json'), 'utf8')) as {
      engines?: readonly ({ name: string; down?: DownEngine } | undefined)[];
    };
    const down = notes.engines?.find((engine) => engine?.name === name)?.down;
    return down ? `down since ${down.since}, ${down.attempts} failed starts, last cause: ${down.cause}` : null;
  } catch {
    return null;
  }
}
