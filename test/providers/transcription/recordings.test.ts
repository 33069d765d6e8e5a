import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { loadConfig } from '../../../config/config.js';
import { mimeTypeOf } from '../../../contract/files/fileFormats.js';
import { TRANSCRIPTION_SERVICES, type TranscriptionService } from '../../../contract/files/uploads.js';
import { createEgress } from '../../../egress/createEgress.js';
import { createTranscriptions } from '../../../providers/transcription/registry.js';
import type { Recording, Transcriptions } from '../../../providers/transcription/types.js';
import { type EncodedRecording, encodeRecordings } from '../../documents/formats/encodeRecordings.js';
import { RECIPES } from '../../documents/formats/rows/recordings.js';
import { type AssemblyAi, startAssemblyAi } from '../../emulators/assemblyai.js';
import { type Deepgram, startDeepgram } from '../../emulators/deepgram.js';
import { type InjectedFault, recordingOf as scenarioRecording } from '../../emulators/speech.js';
import { everyRow } from '../../support/everyRow.js';

let deepgram: Deepgram;
let assemblyai: AssemblyAi;
let egress: ReturnType<typeof createEgress>;
let transcriptions: Transcriptions;
let encoded: readonly EncodedRecording[];

beforeAll(async () => {
  [deepgram, assemblyai, encoded] = await Promise.all([
    startDeepgram('key'),
    startAssemblyAi('key'),
    encodeRecordings(),
  ]);
  const { transcription } = loadConfig({
    SECRET_KEY: `k1:${Buffer.alloc(32).toString('base64')}`,
    DATA_DIR: '/nowhere',
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    DEEPGRAM_API_KEY: 'key',
    DEEPGRAM_BASE_URL: deepgram.url,
    ASSEMBLYAI_API_KEY: 'key',
    ASSEMBLYAI_BASE_URL: assemblyai.url,
    ASSEMBLYAI_POLL_S: '0.01',
  });
  egress = createEgress(transcription.egress);
  transcriptions = createTranscriptions(transcription, egress);
});
afterAll(() => Promise.all([egress.close(), deepgram.close(), assemblyai.close()]));

/** Returns a recording that is read in parts, as from file storage. */
const recordingOf = (bytes: Uint8Array, mimeType: string): Recording => ({
  size: bytes.length,
  mimeType,
  open: () =>
    Promise.resolve(
      (async function* parts() {
        for (let at = 0; at < bytes.length; at += 65_536) yield await Promise.resolve(bytes.subarray(at, at + 65_536));
      })(),
    ),
});
const OPTIONS = { detectLanguage: false, speakers: false };
const JOB = { id: null, save: () => Promise.resolve() };

test.each(
  Object.entries(RECIPES).flatMap(([type, recipes]) => recipes.map(({ what }, nth) => [type, what, nth] as const)),
)('sends %s from ffmpeg to each service unchanged, PCM after a WAV header: %s', async (type, _what, nth) => {
  const { bytes } = encoded.filter((recording) => recording.type === type)[nth]!;
  const mimeType = mimeTypeOf(type as keyof typeof RECIPES);
  const recording = recordingOf(bytes, mimeType);
  for (const service of TRANSCRIPTION_SERVICES) {
    const { transcribe } = transcriptions.choose(service);
    const { segments } = await transcribe(recording, OPTIONS, JOB, new AbortController().signal);
    expect(segments[0]?.text).toBe('Otters juggle pebbles on the river bank.');
  }
  const call = deepgram.calls.at(-1);
  const upload = assemblyai.uploads.at(-1);
  expect(call).toMatchObject({ sha256: upload?.sha256, contentType: type === 'PCM' ? 'audio/wav' : mimeType });
  const sent = type === 'PCM' ? Buffer.concat([waveHeader(bytes.length), bytes]) : bytes;
  expect(upload).toMatchObject({ size: sent.length, sha256: createHash('sha256').update(sent).digest('hex') });
});

/** Returns a WAV header for samples of the given size in bytes: mono, 16 bits, 16,000 samples per second. */
function waveHeader(size: number): Buffer {
  const header = Buffer.from('RIFF....WAVEfmt ....................data....', 'latin1');
  header.writeUInt32LE(size + 36, 4);
  Buffer.from('1000000001000100803e0000007d000002001000', 'hex').copy(header, 16);
  header.writeUInt32LE(size, 40);
  return header;
}

/**
 * For each service, a function that plans the results of the polls of a job: a fault, or undefined for a job that is not
 * finished. Null for a service that returns the transcript in its response, without polls.
 */
const POLLED: Record<
  TranscriptionService,
  ((scenario: string, polls: readonly (InjectedFault | undefined)[]) => void) | null
> = {
  // https://developers.deepgram.com/reference/speech-to-text/listen-pre-recorded: the response holds the transcript.
  deepgram: null,
  // https://www.assemblyai.com/docs/api-reference/transcripts/get
  assemblyai: (scenario, polls) =>
    assemblyai.scenarios.set(scenario, { polls: polls.length, injectedFaults: [...polls] as InjectedFault[] }),
};

/** Number of consecutive failed polls after which `transcribe` stops waiting for the provider's job. */
const FAILED_POLLS = 5;
const FAILURE: InjectedFault = { status: 503 };
/** Returns runs of consecutive failures of the given lengths, each followed by a poll that succeeds. */
const failures = (...inARow: number[]): (InjectedFault | undefined)[] =>
  inARow.flatMap((count) => [...Array.from({ length: count }, () => FAILURE), undefined]);

test('gives up a job after five consecutive failed polls, but not after more failures in total', async () => {
  const rows = TRANSCRIPTION_SERVICES.flatMap((service) => {
    const plan = POLLED[service];
    return plan ? [{ service, plan }] : [];
  });
  await everyRow(
    rows,
    ({ service }) => service,
    async ({ service, plan }) => {
      const transcribe = (scenario: string) => {
        const { signal } = new AbortController();
        return transcriptions
          .choose(service)
          .transcribe(recordingOf(scenarioRecording(scenario), 'audio/mpeg'), OPTIONS, JOB, signal);
      };
      // In total more failures than the limit, but fewer consecutive ones.
      plan('interrupted', failures(FAILED_POLLS - 1, 1, FAILED_POLLS - 1, 2));
      expect((await transcribe('interrupted')).segments).not.toEqual([]);
      plan('unavailable', failures(1, FAILED_POLLS));
      await expect(transcribe('unavailable')).rejects.toMatchObject({ kind: 'server_error' });
    },
  );
});
