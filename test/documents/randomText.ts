/** Pseudo-random numbers from a fixed seed: the same in every run. */
export class Seeded {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** Returns an integer from 0 up to, but not including, `limit`. */
  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * limit);
  }

  pick<Value>(values: readonly Value[]): Value {
    const value = values[this.below(values.length)];
    if (value === undefined) throw new Error('nothing to pick from');
    return value;
  }
}

const FRAGMENTS = [
  'the',
  'harbour',
  'Dr.',
  'e.g.',
  'It is so.',
  'Why?',
  'indivisible',
  'über',
  'naïve',
  "don't",
  "WE'LL",
  '3.14',
  '1234567',
  'https://example.org/a?b=c',
  '漢字',
  '今日は。',
  '一二三四五六七八九十',
  'สวัสดีครับ',
  'مرحبا بكم؟',
  'नमस्ते।',
  '🦄',
  '👩‍👩‍👧',
  '👍🏽',
  'e\u0301',
  '\u200d',
  '<|endoftext|>',
  '…',
  '———',
  '\t',
  '   ',
  '=====',
] as const;
const BREAKS = [' ', ' ', ' ', ' ', '\n', '\n\n', '\n\n\n', '\r\n', '', '. '] as const;
const BLOCKS = [
  '\n\n# Heading\n\n',
  '\n\n## Deeper\n',
  '\n\n```js\nlet a = 1;\n\n  b();\n```\n\n',
  '\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n',
  '\n\n- one\n- two\n  - three\n\n',
  '\n> quoted\n',
  '\nTitle\n=====\n',
  '\n~~~\nopen fence\n',
] as const;

/** Returns a random text of `fragments` fragments: words of many languages, punctuation and Markdown. */
export function randomText(random: Seeded, fragments: number): string {
  let text = '';
  for (let i = 0; i < fragments; i++) {
    const kind = random.below(60);
    if (kind === 0) text += 'qzx'.repeat(1 + random.below(80));
    else if (kind < 4) text += random.pick(BLOCKS);
    else text += random.pick(FRAGMENTS) + random.pick(BREAKS);
  }
  return text;
}
