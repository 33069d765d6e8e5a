import { strToU8 } from 'fflate';
import { expect, test } from '@jest/globals';

import { everyRow } from '../../support/everyRow.js';
import { readFile } from '../readFile.js';
import { officeFile } from './officeFile.js';

const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const LEVELS = [0, 1, 2, 3, 4, 5, 6, 7, 8];

/** A list item by list and level, or the text of a paragraph outside of lists. */
type Block = readonly [numId: number, level: number] | string;

const abstract = (id: number, formats: readonly string[]): string =>
  `<w:abstractNum w:abstractNumId="${id}">${formats
    .map((format, level) => `<w:lvl w:ilvl="${level}"><w:start w:val="1"/><w:numFmt w:val="${format}"/></w:lvl>`)
    .join('')}</w:abstractNum>`;
const num = (id: number, list: number, more = ''): string =>
  `<w:num w:numId="${id}"><w:abstractNumId w:val="${list}"/>${more}</w:num>`;
const startAt = (level: number, start: number): string =>
  `<w:lvlOverride w:ilvl="${level}"><w:startOverride w:val="${start}"/></w:lvlOverride>`;

/** Lists of the test documents. 1 and 2 share a definition; so do 5, 6 and 7. */
const NUMBERING = `<w:numbering ${W}>${[
  abstract(
    10,
    LEVELS.map(() => 'decimal'),
  ),
  abstract(
    20,
    LEVELS.map(() => 'decimal'),
  ),
  abstract(30, ['bullet', 'decimal', 'bullet', 'decimal']),
  abstract(40, ['decimal', 'bullet', 'lowerLetter', 'none', 'upperRoman']),
  abstract(
    50,
    LEVELS.map(() => 'decimal'),
  ),
  num(1, 10),
  num(2, 10),
  num(3, 20),
  num(4, 30),
  num(8, 40),
  num(5, 50),
  num(6, 50, startAt(0, 1)),
  num(7, 50, startAt(1, 5)),
].join('')}</w:numbering>`;

const paragraph = (block: Block): string => {
  if (typeof block === 'string') return `<w:p><w:r><w:t>${block}</w:t></w:r></w:p>`;
  const [numId, level] = block;
  return `<w:p><w:pPr><w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${numId}"/></w:numPr></w:pPr><w:r><w:t>x</w:t></w:r></w:p>`;
};

/** Returns the marker of each list item and the text of each other paragraph, in order. */
async function marksOf(blocks: readonly Block[]): Promise<string[]> {
  const bytes = officeFile(
    'word/document.xml',
    `<w:document ${W}><w:body>${blocks.map(paragraph).join('')}</w:body></w:document>`,
    {
      'word/_rels/document.xml.rels': strToU8(
        '<Relationships><Relationship Id="rId1" Type="http://x/numbering" Target="numbering.xml"/></Relationships>',
      ),
      'word/numbering.xml': strToU8(NUMBERING),
    },
  );
  const lines = (await readFile(bytes, 'a.docx')).text.split('\n').filter((line) => line !== '');
  const levels = blocks.map((block) => (typeof block === 'string' ? 0 : block[1]));
  return lines.map((line, nth) => {
    const indent = '  '.repeat(levels[nth] ?? 0);
    if (!line.startsWith(indent) || line.startsWith(`${indent} `)) throw new Error(`wrong indent: “${line}”`);
    return line.trim().replace(/ x$/, '');
  });
}

/** Returns items of list 1 at the given levels. */
const itemsAt = (...levels: readonly number[]): Block[] => levels.map((level) => [1, level] as const);

type Row = readonly [what: string, blocks: readonly Block[], marks: string];

/**
 * Without w:lvlRestart, a level restarts after an item of a shallower level of the same list. w:startOverride sets the
 * first number of one list. ECMA-376, part 1, 17.9.10 (lvlRestart), 17.9.15 (num), 17.9.26 (startOverride), 17.9.17
 * (numFmt), 17.9.18 (numId).
 */
const ROWS: readonly Row[] = [
  ...LEVELS.map((level): Row => [`level ${level} continues`, itemsAt(level, level, level), '1. 2. 3.']),
  ...LEVELS.flatMap((level) =>
    LEVELS.filter((other) => other > level).flatMap((deeper): Row[] => [
      [
        `level ${deeper} restarts below the next item of level ${level}`,
        itemsAt(level, deeper, deeper, level, deeper, deeper, deeper, level, deeper),
        '1. 1. 2. 2. 1. 2. 3. 3. 1.',
      ],
      [
        `level ${level} continues after items of level ${deeper}`,
        itemsAt(level, deeper, level, deeper, deeper, level),
        '1. 1. 2. 1. 2. 3.',
      ],
    ]),
  ),
  [
    'each level restarts below the next item of the level above',
    itemsAt(0, 1, 2, 2, 1, 2, 0, 1, 2),
    '1. 1. 1. 2. 2. 1. 2. 1. 1.',
  ],
  [
    'all nine levels restart below the first',
    itemsAt(...LEVELS, ...LEVELS),
    `${LEVELS.map(() => '1.').join(' ')} 2. ${LEVELS.slice(1)
      .map(() => '1.')
      .join(' ')}`,
  ],
  ['a deeper level first', itemsAt(1, 1, 0, 1, 0), '1. 2. 1. 1. 2.'],
  ['a paragraph between items', [...itemsAt(0, 1), 'Note', ...itemsAt(1, 0, 1)], '1. 1. Note 2. 2. 1.'],
  ['a paragraph removed from its list', [...itemsAt(0, 0), [0, 0], ...itemsAt(0)], '1. 2. x 3.'],
  [
    'lists with a common definition',
    [
      [1, 0],
      [2, 0],
      [2, 1],
      [1, 1],
      [2, 0],
      [1, 1],
    ],
    '1. 2. 1. 2. 3. 1.',
  ],
  [
    'alternating lists of two definitions',
    [
      [1, 0],
      [3, 0],
      [1, 1],
      [3, 1],
      [1, 0],
      [3, 1],
      [3, 0],
      [1, 1],
    ],
    '1. 1. 1. 1. 2. 2. 2. 1.',
  ],
  [
    'numbers below bullets',
    [
      [4, 0],
      [4, 1],
      [4, 1],
      [4, 0],
      [4, 1],
      [4, 2],
      [4, 3],
      [4, 2],
      [4, 3],
    ],
    '- 1. 2. - 1. - 1. - 1.',
  ],
  [
    'bullets below numbers',
    [
      [8, 0],
      [8, 1],
      [8, 1],
      [8, 0],
      [8, 1],
    ],
    '1. - - 2. -',
  ],
  [
    'letters and Roman numbers are numbered too, a level without a format is not',
    [
      [8, 2],
      [8, 2],
      [8, 3],
      [8, 4],
      [8, 4],
    ],
    '1. 2. - 1. 2.',
  ],
  [
    'a list that restarts once',
    [
      [5, 0],
      [5, 0],
      [6, 0],
      [6, 0],
      [6, 1],
      [6, 0],
    ],
    '1. 2. 1. 2. 1. 3.',
  ],
  [
    'a level of a list that starts at 5',
    [
      [7, 0],
      [7, 1],
      [7, 1],
      [7, 0],
    ],
    '1. 5. 6. 2.',
  ],
];

test('numbers list items as Word does', () =>
  everyRow(
    ROWS,
    ([what]) => what,
    async ([, blocks, marks]) => expect((await marksOf(blocks)).join(' ')).toBe(marks),
  ));
