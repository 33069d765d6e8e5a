/**
 * Makes a recording from raw exchanges. It contains redacted responses, and the connector's requests and results for
 * them.
 */
import { createHash, randomInt } from 'node:crypto';

import type { ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import { type RawResponse, answeringEgress, type RawRequest, type RawExchange } from './exchanges.js';
import {
  bodyOf,
  type Exchange,
  type Recording,
  type RecordedStep,
  type RecordingLimits,
  type StepName,
} from './fixture.js';
import { findLeaks } from './redaction/leaks.js';
import { type Comparison, findDifference, isRedactedText } from './redaction/match.js';
import { createPseudonyms } from './redaction/pseudonyms.js';
import { isJson, redactBody, redactContent, redactHeaders, SECRET_HEADER } from './redaction/redactBody.js';
import { createTextRedaction, type TextRedaction } from './redaction/redactText.js';
import { createReplayer, type Draft, replaySteps } from './replay.js';
import { RecordingError } from './steps.js';
import { vocabularyOf } from './redaction/vocabulary.js';
import { decode, wordsIn } from './redaction/words.js';

/** The unredacted requests, responses and results of a recording. */
export interface RawRecording {
  readonly source: ConnectedSourceType;
  readonly limits: RecordingLimits;
  readonly hasChanges: boolean;
  /** Milliseconds since 1970. */
  readonly recordedAt: number;
  readonly urls: Readonly<Record<string, string>>;
  readonly credentials: unknown;
  readonly steps: readonly {
    readonly name: StepName;
    readonly at: number;
    readonly exchanges: readonly RawExchange[];
    readonly outcome: unknown;
  }[];
}

const DAY_MS = 86_400_000;
/** Times are moved into the past by whole weeks, so that they keep their day of the week. */
const MIN_WEEKS = 52;
const MAX_WEEKS = 520;
const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|localhost|\[::1\]|0\.0\.0\.0)$/;
const OMITTED_HEADER = /^(?:host|user-agent|content-length|connection|amz-sdk-.*|x-amz-.*|x-ms-date|date)$/;
const MIN_ORIGINAL = 4;

const nextStep =
  'Nothing was saved. docs/adding-a-source.md explains which term to add to contract/sources/recordedTerms.ts. If that does not help, report this message.';

/** Returns all strings in a value. */
export function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(stringsIn);
}

/** Returns all texts that came from the account: responses, requests, credentials. */
function originalTexts({ steps, credentials }: RawRecording): string[] {
  const texts = steps.flatMap(({ exchanges }) =>
    exchanges.flatMap(({ asked, answered }) => [
      decode(asked.url),
      asked.body ?? '',
      Buffer.from(answered.bytes).toString(),
      ...Object.values(answered.headers),
    ]),
  );
  return [...texts, ...stringsIn(credentials)];
}

/**
 * Returns the digests by which a listing may describe a content. The last one is Dropbox's content hash, up to 4 MB.
 */
const digestsOf = (bytes: Uint8Array): string[] => {
  const sha256 = createHash('sha256').update(bytes).digest();
  return [
    createHash('md5').update(bytes).digest('hex'),
    createHash('sha1').update(bytes).digest('hex'),
    sha256.toString('hex'),
    createHash('sha256').update(sha256).digest('hex'),
  ];
};

/**
 * Makes the digest of each redacted content the pseudonym of its original digest, because connectors compare the
 * digests in listings with contents.
 */
function pairDigests({ steps }: RawRecording, redaction: TextRedaction): void {
  for (const { asked, answered } of steps.flatMap(({ exchanges }) => exchanges)) {
    if (asked.method !== 'GET' || answered.bytes.length === 0 || isJson(answered.bytes)) continue;
    const redacted = digestsOf(redactContent(answered.bytes, redaction));
    digestsOf(answered.bytes).forEach((digest, at) => redaction.pseudonyms.set(digest, redacted[at] ?? ''));
  }
}

function redactAnswer({ status, headers, bytes }: RawResponse, redaction: TextRedaction): RawResponse {
  const redacted = redactBody(bytes, headers['content-type'] ?? '', redaction);
  const redactedHeaders = redactHeaders(headers, redaction);
  // Clients read as many bytes as the header states.
  const hasLength = headers['content-length'] === String(bytes.length);
  return {
    status,
    headers: hasLength ? { ...redactedHeaders, 'content-length': String(redacted.length) } : redactedHeaders,
    bytes: redacted,
  };
}

/** A raw exchange with its redacted response. */
interface Prepared {
  readonly raw: RawRequest;
  readonly answer: RawResponse;
  isUsed: boolean;
}

/** Returns the headers of a request that a recording contains. The connector sent them with redacted credentials. */
const shownHeaders = (headers: RawRequest['headers']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => !SECRET_HEADER.test(name) && !OMITTED_HEADER.test(name)),
  );

/**
 * Runs the connector with the redacted responses. Its requests and results become those of the recording. They contain
 * no data of the account, because the connector receives only redacted data.
 */
async function replayRedacted(draft: Draft, raw: RawRecording, redaction: TextRedaction): Promise<RecordedStep[]> {
  const comparison: Comparison = {
    redact: redaction.prose.bind(redaction),
    origin: redaction.url.bind(redaction),
    offsetMs: redaction.offsetMs,
  };
  const prepared = new Map<StepName, Prepared[]>(
    raw.steps.map(({ name, exchanges }) => [
      name,
      exchanges.map(({ asked, answered }) => ({
        raw: asked,
        answer: redactAnswer(answered, redaction),
        isUsed: false,
      })),
    ]),
  );
  const written = new Map<StepName, Exchange[]>();
  const unmatched: string[] = [];
  let step: StepName = 'connect';
  const isSame = (recorded: RawRequest, asked: RawRequest): boolean =>
    recorded.method === asked.method &&
    (redaction.url(recorded.url) === asked.url ||
      isRedactedText(decode(recorded.url), decode(asked.url), comparison)) &&
    isRedactedText(recorded.body ?? '', asked.body ?? '', comparison);
  const egress = answeringEgress((asked) => {
    const match = prepared.get(step)?.find(({ raw: recorded, isUsed }) => !isUsed && isSame(recorded, asked));
    if (!match) {
      unmatched.push(`${step}: ${asked.method} ${asked.url} ${asked.body ?? ''}`);
      return { status: 400, headers: {}, bytes: Buffer.from('{}') };
    }
    match.isUsed = true;
    const { method, url, headers, body } = asked;
    const { status, headers: answered, bytes } = match.answer;
    written.get(step)?.push({
      request: { method, url, headers: shownHeaders(headers), ...(body === null ? {} : { body }) },
      response: { status, headers: answered, body: bodyOf(Buffer.from(bytes)) },
    });
    return match.answer;
  });
  const outcomes = await replaySteps(draft, egress, (name) => {
    step = name;
    written.set(name, []);
  }).catch((error: unknown) => {
    // The unmatched requests are reported below as the cause.
    if (unmatched.length > 0) return [];
    throw new RecordingError(
      `With redacted responses, the connector fails in the step ${step}: ${(error as Error).message} ${nextStep}`,
    );
  });
  const unused = [...prepared].flatMap(([name, all]) =>
    all.filter(({ isUsed }) => !isUsed).map(({ raw: { method, url } }) => `${name}: ${method} ${redaction.url(url)}`),
  );
  if (unmatched.length > 0 || unused.length > 0)
    throw new RecordingError(
      [
        `With redacted responses, the connector sends other requests than before. ${nextStep}`,
        ...unmatched.map((line) => `  not recorded: ${line}`),
        ...unused.map((line) => `  not sent again: ${line}`),
      ].join('\n'),
    );
  for (const { name, outcome } of raw.steps) {
    const replayedOutcome = outcomes.find((outcomeOfStep) => outcomeOfStep.name === name)?.outcome;
    const difference = findDifference(JSON.parse(JSON.stringify(outcome)), replayedOutcome, comparison);
    if (difference !== null)
      throw new RecordingError(
        `With redacted responses, the connector returns another result in the step ${name}, at ${difference}. ${nextStep}`,
      );
  }
  return draft.steps.map(({ name, at }) => ({
    name,
    at,
    exchanges: written.get(name) ?? [],
    outcome: outcomes.find((one) => one.name === name)?.outcome,
  }));
}

/** Applies a function to all strings in a value. */
function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((element) => mapStrings(element, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mapStrings(member, change)]));
}

/** Returns the hosts of all addresses in texts. */
const hostsIn = (texts: readonly string[]): Set<string> =>
  new Set(
    texts.flatMap((text) =>
      [...text.matchAll(/https?:\\?\/\\?\/(?:[^\s/?#@]{1,200}@)?([a-z\d.-]+(?::\d{1,5})?)/gi)].map(([, host = '']) =>
        host.toLowerCase(),
      ),
    ),
  );

/** Returns the redaction of a recording. Its key is random and is not kept. */
function redactionOf(raw: RawRecording, texts: readonly string[], originals: ReadonlySet<string>): TextRedaction {
  const offsetMs = -7 * DAY_MS * randomInt(MIN_WEEKS, MAX_WEEKS);
  return createTextRedaction({
    source: raw.source,
    vocabulary: vocabularyOf(raw.source),
    pseudonyms: createPseudonyms(originals),
    offsetMs,
    hosts: hostsIn([...texts, ...Object.values(raw.urls)]),
  });
}

/**
 * Makes a recording and verifies it: a replay must give the recorded results, and no word of the account may be in it.
 * @throws RecordingError if it cannot be made; nothing may be saved then
 */
export async function redactRecording(raw: RawRecording): Promise<Recording> {
  const texts = originalTexts(raw);
  const originals = new Set(texts.flatMap((text) => wordsIn(text, MIN_ORIGINAL)));
  const redaction = redactionOf(raw, texts, originals);
  pairDigests(raw, redaction);
  const urls = raw.steps.flatMap(({ exchanges }) => exchanges.map(({ asked }) => asked.url));
  const isEmulator = urls.some((url) => LOOPBACK.test(new URL(url).hostname));
  const draft: Draft = {
    format: 1,
    source: raw.source,
    account: isEmulator ? 'emulator' : 'real',
    recordedOn: new Date(raw.recordedAt).toISOString().slice(0, 10),
    hasChanges: raw.hasChanges,
    limits: raw.limits,
    urls: Object.fromEntries(Object.entries(raw.urls).map(([part, url]) => [part, redaction.url(url)])),
    credentials: mapStrings(raw.credentials, redaction.prose.bind(redaction)),
    steps: raw.steps.map(({ name, at }) => ({ name, at: new Date(at + redaction.offsetMs).toISOString() })),
  };
  const recording: Recording = { ...draft, steps: await replayRedacted(draft, raw, redaction) };
  const leaks = findLeaks(recording, originals, redaction);
  if (leaks.length > 0)
    throw new RecordingError(
      `${leaks.length} words of the account would be in the recording, in: ${leaks.slice(0, 5).join('; ')}. ${nextStep}`,
    );
  await proveReplay(recording);
  return recording;
}

/** Replays a recording in this process. @throws RecordingError unless it gives the recorded results */
async function proveReplay(recording: Recording): Promise<void> {
  const player = createReplayer(recording);
  const outcomes = await replaySteps(recording, answeringEgress(player.answer), player.enter);
  const problems = [
    ...player.problems(),
    ...recording.steps.flatMap(({ name, outcome }) => {
      const again = outcomes.find((one) => one.name === name)?.outcome;
      return JSON.stringify(again) === JSON.stringify(outcome) ? [] : [`${name} gives another result`];
    }),
  ];
  if (problems.length > 0) throw new RecordingError(`The replay differs. ${nextStep}\n  ${problems.join('\n  ')}`);
}
