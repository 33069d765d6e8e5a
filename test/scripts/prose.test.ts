import { expect, test } from '@jest/globals';

import { avoidedWordings, proseOfMarkdown, proseOfSource } from '../../scripts/prose.js';

const found = (prose: ReturnType<typeof proseOfSource>): string[] =>
  avoidedWordings(prose)
    .map(({ line, words }) => `${line} ${words}`)
    .toSorted();

test('finds avoided wording in comments and in sentences of strings and templates, with its line', () => {
  const source = [
    '/**',
    ' * Nobody reads it.',
    ' */',
    "const somebody = 'nobody';",
    "throw new Error('The file lies in the folder');",
    'const text = `The worker goes on with ${somebody} until it comes to an end`; // anew',
  ].join('\n');
  expect(found(proseOfSource(source))).toEqual(['2 Nobody', '5 lies in', '6 anew', '6 comes to an end', '6 goes on']);
});

test('skips the code of a Markdown file', () => {
  const source = ['The row forgets.', 'See `nobody`.', '```', 'somebody', '```', 'Ask somebody.'].join('\n');
  expect(found(proseOfMarkdown(source))).toEqual(['1 row forgets', '6 somebody']);
});
