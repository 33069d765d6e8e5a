import { expect, test } from '@jest/globals';

import type { Transcript } from '../../../contract/files/transcripts.js';
import { TRANSCRIPTION_SERVICES, type TranscriptionService } from '../../../contract/files/uploads.js';
import { readAssemblyAi } from '../../../providers/transcription/providers/assemblyai.js';
import { readDeepgram } from '../../../providers/transcription/providers/deepgram.js';
import { everyRow } from '../../support/everyRow.js';

const OPTIONS = { detectLanguage: false, speakers: true };

/** The speaker of each of consecutive words of one second; undefined if the response names none. */
type Turns<Speaker> = readonly (Speaker | undefined)[];

const wordsOf = (turns: Turns<unknown>) => turns.map((_, nth) => ({ word: `Word${nth}.`, start: nth, end: nth + 1 }));
/** Returns the value as JSON transports it, without undefined fields. */
const asJson = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;

const deepgramWords = (turns: Turns<number>): Transcript => {
  const words = wordsOf(turns).map((one, nth) => ({ ...one, speaker: turns[nth]! }));
  const transcript = words.map(({ word }) => word).join(' ');
  return readDeepgram(asJson({ results: { channels: [{ alternatives: [{ transcript, words }] }] } }), OPTIONS);
};
const deepgramParagraphs = (turns: Turns<number>): Transcript => {
  const paragraphs = wordsOf(turns).map(({ word, start, end }, nth) => ({
    sentences: [{ text: word, start, end }],
    speaker: turns[nth]!,
  }));
  return readDeepgram(asJson({ results: { channels: [{ alternatives: [{ paragraphs: { paragraphs } }] }] } }), OPTIONS);
};
const assemblyAiWords = (turns: Turns<string | null>): Transcript => {
  const words = wordsOf(turns).map(({ word, start, end }, nth) => ({
    text: word,
    start: start * 1000,
    end: end * 1000,
    speaker: turns[nth]!,
  }));
  const text = words.map((one) => one.text).join(' ');
  return readAssemblyAi(asJson({ id: 'j1', status: 'completed' as const, text, words }), OPTIONS);
};

type Row = readonly [
  service: TranscriptionService,
  name: string,
  transcript: Transcript,
  speakers: readonly (string | null)[],
];

/** Deepgram numbers speakers from 0: https://developers.deepgram.com/docs/diarization */
const NUMBERED: readonly (readonly [name: string, turns: Turns<number>, speakers: readonly (string | null)[]])[] = [
  ['the first speaker alone', [0], ['0']],
  ['two speakers', [0, 1, 0], ['0', '1', '0']],
  ['more than ten', [0, 9, 10, 11], ['0', '9', '10', '11']],
  ['no speaker', [undefined], [null]],
  ['no speaker before the first', [undefined, 0], [null, '0']],
  ['no speaker after the first', [0, undefined, 1], ['0', null, '1']],
];
/** AssemblyAI labels speakers with letters, or null without labels: https://www.assemblyai.com/docs/openapi.json */
const LETTERED: readonly (readonly [
  name: string,
  turns: Turns<string | null>,
  speakers: readonly (string | null)[],
])[] = [
  ['the first speaker alone', ['A'], ['A']],
  ['two speakers', ['A', 'B', 'A'], ['A', 'B', 'A']],
  ['numbered speakers', ['0', '1', '0'], ['0', '1', '0']],
  ['null', [null], [null]],
  ['no speaker', [undefined], [null]],
  ['null before and no speaker after the first', [null, 'A', undefined], [null, 'A', null]],
];

const ROWS: readonly Row[] = [
  ...NUMBERED.flatMap(([name, turns, speakers]): Row[] => [
    ['deepgram', `${name}, by words`, deepgramWords(turns), speakers],
    ['deepgram', `${name}, by paragraphs`, deepgramParagraphs(turns), speakers],
  ]),
  ...LETTERED.map(([name, turns, speakers]): Row => ['assemblyai', name, assemblyAiWords(turns), speakers]),
];

test('assigns each sentence the speaker that the service names, or none', async () => {
  expect(new Set(ROWS.map(([service]) => service))).toEqual(new Set(TRANSCRIPTION_SERVICES));
  await everyRow(
    ROWS,
    ([service, name]) => `${service}: ${name}`,
    ([, , { segments }, speakers]) =>
      expect(segments).toEqual(
        speakers.map((speaker, nth) => ({
          start: nth,
          end: nth + 1,
          text: `Word${nth}.`,
          speaker,
          // A change of speaker begins a paragraph.
          paragraph: true,
        })),
      ),
  );
});
