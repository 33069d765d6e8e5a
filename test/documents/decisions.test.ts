/** Tables of expected results for small pure functions of documents/, one table per module. */
import { expect, test } from '@jest/globals';

import { documentBlocks } from '../../documents/chunking/documentBlocks.js';
import { fitPrefix } from '../../documents/chunking/prefix.js';
import { markTables, placeCuts } from '../../documents/chunking/placeCuts.js';
import { cleanText } from '../../documents/cleanText.js';
import { timeCuts } from '../../documents/speech/timeCuts.js';
import { encodingOf } from '../../documents/encoding/decodeBytes.js';
import { namedLines, tidyTable } from '../../documents/tables/foundTable.js';
import { findHeader, hasHeader, isClearHeader } from '../../documents/tables/hasHeader.js';
import { CellBudget, TableWriter } from '../../documents/tables/tableWriter.js';
import { markdownTable, TextBuilder } from '../../documents/textBuilder.js';
import { everyRow } from '../support/everyRow.js';
import { LIMITS } from './page.js';

const HEADERS: readonly (readonly [what: string, rows: readonly (readonly string[])[], has: boolean])[] = [
  ['no rows', [], false],
  ['one row', [['Name', 'Age']], false],
  [
    'words above numbers',
    [
      ['Name', 'Age'],
      ['Ada', '7'],
    ],
    true,
  ],
  ['words above words', [['Name'], ['Ada']], true],
  ['numbers above numbers', [['1'], ['2']], false],
  [
    'a number above numbers, next to a column of words',
    [
      ['Ada', '7'],
      ['Ben', '8'],
    ],
    false,
  ],
  [
    'a date above dates, next to a column of words',
    [
      ['Ada', '2024-01-02'],
      ['Ben', '2024-01-03'],
    ],
    false,
  ],
  [
    'a number above words',
    [
      ['Ada', '7'],
      ['Ben', 'none'],
    ],
    true,
  ],
  [
    'a number above an empty cell',
    [
      ['Ada', '7'],
      ['Ben', ' '],
    ],
    true,
  ],
  [
    'years above numbers',
    [
      ['Name', '1999', '2024'],
      ['Ada', '7', '8'],
    ],
    true,
  ],
  [
    'a number that is not a year above numbers',
    [
      ['Name', '1899'],
      ['Ada', '7'],
    ],
    false,
  ],
  [
    'only years',
    [
      ['1999', '2024'],
      ['7', '8'],
    ],
    false,
  ],
  [
    'only empty cells',
    [
      ['', ' '],
      ['7', '8'],
    ],
    false,
  ],
  [
    'money, percentages and signed numbers count as numbers',
    [
      ['a', '$7', '7 %', '-1.5e3'],
      ['b', '€8', '8%', '+2'],
    ],
    false,
  ],
];
test('treats the first row as a header unless it is the only row or has data above data', () =>
  everyRow(
    HEADERS,
    ([what]) => what,
    ([, rows, has]) => expect(hasHeader(rows)).toBe(has),
  ));

const CLEAR: readonly (readonly [what: string, rows: readonly string[][], isClear: boolean])[] = [
  [
    'words above a column of numbers',
    [
      ['Boat', 'Fee'],
      ['Ada', '7'],
      ['Bo', ''],
    ],
    true,
  ],
  [
    'words above words',
    [
      ['Boat', 'Fee'],
      ['Ada', 'x'],
    ],
    false,
  ],
  [
    'one word',
    [
      ['Boat', ' '],
      ['1', '7'],
    ],
    false,
  ],
  [
    'a number among the words',
    [
      ['Boat', '2024'],
      ['1', '7'],
    ],
    false,
  ],
  [
    'words above nothing',
    [
      ['Boat', 'Fee'],
      ['', ' '],
    ],
    false,
  ],
];
test('treats a row as a clear header only if it has two or more words, above numbers', () =>
  everyRow(
    CLEAR,
    ([what]) => what,
    ([, rows, isClear]) => expect(isClearHeader(rows)).toBe(isClear),
  ));

test('finds the column names below titles of one or two cells', () => {
  const table = [
    ['Boat', 'Fee', 'Term', 'Note', 'Quay', 'Day'],
    ['Ada', '7', 'May', 'x', 'North', '3'],
  ];
  const below = (...titles: string[][]) => findHeader([...titles, ...table]);
  expect([below(), below(['Fees']), below(['Fees', '', ' '], ['Date:', '2024'])]).toEqual([0, 1, 2]);
  expect(below(['a', 'b', 'c'])).toBe(0);
  expect(findHeader([['1'], ['2']])).toBeNull();
});

test('names the columns of a table that have no value', () => {
  const text = new TextBuilder(1000);
  const table = new TableWriter(text, [], new CellBudget(100), 'Fees');
  for (const row of [
    ['Boat', 'Fee', 'Note'],
    ['Ada', '7', ''],
    ['Bo', '8', ' '],
  ])
    table.add(row, false);
  table.finish();
  expect(text.toString()).toBe('# Fees\n\nBoat: Ada, Fee: 7\nBoat: Bo, Fee: 8\nColumns without values: Note');
});

test('writes rows of a table with column names, if it has any, and without empty rows and columns', () => {
  const box = { x1: 0, x2: 9, y1: 0, y2: 9 };
  const found = (...rows: string[][]) => ({ rows: rows.map((cells) => ({ ...box, cells })), words: [] });
  const textsOf = (...rows: string[][]) => namedLines(found(...rows)).map(({ text }) => text);
  expect(textsOf(['Boat', 'Fee'], ['Ada', '7'])).toEqual(['Boat: Ada, Fee: 7']);
  expect(textsOf(['1', '2'], ['3', '4'])).toEqual(['1, 2', '3, 4']);
  const tidy = tidyTable(found(['Boat', '', 'Fee'], ['', '', ''], ['Ada', '', '7']));
  expect(tidy.rows.map(({ cells }) => cells)).toEqual([
    ['Boat', 'Fee'],
    ['Ada', '7'],
  ]);
  expect(
    markdownTable([
      ['a|b', 'c'],
      ['', ' '],
      ['d', ''],
    ]),
  ).toBe('| a\\|b | c |\n| --- | --- |\n| d |  |');
});

test('accepts labels of encodings in any spelling, and rejects unknown labels, Base64, hex and UTF-7', () => {
  expect(['UTF8', 'Latin1', 'CP437'].map(encodingOf)).toEqual(['utf-8', 'windows-1252', 'CP437']);
  expect(['', 'nonsense', 'BASE64', 'Hex', 'UTF-7', 'UTF-7-IMAP'].map(encodingOf)).toEqual(Array(6).fill(null));
});

const CLEANED: readonly (readonly [raw: string, text: string])[] = [
  ['a\r\nb\rc\fd\u0085e\u2028f\u2029g', 'a\nb\nc\nd\ne\nf\ng'],
  ['a\u00a0b', 'a b'],
  ['a \t\nb', 'a\nb'],
  ['a  b', 'a  b'],
  ['  a', '  a'],
  ['a\n\n\nb', 'a\n\n\nb'],
  ['a\n\n\n\n\nb', 'a\n\n\nb'],
  ['\n\na\n\n', 'a'],
  [' \n ', ''],
];
test('normalizes the line breaks, spaces and blank lines of plain text', () =>
  everyRow(
    CLEANED,
    ([raw]) => JSON.stringify(raw),
    ([raw, text]) => expect(cleanText(raw, LIMITS)).toBe(text),
  ));
test('rejects text longer than the limit', () => {
  expect(cleanText('abc', { ...LIMITS, maxTextCharacters: 3 })).toBe('abc');
  expect(() => cleanText('abcd', { ...LIMITS, maxTextCharacters: 3 })).toThrow(/MAX_/);
});

test('shortens a prefix to at most half of the chunk size', () => {
  expect(fitPrefix(null, 100)).toEqual({ text: '', tokens: 0 });
  expect(fitPrefix('  ', 100)).toEqual({ text: '', tokens: 0 });
  expect(fitPrefix(' name ', 100)).toEqual({ text: 'name\n\n', tokens: 2 });
  expect(fitPrefix('name', 4)).toEqual({ text: 'name\n\n', tokens: 2 });
  expect(fitPrefix('name', 2)).toEqual({ text: '', tokens: 0 });
  const words = 'river '.repeat(100).trim();
  expect(fitPrefix(words, 204)).toMatchObject({ text: `${words}\n\n`, tokens: 101 });
  const { text, tokens } = fitPrefix(words, 40);
  expect(tokens).toBe(20);
  expect(words.startsWith(text.trim())).toBe(true);
});

const lineAt = (start: number, y1: number) => ({ start, end: start + 10, x1: 1.234, x2: 9 + start, y1, y2: y1 + 5 });
const PAGES = [
  { number: 1, start: 0, end: 20, lines: [lineAt(0, 100), lineAt(10, 200)] },
  { number: 3, start: 22, end: 32, lines: [lineAt(22, 50)] },
];
const cut = (start: number, end: number) => ({ start, end, tokens: 1 });
const box = (x2: number, y1: number, y2: number) => ({ x1: 1.23, x2, y1, y2 });
test('places a chunk on the pages of its text, in the bounding box of its lines', () => {
  const places = [cut(0, 10), cut(10, 20), cut(5, 25), cut(20, 22), cut(22, 40), cut(40, 41)];
  expect(placeCuts(places, PAGES).map(({ metadata }) => metadata ?? null)).toEqual([
    { pg_start: 1, pg_end: 1, ...box(9, 100, 105), boxes: [{ page: 1, ...box(9, 100, 105) }] },
    { pg_start: 1, pg_end: 1, ...box(19, 200, 205), boxes: [{ page: 1, ...box(19, 200, 205) }] },
    {
      ...{ pg_start: 1, pg_end: 3, ...box(31, 100, 55) },
      boxes: [
        { page: 1, ...box(19, 100, 205) },
        { page: 3, ...box(31, 50, 55) },
      ],
    },
    null,
    { pg_start: 3, pg_end: 3, ...box(31, 50, 55), boxes: [{ page: 3, ...box(31, 50, 55) }] },
    null,
  ]);
});

test('marks a chunk as a table if it begins inside a table', () => {
  const cuts = [cut(0, 5), cut(3, 8), cut(5, 10), cut(10, 15), cut(14, 20), cut(15, 20)];
  const marked = markTables(cuts, [[5, 7, 8, 15]]).map(({ metadata }) => metadata ?? null);
  const table = { block_types: ['TABLE'] };
  expect(marked).toEqual([null, null, table, table, table, null]);
});

test('gives a chunk the times and speakers of the sentences that it overlaps', () => {
  const sentence = (start: number, startSec: number, endSec: number, speaker: string | null) => ({
    ...{ start, end: start + 10, startSec, endSec, speaker },
  });
  // The second speaker begins before the first ends, and ends earlier.
  const speech = [
    sentence(0, 1.00049, 9, 'A'),
    sentence(11, 2, 3.0006, 'B'),
    sentence(22, 10, 11, 'A'),
    sentence(33, 12, 13, null),
  ];
  const cuts = [cut(0, 10), cut(0, 21), cut(10, 11), cut(11, 32), cut(0, 32), cut(33, 43)];
  expect(timeCuts(cuts, speech).map(({ metadata }) => metadata ?? null)).toEqual([
    { start_offset_sec: 1, end_offset_sec: 9, speakers: ['A'] },
    { start_offset_sec: 1, end_offset_sec: 9, speakers: ['A', 'B'] },
    null,
    { start_offset_sec: 2, end_offset_sec: 11, speakers: ['B', 'A'] },
    { start_offset_sec: 1, end_offset_sec: 11, speakers: ['A', 'B'] },
    { start_offset_sec: 12, end_offset_sec: 13 },
  ]);
});

const PROSE = 'Before.\n\n';
const TABLE = 'a | b\nc | d';
const rowsAt = (at: number): number[] => [at, at + 5, at + 6, at + 11];
const TABLE_PLACES: readonly (readonly [
  what: string,
  text: string,
  tableAt: number,
  pages: readonly number[] | null,
])[] = [
  ['in the middle of a text', `${PROSE}${TABLE}\n\nAfter.`, PROSE.length, null],
  ['at the start of a text', `${TABLE}\n\nAfter.`, 0, null],
  ['at the end of a text', `${PROSE}${TABLE}`, PROSE.length, null],
  ['that is the whole text', TABLE, 0, null],
  ['at the end of a page', `${PROSE}${TABLE}\n\nAfter.`, PROSE.length, [PROSE.length + TABLE.length]],
  ['at the start of a page', `${PROSE}${TABLE}\n\nAfter.`, PROSE.length, [PROSE.length]],
];

test('cuts a table by rows, wherever it is in the text', () =>
  everyRow(
    TABLE_PLACES,
    ([what]) => what,
    ([, text, tableAt, breaks]) => {
      const bounds = [0, ...(breaks ?? []), text.length];
      const pages = bounds.slice(1).map((end, nth) => ({ number: nth + 1, start: bounds[nth] ?? 0, end, lines: [] }));
      const blocks = documentBlocks(
        { text, pages, items: [], tables: [rowsAt(tableAt)], format: 'PDF' },
        { chunkSize: 100, chunkOverlap: 0, prefix: null, setPageAsBoundary: breaks !== null },
      );
      const rows = blocks.filter(({ kind }) => kind === 'row').map(({ start, end }) => text.slice(start, end));
      expect(rows).toEqual(['a | b', 'c | d']);
      expect(
        blocks
          .map(({ start, end }) => text.slice(start, end))
          .join(' ')
          .match(/Before|After/g) ?? [],
      ).toEqual(text.match(/Before|After/g) ?? []);
    },
  ));
