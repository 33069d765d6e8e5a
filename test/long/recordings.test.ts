/**
 * Uploads recordings of every media type that the API accepts, encoded by ffmpeg during the test, for transcription.
 */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { mimeTypeOf } from '../../contract/files/fileFormats.js';
import type { FileRecord } from '../../contract/files/records.js';
import { type EncodedRecording, encodeRecordings } from '../documents/formats/encodeRecordings.js';
import { RECIPES, type Recipe } from '../documents/formats/rows/recordings.js';
import { type AssemblyAi, startAssemblyAi } from '../emulators/assemblyai.js';
import { type Deepgram, startDeepgram } from '../emulators/deepgram.js';
import { readStoredState } from '../support/storedState.js';
import type { NamedFile, TestUser } from '../support/client.js';
import { startService, type TestService } from '../support/service.js';

const SERVICES = ['deepgram', 'assemblyai'] as const;
const CORRUPT = { status: 400, body: { err_msg: 'Bad Request: failed to process audio: corrupt or unsupported data' } };
const UNREADABLE = /could not read this recording.*corrupt or unsupported data/;
/** Size in bytes of the WAVE header that Allotrope puts before raw samples (PCM) for the transcription service. */
const HEADER_BYTES = 44;

let deepgram: Deepgram;
let assemblyai: AssemblyAi;
let service: TestService;
let user: TestUser;
/** Uploaded files by name. */
const files = new Map<string, FileRecord>();
const encodedByType = new Map<string, readonly EncodedRecording[]>();

/** Alternates between the transcription services. Encrypted recordings go to Deepgram, whose emulator rejects them. */
const serviceOf = (nth: number, isEncrypted = false) => SERVICES[isEncrypted ? 0 : nth % 2]!;
const nameOf = (type: string, nth: number): string => `${nth}.${type.toLowerCase()}`;
const brokenName = (type: string): string => `broken.${type.toLowerCase()}`;
const emptyName = (type: string): string => `empty.${type.toLowerCase()}`;
const wrongName = (type: string): string => `${type}.docx`;
const halfOf = ({ bytes }: EncodedRecording): Uint8Array => bytes.slice(0, bytes.length / 2);
/** Whether the transcription service reads half of a recording of this type: any part of raw samples is playable. */
const isPlayableWhenTruncated = (type: string): boolean => type === 'PCM';
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

beforeAll(async () => {
  [deepgram, assemblyai] = await Promise.all([startDeepgram('key'), startAssemblyAi('key')]);
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    DEEPGRAM_API_KEY: 'key',
    DEEPGRAM_BASE_URL: deepgram.url,
    ASSEMBLYAI_API_KEY: 'key',
    ASSEMBLYAI_BASE_URL: assemblyai.url,
    ASSEMBLYAI_POLL_S: '0.02',
  });
  user = await service.user('rec');
  const encoded = await encodeRecordings();
  const sent: { file: NamedFile; transcription_service: string }[] = [];
  for (const type of Object.keys(RECIPES)) {
    const recordings = encoded.filter((recording) => recording.type === type);
    encodedByType.set(type, recordings);
    recordings.forEach(({ bytes, isEncrypted }, nth) =>
      sent.push({
        file: { name: nameOf(type, nth), content: bytes },
        transcription_service: serviceOf(nth, isEncrypted),
      }),
    );
    const [first] = recordings as [EncodedRecording];
    // The transcription service rejects unplayable recordings.
    const unplayable = recordings.filter(({ isEncrypted }) => isEncrypted).map(({ bytes }) => bytes);
    if (!isPlayableWhenTruncated(type)) unplayable.push(halfOf(first));
    for (const bytes of unplayable)
      deepgram.scenarios.set(sha256(bytes), { injectedFaults: Array.from({ length: 9 }, () => CORRUPT) });
    for (const [name, content] of [
      [brokenName(type), halfOf(first)],
      [emptyName(type), new Uint8Array()],
      ...(first.unnamed === null ? [] : [[wrongName(type), first.bytes] as const]),
    ] as const)
      sent.push({ file: { name, content }, transcription_service: 'deepgram' });
  }
  const accepted = await Promise.all(
    sent.map(({ file, ...options }) => user.send(file, { ...options, skip_embedding_generation: true })),
  );
  for (const { id, name } of accepted) files.set(name ?? '', await user.settled(id));
}, 600_000);
afterAll(async () => {
  await service.close();
  await Promise.all([deepgram.close(), assemblyai.close()]);
});

describe.each(Object.entries(RECIPES) as [string, readonly Recipe[]][])('%s', (type, recipes) => {
  test.each(recipes.map(({ what }, nth) => [what, nth] as const))(
    'is sent completely to the service (to Deepgram with its media type), and is transcribed if it is playable: %s',
    (_what, nth) => {
      const { bytes } = encodedByType.get(type)![nth]!;
      const { isEncrypted } = recipes[nth]!;
      const transcription_service = serviceOf(nth, isEncrypted);
      const file = files.get(nameOf(type, nth));
      expect(file).toMatchObject({
        sync_status: isEncrypted ? 'SYNC_ERROR' : 'READY',
        sync_error_message: isEncrypted ? expect.stringMatching(UNREADABLE) : null,
        source: type,
        file_statistics: {
          file_format: type,
          mime_type: mimeTypeOf(type as keyof typeof RECIPES),
          file_size: bytes.length,
        },
        ...(isEncrypted ? {} : { file_metadata: { transcription_service, duration_sec: expect.any(Number) } }),
      });
      expect(file?.file_metadata).not.toHaveProperty('named_as');
      if (type === 'PCM') {
        const size = bytes.length + HEADER_BYTES;
        const received = [...deepgram.calls, ...assemblyai.uploads].filter((one) => one.size === size);
        // All recordings of this type have the same size.
        expect(received).toHaveLength(recipes.length);
        for (const call of deepgram.calls.filter((one) => one.size === size))
          expect(call.contentType).toBe('audio/wav');
        return;
      }
      const expected = { sha256: sha256(bytes), size: bytes.length };
      const received = { deepgram: deepgram.calls, assemblyai: assemblyai.uploads }[transcription_service];
      const [call] = received.filter((one) => one.sha256 === expected.sha256);
      expect(call).toMatchObject(expected);
      if (transcription_service === 'deepgram')
        expect(call).toMatchObject({ contentType: mimeTypeOf(type as keyof typeof RECIPES) });
    },
  );

  const truncatedTitle = isPlayableWhenTruncated(type)
    ? 'keeps its type when truncated, and is transcribed: any part of raw samples is playable'
    : 'keeps its type when truncated, and fails with the error of the transcription service';
  test(truncatedTitle, () => {
    const [recording] = encodedByType.get(type) as [EncodedRecording];
    expect(files.get(brokenName(type))).toMatchObject({
      source: type,
      file_statistics: { file_size: halfOf(recording).length },
      ...(isPlayableWhenTruncated(type)
        ? { sync_status: 'READY', sync_error_message: null }
        : { sync_status: 'SYNC_ERROR', sync_error_message: expect.stringMatching(UNREADABLE) }),
    });
  });

  test('fails when empty, without a request to a transcription service', () => {
    expect(files.get(emptyName(type))).toMatchObject({
      sync_status: 'SYNC_ERROR',
      sync_error_message: expect.stringContaining('empty'),
    });
    expect(deepgram.calls.filter(({ size }) => size === 0)).toEqual([]);
  });

  test('is detected despite a wrong name, or refused if only the name identifies its type', async () => {
    const [{ bytes, unnamed = type }] = encodedByType.get(type) as [EncodedRecording];
    if (unnamed === null) {
      const { status, body } = await user.upload({ name: wrongName(type), content: bytes });
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('binary data')]);
    } else
      expect(files.get(wrongName(type))).toMatchObject({
        sync_status: 'READY',
        source: unnamed,
        file_statistics: { file_format: unnamed },
        file_metadata: { named_as: 'DOCX' },
      });
  });
});

test('leaves the stores consistent', async () => {
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
});
