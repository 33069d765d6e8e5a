import { writeFile } from 'node:fs/promises';

import { MAX_LINE } from '../scripts/markdown.js';

/** Wraps a paragraph or a list item; a list item gets a hanging indent. */
function wrap(line: string): string {
  const indent = line.startsWith('- ') ? '  ' : '';
  const lines = [''];
  for (const word of line.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last === '') lines[lines.length - 1] = word;
    else if (last.length + 1 + word.length <= MAX_LINE) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`${indent}${word}`);
  }
  return lines.join('\n');
}

/** Writes the Markdown page of a benchmark. Lines are wrapped, except the rows of tables. */
export async function writeReport(file: string, markdown: string): Promise<void> {
  const wrapped = markdown.split('\n').map((line) => (line.startsWith('|') ? line : wrap(line)));
  await writeFile(file, wrapped.join('\n'));
}
