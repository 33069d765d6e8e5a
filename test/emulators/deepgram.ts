/** Emulates Deepgram's published API for recorded audio: POST /v1/listen. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import {
  answer,
  receiveRecording,
  type ReceivedRecording,
  writeFault,
  type Scenario,
  type Speech,
  TALK,
  textOf,
  wordsOf,
} from './speech.js';

export interface DeepgramCall extends ReceivedRecording {
  readonly query: Readonly<Record<string, string>>;
  readonly contentType: string | undefined;
  readonly contentLength: string | undefined;
}

export interface Deepgram {
  readonly url: string;
  /** Scenarios by the scenario name in the recording, or by the recording's SHA-256. */
  readonly scenarios: Map<string, Scenario>;
  /** Calls with a valid path, method, key and query whose body was received in full, whatever the answer. */
  readonly calls: DeepgramCall[];
  /** Returns the number of calls that are not yet answered. */
  open(): number;
  close(): Promise<void>;
}

const FLAGS = ['smart_format', 'punctuate', 'paragraphs', 'utterances', 'diarize', 'detect_language'];

/** Returns the error in a query; null if it is valid. */
function queryError(query: URLSearchParams): string | null {
  for (const [name, value] of query) {
    if (name === 'model') continue;
    if (!FLAGS.includes(name)) return `unknown query parameter ${name}`;
    if (!['true', 'false'].includes(value)) return `query parameter ${name} must be a boolean`;
  }
  return query.get('model') === 'nova-3' ? null : 'No such model/language/tier combination found.';
}

function result(speech: Speech, query: URLSearchParams) {
  const isEnabled = (flag: string): boolean => query.get(flag) === 'true';
  const speakerOf = (speaker: number) => (isEnabled('diarize') ? { speaker } : {});
  const words = wordsOf(speech).map(({ text, start, end, speaker }) => ({
    word: text.toLowerCase().replace(/\W/g, ''),
    start,
    end,
    confidence: 0.99,
    punctuated_word: text,
    ...speakerOf(speaker),
  }));
  const paragraphs = speech.turns.flatMap(({ speaker, paragraphs: all }) =>
    all.map((sentences) => ({
      sentences,
      start: sentences[0]?.start,
      end: sentences.at(-1)?.end,
      num_words: sentences.flatMap(({ text }) => text.split(' ')).length,
      ...speakerOf(speaker),
    })),
  );
  const transcript = textOf(speech);
  return {
    metadata: { request_id: randomUUID(), duration: speech.duration, channels: 1 },
    results: {
      channels: [
        {
          alternatives: [
            {
              transcript,
              confidence: words.length > 0 ? 0.99 : 0,
              words,
              // Deepgram returns no paragraphs for Japanese and similar languages.
              ...(isEnabled('paragraphs') && words.length > 0 && speech.language !== 'ja'
                ? { paragraphs: { transcript, paragraphs } }
                : {}),
            },
          ],
          ...(isEnabled('detect_language') ? { detected_language: speech.language, language_confidence: 0.98 } : {}),
        },
      ],
      ...(isEnabled('utterances') ? { utterances: [] } : {}),
    },
  };
}

export async function startDeepgram(key: string): Promise<Deepgram> {
  const scenarios = new Map<string, Scenario>();
  const calls: DeepgramCall[] = [];
  let unanswered = 0;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://deepgram');
    const refuse = (status: number, err_code: string, err_msg: string): void => {
      request.resume();
      answer(response, { err_code, err_msg, request_id: randomUUID() }, status);
    };
    if (url.pathname !== '/v1/listen') return refuse(404, 'NOT_FOUND', 'Not found.');
    if (request.method !== 'POST') return refuse(405, 'METHOD_NOT_ALLOWED', 'Method not allowed.');
    if (request.headers.authorization !== `Token ${key}`) return refuse(401, 'INVALID_AUTH', 'Invalid credentials.');
    const error = queryError(url.searchParams);
    if (error !== null) return refuse(400, 'Bad Request', error);
    unanswered += 1;
    response.once('close', () => (unanswered -= 1));
    void (async () => {
      const recording = await receiveRecording(request).catch(() => null);
      if (recording === null) return;
      calls.push({
        ...recording,
        query: Object.fromEntries(url.searchParams),
        contentType: request.headers['content-type'],
        contentLength: request.headers['content-length'],
      });
      const scenario = scenarios.get(recording.scenario ?? recording.sha256) ?? {};
      const body = result(scenario.speech ?? TALK, url.searchParams);
      const next = scenario.injectedFaults?.shift();
      if (next !== undefined) return writeFault(response, next, body);
      if (recording.size === 0)
        return refuse(400, 'Bad Request', 'Bad Request: failed to process audio: corrupt or unsupported data');
      answer(response, body);
    })();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    scenarios,
    calls,
    open: () => unanswered,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
