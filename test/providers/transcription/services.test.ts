import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';

import { loadConfig } from '../../../config/config.js';
import { Fault } from '../../../contract/failures.js';
import { TRANSCRIPTION_SERVICES, type TranscriptionService } from '../../../contract/files/uploads.js';
import { createEgress } from '../../../egress/createEgress.js';
import { createTranscriptions } from '../../../providers/transcription/registry.js';
import type { StoredJob, Recording, Transcriptions } from '../../../providers/transcription/types.js';
import { type AssemblyAi, type AssemblyScenario, startAssemblyAi } from '../../emulators/assemblyai.js';
import { type Deepgram, startDeepgram } from '../../emulators/deepgram.js';
import { type InjectedFault, recordingOf, type Speech } from '../../emulators/speech.js';
import { everyRow } from '../../support/everyRow.js';
import { waitFor } from '../../support/waitFor.js';

const KEY = 'secret-key';
let deepgram: Deepgram;
let assemblyai: AssemblyAi;
let egress: ReturnType<typeof createEgress>;

const settingsOf = (settings: Record<string, string>) =>
  loadConfig({ SECRET_KEY: `k1:${Buffer.alloc(32).toString('base64')}`, DATA_DIR: '/nowhere', ...settings });
const open = (settings: Record<string, string> = {}): Transcriptions =>
  createTranscriptions(
    settingsOf({
      DEEPGRAM_API_KEY: KEY,
      DEEPGRAM_BASE_URL: deepgram.url,
      ASSEMBLYAI_API_KEY: KEY,
      ASSEMBLYAI_BASE_URL: assemblyai.url,
      ASSEMBLYAI_POLL_S: '0.01',
      ...settings,
    }).transcription,
    egress,
  );

beforeAll(async () => {
  [deepgram, assemblyai] = await Promise.all([startDeepgram(KEY), startAssemblyAi(KEY)]);
  egress = createEgress(settingsOf({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' }).transcription.egress);
});
afterAll(() => Promise.all([egress.close(), deepgram.close(), assemblyai.close()]));

const OPTIONS = { detectLanguage: false, speakers: false };

interface Attempt {
  /** Saved job ids in order; null after the job is cleared. */
  readonly saved: (string | null)[];
  readonly fault: Fault | null;
  readonly segments: readonly unknown[];
}

let scenarios = 0;
const newScenario = (): string => `scenario-${(scenarios += 1)}`;
const jobsOf = (scenario: string) => assemblyai.jobs.filter((job) => job.scenario === scenario);

/** Transcribes a recording once. @param id the job id that an earlier attempt has saved */
async function attempt(
  service: TranscriptionService,
  scenario: string,
  id: string | null = null,
  options: { signal?: AbortSignal; services?: Transcriptions } = {},
): Promise<Attempt> {
  const bytes = recordingOf(scenario);
  const recording: Recording = {
    size: bytes.length,
    mimeType: 'audio/mpeg',
    open: async () =>
      (async function* parts() {
        yield await Promise.resolve(bytes);
      })(),
  };
  const saved: (string | null)[] = [];
  const job: StoredJob = { id, save: async (jobId) => void saved.push(jobId) };
  const { transcribe } = (options.services ?? open()).choose(service);
  try {
    const { segments } = await transcribe(recording, OPTIONS, job, options.signal ?? new AbortController().signal);
    return { saved, fault: null, segments };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { saved, fault: error, segments: [] };
  }
}

type Row = readonly [answer: string, injectedFault: InjectedFault, kind: string, retryable: boolean, waitMs?: number];
/** https://developers.deepgram.com/docs/errors, https://www.assemblyai.com/docs/openapi.json */
const ANSWERS: readonly Row[] = [
  ['401', { status: 401 }, 'not_configured', false],
  ['402', { status: 402 }, 'not_configured', false],
  ['403', { status: 403 }, 'not_configured', false],
  ['413', { status: 413 }, 'too_large', false],
  ['429', { status: 429 }, 'rate_limited', true],
  ['429 with Retry-After', { status: 429, headers: { 'retry-after': '7' } }, 'rate_limited', true, 7000],
  ['503', { status: 503 }, 'server_error', true],
  ['503 with Retry-After', { status: 503, headers: { 'retry-after': '7' } }, 'rate_limited', true, 7000],
  ['500', { status: 500 }, 'server_error', true],
  ['500 with Retry-After', { status: 500, headers: { 'retry-after': '7' } }, 'server_error', true, 7000],
  ['408', { status: 408 }, 'server_error', true],
  ['404', { status: 404 }, 'bad_response', false],
  ['405', { status: 405 }, 'bad_response', false],
  ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, 'bad_response', false],
  ['400', { status: 400 }, 'broken_content', false],
  ['415', { status: 415 }, 'broken_content', false],
  ['422', { status: 422 }, 'broken_content', false],
  ['invalid JSON', 'invalidJson', 'server_error', true],
];

test('maps each response to its fault, without the key', () =>
  everyRow(
    TRANSCRIPTION_SERVICES.flatMap((service) => ANSWERS.map((row) => [service, row] as const)),
    ([service, [answer]]) => `${service}: ${answer}`,
    async ([service, [, injectedFault, kind, retryable, waitMs = null]]) => {
      const scenario = newScenario();
      deepgram.scenarios.set(scenario, { injectedFaults: [injectedFault] });
      assemblyai.scenarios.set(scenario, { uploadFaults: [injectedFault] });
      const { fault, saved } = await attempt(service, scenario);
      expect(fault).toMatchObject({ kind, retryable });
      expect(saved).toEqual([]);
      expect(fault!.retryAfterMs).toBe(waitMs);
      expect(fault!.message).not.toContain(KEY);
      expect(fault!.message).toMatch(
        injectedFault === 'invalidJson' ? /invalid response: incomplete or invalid JSON/ : /“an injected fault”/,
      );
    },
  ));

test('uses the first configured service by default, and names a missing setting', () => {
  const unconfigured = open({ DEEPGRAM_API_KEY: '', ASSEMBLYAI_API_KEY: '' });
  expect(() => unconfigured.choose(null)).toThrow(/DEEPGRAM_API_KEY or ASSEMBLYAI_API_KEY/);
  expect(() => unconfigured.choose('assemblyai')).toThrow(/: the setting ASSEMBLYAI_API_KEY is missing/);
  expect(open().choose(null).service).toBe('deepgram');
  expect(open().choose('assemblyai').service).toBe('assemblyai');
  expect(open({ DEEPGRAM_API_KEY: '' }).choose(null).service).toBe('assemblyai');
  expect(open({ TRANSCRIPTION_SERVICE: 'assemblyai' }).choose(null).service).toBe('assemblyai');
});

type JobRow = readonly [error: string, kind: string, retryable: boolean];
/**
 * Messages of a job's `error`, the only field that distinguishes permanent from temporary failures:
 * https://www.assemblyai.com/docs/openapi.json
 */
const JOB_ERRORS: readonly JobRow[] = [
  ['Transcoding failed. File does not appear to contain audio.', 'broken_content', false],
  ['language_detection cannot be performed on files with no spoken audio.', 'no_text', false],
  ['Internal server error, please contact us.', 'server_error', true],
  ['The upload has expired', 'server_error', true],
  ['Upload not found', 'server_error', true],
  ['Server error, developers have been alerted', 'server_error', true],
  ['Please try again', 'server_error', true],
  ['Request timed out', 'server_error', true],
  ['Temporary failure', 'server_error', true],
];

test('clears a failed job, so that the next attempt creates another', () =>
  everyRow(
    JOB_ERRORS,
    ([error]) => error,
    async ([error, kind, retryable]) => {
      const scenario = newScenario();
      assemblyai.scenarios.set(scenario, { polls: 1, errors: [error] });
      const first = await attempt('assemblyai', scenario);
      const [job] = jobsOf(scenario);
      expect(first.fault).toMatchObject({ kind, retryable });
      if (kind !== 'no_text') expect(first.fault!.message).toContain(`“${error.replace(/\.$/, '')}”`);
      expect(first.saved).toEqual([job!.id, null]);
      const second = await attempt('assemblyai', scenario, first.saved.at(-1));
      expect(second.segments).not.toEqual([]);
      expect(jobsOf(scenario)).toHaveLength(2);
    },
  ));

type PollRow = readonly [
  name: string,
  scenario: Pick<AssemblyScenario, 'injectedFaults'>,
  kind: string | null,
  isCleared: boolean,
];
const five = (status: number): InjectedFault[] => Array.from({ length: 5 }, () => ({ status }));
const four = (status: number): InjectedFault[] => five(status).slice(1);
const STILL_QUEUED: InjectedFault = { status: 200, body: { id: 'any', status: 'queued' } };
const POLLS: readonly PollRow[] = [
  ['is done', {}, null, false],
  ['is unknown (404)', { injectedFaults: [{ status: 404 }] }, 'server_error', true],
  ['is unknown (400)', { injectedFaults: [{ status: 400 }] }, 'server_error', true],
  ['fails one poll (500)', { injectedFaults: [{ status: 500 }] }, null, false],
  ['fails one poll (429)', { injectedFaults: [{ status: 429, headers: { 'retry-after': '0' } }] }, null, false],
  ['fails one poll (invalid JSON)', { injectedFaults: ['invalidJson'] }, null, false],
  [
    'fails eight polls, but not five in a row',
    { injectedFaults: [...four(500), STILL_QUEUED, ...four(500)] },
    null,
    false,
  ],
  ['fails one poll (broken connection)', { injectedFaults: ['brokenConnection'] }, null, false],
  ['fails one poll (302)', { injectedFaults: [{ status: 302 }] }, null, false],
  ['fails one poll (422)', { injectedFaults: [{ status: 422 }] }, null, false],
  [
    'fails one poll (damaged compression)',
    { injectedFaults: [{ status: 200, headers: { 'content-encoding': 'gzip' } }] },
    null,
    false,
  ],
  ['fails five polls (302)', { injectedFaults: five(302) }, 'bad_response', false],
  ['fails five polls (500)', { injectedFaults: five(500) }, 'server_error', false],
  ['fails five polls (429)', { injectedFaults: five(429) }, 'rate_limited', false],
  ['rejects the key (401)', { injectedFaults: [{ status: 401 }] }, 'not_configured', false],
];

test('waits for a saved job instead of creating another, and clears its id only if the service does not know the job', () =>
  everyRow(
    POLLS,
    ([name]) => name,
    async ([, { injectedFaults }, kind, isCleared]) => {
      const scenario = newScenario();
      // An earlier attempt created the job and was aborted while it waited for it.
      assemblyai.scenarios.set(scenario, { polls: Infinity });
      const abort = new AbortController();
      const earlier = attempt('assemblyai', scenario, null, { signal: abort.signal }).catch((error: unknown) => error);
      while ((jobsOf(scenario)[0]?.polls ?? 0) < 2) await new Promise((resolve) => setTimeout(resolve, 5));
      abort.abort();
      expect(await earlier).toMatchObject({ name: 'AbortError' });
      const [job] = jobsOf(scenario);
      const uploads = assemblyai.uploads.length;
      assemblyai.scenarios.set(scenario, {
        polls: 0,
        ...(injectedFaults ? { injectedFaults: [...injectedFaults] } : {}),
      });
      const { saved, fault, segments } = await attempt('assemblyai', scenario, job!.id);
      expect(fault?.kind ?? null).toBe(kind);
      expect(segments.length > 0).toBe(kind === null);
      expect(saved).toEqual(isCleared ? [null] : []);
      expect([jobsOf(scenario).length, assemblyai.uploads.length]).toEqual([1, uploads]);
      expect(job!.deleted).toBe(false);
    },
  ));

test('ends the wait for a job at the timeout of a recording, and keeps the job', async () => {
  const scenario = newScenario();
  assemblyai.scenarios.set(scenario, { polls: Infinity });
  const services = open({ TRANSCRIPTION_TIMEOUT_S: '1' });
  const { fault, saved } = await attempt('assemblyai', scenario, null, { services });
  expect(fault).toMatchObject({ kind: 'timed_out', message: expect.stringMatching(/within 1 s .*same job/) });
  expect(saved).toEqual([jobsOf(scenario)[0]!.id]);
});

test('counts the upload towards the timeout of a recording', async () => {
  const scenario = newScenario();
  const clock = jest.spyOn(Date, 'now').mockReturnValue(0);
  // When the recording has been uploaded and its job exists, the time is over.
  const save = async () => void clock.mockReturnValue(3_600_000);
  const recording: Recording = {
    size: 600,
    mimeType: 'audio/mpeg',
    open: async () => Readable.from([recordingOf(scenario)]),
  };
  const { transcribe } = open().choose('assemblyai');
  const result = transcribe(recording, OPTIONS, { id: null, save }, new AbortController().signal);
  await expect(result.finally(() => clock.mockRestore())).rejects.toMatchObject({ kind: 'timed_out' });
});

test('does not wait for a poll whose Retry-After exceeds the timeout of a recording', async () => {
  const scenario = newScenario();
  assemblyai.scenarios.set(scenario, {
    polls: 9,
    injectedFaults: [{ status: 429, headers: { 'retry-after': '3600' } }],
  });
  const services = open({ TRANSCRIPTION_TIMEOUT_S: '60' });
  expect((await attempt('assemblyai', scenario, null, { services })).fault).toMatchObject({ kind: 'timed_out' });
});

/** The requests that an abort can end; polls are in another test. */
const WAITS: readonly (readonly [service: TranscriptionService, request: string, scenario: AssemblyScenario])[] = [
  ['deepgram', 'transcription', { injectedFaults: ['hang'] }],
  ['assemblyai', 'upload', { uploadFaults: ['hang'] }],
  ['assemblyai', 'creation of the job', { transcriptFaults: ['hang'] }],
];
test("ends each request with the reason of the caller's abort", () =>
  everyRow(
    WAITS,
    ([service, request]) => `${service}: ${request}`,
    async ([service, , scenario]) => {
      const name = newScenario();
      (service === 'deepgram' ? deepgram : assemblyai).scenarios.set(name, scenario);
      const faults = [scenario.injectedFaults, scenario.uploadFaults, scenario.transcriptFaults].find(Boolean)!;
      const abort = new AbortController();
      const ended = attempt(service, name, null, { signal: abort.signal }).catch(String);
      await waitFor(
        () => faults.length,
        (left) => left === 0,
      );
      abort.abort('the worker stops');
      expect(await ended).toBe('the worker stops');
    },
  ));

test('deletes an abandoned job at the service', async () => {
  const scenario = newScenario();
  await attempt('assemblyai', scenario);
  await attempt('assemblyai', newScenario());
  const [job] = jobsOf(scenario);
  await open().choose('assemblyai').abandon(job!.id);
  expect(assemblyai.jobs.filter(({ deleted }) => deleted)).toEqual([job]);
  await expect(open().choose('deepgram').abandon('any')).resolves.toBeUndefined();
});

const FLAGS = [false, true];
const PORTUGUESE: Speech = {
  language: 'pt-BR',
  duration: 3,
  turns: [{ speaker: 1, paragraphs: [[{ text: 'As lontras brincam.', start: 1, end: 2.5 }]] }],
};

test('requests and returns speakers and language only if the options request them', () =>
  everyRow(
    TRANSCRIPTION_SERVICES.flatMap((service) =>
      FLAGS.flatMap((speakers) => FLAGS.map((detectLanguage) => ({ service, speakers, detectLanguage }))),
    ),
    (row) => JSON.stringify(row),
    async ({ service, ...options }) => {
      const scenario = newScenario();
      for (const emulator of [deepgram, assemblyai]) emulator.scenarios.set(scenario, { speech: PORTUGUESE });
      const bytes = recordingOf(scenario);
      const parts = (async function* one() {
        yield await Promise.resolve(bytes);
      })();
      const transcript = await open()
        .choose(service)
        .transcribe(
          { size: bytes.length, mimeType: 'audio/mpeg', open: async () => parts },
          options,
          { id: null, save: async () => undefined },
          new AbortController().signal,
        );
      const speaker = service === 'deepgram' ? '1' : 'B';
      expect(transcript).toEqual({
        service,
        options,
        segments: [
          {
            start: 1,
            end: 2.5,
            text: 'As lontras brincam.',
            speaker: options.speakers ? speaker : null,
            paragraph: true,
          },
        ],
        language: options.detectLanguage ? 'pt-BR' : null,
        duration: 3,
      });
      const flags = {
        ...(options.speakers ? { speakers: true } : {}),
        ...(options.detectLanguage ? { language: true } : {}),
      };
      if (service === 'deepgram') {
        const { diarize, detect_language, ...rest } = deepgram.calls.at(-1)!.query;
        expect({
          ...(diarize === 'true' ? { speakers: true } : {}),
          ...(detect_language === 'true' ? { language: true } : {}),
        }).toEqual(flags);
        expect(rest).toEqual({
          model: 'nova-3',
          smart_format: 'true',
          punctuate: 'true',
          paragraphs: 'true',
          utterances: 'true',
        });
        expect(deepgram.calls.at(-1)).toMatchObject({ contentType: 'audio/mpeg', contentLength: String(bytes.length) });
        return;
      }
      const {
        audio_url: _url,
        speech_models,
        speaker_labels,
        language_detection,
        ...rest
      } = jobsOf(scenario)[0]!.parameters;
      expect({
        ...(speaker_labels === true ? { speakers: true } : {}),
        ...(language_detection === true ? { language: true } : {}),
      }).toEqual(flags);
      expect(rest).toEqual({});
      expect(speech_models).toEqual(['universal-3-5-pro', 'universal-2']);
    },
  ));
