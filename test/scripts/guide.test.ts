import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { isCurrent } from '../../scripts/guide/sources.js';
import { updateGuide } from '../../scripts/guide/update.js';

let folder = '';
const at = (name: string): string => path.join(folder, name);
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'allotrope-guide-'));
  await mkdir(at('docs'));
  await writeFile(at('docs/page.md'), '# One');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const build = (): Promise<unknown> => updateGuide(at('site'), at('docs'), ({ output }) => mkdir(output));

test('a page that is saved during a build leaves the site outdated', async () => {
  const savesPage = async ({ output }: { readonly output: string }): Promise<void> => {
    await mkdir(output);
    await writeFile(at('docs/page.md'), '# Two');
  };
  await updateGuide(at('site'), at('docs'), savesPage);
  expect(await isCurrent(at('site'), at('docs'))).toBe(false);
  await build();
  expect(await isCurrent(at('site'), at('docs'))).toBe(true);
});

test('a failed build leaves no draft, and the site does not change', async () => {
  await build();
  await writeFile(at('docs/page.md'), '# Two');
  const fails = async ({ output }: { readonly output: string }): Promise<void> => {
    await mkdir(output);
    throw new Error('the disk is full');
  };
  await expect(updateGuide(at('site'), at('docs'), fails)).rejects.toThrow('the disk is full');
  expect(await readdir(folder)).toEqual(['docs', 'site']);
});
