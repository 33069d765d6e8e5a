import { expect, test } from '@jest/globals';

import type { TranscriptSegment } from '../../contract/files/transcripts.js';
import { coversRequest } from '../../contract/files/transcripts.js';
import { processDocument } from '../../documents/processDocument.js';
import { timeCuts } from '../../documents/speech/timeCuts.js';
import { loadConfig } from '../../config/config.js';

const limits = loadConfig({ SECRET_KEY: `k1:${Buffer.alloc(32).toString('base64')}` }).documents.limits;
const chunking = { chunkSize: 12, chunkOverlap: 0, prefix: null };

const recording = (segments: readonly TranscriptSegment[]) => ({
  bytes: new Uint8Array(),
  contentType: null,
  name: 'talk.mp3',
  baseUrl: null,
  html: { tags: [], classes: [], selectors: [] },
  recording: {
    format: 'MP3' as const,
    mimeType: 'audio/mpeg',
    transcript: {
      service: 'deepgram' as const,
      options: { detectLanguage: false, speakers: true },
      segments,
      language: null,
      duration: 100,
    },
  },
});

test('gives each chunk the times of exactly the sentences that it overlaps', async () => {
  const segments = Array.from({ length: 40 }, (_, nth) => ({
    start: nth * 2.5,
    end: nth * 2.5 + 2.111111,
    text: `Sentence number ${nth} is about otters.`,
    speaker: null,
    paragraph: nth % 3 === 0,
  }));
  const { text, cuts } = await processDocument(recording(segments), chunking, limits);
  expect(cuts.length).toBeGreaterThan(20);
  for (const { start, end, metadata } of cuts) {
    const numbers = [...text.slice(start, end).matchAll(/\d+/g)].map(([number]) => Number(number));
    expect(metadata).toEqual({
      start_offset_sec: numbers[0]! * 2.5,
      end_offset_sec: Math.round((numbers.at(-1)! * 2.5 + 2.111111) * 1000) / 1000,
    });
  }
});

test('gives the times of a split sentence to each of its chunks', async () => {
  const text = Array.from({ length: 40 }, (_, nth) => `word${nth}`).join(' ');
  const { cuts } = await processDocument(
    recording([{ start: 3, end: 9, text, speaker: 'A', paragraph: true }]),
    chunking,
    limits,
  );
  expect(cuts.length).toBeGreaterThan(2);
  for (const { metadata } of cuts)
    expect(metadata).toEqual({ start_offset_sec: 3, end_offset_sec: 9, speakers: ['A'] });
});

test('names a speaker at the start of each turn only, and omits segments without speech and unknown facts', async () => {
  const said = (text: string, speaker: string | null, paragraph = false) => ({
    start: 1,
    end: 2,
    text,
    speaker,
    paragraph,
  });
  const read = async (...segments: TranscriptSegment[]) =>
    processDocument(recording(segments), { ...chunking, chunkSize: 500 }, limits);
  const { text, metadata } = await read(
    ...[
      said('Hello.', 'A'),
      said(' ', 'B'),
      said('How are\nyou?', 'A'),
      said('Fine.', 'B'),
      said('And you?', 'B', true),
    ],
  );
  expect(text).toBe('Speaker A: Hello. How are you?\n\nSpeaker B: Fine.\n\nAnd you?');
  expect(metadata).toStrictEqual({ transcription_service: 'deepgram', duration_sec: 100 });
  expect((await read(said('One.', null), said('Two.', null), said('Three.', null, true))).text).toBe(
    'One. Two.\n\nThree.',
  );
  await expect(read(said(' ', 'A'))).rejects.toMatchObject({ kind: 'no_text' });
});

test('ends a chunk of simultaneous speakers when the last of them ends', () => {
  const speech = [
    { start: 0, end: 10, startSec: 1, endSec: 9, speaker: '0' },
    { start: 12, end: 20, startSec: 2, endSec: 4, speaker: '1' },
  ];
  expect(timeCuts([{ start: 0, end: 20, tokens: 5 }], speech)[0]?.metadata).toEqual({
    start_offset_sec: 1,
    end_offset_sec: 9,
    speakers: ['0', '1'],
  });
});

test.each([
  [{ detectLanguage: true, speakers: true }, { detectAudioLanguage: false, includeSpeakerLabels: false }, true],
  [{ detectLanguage: false, speakers: false }, { detectAudioLanguage: false, includeSpeakerLabels: false }, true],
  [{ detectLanguage: false, speakers: true }, { detectAudioLanguage: true, includeSpeakerLabels: true }, false],
  [{ detectLanguage: true, speakers: false }, { detectAudioLanguage: true, includeSpeakerLabels: true }, false],
  [{ detectLanguage: true, speakers: true }, { transcriptionService: 'deepgram' }, true],
  [{ detectLanguage: true, speakers: true }, { transcriptionService: 'assemblyai' }, false],
] as const)('decides whether a transcript made with %j satisfies %j: %s', (options, request, expected) => {
  expect(coversRequest({ service: 'deepgram', options }, request)).toBe(expected);
});
