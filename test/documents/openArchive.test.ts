/** Limits of archives: the maximum number and size of unpacked members. */
import { deflateRawSync } from 'node:zlib';
import { expect, test } from '@jest/globals';

import { openArchive } from '../../documents/office/openArchive.js';
import { everyRow } from '../support/everyRow.js';
import { type Member, overlappingMembers, zipOf } from '../support/makeBombs.js';

const LIMITS = { maxArchiveEntries: 3, maxUnpackedBytes: 3_000_000, maxUnpackRatio: 100 };
/** Returns a member of random letters, whose compression ratio is below ten. */
const member = (name: string, size: number, statedSize = size): Member => {
  let state = 7;
  const letters = Buffer.from(
    Array.from({ length: size }, () => 97 + ((state = (state * 16_807) % 2_147_483_647) % 26)),
  );
  return { name, packed: deflateRawSync(letters), size: statedSize };
};
const zeros = (name: string, size: number): Member => ({ name, packed: deflateRawSync(Buffer.alloc(size)), size });

/** Members of an archive that are read in order, and the error of the last one. Null: all can be read. */
const ARCHIVES: readonly (readonly [what: string, members: readonly Member[], error: RegExp | null])[] = [
  ['as many members as are allowed', [member('a', 9), member('b', 9), member('c', 9)], null],
  ['one member more', ['a', 'b', 'c', 'd'].map((name) => member(name, 9)), /MAX_ARCHIVE_ENTRIES: 3/],
  ['as many bytes as are allowed', [member('a', 2_000_000), member('b', 1_000_000)], null],
  ['one byte more', [member('a', 2_000_000), member('b', 1_000_001)], /MAX_UNPACKED_BYTES/],
  [
    'one byte more in several members',
    [member('a', 1_500_000), member('b', 1_500_000), member('c', 1)],
    /MAX_UNPACKED_BYTES/,
  ],
  ['a small member of any ratio', [zeros('a', 1_000_000)], null],
  ['a large member of a high ratio', [zeros('a', 1_000_001)], /MAX_UNPACK_RATIO: 100/],
  ['a member that unpacks to more than it states', [member('a', 900, 800)], /damaged|broken|read/i],
];

test('reads members within the limits, and refuses the first one beyond', () =>
  everyRow(
    ARCHIVES,
    ([what]) => what,
    async ([, members, error]) => {
      const read = async (): Promise<number[]> => {
        const archive = await openArchive(zipOf(members), LIMITS);
        const sizes: number[] = [];
        for (const { name } of members) sizes.push((await archive.read(name)).length);
        return sizes;
      };
      if (error === null) expect(await read()).toEqual(members.map(({ size }) => size));
      else await expect(read()).rejects.toThrow(error);
    },
  ));

test('refuses members that share their bytes', async () => {
  const limits = { ...LIMITS, maxArchiveEntries: 2_000 };
  await expect(openArchive(overlappingMembers(), limits)).rejects.toMatchObject({ kind: 'broken_content' });
});

test('finds a member by its name in any case, with slashes or backslashes', async () => {
  const archive = await openArchive(zipOf([member('Word\\Document.xml', 9)]), LIMITS);
  expect([archive.has('word/document.xml'), archive.has('document.xml')]).toEqual([true, false]);
  expect(await archive.read('/word/document.xml')).toHaveLength(9);
  await expect(archive.read('word/other.xml')).rejects.toMatchObject({ kind: 'broken_content' });
});

test('reads a member with an absolute name, unless another has the name without the slash', async () => {
  const names = ['content.xml', '/content.xml', '/styles.xml'];
  const archive = await openArchive(zipOf(names.map((name, nth) => member(name, 9 + nth))), LIMITS);
  expect(archive.names).toEqual(['content.xml', 'styles.xml']);
  expect(await archive.read('content.xml')).toHaveLength(9);
  expect(await archive.read('styles.xml')).toHaveLength(11);
});

test.each(['../content.xml', '/../content.xml', 'a/../content.xml', 'C:/content.xml'])(
  'refuses the name %s',
  async (name) => {
    await expect(openArchive(zipOf([member(name, 9)]), LIMITS)).rejects.toMatchObject({ kind: 'broken_content' });
  },
);
