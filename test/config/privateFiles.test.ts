import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { makeDataDirPrivate, makePrivate, setPrivateUmask } from '../../config/process/privateFiles.js';
import { everyRow } from '../support/everyRow.js';

const isRoot = process.getuid?.() === 0;
const OTHER_USER = 65_534;
let parent: string;
let folder: string;

beforeEach(() => {
  parent = mkdtempSync(path.join(tmpdir(), 'allotrope-private-'));
  folder = path.join(parent, 'data');
});
afterEach(() => rmSync(parent, { recursive: true }));

const at = (name: string): string => path.join(folder, name);
const modeOf = (file: string): string => (statSync(file).mode & 0o7777).toString(8);
/** Creates the folder with a file that other users may read. */
function make(mode: number): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  writeFileSync(at('secret-key'), 'x');
  chmodSync(at('secret-key'), 0o644);
  chmodSync(folder, mode);
}

/** Folders by owner and mode, the result of makePrivate(), and the modes of the folder and its file afterwards. */
const FOLDERS: [isOwn: boolean, mode: number, answer: boolean, folder: string, file: string][] = [
  [true, 0o700, true, '700', '644'],
  [true, 0o755, true, '700', '600'],
  [true, 0o710, true, '700', '600'],
  [true, 0o701, true, '700', '600'],
  [true, 0o2770, true, '2700', '600'],
  [true, 0o1777, false, '1777', '644'],
  [true, 0o1755, false, '1755', '644'],
  [false, 0o755, false, '755', '644'],
  [false, 0o1777, false, '1777', '644'],
];

test('makes an open folder and its files private, except one of another user or with the sticky bit', async () => {
  await everyRow(
    // Only root can change the owner of a folder.
    FOLDERS.filter(([isOwn]) => isOwn || isRoot),
    ([isOwn, mode]) => `${isOwn ? 'own' : 'foreign'} ${mode.toString(8)}`,
    async ([isOwn, mode, answer, ...modes]) => {
      make(mode);
      if (!isOwn) chownSync(folder, OTHER_USER, OTHER_USER);
      expect(await makePrivate(folder)).toBe(answer);
      expect([modeOf(folder), modeOf(at('secret-key'))]).toEqual(modes);
    },
  );
  if (!isRoot) expect(await makePrivate('/', [])).toBe(false);
});

test('makes everything below the folder private, but not the targets of symbolic links', async () => {
  make(0o755);
  const outside = path.join(parent, 'outside');
  writeFileSync(outside, 'x');
  chmodSync(outside, 0o644);
  mkdirSync(at('deep/er'), { recursive: true });
  chmodSync(at('deep'), 0o755);
  chmodSync(at('deep/er'), 0o755);
  writeFileSync(at('deep/er/program'), 'x');
  chmodSync(at('deep/er/program'), 0o775);
  symlinkSync(outside, at('deep/link'));
  expect(await makePrivate(folder)).toBe(true);
  expect([modeOf(at('deep')), modeOf(at('deep/er')), modeOf(at('deep/er/program'))]).toEqual(['700', '700', '700']);
  expect(modeOf(outside)).toBe('644');
});

test('leaves entries of other users unchanged, such as lost+found in the root of a volume', async () => {
  // Only root can change the owner of a folder.
  if (!isRoot) return;
  make(0o755);
  mkdirSync(at('lost+found'));
  writeFileSync(at('lost+found/own'), 'x');
  chmodSync(at('lost+found/own'), 0o644);
  chmodSync(at('lost+found'), 0o755);
  chownSync(at('lost+found'), OTHER_USER, OTHER_USER);
  expect(await makePrivate(folder)).toBe(true);
  expect(['.', 'secret-key', 'lost+found', 'lost+found/own'].map((name) => modeOf(at(name)))).toEqual([
    '700',
    '600',
    '755',
    '644',
  ]);
});

test('changes only the files of the service in DATA_DIR', async () => {
  const serviceEntries = [
    ...['api-key', 'engines.json', 'restoring', 'secret-key'],
    ...['files', 'logs', 'mongodb', 'ocr-languages', 'pids', 'qdrant', 'temporal'],
  ];
  make(0o755);
  for (const name of [...serviceEntries, 'of-another-program']) {
    writeFileSync(at(name), 'x');
    chmodSync(at(name), 0o644);
  }
  expect(await makeDataDirPrivate(folder)).toBe(true);
  await everyRow(serviceEntries, String, (name) => expect(modeOf(at(name))).toBe('600'));
  expect([modeOf(at('of-another-program')), modeOf(folder)]).toEqual(['644', '700']);
});

test('makes new files and folders private', () => {
  const previous = process.umask(0o022);
  try {
    setPrivateUmask();
    mkdirSync(folder);
    writeFileSync(at('new'), 'x');
  } finally {
    process.umask(previous);
  }
  expect([modeOf(folder), modeOf(at('new'))]).toEqual(['700', '600']);
});
