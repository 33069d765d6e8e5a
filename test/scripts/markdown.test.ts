import { expect, test } from '@jest/globals';

import {
  anchorsOf,
  brokenLinks,
  brokenRows,
  linesOutsideCode,
  longLines,
  missingPaths,
} from '../../scripts/markdown.js';

const page = (...lines: string[]): string => lines.join('\n');

test('reports long lines, except table rows and code', () => {
  const long = 'x'.repeat(121);
  const source = page(long, `| ${long} |`, '```', long, '```', '~~~~text', '~~~', long, '~~~~', 'x'.repeat(120), long);
  expect(longLines(source).map(({ line }) => line)).toEqual([1, 11]);
});

test('reports table rows that are wrapped, or indented differently from the row above', () => {
  const list = ['1. A list:', '', '   | a | b |', '   |---|---|'];
  const source = page(
    ...list,
    '   | 1 | 2 |',
    '| 3 | 4',
    'and 5 |',
    '',
    '| c |',
    '|---|',
    '   | 6 |',
    '```',
    '| d',
    '```',
  );
  expect(brokenRows(source).map(({ line }) => line)).toEqual([6, 11]);
});

test('derives anchors as GitHub does', () => {
  const source = page('# A `b/c`: one, two', '## Hot & cold', '## Same', '## Same', '```', '# code', '```');
  expect([...anchorsOf(source)]).toEqual(['a-bc-one-two', 'hot--cold', 'same', 'same-1']);
});

test('reports links that lead to no file or no heading', () => {
  const files = new Map([
    ['docs/b.md', '# Known'],
    ['docs', ''],
  ]);
  const source = page(
    '# Here',
    '[a](b.md) [b](b.md#known) [c](#here) [d](../docs) [e](https://example.com/x.md#y) `[f](none.md)`',
    '[a](none.md)',
    '[a](b.md#unknown)',
    '![a](none.png)',
    '[a](#unknown)',
    '[1]: none.md',
    '```',
    '[a](none.md)',
    '```',
  );
  const problems = brokenLinks('docs/a.md', source, (target) => files.get(target) ?? null);
  expect(problems.map(({ line, message }) => `${line} ${message}`)).toEqual([
    '3 none.md leads to no file',
    '4 b.md#unknown leads to no heading',
    '5 none.png leads to no file',
    '6 #unknown leads to no heading',
    '7 none.md leads to no file',
  ]);
});

test('reports paths of the project that do not exist', () => {
  const text = 'See `pages/a.md`, pages/none.md, other/none.md, pages/<page>.md, pages/*.md and (pages/none.ts).';
  const problems = missingPaths(linesOutsideCode(text), new Set(['pages']), (target) => target === 'pages/a.md');
  expect(problems.map(({ message }) => message)).toEqual([
    'pages/none.md does not exist',
    'pages/none.ts does not exist',
  ]);
});
