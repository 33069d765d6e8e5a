import { expect, test } from '@jest/globals';

import type { Transcript } from '../../../contract/transcripts.js';
import { TRANSCRIPTION_SERVICES, type TranscriptionService } from '../../../contract/uploads.js';
import { readAssemblyAi } from '../../../providers/transcription/providers/assemblyai.js';
import { readDeepgram } from '../../../providers/transcription/providers/deepgram.js';
import { everyRow } from '../../support/everyRow.js';

const WISHES = { detectLanguage: false, speakers: true };

/** Who says one word each, a second long, in order. Undefined: the answer names no speaker. */
type Turns<Speaker> = readonly (Speaker | undefined)[];

const wordsOf = (turns: Turns<unknown>) => turns.map((_, nth) => ({ word: `Word${nth}.`, start: nth, end: nth + 1 }));
/** As JSON has it: what is undefined is left out. */
const sent = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;

const deepgramWords = (turns: Turns<number>): Transcript => {
  const words = wordsOf(turns).map((one, nth) => ({ ...one, speaker: turns[nth]! }));
  const transcript = words.map(({ word }) => word).join(' ');
  return readDeepgram(sent({ results: { channels: [{ alternatives: [{ transcript, words }] }] } }), WISHES);
};
const deepgramParagraphs = (turns: Turns<number>): Transcript => {
  const paragraphs = wordsOf(turns).map(({ word, start, end }, nth) => ({
    sentences: [{ text: word, start, end }],
    speaker: turns[nth]!,
  }));
  return readDeepgram(sent({ results: { channels: [{ alternatives: [{ paragraphs: { paragraphs } }] }] } }), WISHES);
};
const assemblyAiWords = (turns: Turns<string | null>): Transcript => {
  const words = wordsOf(turns).map(({ word, start, end }, nth) => ({
    text: word,
    start: start * 1000,
    end: end * 1000,
    speaker: turns[nth]!,
  }));
  const text = words.map((one) => one.text).join(' ');
  return readAssemblyAi(sent({ id: 'j1', status: 'completed' as const, text, words }), WISHES);
};

type Row = readonly [
  service: TranscriptionService,
  what: string,
  transcript: Transcript,
  speakers: readonly (string | null)[],
];

/** Deepgram numbers speakers from 0: https://developers.deepgram.com/docs/diarization */
const NUMBERED: readonly (readonly [what: string, turns: Turns<number>, speakers: readonly (string | null)[]])[] = [
  ['the first speaker alone', [0], ['0']],
  ['two speakers', [0, 1, 0], ['0', '1', '0']],
  ['more than ten', [0, 9, 10, 11], ['0', '9', '10', '11']],
  ['no speaker', [undefined], [null]],
  ['no speaker before the first', [undefined, 0], [null, '0']],
  ['no speaker after the first', [0, undefined, 1], ['0', null, '1']],
];
/** AssemblyAI names them by letters, null without labels: https://www.assemblyai.com/docs/openapi.json */
const LETTERED: readonly (readonly [
  what: string,
  turns: Turns<string | null>,
  speakers: readonly (string | null)[],
])[] = [
  ['the first speaker alone', ['A'], ['A']],
  ['two speakers', ['A', 'B', 'A'], ['A', 'B', 'A']],
  ['speakers that are numbered', ['0', '1', '0'], ['0', '1', '0']],
  ['null', [null], [null]],
  ['no speaker', [undefined], [null]],
  ['null before and no speaker after the first', [null, 'A', undefined], [null, 'A', null]],
];

const ROWS: readonly Row[] = [
  ...NUMBERED.flatMap(([what, turns, speakers]): Row[] => [
    ['deepgram', `${what}, by words`, deepgramWords(turns), speakers],
    ['deepgram', `${what}, by paragraphs`, deepgramParagraphs(turns), speakers],
  ]),
  ...LETTERED.map(([what, turns, speakers]): Row => ['assemblyai', what, assemblyAiWords(turns), speakers]),
];

test('each sentence has the speaker that the service names, the first one included, and none where it names none', async () => {
  expect(new Set(ROWS.map(([service]) => service))).toEqual(new Set(TRANSCRIPTION_SERVICES));
  await everyRow(
    ROWS,
    ([service, what]) => `${service}: ${what}`,
    ([, , { segments }, speakers]) =>
      expect(segments).toEqual(
        speakers.map((speaker, nth) => ({
          start: nth,
          end: nth + 1,
          text: `Word${nth}.`,
          speaker,
          // Another speaker begins a paragraph.
          paragraph: true,
        })),
      ),
  );
});
