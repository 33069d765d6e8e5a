/**
 * Transcribes with AssemblyAI: uploads the recording, creates a transcript job and polls it until it has ended.
 * https://www.assemblyai.com/docs/openapi.json
 */
import { setTimeout as pause } from 'node:timers/promises';

import { Fault } from '../../../contract/failures.js';
import type { Transcript, TranscriptionOptions } from '../../../contract/files/transcripts.js';
import type { Egress } from '../../../egress/types.js';
import type { Peer } from '../../serviceClient.js';
import { sentencesOf } from '../sentences.js';
import { createServiceClient } from '../serviceClient.js';
import type { ServiceSettings, TranscriptionProvider, TranscriptionSettings } from '../types.js';

const NAMES = { name: 'AssemblyAI', keySetting: 'ASSEMBLYAI_API_KEY', urlSetting: 'ASSEMBLYAI_BASE_URL' };
/** Timeout of one short request in milliseconds. */
const CALL_MS = 60_000;
/** Number of consecutive failed polls after which the wait ends; a later attempt continues with the same job. */
const MAX_FAILED_POLLS = 5;

/** The fields of a transcript that are read. The times of words are in milliseconds, the duration in seconds. */
interface Job {
  readonly id: string;
  readonly status: 'queued' | 'processing' | 'completed' | 'error';
  readonly error?: string | null;
  readonly text?: string | null;
  readonly words?: readonly Word[] | null;
  readonly language_code?: string | null;
  /** Seconds. */
  readonly audio_duration?: number | null;
}
interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly speaker?: string | null;
}

/** Converts `en_us` to `en-US`. */
const asTag = (code: string): string =>
  code
    .split('_')
    .map((part, nth) => (nth === 0 ? part : part.toUpperCase()))
    .join('-');

/** Converts a finished job to a transcript. */
export function readAssemblyAi(job: Job, options: TranscriptionOptions): Transcript {
  const { text, words, language_code: code, audio_duration: duration } = job;
  const spoken = (words ?? []).map((word) => ({
    text: word.text,
    start: word.start / 1000,
    end: word.end / 1000,
    speaker: word.speaker ?? null,
  }));
  return {
    service: 'assemblyai',
    options,
    segments: sentencesOf(text ?? '', spoken),
    language: options.detectLanguage && code ? asTag(code) : null,
    duration: duration ?? null,
  };
}

/** Returns the fault of a failed job. Only its message distinguishes permanent from temporary failures. */
function failure({ error }: Job): Fault {
  const reason = (error ?? '').replace(/\s+/g, ' ').trim().replace(/\.$/, '').slice(0, 300);
  if (/no spoken audio|no speech/i.test(reason))
    return new Fault('no_text', 'No speech was found in this recording. Remove it, or check that it is audible.');
  if (/internal|server error|try again|timed? ?out|temporar|upload.*(?:expired|not found)/i.test(reason))
    return new Fault('server_error', `AssemblyAI failed at this recording (“${reason}”). Try again later.`);
  return new Fault(
    'broken_content',
    `AssemblyAI could not read this recording (“${reason}”). Check that it plays, or save it in another format, and upload that.`,
  );
}

export function createAssemblyAi(
  settings: ServiceSettings & { readonly apiKey: string },
  { timeoutMs, pollMs }: TranscriptionSettings,
  egress: Pick<Egress, 'request'>,
): TranscriptionProvider {
  const client = createServiceClient(NAMES, settings, settings.apiKey, egress);
  const models = settings.model.split(',').flatMap((model) => model.trim() || []);

  const createJob = async (url: string, options: TranscriptionOptions, signal: AbortSignal): Promise<string> => {
    const body = {
      audio_url: url,
      ...(models.length > 0 ? { speech_models: models } : {}),
      ...(options.speakers ? { speaker_labels: true } : {}),
      ...(options.detectLanguage ? { language_detection: true } : {}),
    };
    const call = {
      method: 'POST',
      path: '/v2/transcript',
      json: body,
      timeoutMs: CALL_MS,
    } as const;
    return ((await client.call(call, signal)) as Job).id;
  };
  const poll = async (id: string, signal: AbortSignal): Promise<Job> =>
    (await client.call({ path: pathOf(id), timeoutMs: CALL_MS, refusal: unknownJob }, signal)) as Job;

  /**
   * Polls until the job has ended.
   * @param deadline time in milliseconds since 1970
   * @throws Fault when several polls in a row fail, or after the deadline
   */
  const waitForEnd = async (id: string, deadline: number, signal: AbortSignal): Promise<Job> => {
    for (let failed = 0; ;) {
      let wait = pollMs;
      try {
        const job = await poll(id, signal);
        if (job.status === 'completed' || job.status === 'error') return job;
        failed = 0;
      } catch (error) {
        failed += 1;
        if (!(error instanceof Fault) || !mayPass(error) || signal.aborted || failed >= MAX_FAILED_POLLS) throw error;
        wait = Math.max(pollMs, error.retryAfterMs ?? 0);
      }
      if (Date.now() + wait > deadline)
        throw new Fault(
          'timed_out',
          `AssemblyAI did not finish within ${String(timeoutMs / 1000)} s (setting TRANSCRIPTION_TIMEOUT_S). Resync to continue waiting for the same job.`,
        );
      await pause(wait, undefined, { signal });
    }
  };

  return {
    service: 'assemblyai',
    async transcribe(recording, options, job, signal) {
      const deadline = Date.now() + timeoutMs;
      let { id } = job;
      if (id === null) {
        const uploaded = (await client.call(
          {
            method: 'POST',
            path: '/v2/upload',
            headers: { 'content-type': 'application/octet-stream' },
            body: await recording.open(),
            bodyBytes: recording.size,
            timeoutMs,
          },
          signal,
        )) as { upload_url: string };
        id = await createJob(uploaded.upload_url, options, signal);
        await job.save(id);
      }
      const done = await waitForEnd(id, deadline, signal).catch(async (error: unknown) => {
        if (!(error instanceof Fault) || error.kind !== 'gone') throw error;
        await job.save(null);
        throw new Fault('server_error', 'AssemblyAI no longer has the job of this recording. A new one is created.', {
          cause: error,
        });
      });
      if (done.status === 'completed') return readAssemblyAi(done, options);
      await job.save(null);
      throw failure(done);
    },
    async abandon(id) {
      await client.call({ method: 'DELETE', path: pathOf(id), timeoutMs: CALL_MS }, AbortSignal.timeout(CALL_MS));
    },
  };
}

/** Returns the fault of a poll whose job belongs to another key, or was deleted there. */
const unknownJob: NonNullable<Peer['refusal']> = ({ status }) =>
  status === 400 || status === 404 ? { kind: 'gone', sentence: 'no longer has the job of this recording' } : undefined;

/** Returns whether the next poll can succeed: a damaged answer, or one of a proxy, says nothing about the job. */
const mayPass = ({ kind, retryable }: Fault): boolean =>
  retryable || kind === 'bad_response' || kind === 'broken_content';

const pathOf = (id: string): string => `/v2/transcript/${encodeURIComponent(id)}`;
