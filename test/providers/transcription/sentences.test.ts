import { describe, expect, test } from '@jest/globals';

import { sentencesOf } from '../../../providers/transcription/sentences.js';

/** Returns consecutive words of one second each. */
const spoken = (text: string, speaker: string | null = null, from = 0) =>
  text.split(' ').map((word, nth) => ({ text: word, start: from + nth, end: from + nth + 1, speaker }));

describe('sentences', () => {
  test('end after punctuation and closing marks, and have the times of their words', () => {
    const text = 'She said “no.” Then (really?) she left! And';
    expect(sentencesOf(text, spoken(text))).toEqual([
      { start: 0, end: 3, text: 'She said “no.”', speaker: null, paragraph: true },
      { start: 3, end: 5, text: 'Then (really?)', speaker: null, paragraph: false },
      { start: 5, end: 7, text: 'she left!', speaker: null, paragraph: false },
      { start: 7, end: 8, text: 'And', speaker: null, paragraph: false },
    ]);
  });

  test('end at a change of speaker, which begins a paragraph', () => {
    const text = 'I think you are wrong.';
    const words = [...spoken('I think', 'A'), ...spoken('you are wrong.', 'B', 2)];
    expect(sentencesOf(text, words)).toMatchObject([
      { text: 'I think', speaker: 'A', paragraph: true },
      { text: 'you are wrong.', speaker: 'B', paragraph: true, start: 2, end: 5 },
    ]);
  });

  test('begin a paragraph after a pause or after a long paragraph', () => {
    const one = spoken('One.');
    const pausedFor = (seconds: number): unknown => {
      const two = spoken('Two.', null, 1 + seconds);
      return sentencesOf('One. Two.', [...one, ...two]).map(({ paragraph }) => paragraph);
    };
    expect([pausedFor(2), pausedFor(2.1)]).toEqual([
      [true, false],
      [true, true],
    ]);
    const many = Array.from({ length: 13 }, (_, nth) => `S${nth}.`).join(' ');
    const begins = sentencesOf(many, spoken(many)).flatMap(({ paragraph }, nth) => (paragraph ? [nth] : []));
    expect(begins).toEqual([0, 6, 12]);
  });

  test('are limited to 60 words without punctuation', () => {
    const text = Array.from({ length: 150 }, (_, nth) => `w${nth}`).join(' ');
    const sentences = sentencesOf(text, spoken(text));
    expect(sentences.map(({ start, end }) => end - start)).toEqual([60, 60, 30]);
    expect(sentences.map((one) => one.text).join(' ')).toBe(text);
  });

  test('copy the text, also in a language without spaces, and if a word is spelled differently in the text', () => {
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

  test('are empty for no words', () => {
    expect(sentencesOf('', [])).toEqual([]);
  });
});
