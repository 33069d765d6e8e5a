import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { FileRecord } from '../../../contract/files/records.js';
import { type AssemblyAi, startAssemblyAi } from '../../emulators/assemblyai.js';
import { type Deepgram, startDeepgram } from '../../emulators/deepgram.js';
import { recordingOf, SILENCE, TALK } from '../../emulators/speech.js';
import { startSite } from '../../emulators/site.js';
import { readStoredState } from '../../support/storedState.js';
import type { TestUser } from '../../support/client.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';
import { thoroughly, thoroughRows } from '../../support/thorough.js';

const KEYS = { deepgram: 'key of deepgram', assemblyai: 'key of assemblyai' };
let deepgram: Deepgram;
let assemblyai: AssemblyAi;
let service: TestService;
let user: TestUser;

const settings = () => ({
  ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
  CONTENT_ROW_BYTES: '20000',
  DEEPGRAM_API_KEY: KEYS.deepgram,
  DEEPGRAM_BASE_URL: deepgram.url,
  ASSEMBLYAI_API_KEY: KEYS.assemblyai,
  ASSEMBLYAI_BASE_URL: `${assemblyai.url}/`,
  ASSEMBLYAI_POLL_S: '0.05',
});

beforeAll(async () => {
  [deepgram, assemblyai] = await Promise.all([startDeepgram(KEYS.deepgram), startAssemblyAi(KEYS.assemblyai)]);
  service = await startService(settings());
  user = await service.user('ada');
});
afterAll(async () => {
  await service.close();
  await Promise.all([deepgram.close(), assemblyai.close()]);
});

const SERVICES = ['deepgram', 'assemblyai'] as const;
type Service = (typeof SERVICES)[number];
const send = (scenario: string, query: Record<string, unknown> = {}, name = `${scenario}.mp3`): Promise<FileRecord> =>
  user.send({ name, content: recordingOf(scenario) }, { skip_embedding_generation: true, ...query });
const transcribed = async (scenario: string, query: Record<string, unknown> = {}): Promise<FileRecord> =>
  user.settled((await send(scenario, query)).id);
const textOf = async ({ id }: FileRecord): Promise<string> => {
  const { body } = await user.get<{ presigned_url: string }>(`/parsed_file/${id}`);
  return (await fetch(body.presigned_url)).text();
};
const chunksOf = async ({ id }: FileRecord) => (await user.chunks({ ids: [id] }, { order_by: 'id' })).results;
const callsOf = (scenario: string) => deepgram.calls.filter((call) => call.scenario === scenario);
const jobsOf = (scenario: string) => assemblyai.jobs.filter((job) => job.scenario === scenario);
const set = (service_: Service, scenario: string, what: Parameters<AssemblyAi['scenarios']['set']>[1]) =>
  (service_ === 'deepgram' ? deepgram : assemblyai).scenarios.set(scenario, what);

const PLAIN = {
  deepgram:
    'Otters juggle pebbles on the river bank. They do it when they are hungry.\n\nIs that so?\n\nYes, and the reason is unknown.\n\nLighthouses are another matter.',
  assemblyai:
    'Otters juggle pebbles on the river bank. They do it when they are hungry. Is that so? Yes, and the reason is unknown.\n\nLighthouses are another matter.',
};

/** The request of each service for a transcription with speakers and language. */
const REQUESTED = {
  deepgram: {
    query: {
      model: 'nova-3',
      smart_format: 'true',
      punctuate: 'true',
      paragraphs: 'true',
      utterances: 'true',
      diarize: 'true',
      detect_language: 'true',
    },
    contentType: 'audio/mpeg',
    contentLength: '600',
  },
  assemblyai: {
    parameters: {
      speech_models: ['universal-3-5-pro', 'universal-2'],
      speaker_labels: true,
      language_detection: true,
    },
    statuses: ['queued', 'processing', 'completed'],
  },
};

describe.each(SERVICES)('%s', (transcription_service) => {
  const options = { transcription_service };
  /** Defines a test that runs for AssemblyAI in `npm run test:long` only. */
  const deepgramTest = transcription_service === 'deepgram' ? test : thoroughly;

  test('splits a recording into paragraphs and into searchable chunks with times', async () => {
    const scenario = `plain-${transcription_service}`;
    const content = recordingOf(scenario, 60_000);
    const { id } = await user.send({ name: 'talk.mp3', content }, { ...options, chunk_size: 14, chunk_overlap: 0 });
    const file = await user.settled(id);
    expect(file).toMatchObject({
      sync_status: 'READY',
      sync_error_message: null,
      source: 'MP3',
      file_metadata: { transcription_service, duration_sec: expect.any(Number) },
      file_statistics: {
        file_format: 'MP3',
        mime_type: 'audio/mpeg',
        file_size: content.length,
        num_characters: PLAIN[transcription_service].length,
      },
    });
    expect(file.file_metadata).not.toHaveProperty('language');
    expect(await textOf(file)).toBe(PLAIN[transcription_service]);
    const chunks = await chunksOf(file);
    expect(
      chunks
        .map(({ source_content }) => source_content)
        .join(' ')
        .replaceAll(/\s+/g, ' '),
    ).toBe(PLAIN[transcription_service].replaceAll(/\s+/g, ' '));
    const times = chunks.map(({ content_metadata }) => content_metadata);
    expect(times.at(0)).toEqual({ start_offset_sec: 0.5, end_offset_sec: 3.25 });
    expect(times.at(-1)).toMatchObject({ end_offset_sec: 18 });
    const [hit] = await user.search({ query: 'what do otters do with pebbles', k: 1, file_ids: [id] });
    expect(hit?.content).toContain('Otters juggle');
    const received = [...deepgram.calls, ...assemblyai.uploads].filter((one) => one.scenario === scenario);
    const sha256 = createHash('sha256').update(content).digest('hex');
    expect(received).toMatchObject([{ sha256, size: content.length }]);
  });

  test('names speakers and language if the options request them (include_speaker_labels, detect_audio_language)', async () => {
    const scenario = `options-${transcription_service}`;
    set(transcription_service, scenario, { speech: { ...TALK, language: 'pt-BR' } });
    const file = await transcribed(scenario, {
      ...options,
      include_speaker_labels: true,
      detect_audio_language: true,
      chunk_size: 30,
      chunk_overlap: 0,
    });
    expect(file).toMatchObject({
      sync_status: 'READY',
      file_metadata: { language: 'pt-BR', duration_sec: expect.any(Number), transcription_service },
    });
    const [a, b] = transcription_service === 'deepgram' ? ['0', '1'] : ['A', 'B'];
    expect(await textOf(file)).toBe(
      `Speaker ${a}: Otters juggle pebbles on the river bank. They do it when they are hungry.\n\nSpeaker ${b}: Is that so?\n\nSpeaker ${a}: Yes, and the reason is unknown.\n\nLighthouses are another matter.`,
    );
    const chunks = await chunksOf(file);
    for (const { source_content, content_metadata } of chunks) {
      const { speakers } = content_metadata as { speakers: string[] };
      for (const [, named = ''] of source_content.matchAll(/Speaker (\w):/g)) expect(speakers).toContain(named);
    }
    expect(chunks.at(-1)?.content_metadata).toMatchObject({
      speakers: expect.arrayContaining([a]),
      end_offset_sec: 18,
    });
    // The parameters that the documentation of each service names.
    const requested = { deepgram: callsOf(scenario), assemblyai: jobsOf(scenario) };
    expect(requested[transcription_service]).toMatchObject([REQUESTED[transcription_service]]);
  });

  deepgramTest('ends a silent recording with an error', async () => {
    const scenario = `silence-${transcription_service}`;
    set(transcription_service, scenario, { speech: SILENCE });
    expect(await transcribed(scenario, options)).toMatchObject({
      sync_status: 'SYNC_ERROR',
      sync_error_message: expect.stringMatching(/^No speech was found .*\.$/),
    });
  });

  // test/providers/transcription/services.test.ts tests the fault of each response of both services.
  deepgramTest.each([
    ['429 with Retry-After', { status: 429, headers: { 'retry-after': '1' } }],
    ...thoroughRows([
      ['a connection that breaks in the middle of the answer', 'brokenConnection'],
      ['429 without Retry-After', { status: 429 }],
      ['500', { status: 500 }],
      ['an answer that is not JSON', 'invalidJson'],
    ]),
  ] as const)('retries after %s, and reads the file', async (what, injectedFault) => {
    const scenario = `passing-${transcription_service}-${what.replaceAll(/\W/g, '')}`;
    set(transcription_service, scenario, { injectedFaults: [injectedFault] });
    expect(await transcribed(scenario, options)).toMatchObject({ sync_status: 'READY', sync_error_message: null });
    if (transcription_service === 'assemblyai') expect(jobsOf(scenario)).toHaveLength(1);
  });

  deepgramTest.each([
    [500, 'Try again later'],
    ...thoroughRows([
      [403, 'API_KEY'],
      [402, 'API_KEY'],
      [404, 'BASE_URL'],
      [413, 'Split it'],
      [415, 'another format'],
    ]),
  ] as const)('reports a permanent %d with an error that says what to do: %s', async (status, hint) => {
    const scenario = `lasting-${transcription_service}-${status}`;
    const injectedFaults = Array.from({ length: 9 }, () => ({ status, body: { error: 'said by the service' } }));
    set(transcription_service, scenario, { injectedFaults, uploadFaults: [...injectedFaults] });
    const file = await transcribed(scenario, options);
    expect(file).toMatchObject({ sync_status: 'SYNC_ERROR', sync_error_message: expect.stringContaining(hint) });
    expect(file.sync_error_message).toMatch(/said by the service/);
  });

  deepgramTest('does not transcribe again when a resync changes chunk_size or forces embeddings', async () => {
    const scenario = `again-${transcription_service}`;
    const countCalls = (): number =>
      (transcription_service === 'deepgram' ? callsOf(scenario) : jobsOf(scenario)).length;
    const file = await transcribed(scenario, { ...options, include_speaker_labels: true });
    for (const change of [{ chunk_size: 20, chunk_overlap: 0 }, { force_embedding_generation: true }]) {
      expect((await user.post('/resync_file', { file_id: file.id, ...change })).status).toBe(200);
      expect(await user.settled(file.id)).toMatchObject({ sync_status: 'READY' });
    }
    expect((await chunksOf(file)).length).toBeGreaterThan(1);
    expect(countCalls()).toBe(1);
    expect((await user.file(file.id)).file_statistics?.num_embeddings).toBeGreaterThan(1);
  });
});

test("uses Deepgram without a transcription_service, and keeps the service's text in a language without spaces", async () => {
  const text = 'かわうそは石で遊ぶ。';
  deepgram.scenarios.set('japanese', {
    speech: { language: 'ja', duration: 4, turns: [{ speaker: 0, paragraphs: [[{ text, start: 1, end: 3 }]] }] },
  });
  const file = await transcribed('japanese', { detect_audio_language: true });
  expect(file).toMatchObject({ file_metadata: { transcription_service: 'deepgram', language: 'ja' } });
  expect(await textOf(file)).toBe(text);
});

test('transcribes a recording at an address, and one inside a message', async () => {
  const site = await startSite();
  const video = Buffer.concat([Buffer.from('\u0000\u0000\u0000\u0018ftypisomscenario:fetched;'), Buffer.alloc(400)]);
  site.pages.set('/talk.mp4', { type: 'video/mp4', body: video });
  // Null counts as absent.
  const { body } = await user.post<FileRecord>('/upload_file_from_url', {
    url: site.url('/talk.mp4'),
    transcription_service: null,
  });
  expect(await user.settled(body.id)).toMatchObject({
    sync_status: 'READY',
    source: 'MP4',
    file_metadata: { duration_sec: 21.5 },
  });
  const attached = recordingOf('attached').toString('base64');
  const message = [
    'From: a@example.com',
    'Subject: Voice mail',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'See the recording.',
    '--b',
    'Content-Type: audio/mpeg; name="voice.mp3"',
    'Content-Disposition: attachment; filename="voice.mp3"',
    'Content-Transfer-Encoding: base64',
    '',
    attached,
    '--b--',
    '',
  ].join('\r\n');
  const mail = await user.send({ name: 'mail.eml', content: message }, { skip_embedding_generation: true });
  await user.settled(mail.id);
  const [child] = await user.children(mail.id);
  expect(await user.settled(child!.id)).toMatchObject({
    name: 'voice.mp3',
    sync_status: 'READY',
    file_metadata: { transcription_service: 'deepgram' },
  });
  await site.close();
});

describe('a job of AssemblyAI', () => {
  test('ends the file with the error of a failed job, and repeats a job after a transient error', async () => {
    assemblyai.scenarios.set('no-audio', { errors: ['Transcoding failed. File does not appear to contain audio.'] });
    assemblyai.scenarios.set('mute', {
      errors: ['language_detection cannot be performed on files with no spoken audio.'],
    });
    assemblyai.scenarios.set('hiccup', { errors: ['Internal server error, please try again'] });
    const options = { transcription_service: 'assemblyai' };
    const [broken, mute, passing] = await Promise.all([
      transcribed('no-audio', options),
      transcribed('mute', options),
      transcribed('hiccup', options),
    ]);
    expect(broken).toMatchObject({
      sync_status: 'SYNC_ERROR',
      sync_error_message: expect.stringContaining('does not appear to contain audio'),
    });
    expect(mute.sync_error_message).toMatch(/^No speech was found/);
    expect(passing).toMatchObject({ sync_status: 'READY' });
    expect(jobsOf('hiccup')).toHaveLength(2);
  });

  test('continues with the next worker, and is deleted when the file is cancelled', async () => {
    const options = { transcription_service: 'assemblyai' };
    const polled = (scenario: string, times: number) =>
      waitFor(
        () => Promise.resolve(jobsOf(scenario)[0]?.polls ?? 0),
        (polls) => polls >= times,
      );
    const slow = { polls: Infinity };
    assemblyai.scenarios.set('handed-over', slow);
    const { id } = await send('handed-over', options);
    await polled('handed-over', 2);
    expect((await user.file(id)).sync_status).toBe('SYNCING');
    await service.stopWorker();
    const before = jobsOf('handed-over')[0]?.polls ?? 0;
    await service.startWorker();
    await polled('handed-over', before + 2);
    assemblyai.scenarios.set('handed-over', { polls: 0 });
    expect(await user.settled(id)).toMatchObject({ sync_status: 'READY' });
    expect(jobsOf('handed-over')).toMatchObject([{ deleted: false }]);

    assemblyai.scenarios.set('cancelled', slow);
    const cancelled = await send('cancelled', options);
    await polled('cancelled', 2);
    expect((await user.post('/cancel_sync', { file_id: cancelled.id })).status).toBe(200);
    expect(await user.settled(cancelled.id)).toMatchObject({ sync_status: 'SYNC_ABORTED' });
    await waitFor(
      () => Promise.resolve(jobsOf('cancelled')),
      ([job]) => job?.deleted === true,
    );
    const { polls } = jobsOf('cancelled')[0]!;
    expect(await transcribed('after-it')).toMatchObject({ sync_status: 'READY' });
    expect(jobsOf('cancelled')[0]?.polls).toBe(polls);
  });
});

test('ends a call to Deepgram when its file is cancelled', async () => {
  deepgram.scenarios.set('hangs', { injectedFaults: ['hang'] });
  const { id } = await send('hangs');
  await waitFor(
    () => Promise.resolve(callsOf('hangs').length),
    (calls) => calls === 1,
  );
  expect((await user.post('/cancel_sync', { file_id: id })).status).toBe(200);
  expect(await user.settled(id)).toMatchObject({ sync_status: 'SYNC_ABORTED' });
  await waitFor(
    () => Promise.resolve(deepgram.open()),
    (open) => open === 0,
  );
});

test('leaves the stores consistent', async () => {
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
});
