/** Tests of the list of files that a backup copies. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { listFilesIn } from '../../cli/backup/copy.js';
import { isThere } from '../../cli/backup/parts.js';
import { CommandError } from '../../cli/command.js';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'allotrope-copy-'));
  await mkdir(path.join(root, 'data/inner'), { recursive: true });
  await writeFile(path.join(root, 'data/inner/file'), 'text');
});
afterEach(() => rm(root, { recursive: true }));

const pathsIn = async (name: string): Promise<string[]> => {
  const paths: string[] = [];
  for await (const { relativePath } of listFilesIn(path.join(root, name))) paths.push(relativePath);
  return paths;
};
const isPartThere = (name: string): Promise<boolean> => isThere({ name, path: path.join(root, name), isKey: false });

test('lists the files of a folder, and none of a missing path', async () => {
  expect([await pathsIn('data'), await isPartThere('data')]).toEqual([['inner/file'], true]);
  expect([await pathsIn('missing'), await isPartThere('missing')]).toEqual([[], false]);
});

test('fails for a path that exists but cannot be read, instead of omitting it', async () => {
  // The suite cannot cause EIO, nor EACCES as root. These paths give ENOTDIR and ENAMETOOLONG instead.
  for (const name of ['data/inner/file/below', 'x'.repeat(300)]) {
    await expect(pathsIn(name)).rejects.toThrow(CommandError);
    await expect(pathsIn(name)).rejects.toThrow(/cannot be read \(E.*Check its permissions and its disk/);
    await expect(isPartThere(name)).rejects.toThrow(/cannot be read/);
  }
});

test('follows a link that replaces the folder, for example to another disk, but none in it', async () => {
  await symlink('data', path.join(root, 'linked'));
  await symlink('file', path.join(root, 'data/inner/link'));
  expect([await pathsIn('linked'), await isPartThere('linked')]).toEqual([['inner/file'], true]);
});

test('ignores the folder lost+found in the root of a volume, but not one that is deeper in the data', async () => {
  await mkdir(path.join(root, 'volume/lost+found'), { recursive: true });
  await writeFile(path.join(root, 'volume/lost+found/#1'), 'text');
  expect([await pathsIn('volume'), await isPartThere('volume')]).toEqual([[], false]);
  await mkdir(path.join(root, 'volume/a/lost+found'), { recursive: true });
  await writeFile(path.join(root, 'volume/a/lost+found/b'), 'text');
  expect([await pathsIn('volume'), await isPartThere('volume')]).toEqual([['a/lost+found/b'], true]);
});
