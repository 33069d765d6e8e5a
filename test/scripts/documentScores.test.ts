import { expect, test } from '@jest/globals';

import { separateOurs, separateReference, withoutConventions } from '../../bench/documentScores/conventions.js';
import { everyRow } from '../support/everyRow.js';

/** A form that docling writes, and what is left of it. */
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

test('removes the forms that docling adds, and no text of the file', () =>
  everyRow(
    CONVENTIONS,
    ([text]) => text,
    ([text, rest]) => expect(withoutConventions(text)).toBe(rest),
  ));

test('compares comments apart, with their authors and without times and places', () => {
  const reference = separateReference('Text\n\n[author: Ada Fox (AF), time: 2026-01-01T00:00:00]: Too low');
  expect(reference).toEqual({ main: 'Text\n\n', apart: ['Ada Fox Too low'] });
  const ours = 'Text\n\nComment by Ada Fox (AF) on F7: Too low\n\nReply by Bo: Why?\n\nComment on "Text": Who?';
  expect(separateOurs(ours, reference).apart).toEqual(['Ada Fox Too low', 'Bo Why?', 'Who?']);
});

test('a header or comment whose words are in the text of the reference is scored with the text', () => {
  const reference = separateReference('Annual report\n\nText\n\nToo low');
  const ours = 'Header: Annual report\n\nText\n\nComment by Ada: Too low\n\nFooter: Page 1';
  expect(separateOurs(ours, reference)).toEqual({
    main: 'Annual report\n\nText\n\nToo low\n\n',
    apart: ['Page 1'],
  });
});
