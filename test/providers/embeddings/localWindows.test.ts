import { expect, test } from '@jest/globals';
import { joinWindows } from '../../../providers/embeddings/joinWindows.js';
import { loadTokenizer } from '../../../providers/embeddings/providers/localTokenizer.js';
import {
  fillWindow,
  SLICE_CHARACTERS,
  sliceEnd,
  WINDOW_PIECES,
} from '../../../providers/embeddings/providers/localWindows.js';
import { windowedText } from '../../../providers/embeddings/providers/windowedText.js';
import { modelFiles } from './modelFiles.js';
import { seededRandom } from '../../support/seed.js';

const tokenizer = await loadTokenizer(modelFiles.tokenizerPath);

interface Steps {
  readonly windows: (readonly number[])[];
  readonly slices: string[];
}

/** Splits a text into windows step by step, like the pool and its process. The vector of a window is its number. */
function embedInSteps(text: string): Steps {
  const steps: Steps = { windows: [], slices: [] };
  const whole = windowedText(text);
  for (;;) {
    const part = whole.nextRequest();
    steps.slices.push(part.slice);
    const { window, carry } = fillWindow(part, tokenizer.tokenize);
    if (window) steps.windows.push(window);
    const vector = window && Float32Array.of(steps.windows.length);
    if (whole.addReply({ vector, tokens: window?.length ?? 0, carry })) return steps;
  }
}

/** Returns the windows of a text that is tokenized in one step. */
function wholeWindows(text: string): number[][] {
  const pieces = tokenizer.tokenize(text);
  const count = Math.max(1, Math.ceil(pieces.length / WINDOW_PIECES));
  return Array.from({ length: count }, (_, index) => pieces.slice(index * WINDOW_PIECES, (index + 1) * WINDOW_PIECES));
}

const lengths = (words: number): number[] => embedInSteps('river '.repeat(words)).windows.map((one) => one.length);

test('fills each window before it begins the next', () => {
  expect(lengths(1)).toEqual([1]);
  expect(lengths(WINDOW_PIECES)).toEqual([254]);
  expect(lengths(WINDOW_PIECES + 1)).toEqual([254, 1]);
  expect(lengths(WINDOW_PIECES * 3)).toEqual([254, 254, 254]);
});

test.each([
  ['', [[]]],
  [' '.repeat(3 * SLICE_CHARACTERS), [[]]],
])('creates one empty window for a text without word pieces', (text, windows) => {
  expect(embedInSteps(text).windows).toEqual(windows);
});

/** Characters whose normalization, lower case or tokenization depends on their neighbours. */
const PARTS = [
  ...[
    'word',
    'Σ',
    'ΑΣ',
    'σ',
    "'",
    '.',
    ':',
    '^',
    '`',
    '[SEP]',
    '[',
    'CLS]',
    ']',
    '-',
    ',',
    '_',
    '!',
    '\u0301',
    '\u200b',
  ],
  ...[' ', ' ', '\n', '\r\n', '\t', '\u00a0', '漢', '。', '👩\u200d👧', 'É', 'İ', 'x'.repeat(99), '12,5', '\u0345'],
];

test('creates the same windows step by step as from the whole text', () => {
  const chance = seededRandom('windows of texts');
  const texts = Array.from({ length: 16 }, (_, text) =>
    Array.from({ length: 100 * text + 300 }, () => chance.pick(PARTS)).join(''),
  );
  for (const text of [...texts, 'x'.repeat(9_000), '漢字'.repeat(4_000), `${'a '.repeat(254)}${' '.repeat(5_000)}`])
    expect(embedInSteps(text).windows).toEqual(wholeWindows(text));
});

test('tokenizes at most SLICE_CHARACTERS per step; a text without a place to cut is one slice', () => {
  const { slices } = embedInSteps(`${'x'.repeat(99)} `.repeat(320));
  expect(Math.max(...slices.map((slice) => slice.length))).toBeLessThanOrEqual(SLICE_CHARACTERS);
  expect(slices.join('')).toHaveLength(32_000);
  expect(sliceEnd('x'.repeat(3 * SLICE_CHARACTERS), 0)).toBe(3 * SLICE_CHARACTERS);
});

test('weights windows by their word pieces and normalizes the result', () => {
  const vector = joinWindows([
    { vector: Float32Array.of(1, 0), tokens: 3 },
    { vector: Float32Array.of(0, 1), tokens: 4 },
  ]);
  expect([...vector]).toEqual([expect.closeTo(0.6), expect.closeTo(0.8)]);
});

test('keeps the vector of a single empty window', () => {
  expect([...joinWindows([{ vector: Float32Array.of(0, 1), tokens: 0 }])]).toEqual([0, 1]);
});
