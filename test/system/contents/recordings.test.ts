import { chromium } from 'playwright-core';
import { beforeAll, describe, expect, test } from '@jest/globals';

import { findChromium } from '../../../connectors/web/findChromium.js';
import { AUDIO_SOURCES, VIDEO_SOURCES } from '../../../contract/sources/sources.js';
import { identifyFile } from '../../../documents/detection/identifyFile.js';
import { byPython } from '../../documents/formats/byPython.js';
import { type EncodedRecording, encodeRecordings } from '../../documents/formats/encodeRecordings.js';
import { RECIPES, type Recipe } from '../../documents/formats/rows/recordings.js';

/** The types that Chromium records, and the format of each. */
const RECORDED = [
  ['audio/webm;codecs=opus', 'WEBM'],
  ['video/webm;codecs=vp8,opus', 'WEBM'],
  ['video/webm;codecs=vp9,opus', 'WEBM'],
  ['video/mp4;codecs=vp9,opus', 'MP4'],
  ['video/mp4;codecs=avc1', 'MP4'],
  ['audio/mp4;codecs=opus', 'MP4'],
  ['video/x-matroska;codecs=avc1', 'MKV'],
] as const;
let recorded: readonly (readonly number[])[] = [];
/** The recordings that ffmpeg encodes, once for this file. */
let encoded: Promise<readonly EncodedRecording[]> | null = null;

beforeAll(async () => {
  const executablePath = findChromium(null);
  if (executablePath === null) throw new Error('These tests need Chromium: apt-get install -y chromium-headless-shell');
  const browser = await chromium.launch({ executablePath, args: ['--autoplay-policy=no-user-gesture-required'] });
  const page = await browser.newPage();
  // This script is a string because the types of the browser are not available here. It records a tone and a changing
  // canvas.
  const record = `async (mimeType) => {
    const sound = new AudioContext();
    const tone = sound.createOscillator();
    const output = sound.createMediaStreamDestination();
    tone.connect(output);
    tone.start();
    const canvas = document.createElement('canvas');
    const brush = canvas.getContext('2d');
    const picture = mimeType.startsWith('video') ? canvas.captureStream(20).getTracks() : [];
    const recorder = new MediaRecorder(new MediaStream([...output.stream.getTracks(), ...picture]), { mimeType });
    const parts = [];
    const stopped = new Promise((resolve) => { recorder.onstop = resolve; });
    const received = new Promise((resolve) => {
      recorder.ondataavailable = ({ data }) => { parts.push(data); if (data.size > 0) resolve(); };
    });
    recorder.start(50);
    const painting = setInterval(() => brush.fillRect(parts.length, 0, 9, 9), 20);
    await received;
    recorder.stop();
    await stopped;
    clearInterval(painting);
    return [...new Uint8Array(await new Blob(parts).arrayBuffer())];
  }`;
  recorded = await page.evaluate<number[][]>(
    `Promise.all(${JSON.stringify(RECORDED.map(([type]) => type))}.map(${record}))`,
  );
  await browser.close();
});

const identify = (bytes: Uint8Array, name: string) => {
  const { format, namedAs } = identifyFile({ bytes, contentType: null, name });
  return { format, namedAs };
};

test.each(RECORDED.map(([type, format], nth) => [type, format, nth] as const))(
  'detects a recording of Chromium as %s as %s under any name, also when truncated',
  (_type, format, nth) => {
    const bytes = Uint8Array.from(recorded[nth] ?? []);
    expect(identify(bytes, `a.${format.toLowerCase()}`)).toEqual({ format, namedAs: null });
    expect(identify(bytes, 'a.flac')).toEqual({ format, namedAs: 'FLAC' });
    expect(identify(bytes.slice(0, bytes.length / 2), 'a.flac')).toEqual({ format, namedAs: 'FLAC' });
  },
);

test.each(['telephone', 'studio', 'speech'])('detects a recording of Python as WAV: %s', (name) => {
  const bytes = byPython(`${name}.wav`)();
  expect(identify(bytes, 'a.wav')).toEqual({ format: 'WAV', namedAs: null });
  expect(identify(bytes, 'a.mp3')).toEqual({ format: 'WAV', namedAs: 'MP3' });
  expect(identify(bytes.slice(0, bytes.length / 2), 'a.mp3')).toEqual({ format: 'WAV', namedAs: 'MP3' });
});

test('recipes exist for every type of audio and video, at least three of each', () => {
  expect(Object.keys(RECIPES).toSorted()).toEqual([...AUDIO_SOURCES, ...VIDEO_SOURCES].toSorted());
  for (const recipes of Object.values(RECIPES) as (readonly Recipe[])[])
    expect(recipes.filter(({ isEncrypted }) => !isEncrypted).length).toBeGreaterThanOrEqual(3);
});

describe.each(Object.entries(RECIPES))('a %s recording of ffmpeg', (type, recipes) => {
  const extension = type.toLowerCase();
  let made: readonly EncodedRecording[] = [];
  beforeAll(async () => {
    encoded ??= encodeRecordings();
    made = (await encoded).filter((recording) => recording.type === type);
  });

  test('has different bytes for each recipe', () => {
    expect(new Set(made.map(({ bytes }) => Buffer.from(bytes).toString('base64'))).size).toBe(recipes.length);
    for (const { bytes } of made) expect(bytes.length).toBeGreaterThan(2000);
  });

  test.each(recipes.map((recipe, nth) => [recipe.what, nth] as const))(
    'is detected by its content, whole and truncated: %s',
    (_what, nth) => {
      const { bytes, unnamed = type } = made[nth]!;
      for (const part of [bytes, bytes.slice(0, bytes.length / 2), bytes.slice(0, 65_536)]) {
        expect(identify(part, `a.${extension}`)).toEqual({ format: type, namedAs: null });
        // A format without a signature needs its file name.
        if (unnamed === null) expect(() => identify(part, 'a.txt')).toThrow(/can't be read: it is binary data/);
        else
          for (const wrong of ['txt', type === 'FLAC' ? 'mp3' : 'flac', 'docx'])
            expect(identify(part, `a.${wrong}`)).toEqual({ format: unnamed, namedAs: wrong.toUpperCase() });
      }
    },
  );
});
