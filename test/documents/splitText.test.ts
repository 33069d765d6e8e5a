import { expect, test } from '@jest/globals';
import { findBlocks } from '../../documents/chunking/findBlocks.js';
import { findSentences } from '../../documents/chunking/findSentences.js';
import { splitText } from '../../documents/chunking/splitText.js';
import { countTokens } from '../../documents/chunking/countTokens.js';
import { randomText, Seeded } from './randomText.js';

const chunksOf = (text: string, chunkSize: number, chunkOverlap = 0, prefix: string | null = null): string[] =>
  splitText(text, { chunkSize, chunkOverlap, prefix }).chunks.map((chunk) => chunk.text);

test('puts several small paragraphs into one chunk', () => {
  expect(chunksOf('One.\n\nTwo.\n\nThree.\n\nFour.\n', 5)).toEqual(['One.\n\nTwo.', 'Three.\n\nFour.']);
});

test('does not cut a paragraph that fits a chunk', () => {
  expect(chunksOf('Aa bb cc dd.\n\nEe ff gg hh ii jj.', 13)).toEqual(['Aa bb cc dd.', 'Ee ff gg hh ii jj.']);
});

test('cuts a larger paragraph between sentences, then between words', () => {
  expect(chunksOf('The cat sat. The dog, by Dr. Who, ran off. It fell.', 11)).toEqual([
    'The cat sat.',
    'The dog, by Dr. Who, ran off.',
    'It fell.',
  ]);
  expect(chunksOf('one two three four five six seven', 3)).toEqual(['one two three', 'four five six', 'seven']);
});

test('keeps headings with the text that follows', () => {
  const text =
    '# Book\n\n## Chapter\n\nA first line here.\n\n## Next\n\nA second line here.\n\nTitle\n=====\n\nA third line here.';
  expect(chunksOf(text, 14)).toEqual([
    '# Book\n\n## Chapter\n\nA first line here.',
    '## Next\n\nA second line here.',
    'Title\n=====\n\nA third line here.',
  ]);
});

test('keeps a heading with the start of a paragraph too large for a chunk', () => {
  const [first] = chunksOf(`Intro text here.\n\n## Chapter\n\n${'A line of words. '.repeat(20)}`, 20);
  expect(first).toContain('## Chapter\n\nA line of words.');
});

test('cuts code and tables only if they do not fit, and then between lines', () => {
  const code = '```js\nlet a = 1;\n\nlet b = 2;\nlet c = 3;\n```';
  const table = '| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |';
  expect(chunksOf(`Text before the code.\n\n${code}\n\nText after.\n\n${table}`, 26)).toEqual([
    'Text before the code.',
    `${code}\n\nText after.`,
    table,
  ]);
  expect(chunksOf(code, 16)).toEqual(['```js\nlet a = 1;', 'let b = 2;\nlet c = 3;\n```']);
  expect(chunksOf(table, 16)).toEqual(['| a | b |\n| --- | --- |', '| 1 | 2 |\n| 3 | 4 |']);
});

test.each([
  ['of the same length', '```', '```\nAfter.', '```'],
  ['that is longer', '```', '`````\nAfter.', '`````'],
  ['after a shorter one', '````', '```\n\nlet b;\n````\nAfter.', '````'],
  ['after one of the other kind', '```', '~~~\n\nlet b;\n```\nAfter.', '```'],
  ['after one with a language', '```', '```js\n\nlet b;\n```\nAfter.', '```'],
])('ends a block of code at a fence %s', (_what, opening, rest, closing) => {
  const text = `${opening}\nlet a;\n${rest}`;
  const blocks = findBlocks(text).map(({ kind, start, end }) => [kind, text.slice(start, end)]);
  expect(blocks).toEqual([
    ['code', text.slice(0, text.lastIndexOf(closing) + closing.length)],
    ['prose', 'After.'],
  ]);
});

test('cuts lists between items', () => {
  expect(chunksOf('- one thing. Or two\n- another thing\n- a third thing', 9)).toEqual([
    '- one thing. Or two',
    '- another thing\n- a third thing',
  ]);
});

test('cuts texts without spaces after sentences and between words', () => {
  expect(chunksOf('今日は天気がいい。明日は雨です。', 10)).toEqual(['今日は天気がいい。', '明日は雨です。']);
  for (const chunk of chunksOf('สวัสดีครับยินดีต้อนรับสู่ประเทศไทย'.repeat(3), 30)) expect(chunk).not.toMatch(/^\p{M}/u);
});

test('overlaps by whole sentences if they fit, otherwise by words', () => {
  const text = 'Aa bb cc dd ee ff. Gg hh. Ii jj kk ll mm nn. Oo pp.';
  expect(chunksOf(text, 16, 6)).toEqual(['Aa bb cc dd ee ff. Gg hh.', 'Gg hh. Ii jj kk ll mm nn. Oo pp.']);
  expect(chunksOf('one two three four five six seven eight', 4, 1)).toEqual([
    'one two three four',
    'four five six seven',
    'seven eight',
  ]);
});

test('at least a quarter of each chunk is new, whatever the overlap', () => {
  const text = Array.from({ length: 200 }, (_, nth) => `Berth ${nth} is free.`).join(' ');
  for (const [chunkOverlap, prefix] of [
    [80, null],
    [79, null],
    [5_000, null],
    [80, 'harbour.md'],
  ] as const) {
    const { chunks } = splitText(text, { chunkSize: 80, chunkOverlap, prefix });
    const room = 80 - (prefix === null ? 0 : countTokens(`${prefix}\n\n`));
    const repeated = chunks.slice(1).map(({ start }, nth) => countTokens(text.slice(start, chunks[nth]!.end)));
    expect([chunkOverlap, prefix, Math.max(...repeated) <= (room * 3) / 4]).toEqual([chunkOverlap, prefix, true]);
    // The overlap nearly fills the limit: it consists of whole sentences, and a sentence has at most eight tokens.
    expect(Math.min(...repeated)).toBeGreaterThan((room * 3) / 4 - 10);
  }
  expect(chunksOf(text, 80, -1)).toEqual(chunksOf(text, 80, 0));
});

test('overlaps code by whole lines', () => {
  const text = `\`\`\`\n${'a long line of code here();\n'.repeat(4)}\`\`\``;
  for (const chunk of chunksOf(text, 16, 4).slice(1)) expect(chunk).toMatch(/^(?:a long|```)/);
});

test('puts the prefix before each chunk and counts its tokens', () => {
  const { chunks } = splitText('One.\n\nTwo.', { chunkSize: 6, chunkOverlap: 0, prefix: 'a.md' });
  expect(chunks).toEqual([
    { text: 'a.md\n\nOne.', tokens: 5, start: 0, end: 4 },
    { text: 'a.md\n\nTwo.', tokens: 5, start: 6, end: 10 },
  ]);
});

test('shortens a long prefix to half of the chunk', () => {
  const text = 'word '.repeat(40);
  for (const chunk of splitText(text, { chunkSize: 10, chunkOverlap: 0, prefix: 'name '.repeat(100) }).chunks) {
    expect(countTokens(text.slice(chunk.start, chunk.end))).toBeGreaterThanOrEqual(
      chunk.end === text.trim().length ? 1 : 5,
    );
    expect(chunk.text).toMatch(/^name name name name\n\nword/);
  }
  expect(chunksOf('word', 1, 0, 'name')).toEqual(['word']);
});

test('returns no chunks for white space', () => {
  expect(splitText(' \n\u00a0\n', { chunkSize: 10, chunkOverlap: 5, prefix: 'x' }).chunks).toEqual([]);
});

test('no chunk is larger than its size, and no overlap than its limit, in any text', () => {
  const random = new Seeded(7);
  let overlaps = 0;
  for (let i = 0; i < 120; i++) {
    const text = randomText(random, 200);
    const chunkSize = random.pick([10, 40, 100]);
    const chunkOverlap = random.below(chunkSize);
    const { chunks } = splitText(text, { chunkSize, chunkOverlap, prefix: null });
    for (const [at, { start, end }] of chunks.entries()) {
      const shared = at === 0 ? '' : text.slice(start, Math.max(start, chunks[at - 1]!.end));
      if (shared !== '') overlaps += 1;
      expect([text.slice(start, end), countTokens(text.slice(start, end)) <= chunkSize]).toEqual([
        ...[text.slice(start, end), true],
      ]);
      expect([shared, countTokens(shared) <= chunkOverlap]).toEqual([shared, true]);
    }
  }
  expect(overlaps).toBeGreaterThan(100);
});

test('keeps every block that fits a chunk whole', () => {
  const random = new Seeded(99);
  for (let i = 0; i < 60; i++) {
    const text = randomText(random, 200);
    const chunkSize = random.pick([40, 100, 400]);
    const { chunks } = splitText(text, { chunkSize, chunkOverlap: random.below(chunkSize), prefix: null });
    for (const { start, end } of findBlocks(text)) {
      if (countTokens(text.slice(start, end)) > chunkSize) continue;
      expect([text.slice(start, end), chunks.some((chunk) => chunk.start <= start && end <= chunk.end)]).toEqual([
        text.slice(start, end),
        true,
      ]);
    }
  }
});

test.each([
  ['Mr. A. Smith paid $3.50. He left.', ['Mr. A. Smith paid $3.50.', 'He left.']],
  [
    'See e.g. Fig. 3 or the U.S. Army. What? "No!" she said. Yes…  Well',
    ['See e.g. Fig. 3 or the U.S. Army.', 'What?', '"No!" she said.', 'Yes…', 'Well'],
  ],
  ['Das ist z.B. gut. Nr. 5 lebt! "Ja."', ['Das ist z.B. gut.', 'Nr. 5 lebt!', '"Ja."']],
  ['1. First. 2. Second', ['1. First.', '2.', 'Second']],
  ['هل أنت هنا؟ نعم. नमस्ते। आप कैसे हैं?', ['هل أنت هنا؟', 'نعم.', 'नमस्ते।', 'आप कैसे हैं?']],
  ['他来了。“真的？”她问。', ['他来了。', '“真的？”', '她问。']],
  [`${'.'.repeat(5)} ${'!?'.repeat(5)} a`, [`${'.'.repeat(5)}`, `${'!?'.repeat(5)} a`]],
])('finds the sentences of %j', (text, sentences) => {
  const ends = [...findSentences(text, 0, text.length), text.length];
  expect(ends.map((end, i) => text.slice(ends[i - 1] ?? 0, end).trim())).toEqual(sentences);
});
