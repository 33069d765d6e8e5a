/** Emulates AssemblyAI's published API: upload a recording, request a transcript, poll it, delete it. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

import {
  answer,
  receiveRecording,
  type ReceivedRecording,
  type InjectedFault,
  writeFault,
  type Scenario,
  TALK,
  textOf,
  wordsOf,
} from './speech.js';

/**
 * The `injectedFaults` of a scenario apply to polls only; uploads and transcript requests have their own lists of
 * faults.
 */
export interface AssemblyScenario extends Scenario {
  readonly uploadFaults?: InjectedFault[];
  readonly transcriptFaults?: InjectedFault[];
  /** Errors with which the next jobs end, in order. Later jobs succeed. */
  readonly errors?: string[];
  /** Number of polls that return queued or processing. Infinity: the job never finishes. */
  readonly polls?: number;
}

export interface AssemblyJob {
  readonly id: string;
  readonly scenario: string | null;
  readonly parameters: Readonly<Record<string, unknown>>;
  polls: number;
  readonly error: string | null;
  deleted: boolean;
  /** Statuses that polls returned, in order; equal consecutive ones count once. */
  readonly statuses: string[];
}

export interface AssemblyAi {
  readonly url: string;
  readonly scenarios: Map<string, AssemblyScenario>;
  readonly uploads: ReceivedRecording[];
  readonly jobs: AssemblyJob[];
  close(): Promise<void>;
}

/** Checks of the parameters of a transcript request. */
const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  audio_url: (value) => typeof value === 'string',
  speech_models: (value) =>
    Array.isArray(value) && value.length > 0 && value.every((model) => String(model).startsWith('universal-')),
  speaker_labels: (value) => typeof value === 'boolean',
  language_detection: (value) => typeof value === 'boolean',
};

async function jsonOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = '';
  for await (const part of request) text += String(part);
  return JSON.parse(text) as Record<string, unknown>;
}

/** @param key the API key that requests must have */
export async function startAssemblyAi(key: string): Promise<AssemblyAi> {
  const scenarios = new Map<string, AssemblyScenario>();
  const uploads: ReceivedRecording[] = [];
  const jobs: AssemblyJob[] = [];
  const uploaded = new Map<string, ReceivedRecording>();

  const jobJson = (job: AssemblyJob) => {
    const { speech = TALK, polls = 2 } = scenarios.get(job.scenario ?? '') ?? {};
    const isDone = job.polls > polls;
    const status = isDone ? (job.error === null ? 'completed' : 'error') : job.polls > 1 ? 'processing' : 'queued';
    if (job.statuses.at(-1) !== status) job.statuses.push(status);
    const { id, parameters } = job;
    if (status !== 'completed')
      return { id, status, ...parameters, text: null, words: null, error: isDone ? job.error : null };
    const words = wordsOf(speech).map(({ text, start, end, speaker }) => ({
      text,
      start: Math.round(start * 1000),
      end: Math.round(end * 1000),
      confidence: 0.97,
      speaker: parameters['speaker_labels'] === true ? 'ABC'[speaker] : null,
    }));
    return {
      id,
      status,
      ...parameters,
      text: textOf(speech),
      words,
      language_code:
        parameters['language_detection'] === true ? speech.language.toLowerCase().replace('-', '_') : 'en_us',
      audio_duration: Math.round(speech.duration),
      error: null,
    };
  };

  const server = createServer((request, response) => {
    void (async () => {
      const { method, url: path = '/' } = request;
      const refuse = (status: number, error: string): void => {
        request.resume();
        answer(response, { error }, status);
      };
      if (request.headers.authorization !== key) return refuse(401, 'Authentication error, API token missing/invalid');
      if (method === 'POST' && path === '/v2/upload') {
        const recording = await receiveRecording(request);
        uploads.push(recording);
        const fault = scenarios.get(recording.scenario ?? '')?.uploadFaults?.shift();
        const upload_url = `${emulator.url}/upload/${randomUUID()}`;
        if (fault !== undefined) return writeFault(response, fault, { upload_url });
        uploaded.set(upload_url, recording);
        return answer(response, { upload_url });
      }
      if (method === 'POST' && path === '/v2/transcript') {
        const parameters = await jsonOf(request);
        for (const [name, value] of Object.entries(parameters))
          if (FIELDS[name]?.(value) !== true) return refuse(400, `Invalid endpoint schema: ${name}`);
        const recording = uploaded.get(String(parameters['audio_url']));
        if (!recording) return refuse(400, 'Cannot access uploaded file');
        const scenario = scenarios.get(recording.scenario ?? '');
        const fault = scenario?.transcriptFaults?.shift();
        if (fault !== undefined) return writeFault(response, fault, {});
        const id = randomUUID();
        const error = scenario?.errors?.shift() ?? null;
        jobs.push({ id, scenario: recording.scenario, parameters, polls: 0, error, deleted: false, statuses: [] });
        return answer(response, { id, status: 'queued', ...parameters });
      }
      const job = jobs.find(({ id, deleted }) => path === `/v2/transcript/${id}` && !deleted);
      if (!job) return refuse(404, 'Transcript lookup error, transcript id not found');
      if (method === 'DELETE') {
        job.deleted = true;
        return answer(response, { id: job.id, status: 'completed', text: 'Deleted by user.' });
      }
      if (method !== 'GET') return refuse(405, 'Method not allowed');
      job.polls += 1;
      const body = jobJson(job);
      const fault = scenarios.get(job.scenario ?? '')?.injectedFaults?.shift();
      if (fault !== undefined) return writeFault(response, fault, body);
      answer(response, body);
    })().catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const emulator: AssemblyAi = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    scenarios,
    uploads,
    jobs,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return emulator;
}
