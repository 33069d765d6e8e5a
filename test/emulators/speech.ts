/** The speech that the emulated transcription services return, the recordings they receive, and their faults. */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface SpokenSentence {
  readonly text: string;
  /** Seconds since the start of the recording. */
  readonly start: number;
  readonly end: number;
}

/** One speaker's uninterrupted speech. */
export interface Turn {
  readonly speaker: number;
  /** Paragraphs of sentences. */
  readonly paragraphs: readonly (readonly SpokenSentence[])[];
}

export interface Speech {
  /** Language code (BCP 47). */
  readonly language: string;
  /** Duration of the recording in seconds. */
  readonly duration: number;
  readonly turns: readonly Turn[];
}

/** A conversation of two people about otters: 5 sentences in 3 turns. */
export const TALK: Speech = {
  language: 'en',
  duration: 21.5,
  turns: [
    {
      speaker: 0,
      paragraphs: [
        [
          { text: 'Otters juggle pebbles on the river bank.', start: 0.5, end: 3.25 },
          { text: 'They do it when they are hungry.', start: 3.5, end: 6 },
        ],
      ],
    },
    { speaker: 1, paragraphs: [[{ text: 'Is that so?', start: 7.125, end: 8 }]] },
    {
      speaker: 0,
      paragraphs: [
        [{ text: 'Yes, and the reason is unknown.', start: 9, end: 11.75 }],
        [{ text: 'Lighthouses are another matter.', start: 15, end: 18 }],
      ],
    },
  ],
};

export const SILENCE: Speech = { language: 'en', duration: 4, turns: [] };

export interface SpokenWord extends SpokenSentence {
  readonly speaker: number;
}

/** Returns the words of a speech, evenly spread over their sentences. */
export const wordsOf = ({ turns }: Speech): SpokenWord[] =>
  turns.flatMap(({ speaker, paragraphs }) =>
    paragraphs.flat().flatMap(({ text, start, end }) => {
      const words = text.split(' ');
      const step = (end - start) / words.length;
      return words.map((word, nth) => ({
        text: word,
        start: start + nth * step,
        end: nth === words.length - 1 ? end : start + (nth + 1) * step,
        speaker,
      }));
    }),
  );

export const textOf = ({ turns }: Speech): string =>
  turns.flatMap(({ paragraphs }) => paragraphs.flat().map(({ text }) => text)).join(' ');

/**
 * A fault: an error status; a body whose connection closes in the middle (`brokenConnection`); a complete response that
 * is invalid JSON (`invalidJson`); no answer (`hang`).
 */
export type InjectedFault =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: unknown }
  | 'brokenConnection'
  | 'invalidJson'
  | 'hang';

/** How a service handles the recordings that name this scenario. */
export interface Scenario {
  readonly speech?: Speech;
  /** Faults of the first calls, in order; later calls succeed. For AssemblyAI, only polls take these faults. */
  readonly injectedFaults?: InjectedFault[];
}

/** A recording as the service received it. */
export interface ReceivedRecording {
  readonly sha256: string;
  readonly size: number;
  /** Name of the scenario, read from the recording: see recordingOf. */
  readonly scenario: string | null;
}

/** Returns a recording that contains the name of its scenario. @param bytes minimum length */
export function recordingOf(scenario: string, bytes = 600): Buffer {
  const head = Buffer.from(`ID3\u0003scenario:${scenario};`, 'latin1');
  return Buffer.concat([head, Buffer.alloc(Math.max(0, bytes - head.length))]);
}

/** Reads a recording from a request. */
export async function receiveRecording(request: IncomingMessage): Promise<ReceivedRecording> {
  const hash = createHash('sha256');
  let size = 0;
  let head = '';
  for await (const part of request as AsyncIterable<Buffer>) {
    hash.update(part);
    size += part.length;
    if (head.length < 500) head += part.toString('latin1', 0, 500);
  }
  return { sha256: hash.digest('hex'), size, scenario: /scenario:([\w-]+);/.exec(head)?.[1] ?? null };
}

export function answer(response: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** Applies a fault to an answer. */
export function writeFault(response: ServerResponse, kind: InjectedFault, body: unknown): void {
  const text = JSON.stringify(body);
  if (kind === 'hang') return;
  if (kind === 'invalidJson') return void response.writeHead(200).end(text.slice(0, text.length / 2));
  if (kind === 'brokenConnection') {
    response.writeHead(200, { 'content-length': String(Buffer.byteLength(text)) });
    response.write(text.slice(0, text.length / 2), () => response.destroy());
    return;
  }
  answer(response, kind.body ?? { error: 'an injected fault' }, kind.status, kind.headers);
}
