import { strToU8 } from 'fflate';
import { expect, test } from '@jest/globals';

import { formatNumber } from '../../../documents/office/formatNumber.js';
import { everyRow } from '../../support/everyRow.js';
import { readFile } from '../readFile.js';
import { officeFile } from './officeFile.js';

const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';

interface Level {
  readonly format?: string;
  readonly text?: string;
  readonly start?: number;
  /** Further elements. */
  readonly more?: string;
}

const level = ({ format = 'decimal', text, start = 1, more = '' }: Level, nth: number): string =>
  `<w:lvl w:ilvl="${nth}"><w:start w:val="${start}"/><w:numFmt w:val="${format}"/>${more}${
    text === undefined ? '' : `<w:lvlText w:val="${text}"/>`
  }</w:lvl>`;
const abstract = (id: number, levels: readonly Level[], more = ''): string =>
  `<w:abstractNum w:abstractNumId="${id}">${more}${levels.map(level).join('')}</w:abstractNum>`;
const num = (id: number, definition: number, more = ''): string =>
  `<w:num w:numId="${id}"><w:abstractNumId w:val="${definition}"/>${more}</w:num>`;

/** Headings by style: the second and third rank are bound to their levels by the list, not by the style. */
const STYLES = `<w:styles ${W}>${[1, 2, 3]
  .map(
    (rank) =>
      `<w:style w:type="paragraph" w:styleId="H${rank}"><w:name w:val="heading ${rank}"/><w:pPr><w:numPr>${
        rank === 1 ? '<w:ilvl w:val="0"/>' : ''
      }<w:numId w:val="1"/></w:numPr></w:pPr></w:style>`,
  )
  .join(
    '',
  )}<w:style w:type="paragraph" w:styleId="Plain"><w:name w:val="heading 2 plain"/><w:basedOn w:val="H2"/><w:pPr><w:numPr><w:numId w:val="0"/></w:numPr></w:pPr></w:style></w:styles>`;
const HEADINGS = [
  { text: '%1' },
  { text: '%1.%2', more: '<w:pStyle w:val="H2"/>' },
  { text: '%1.%2.%3', more: '<w:pStyle w:val="H3"/>' },
];

/** A paragraph: its style, its list with the level, and its text. Each part is optional. */
interface Block {
  readonly style?: string;
  readonly list?: readonly [numId: number, level: number];
  readonly text?: string;
}
const heading = (rank: number, text: string): Block => ({ style: `H${rank}`, text });
const item = (numId: number, at: number, text = 'x'): Block => ({ list: [numId, at], text });
const paragraph = ({ style, list, text = 'x' }: Block): string =>
  `<w:p><w:pPr>${style === undefined ? '' : `<w:pStyle w:val="${style}"/>`}${
    list === undefined ? '' : `<w:numPr><w:ilvl w:val="${list[1]}"/><w:numId w:val="${list[0]}"/></w:numPr>`
  }</w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;

async function linesOf(numbering: string, body: string): Promise<string[]> {
  const bytes = officeFile('word/document.xml', `<w:document ${W}><w:body>${body}</w:body></w:document>`, {
    'word/_rels/document.xml.rels': strToU8(
      '<Relationships><Relationship Id="rId1" Type="http://x/numbering" Target="numbering.xml"/><Relationship Id="rId2" Type="http://x/styles" Target="styles.xml"/></Relationships>',
    ),
    'word/numbering.xml': strToU8(`<w:numbering ${W}>${numbering}</w:numbering>`),
    'word/styles.xml': strToU8(STYLES),
  });
  return (await readFile(bytes, 'a.docx')).text.split('\n').filter((line) => line !== '');
}

type Row = readonly [what: string, levels: readonly Level[], blocks: readonly Block[], lines: readonly string[]];

/** ECMA-376, part 1: 17.9.4 (isLgl), 17.9.10 (lvlRestart), 17.9.11 (lvlText), 17.9.23 (pStyle), 17.18.59 (formats). */
const ROWS: readonly Row[] = [
  [
    'headings have the numbers of their list, whether the style names the level or the level names the style',
    HEADINGS,
    [heading(1, 'Scope'), heading(2, 'Aim'), heading(2, 'Limits'), heading(3, 'Time'), heading(1, 'Terms')],
    ['# 1 Scope', '## 1.1 Aim', '## 1.2 Limits', '### 1.2.1 Time', '# 2 Terms'],
  ],
  [
    'a style may remove the number of its parent, and a paragraph may change the level of its style',
    HEADINGS,
    [heading(1, 'Scope'), { style: 'Plain', text: 'Note' }, { style: 'H1', list: [1, 1], text: 'Aim' }],
    ['# 1 Scope', '## Note', '# 1.1 Aim'],
  ],
  [
    'a missing level above shows its first number',
    HEADINGS,
    [heading(1, 'Scope'), heading(3, 'Time')],
    ['# 1 Scope', '### 1.1.1 Time'],
  ],
  [
    'numbers in a format that Markdown does not have follow a bullet',
    [{ text: '%1.' }, { text: '(%2)', format: 'lowerLetter' }, { text: '%1.%2.%3', format: 'lowerRoman' }],
    [item(1, 0), item(1, 1), item(1, 1), item(1, 2), item(1, 0), item(1, 1)],
    ['1. x', '  - (a) x', '  - (b) x', '    - 1.b.i x', '2. x', '  - (a) x'],
  ],
  [
    'a number text (lvlText) of more than 100 characters is cut',
    [{ text: `%1. ${'x'.repeat(300)}` }],
    [item(1, 0)],
    [`- 1. ${'x'.repeat(96)} x`],
  ],
  ['a parenthesis after a number', [{ text: '%1)' }], [item(1, 0), item(1, 0)], ['1) x', '2) x']],
  [
    'words around the number, and words alone',
    [
      { text: 'Article %1:', format: 'upperRoman', start: 4 },
      { text: 'Note:', format: 'none' },
    ],
    [item(1, 0), item(1, 1), item(1, 0)],
    ['- Article IV: x', '  - Note: x', '- Article V: x'],
  ],
  [
    'legal numbers are decimal on all levels',
    [
      { text: '%1.', format: 'upperRoman' },
      { text: '%1.%2', more: '<w:isLgl/>' },
      { text: '%1.%2.%3', more: '<w:isLgl w:val="0"/>' },
    ],
    [item(1, 0), item(1, 0), item(1, 1), item(1, 2)],
    ['- I. x', '- II. x', '  - 2.1 x', '    - II.1.1 x'],
  ],
  [
    'a level that never restarts, and one that restarts only after an item of the first level',
    [
      { text: '%1.' },
      { text: '%2.', more: '<w:lvlRestart w:val="0"/>' },
      { text: '%3.', more: '<w:lvlRestart w:val="1"/>' },
    ],
    [item(1, 0), item(1, 1), item(1, 2), item(1, 1), item(1, 2), item(1, 0), item(1, 1), item(1, 2)],
    ['1. x', '  1. x', '    1. x', '  2. x', '    2. x', '2. x', '  3. x', '    1. x'],
  ],
  [
    'a list continues after a heading and after an empty item',
    [{ text: '%1.' }],
    [item(1, 0), { style: 'Plain', text: 'Note' }, item(1, 0, ''), item(1, 0)],
    ['1. x', '## Note', '3. x'],
  ],
];

test('shows the numbers of headings and items as Word does', () =>
  everyRow(
    ROWS,
    ([what]) => what,
    async ([, levels, blocks, lines]) =>
      expect(await linesOf(abstract(10, levels) + num(1, 10), blocks.map(paragraph).join(''))).toEqual(lines),
  ));

test('a list may override levels of its definition, or take all levels from a linked list style', async () => {
  const numbering = [
    abstract(10, [{ text: '%1.' }], '<w:styleLink w:val="Legal"/>'),
    abstract(20, [], '<w:numStyleLink w:val="Legal"/>'),
    num(1, 10),
    num(2, 20),
    num(3, 10, `<w:lvlOverride w:ilvl="0">${level({ text: '§ %1', start: 7 }, 0)}</w:lvlOverride>`),
  ].join('');
  const blocks = [item(2, 0), item(2, 0), item(3, 0)];
  expect(await linesOf(numbering, blocks.map(paragraph).join(''))).toEqual(['1. x', '2. x', '- § 7 x']);
});

test('numbers in cells are text of the cell, also in a cell without other text', async () => {
  const cell = (block: Block): string => `<w:tc>${paragraph(block)}</w:tc>`;
  const row = (text: string): string => `<w:tr>${cell(item(1, 0, ''))}${cell({ text })}</w:tr>`;
  const numbering = abstract(10, [{ text: '%1.' }]) + num(1, 10);
  const body = `<w:tbl>${row('Fox')}${row('Owl')}</w:tbl><w:tbl><w:tr>${cell(item(1, 0))}</w:tr></w:tbl>`;
  expect(await linesOf(numbering, body)).toEqual(['| 1. | Fox |', '| --- | --- |', '| 2. | Owl |', '3. x']);
});

const FORMATS: ReadonlyArray<readonly [format: string, number: number, shown: string]> = [
  ['decimal', 12, '12'],
  ['decimalZero', 7, '07'],
  ['upperLetter', 26, 'Z'],
  ['lowerLetter', 27, 'aa'],
  ['lowerLetter', 54, 'bbb'],
  ['lowerRoman', 1994, 'mcmxciv'],
  ['upperRoman', 9, 'IX'],
  ['upperRoman', 0, '0'],
  ['lowerLetter', 1_000_000_000, '1000000000'],
  ['ordinal', 1, '1st'],
  ['ordinal', 12, '12th'],
  ['ordinal', 23, '23rd'],
  ['decimalFullWidth', 10, '１０'],
  ['decimalEnclosedCircle', 20, '⑳'],
  ['decimalEnclosedCircle', 21, '21'],
  ['chineseCountingThousand', 5, '五'],
  ['chineseCounting', 10, '十'],
  ['japaneseCounting', 21, '二十一'],
  ['hebrew1', 3, '3'],
  ['none', 3, ''],
];

test('formats numbers', () =>
  everyRow(
    FORMATS,
    ([format, number]) => `${format} ${number}`,
    ([format, number, shown]) => expect(formatNumber(number, format)).toBe(shown),
  ));
