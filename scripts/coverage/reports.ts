import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';

import type { Tally, V8Report } from './tally.js';

/**
 * Adds each complete report of a folder to the tally and deletes it, since the reports of a whole run take gigabytes.
 * @returns the number of incomplete reports: still being written, or truncated when their process was killed
 */
export async function addReports(folder: string, tally: Tally): Promise<number> {
  let incomplete = 0;
  for (const name of await readdir(folder)) {
    const file = path.join(folder, name);
    const report = parse(await readFile(file, 'utf8'));
    if (!report) {
      incomplete += 1;
      continue;
    }
    tally.add(report);
    await rm(file);
  }
  return incomplete;
}

function parse(text: string): V8Report | null {
  try {
    return JSON.parse(text) as V8Report;
  } catch {
    return null;
  }
}
