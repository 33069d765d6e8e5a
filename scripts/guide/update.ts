import { rename, rm } from 'node:fs/promises';

import { DOCS, isCurrent } from './sources.js';

/** Returns whether an error reports a missing package: the generator is a development dependency. */
const isMissingPackage = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';

/**
 * Builds the guide if it does not exist or its sources have changed. The new site replaces the old one as a whole.
 * @returns whether the guide is current: false without the packages of the generator, which `npm ci --omit=dev` leaves
 * out
 * @throws Error if a page cannot be rendered
 */
export async function updateGuide(output: string, docs = DOCS): Promise<boolean> {
  if (await isCurrent(output, docs)) return true;
  const draft = `${output}.${process.pid}`;
  try {
    const { buildGuide } = await import('./build.js');
    await buildGuide({ docs, output: draft });
  } catch (error) {
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
