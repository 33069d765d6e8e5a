import { rename, rm, writeFile } from 'node:fs/promises';

import type { GuidePaths } from './build.js';
import { DOCS, hashOfSources, isCurrent, stampOf } from './sources.js';

/** Returns whether an error reports a missing package: the generator is a development dependency. */
const isMissingPackage = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';

/** Loads the generator only for a build: its packages may be missing, and it takes seconds to load. */
const buildWithGenerator = async (paths: GuidePaths): Promise<void> => (await import('./build.js')).buildGuide(paths);

/**
 * Builds the guide if it does not exist or its sources have changed. The new site replaces the old one as a whole.
 * @returns whether the guide is current. False if it must be built, but the packages of the generator are missing,
 * which `npm ci --omit=dev` leaves out
 * @param build renders the pages
 * @throws Error if a page cannot be rendered
 */
export async function updateGuide(output: string, docs = DOCS, build = buildWithGenerator): Promise<boolean> {
  if (await isCurrent(output, docs)) return true;
  const draft = `${output}.${process.pid}`;
  // The hash of the sources before the build: a page that is saved during the build makes the site outdated.
  const hash = await hashOfSources(docs);
  try {
    await build({ docs, output: draft });
    await writeFile(stampOf(draft), hash);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (isMissingPackage(error)) return false;
    throw error;
  }
  await rm(output, { recursive: true, force: true });
  try {
    await rename(draft, output);
  } catch (error) {
    // Another process has built the same site at the same time.
    await rm(draft, { recursive: true, force: true });
    if (!(await isCurrent(output, docs))) throw error;
  }
  return true;
}
