import { describe, expect, test } from '@jest/globals';

import { sentencesOf } from '../../../providers/transcription/sentences.js';

/** Words of one second each, one after another. */
const spoken = (text: string, speaker: string | null = null, from = 0) =>
  text.split(' ').map((word, nth) => ({ text: word, start: from + nth, end: from + nth + 1, speaker }));

describe('sentences', () => {
  test('end at their punctuation, whatever closes after it, and carry the times of their words', () => {
    const text = 'She said “no.” Then (really?) she left! And';
    expect(sentencesOf(text, spoken(text))).toEqual([
      { start: 0, end: 3, text: 'She said “no.”', speaker: null, paragraph: true },
      { start: 3, end: 5, text: 'Then (really?)', speaker: null, paragraph: false },
      { start: 5, end: 7, text: 'she left!', speaker: null, paragraph: false },
      { start: 7, end: 8, text: 'And', speaker: null, paragraph: false },
    ]);
  });

  test('end where another speaks, who begins a paragraph', () => {
    const text = 'I think you are wrong.';
    const words = [...spoken('I think', 'A'), ...spoken('you are wrong.', 'B', 2)];
    expect(sentencesOf(text, words)).toMatchObject([
      { text: 'I think', speaker: 'A', paragraph: true },
      { text: 'you are wrong.', speaker: 'B', paragraph: true, start: 2, end: 5 },
    ]);
  });

  test('begin a paragraph after a pause, and where one has grown long', () => {
    const one = spoken('One.');
    const two = spoken('Two.', null, 10);
    expect(sentencesOf('One. Two.', [...one, ...two]).map(({ paragraph }) => paragraph)).toEqual([true, true]);
    const many = Array.from({ length: 13 }, (_, nth) => `S${nth}.`).join(' ');
    const begins = sentencesOf(many, spoken(many)).flatMap(({ paragraph }, nth) => (paragraph ? [nth] : []));
    expect(begins).toEqual([0, 6, 12]);
  });

  test('of speech without punctuation stay short', () => {
    const text = Array.from({ length: 150 }, (_, nth) => `w${nth}`).join(' ');
    const sentences = sentencesOf(text, spoken(text));
    expect(sentences.map(({ start, end }) => end - start)).toEqual([60, 60, 30]);
    expect(sentences.map((one) => one.text).join(' ')).toBe(text);
  });

  test('keep the text of a language that has no spaces, and words that the text spells otherwise', () => {
    const japanese = 'かわうそは石で遊ぶ。なぜ？';
    const words = ['かわうそは', '石で', '遊ぶ。', 'なぜ？'].map((text, nth) => ({
      text,
      start: nth,
      end: nth + 1,
      speaker: null,
    }));
    expect(sentencesOf(japanese, words).map(({ text }) => text)).toEqual(['かわうそは石で遊ぶ。', 'なぜ？']);
    const other = [...spoken('I paid'), ...spoken('twenty', null, 2), ...spoken('dollars.', null, 3)];
    expect(sentencesOf('I paid $20 dollars.', other).map(({ text }) => text)).toEqual(['I paid $20 dollars.']);
  });

  test('of nothing are none', () => {
    expect(sentencesOf('', [])).toEqual([]);
  });
});
