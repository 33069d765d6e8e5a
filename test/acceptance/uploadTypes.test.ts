import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { FileRecord } from '../../contract/files/records.js';
import { AUDIO_SOURCES, VIDEO_SOURCES } from '../../contract/sources/sources.js';
import { UPLOAD_SOURCES } from '../../contract/files/uploads.js';
import { type EncodedRecording, encodeRecordings } from '../documents/formats/encodeRecordings.js';
import { EPUB } from '../documents/formats/rows/books.js';
import { ODP, ODS, ODT } from '../documents/formats/rows/openDocument.js';
import { bytesOf } from '../documents/formats/rows/row.js';
import { type Deepgram, startDeepgram } from '../emulators/deepgram.js';
import { readStoredState } from '../support/storedState.js';
import { everyRow } from '../support/everyRow.js';
import { SAMPLE_FILES } from '../support/sampleFiles.js';
import { startService, type TestService } from '../support/service.js';
import type { TestUser } from '../support/client.js';

let deepgram: Deepgram;
let service: TestService;
let user: TestUser;
/** The accepted and the settled record of each source. */
const files = new Map<string, { accepted: FileRecord; settled: FileRecord }>();

const samples = Object.entries(SAMPLE_FILES);
const RECORDING_SOURCES = [...AUDIO_SOURCES, ...VIDEO_SOURCES];
/** The first recording of each source. test/long/recordings.test.ts also uploads the other recordings. */
let recordings: readonly EncodedRecording[] = [];

beforeAll(async () => {
  deepgram = await startDeepgram('key');
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    DEEPGRAM_API_KEY: 'key',
    DEEPGRAM_BASE_URL: deepgram.url,
  });
  user = await service.user('ty');
  const encoded = await encodeRecordings({ firstOnly: true });
  recordings = RECORDING_SOURCES.map((source) => encoded.find(({ type }) => type === source)!);
  const sent = recordings.map(({ type, ending, bytes }) => [type, { ending, content: bytes }] as const);
  const accepted = await Promise.all(
    [...samples, ...sent].map(async ([source, { ending, content }]) => ({
      source,
      // Many browsers declare no media type, so the test declares none.
      file: await user.send({ name: `sample.${ending}`, content }, { skip_embedding_generation: true }),
    })),
  );
  const text = await user.post<FileRecord>('/upload_text', {
    contents: '{"not": "json"}',
    skip_embedding_generation: true,
  });
  for (const { source, file } of [...accepted, { source: 'RAW_TEXT', file: text.body }])
    files.set(source, { accepted: file, settled: await user.settled(file.id, 240_000) });
});
afterAll(async () => {
  await service.close();
  await deepgram.close();
});

test('the samples include each of the 36 types of the public API', () => {
  expect([...files.keys()].toSorted()).toEqual([...UPLOAD_SOURCES].toSorted());
  expect(files.size).toBe(36);
});

const formats = [
  ...samples.map(([source, { format }]) => [source, format] as const),
  ...RECORDING_SOURCES.map((source) => [source, source] as const),
];
test('files of formats that the public API does not name are read, and have the source of the nearest format', () =>
  everyRow(
    [
      { format: 'ODT', source: 'DOCX', made: ODT },
      { format: 'ODS', source: 'XLSX', made: ODS },
      { format: 'ODP', source: 'PPTX', made: ODP },
      { format: 'EPUB', source: 'TEXT', made: EPUB },
    ],
    ({ format }) => format,
    async ({ format, source, made: { good } }) => {
      const [first] = good;
      const content = first ? Buffer.from(await bytesOf(first)) : Buffer.alloc(0);
      const sent = await user.send(
        { name: `sample.${format.toLowerCase()}`, content },
        { skip_embedding_generation: true },
      );
      const settled = await user.settled(sent.id, 240_000);
      expect(settled).toMatchObject({ sync_status: 'READY', source, file_statistics: { file_format: format } });
      const { results } = await user.chunks({ ids: [sent.id] });
      expect(results.map(({ source_content }) => source_content)).toEqual([first?.text]);
    },
  ));

describe('each type', () => {
  const rows = [...formats, ['RAW_TEXT', 'TXT'] as const];
  const nameOf = ([source]: readonly [string, string]): string => source;

  test('has its source and format when accepted and when settled', () =>
    everyRow(rows, nameOf, ([source, format]) => {
      const { accepted, settled } = files.get(source)!;
      for (const file of [accepted, settled]) {
        expect(file).toMatchObject({ source, file_statistics: { file_format: format } });
        expect(file.file_statistics?.mime_type).toMatch(/^\w+\/[\w.+-]+$/);
        expect(file.file_metadata).not.toHaveProperty('named_as');
      }
    }));

  test('is READY, or has an error message', () =>
    everyRow(rows, nameOf, ([source]) => {
      const { settled } = files.get(source)!;
      if (settled.sync_status === 'READY') expect(settled.file_statistics?.num_characters).toBeGreaterThan(0);
      else
        expect(settled).toMatchObject({
          sync_status: 'SYNC_ERROR',
          sync_error_message: expect.stringMatching(/\w \w.*\.$/),
        });
    }));
});

test('reads texts', () => {
  for (const source of ['TEXT', 'MD', 'HTML', 'RAW_TEXT'])
    expect(files.get(source)?.settled).toMatchObject({ sync_status: 'READY', sync_error_message: null });
});

test('transcribes every recording, sent completely and with its media type', () =>
  everyRow(RECORDING_SOURCES, String, (source) => {
    const { bytes } = recordings.find(({ type }) => type === source)!;
    const file = files.get(source)?.settled;
    expect(file).toMatchObject({
      sync_status: 'READY',
      file_statistics: { file_size: bytes.length },
      file_metadata: { transcription_service: 'deepgram', duration_sec: 21.5 },
    });
    // PCM has no header, so the service adds a WAV header of 44 bytes.
    const isBare = source === 'PCM';
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(
      deepgram.calls.filter((call) => (isBare ? call.size === bytes.length + 44 : call.sha256 === sha256)),
    ).toMatchObject([{ contentType: isBare ? 'audio/wav' : file?.file_statistics?.mime_type }]);
  }));

describe('type of a file', () => {
  test('depends on its content rather than its name, and a wrong name is recorded', async () => {
    const file = await user.send({ name: 'letter.txt', content: SAMPLE_FILES.PDF.content });
    expect(file).toMatchObject({
      source: 'PDF',
      name: 'letter.txt',
      file_statistics: { file_format: 'PDF', mime_type: 'application/pdf' },
      file_metadata: { named_as: 'TXT' },
    });
    const stored = await user.send({ name: 'table.csv', content: SAMPLE_FILES.PNG.content }, { store_file_only: true });
    expect(await user.settled(stored.id)).toMatchObject({
      sync_status: 'READY',
      source: 'PNG',
      file_metadata: { named_as: 'CSV' },
    });
  });

  test('does not depend on the declared media type', async () => {
    const file = await user.send({ name: 'main.ts', content: 'export const otters = 4;\n', type: 'video/mp2t' });
    expect(await user.settled(file.id)).toMatchObject({ sync_status: 'READY', source: 'TEXT' });
  });

  test.each([
    ['an archive', 'things.zip', Buffer.from('PK\u0003\u0004\u0000\u0000\u0000things.bin'), /ZIP archive/],
    ['a program', 'run.exe', Buffer.from('\u007fELF\u0002'), /program/],
    ['unknown bytes', 'blob', Buffer.from([1, 0, 2, 0, 3]), /binary/],
  ])('is refused if unsupported: %s', async (_what, name, content, sentence) => {
    const { status, body } = await user.upload({ name, content });
    expect({ status, detail: (body as unknown as { detail: string }).detail }).toEqual({
      status: 400,
      detail: expect.stringMatching(sentence),
    });
  });
});

test('an empty file fails with a message', async () => {
  const file = await user.send({ name: 'empty.txt', content: '' });
  expect(await user.settled(file.id)).toMatchObject({
    sync_status: 'SYNC_ERROR',
    sync_error_message: expect.stringContaining('empty'),
    file_statistics: { file_size: 0 },
  });
});

test('the uploads leave no inconsistencies between records, events, chunks, points and contents', async () => {
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
});
