import { readFileSync, readdirSync } from 'node:fs';
import { countTokens } from './chunking/countTokens.ts';
import { splitText } from './chunking/splitText.ts';
let t = readdirSync('/usr/share/doc/sqlite3')
  .filter((f) => f.endsWith('.html'))
  .slice(0, 120)
  .map((f) => readFileSync('/usr/share/doc/sqlite3/' + f, 'utf8').replace(/<[^>]*>/g, ''))
  .join('\n');
for (const [cs, co] of [
  [1500, 20],
  [1500, 20],
  [400, 50],
  [400, 0],
  [100, 20],
  [30, 5],
  [1500, 700],
  [1500, 1499],
] as const) {
  let s = performance.now();
  const r = splitText(t, { chunkSize: cs, chunkOverlap: co, prefix: null });
  console.log(
    cs,
    co,
    r.chunks.length,
    (t.length / 1e3 / (performance.now() - s)).toFixed(1),
    'MB/s',
    'fill',
    (r.chunks.reduce((a, c) => a + c.tokens, 0) / r.chunks.length / cs).toFixed(2),
  );
}
for (const w of [
  'a'.repeat(1e6),
  '字'.repeat(300000),
  '🦄'.repeat(100000),
  ' '.repeat(1e6) + 'x',
  '='.repeat(1e6),
  ' \n'.repeat(1e6) + 'x',
  Array.from({ length: 1e6 }, (_, i) => String.fromCharCode(97 + (((i * 7919) % 104729) % 26))).join(''),
  '- a\n'.repeat(250000),
  '# a\n'.repeat(250000),
  '.'.repeat(1e6),
  'a. '.repeat(300000),
  '```\n'.repeat(250000),
  '| a '.repeat(200000),
  'A. '.repeat(300000),
  '1'.repeat(1e6),
])
  for (const [cs, co] of [
    [1500, 20],
    [10, 5],
    [1, 0],
  ] as const) {
    let s = performance.now();
    const r = splitText(w, { chunkSize: cs, chunkOverlap: co, prefix: null });
    const ms = performance.now() - s;
    const over = r.chunks.filter((c) => c.tokens > cs).length;
    console.log(w.slice(0, 6).trim(), cs, r.chunks.length, ms.toFixed(0) + 'ms', 'over', over);
  }
