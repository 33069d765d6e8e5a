/** `npm run check:prose`: fails on wording that the project avoids, with file, line and what to write instead. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

import { avoidedWordings, proseOfMarkdown, proseOfSource } from './prose.js';

/** Recorded or foreign texts. */
const SKIPPED = /(?:^|\/)(?:fixtures|histories)\//;
/** Texts that are not rewritten yet: the tests, and the page that quotes their names. Remove an entry, never add one. */
const NOT_YET = /^(?:test\/|docs\/security\.md$)/;

const tracked = execFileSync('git', ['ls-files', '*.ts', '*.cjs', '*.mjs', '*.md'], { encoding: 'utf8' }).trim();
const files = tracked.split('\n').filter((path) => !SKIPPED.test(path) && !NOT_YET.test(path));
let number = 0;
for (const path of files) {
  const source = readFileSync(path, 'utf8');
  const prose = path.endsWith('.md') ? proseOfMarkdown(source) : proseOfSource(source);
  for (const { line, words, advice } of avoidedWordings(prose)) {
    number++;
    console.log(`${path}:${line}: "${words}". Write instead: ${advice}.`);
  }
}
process.exitCode = number === 0 ? 0 : 1;
