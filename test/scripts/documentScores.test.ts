import { expect, test } from '@jest/globals';

import {
  separateOurs,
  separateReference,
  withoutConventions,
  withoutRepeatedNames,
} from '../../bench/documentScores/conventions.js';
import { everyRow } from '../support/everyRow.js';

/** A text in docling's output, and the same text without the markup that docling adds. */
const CONVENTIONS: ReadonlyArray<readonly [text: string, rest: string]> = [
  ['| 2024-01-01 00:00:00 | 5 |', '| 2024-01-01 | 5 |'],
  ['2024-01-01 00:00:01', '2024-01-01 00:00:01'],
  ['## Sheet1', ''],
  ['## Sheet music', '## Sheet music'],
  ['<!-- image -->\n\nBar chart\n\n| a |', '<!-- image -->\n\n\n\n| a |'],
  ['Bar chart', 'Bar chart'],
  ['- [x] Tea', 'Tea'],
  ['☒ Tea ☐ Milk', 'Tea Milk'],
];

test('removes the markup that docling adds, and no text of the file', () =>
  everyRow(
    CONVENTIONS,
    ([text]) => text,
    ([text, expected]) => expect(withoutConventions(text)).toBe(expected),
  ));

test('separates comments from the text, with their authors and without times and places', () => {
  const reference = separateReference('Text\n\n[author: Ada Fox (AF), time: 2026-01-01T00:00:00]: Too low');
  expect(reference).toMatchObject({ main: 'Text\n\n', separateParts: ['Ada Fox Too low'] });
  const ours = 'Text\n\nComment by Ada Fox (AF) on F7: Too low\n\nReply by Bo: Why?\n\nComment on "Text": Who?';
  expect(separateOurs(ours, reference).separateParts).toEqual(['Ada Fox Too low', 'Bo Why?', 'Who?']);
});

test("a header or comment stays in our text if the text of the reference, docling's output, has its words", () => {
  const reference = separateReference('Annual report\n\nText\n\nToo low');
  const ours = 'Header: Annual report\n\nText\n\nComment by Ada: Too low\n\nFooter: Page 1';
  expect(separateOurs(ours, reference)).toEqual({
    main: 'Annual report\n\nText\n\nToo low\n\n',
    separateParts: ['Page 1'],
  });
});

test('notes of slides are separated, unless the reference has them in its text', () => {
  const ours = '# One\n\nText\n\nNotes: First line.\nSecond line.\n\n# Two';
  const notes = ['First line.\nSecond line.'];
  expect(separateOurs(ours, separateReference('One\n\nText\n\nTwo'))).toEqual({
    main: '# One\n\nText\n\n\n\n# Two',
    separateParts: notes,
  });
  const reference = separateReference('One\n\nText\n\nFirst line. Second line.\n\nTwo');
  expect(separateOurs(ours, reference).separateParts).toEqual([]);
});

test('the data of a chart is separated if the reference names the chart without its data', () => {
  const chart = '|  | 2026 |\n| --- | --- |\n| Q1 | 10 |\n';
  const ours = `| a | b |\n\n${chart}\n| c | d |\n`;
  const reference = separateReference('| a | b |\n\n<!-- image -->\n\nOther chart\n');
  expect(separateOurs(ours, reference)).toEqual({ main: '| a | b |\n\n\n| c | d |\n', separateParts: [chart.trim()] });
  const complete = separateReference(`| a | b |\n\n<!-- image -->\n\nBar chart\n\n${chart}`);
  expect(separateOurs(ours, complete)).toEqual({ main: ours, separateParts: [] });
});

test('removes the names of columns that a row of a sheet repeats from the row above', () => {
  expect(withoutRepeatedNames('id: 1, name: Fox, age: 2\nid: 2, age: 3\n\nid: 4')).toBe(
    'id: 1, name: Fox, age: 2\n2, 3\n\nid: 4',
  );
  const table = '| id: a | b |\n| id: c | d |';
  expect(withoutRepeatedNames(table)).toBe(table);
});
