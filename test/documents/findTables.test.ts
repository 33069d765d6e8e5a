import { describe, expect, test } from '@jest/globals';

import { findTables } from '../../documents/tables/findTables.js';
import { namedLines } from '../../documents/tables/foundTable.js';
import type { PageLine } from '../../documents/placedText.js';

const HEIGHT = 10;
const LETTER = 5;

/** Returns the words of a page as OCR does, in a fixed-width font. Each row is a list of `[x, text]` cells. */
function page(rows: ReadonlyArray<ReadonlyArray<readonly [x: number, text: string]>>, step = 14): PageLine[] {
  return rows.flatMap((cells, row) =>
    cells.flatMap(([x, text]) => {
      let left = x;
      return text.split(' ').map((word) => {
        const box = { x1: left, x2: left + word.length * LETTER, y1: row * step, y2: row * step + HEIGHT };
        left = box.x2 + LETTER;
        return { text: word, ...box };
      });
    }),
  );
}
const rowsOf = (words: readonly PageLine[]): string[][] =>
  findTables(words).map((table) => namedLines(table).map(({ text }) => text));

test('finds a table in aligned rows, names the cells by the header and gives each row its box', () => {
  const words = page([
    [
      [0, 'Course'],
      [100, 'Fee'],
    ],
    [
      [0, 'Sailing'],
      [100, '120'],
    ],
    [
      [0, 'Deep diving'],
      [100, '340'],
    ],
  ]);
  const [table, ...more] = findTables(words);
  expect(more).toEqual([]);
  expect(table && namedLines(table)).toEqual([
    { text: 'Course: Sailing, Fee: 120', x1: 0, x2: 115, y1: 14, y2: 24 },
    { text: 'Course: Deep diving, Fee: 340', x1: 0, x2: 115, y1: 28, y2: 38 },
  ]);
  expect(table?.words).toHaveLength(words.length);
});

test('omits empty cells and joins the lines of a cell', () => {
  const words = page(
    [
      [
        [0, 'Name'],
        [60, 'Role'],
        [160, 'Since'],
      ],
      [
        [0, 'Ada'],
        [60, 'keeps the'],
        [160, '1999'],
      ],
      [[60, 'books']],
      [
        [0, 'Bo'],
        [160, '2004'],
      ],
    ],
    11,
  );
  expect(rowsOf(words)).toEqual([['Name: Ada, Role: keeps the books, Since: 1999', 'Name: Bo, Since: 2004']]);
});

test('separates two tables that are far apart', () => {
  const table = [
    [
      [0, 'a'],
      [80, 'b'],
    ],
    [
      [0, '1'],
      [80, '2'],
    ],
    [
      [0, '3'],
      [80, '4'],
    ],
  ] as const;
  const lower = page(table).map((word) => ({ ...word, y1: word.y1 + 200, y2: word.y2 + 200 }));
  expect(rowsOf([...page(table), ...lower])).toEqual([
    ['a: 1, b: 2', 'a: 3, b: 4'],
    ['a: 1, b: 2', 'a: 3, b: 4'],
  ]);
});

describe('layouts that are not tables', () => {
  test('include columns of prose', () => {
    const left = 'the harbour was quiet that morning and no boat came';
    const right = 'by noon the first boats had returned with their nets';
    const lines = Array.from({ length: 6 }, () => [[0, left] as const, [320, right] as const]);
    expect(findTables(page(lines))).toEqual([]);
  });

  test('include bulleted and numbered lists', () => {
    for (const mark of [() => '•', (nth: number) => `${nth}.`, (nth: number) => `(${'abc'[nth]})`]) {
      const lines = ['first point', 'second point', 'third point'].map(
        (text, nth) => [[0, mark(nth)] as const, [40, text] as const] as const,
      );
      expect(findTables(page(lines))).toEqual([]);
    }
  });

  test('include labels with their values', () => {
    const lines = [
      ['Date:', '1 May'],
      ['From:', 'Ada'],
      ['Subject:', 'Fees'],
    ].map(([name = '', value = '']) => [[0, name] as const, [80, value] as const] as const);
    expect(findTables(page(lines))).toEqual([]);
  });

  test('include ordinary lines, a single line of two parts, and an empty page', () => {
    expect(findTables(page([[[0, 'one line']], [[0, 'and another']], [[0, 'and a third']]]))).toEqual([]);
    expect(
      findTables(
        page([
          [
            [0, 'Left'],
            [200, 'Right'],
          ],
        ]),
      ),
    ).toEqual([]);
    expect(findTables([])).toEqual([]);
  });
});
