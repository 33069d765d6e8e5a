/**
 * `npm run check:prose`: fails on wording that the project avoids, and in Markdown also on long lines, broken table
 * rows, broken links and missing paths. Prints file, line and what to write instead.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';

import { brokenLinks, brokenRows, linesOutsideCode, longLines, missingPaths } from './markdown.js';
import { avoidedWordings, proseOfMarkdown, proseOfSource } from './prose.js';

/** Recorded or third-party texts. */
const SKIPPED = /(?:^|\/)(?:fixtures|histories)\//;
/** Paths whose wording is not checked: a page that quotes names of tests, and texts that are test data. */
const UNCHECKED_WORDING = [
  'docs/security.md',
  // Quotes avoided wording as test data.
  'test/scripts/prose.test.ts',
  // Expected texts of test documents: the wording must be that of the documents.
  'test/documents/formats/rows/report.ts',
  'test/documents/formats/rows/pages.ts',
  'test/documents/formats/rows/prose.ts',
];

const tracked = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n');
const folders = new Set(tracked.filter((file) => file.includes('/')).map((file) => file.split('/', 1)[0] ?? ''));
const files = tracked.filter((file) => /\.(?:ts|cjs|mjs|md)$/.test(file) && !SKIPPED.test(file) && existsSync(file));
const read = (target: string): string | null => {
  if (!existsSync(target)) return null;
  return statSync(target).isFile() ? readFileSync(target, 'utf8') : '';
};

let number = 0;
const report = (file: string, line: number, message: string): void => {
  number += 1;
  console.log(`${file}:${line}: ${message}`);
};
for (const file of files) {
  const source = readFileSync(file, 'utf8');
  const isMarkdown = file.endsWith('.md');
  const prose = isMarkdown ? proseOfMarkdown(source) : proseOfSource(source);
  if (!UNCHECKED_WORDING.some((unchecked) => file.startsWith(unchecked)))
    for (const { line, words, advice } of avoidedWordings(prose))
      report(file, line, `"${words}". Write instead: ${advice}.`);
  const paths = missingPaths(isMarkdown ? linesOutsideCode(source) : prose, folders, existsSync);
  const problems = isMarkdown
    ? [...longLines(source), ...brokenRows(source), ...brokenLinks(file, source, read), ...paths]
    : paths;
  for (const { line, message } of problems) report(file, line, message);
}
process.exitCode = number === 0 ? 0 : 1;
