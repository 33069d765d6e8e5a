import { expect, test } from '@jest/globals';

import { type Glyphs, readLines } from '../../documents/parsers/pdf/readLines.js';

const run = (text: string, x: number, width: number, y = 100): Glyphs => ({ text, x, y, width, size: 10 });

test('joins a line of right-to-left text that contains left-to-right words and numbers', () => {
  // Word processors draw such a line from the right.
  const runs = [
    run('البرمجة بلغة', 240, 60),
    run('R', 228, 8),
    run('و', 220, 5),
    run('Python', 180, 35),
    run('.', 177, 3),
  ];
  expect(readLines(runs).map(({ text, x1, x2 }) => [text, x1, x2])).toEqual([['البرمجة بلغة R و Python.', 177, 300]]);
});

test('keeps the order of neighbouring left-to-right words inside a right-to-left line', () => {
  const runs = [run('اللغة', 260, 40), run('Visual', 180, 30), run('Basic', 213, 30), run('هي', 160, 15)];
  expect(readLines(runs).map(({ text }) => text)).toEqual(['اللغة Visual Basic هي']);
});

test('starts a new line at a run far to the left, and keeps wide gaps', () => {
  const runs = [run('Boat', 50, 20), run('Fee', 150, 15), run('Small', 50, 24)];
  expect(readLines(runs).map(({ text }) => text)).toEqual(['Boat  Fee', 'Small']);
});
