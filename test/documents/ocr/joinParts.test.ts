import { expect, test } from '@jest/globals';

import type { OcrWord } from '../../../documents/ocr/engines/engine.js';
import { joinParts } from '../../../documents/ocr/engines/joinParts.js';
import { everyRow } from '../../support/everyRow.js';

/** Words of ten pixels per character, as an engine reports them. */
function placed(texts: readonly string[]): OcrWord[] {
  let x0 = 0;
  return texts.map((text) => {
    const word = { text, confidence: 90, bbox: { x0, y0: 0, x1: x0 + 10 * text.length, y1: 20 } };
    x0 = word.bbox.x1 + 2;
    return word;
  });
}

const ROWS: ReadonlyArray<readonly [what: string, words: readonly string[], line: string, joined: readonly string[]]> =
  [
    [
      'syllables of Korean words',
      ['인', '간', '은', '태어날', '때', '부터'],
      '인간은 태어날 때부터\n',
      ['인간은', '태어날', '때부터'],
    ],
    ['words of other scripts', ['The', 'red', 'red', 'fox'], 'The red red fox\n', ['The', 'red', 'red', 'fox']],
    ['a word that the line does not contain', ['인', '?', '간'], '인간\n', ['인', '?', '간']],
    ['an empty word', ['인', '', '간'], '인간\n', ['인간']],
    ['no word', [], '\n', []],
  ];

test('joins the parts that the text of their line does not separate', () =>
  everyRow(
    ROWS,
    ([what]) => what,
    ([, words, line, joined]) =>
      expect(
        joinParts(placed(words), line)
          .map(({ text }) => text)
          .filter(Boolean),
      ).toEqual(joined),
  ));

test('a joined word covers its parts, with their mean confidence by length', () => {
  const [first, second] = placed(['인간', '은']) as [OcrWord, OcrWord];
  expect(joinParts([first, { ...second, confidence: 60 }], '인간은')).toEqual([
    { text: '인간은', confidence: 80, bbox: { x0: 0, y0: 0, x1: 32, y1: 20 } },
  ]);
});
