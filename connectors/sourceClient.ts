import { setTimeout as sleep } from 'node:timers/promises';

import { Fault, type FaultKind } from '../contract/failures.js';
import { retryAfterMs } from '../egress/retryAfter.js';
import type { Egress } from '../egress/types.js';
import type { CallOptions, Connector, Refusal, SourceAnswer, SourceClient, SourceRequest } from './connector.js';
import { classOfStatus, ERROR_CLASSES } from './errorClasses.js';
import type { RequestGate } from './requestGate.js';
import { isObject } from './json.js';

const MAX_ANSWER_BYTES = 50_000_000;
const TIMEOUT_MS = 60_000;
/** For the content of an item, which may be large. */
const CONTENT_TIMEOUT_MS = 600_000;
/** Where no setting says otherwise. */
const PATIENCE_MS = 30_000;
/** The wait where a source does not say how long. */
const UNSAID_WAIT_MS = 1_000;
/** Whatever a source says: one that asks for none has just refused for being asked too often. */
const LEAST_WAIT_MS = 200;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 5;
/** A source's own word for a refusal that may be repeated to a user. */
const WORD = /^\w{1,60}$/;

/** Credentials that end and are renewed: each request, and each new try of it, takes those of its moment. */
export interface LiveHeaders {
  now(signal: AbortSignal): Promise<Readonly<Record<string, string>>>;
  /** Others than these, which the source has just refused. Throws a Fault where there are none. */
  renewed(refused: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Readonly<Record<string, string>>>;
}

export interface SourceClientSettings {
  readonly name: string;
  readonly urls: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>> | LiveHeaders;
  readonly connector: Pick<Connector<never>, 'classify' | 'waitMs' | 'restMs' | 'refusalIn' | 'sharedLimit'>;
  readonly gate: RequestGate;
  readonly egress: Pick<Egress, 'request'>;
  /** Of the content of one item at most, where it is asked for as such. */
  readonly maxItemBytes: number;
  /** How long a request waits where the source asks for that: a longer wait is its caller's. */
  readonly patienceMs?: number;
  /** Told of each request that has ended: `answered`, the kind of its Fault, or `aborted`. */
  readonly onRequest?: (outcome: RequestOutcome) => void;
}

export type RequestOutcome = 'answered' | FaultKind | 'aborted';

/** Of what was thrown. */
export const outcomeOf = (error: unknown): RequestOutcome => (error instanceof Fault ? error.kind : 'aborted');

/** A request with the account's credentials still to be put on; headers of its own go before them. */
interface Outgoing extends SourceRequest {
  readonly isOurs?: true;
  /** What gives way to the headers of the credentials. */
  readonly usual?: Readonly<Record<string, string>>;
}

interface Answered {
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** A text, which is passed over, or an integer with more digits than any number surely holds. Meant for what is JSON. */
const TEXT_OR_LONG_INTEGER = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;

/** The JSON, or the text where it is none. An integer that a number does not hold stays the digits that it was: some ids are such. */
function parse(bytes: Uint8Array): unknown {
  const text = Buffer.from(bytes).toString();
  try {
    const parsed = JSON.parse(text) as unknown;
    if (!/\d{16}/.test(text)) return parsed;
    const isExact = (found: string) => found.startsWith('"') || Number.isSafeInteger(Number(found));
    return JSON.parse(text.replaceAll(TEXT_OR_LONG_INTEGER, (found) => (isExact(found) ? found : `"${found}"`)));
  } catch {
    return text;
  }
}

export function createSourceClient(settings: SourceClientSettings): SourceClient {
  const { name, urls, headers, connector, gate, egress, maxItemBytes, patienceMs = PATIENCE_MS, onRequest } = settings;
  const faultOf = (refusal: Refusal, waitMs: number | null): Fault => {
    const { kind, sentence } = ERROR_CLASSES[connector.classify?.(refusal) ?? classOfStatus(refusal.status)];
    const again = waitMs === null ? '' : ` Try again after ${Math.ceil(waitMs / 1000)} s.`;
    const word = refusal.status < 300 ? connector.refusalIn?.(refusal.body) : null;
    const shown = word && WORD.test(word) ? word : `HTTP ${refusal.status}`;
    const message = `${name} ${sentence}${again} (${shown})`;
    return new Fault(kind, message, waitMs === null ? {} : { retryAfterMs: waitMs });
  };
  const live: LiveHeaders | null =
    'now' in headers && typeof headers.now === 'function' ? (headers as LiveHeaders) : null;
  const fixed = live ? {} : (headers as Readonly<Record<string, string>>);
  /** Puts the credentials on; once more with others, where the source takes them no longer. */
  const ask = async (outgoing: Outgoing, signal: AbortSignal): Promise<SourceAnswer> => {
    const { isOurs, usual, ...request } = outgoing;
    if (!isOurs) return counted(request, signal);
    const signed = (ours: Readonly<Record<string, string>>) => ({
      ...request,
      headers: { ...usual, ...ours, ...request.headers },
    });
    if (!live) return counted(signed(fixed), signal);
    const ours = await live.now(signal);
    try {
      return await counted(signed(ours), signal);
    } catch (error) {
      if (!(error instanceof Fault) || error.kind !== 'access_revoked') throw error;
      return counted(signed(await live.renewed(ours, signal)), signal);
    }
  };
  const counted = async (request: SourceRequest, signal: AbortSignal): Promise<SourceAnswer> => {
    try {
      const answer = await exchange(request, signal);
      onRequest?.('answered');
      return answer;
    } catch (error) {
      onRequest?.(outcomeOf(error));
      throw error;
    }
  };
  const exchange = async (request: SourceRequest, signal: AbortSignal): Promise<SourceAnswer> => {
    const answer = await egress.request({
      url: request.url,
      ...(request.method === undefined ? {} : { method: request.method }),
      ...(request.body === undefined ? {} : { body: request.body }),
      headers: request.headers,
      maxBytes: request.isContent ? maxItemBytes : MAX_ANSWER_BYTES,
      totalTimeoutMs: request.isContent ? CONTENT_TIMEOUT_MS : TIMEOUT_MS,
      // The credentials go where the setting says, and nowhere else.
      redirects: 'answer',
      signal,
    });
    const { status } = answer;
    const whole = { status, headers: answer.headers, bytes: await answer.bytes() };
    const isSuccess = status >= 200 && status < 300;
    if (isSuccess && (request.isContent || !connector.refusalIn)) return whole;
    const refusal = { status, headers: answer.headers, body: parse(whole.bytes) };
    if (isSuccess && connector.refusalIn?.(refusal.body) === null) return whole;
    if (request.takes(refusal)) return whole;
    const fault = faultOf(refusal, null);
    if (fault.kind !== 'rate_limited') throw fault;
    const saidMs = connector.waitMs?.(refusal, Date.now()) ?? retryAfterMs(answer.headers) ?? UNSAID_WAIT_MS;
    const waitMs = Math.max(saidMs, LEAST_WAIT_MS);
    if (connector.sharedLimit?.isMet(refusal)) gate.pause(waitMs, 'shared');
    throw faultOf(refusal, waitMs);
  };

  /** Asks in the account's turn, and again where the source asks for patience that we have. */
  const send = async (request: Outgoing, signal: AbortSignal): Promise<SourceAnswer> => {
    const deadline = Date.now() + patienceMs;
    for (;;) {
      try {
        const answer = await gate.pass(signal, deadline, () => ask(request, signal));
        const restMs = connector.restMs?.(answer.headers) ?? 0;
        if (restMs > 0) gate.pause(restMs);
        return answer;
      } catch (error) {
        if (!(error instanceof Fault) || error.retryAfterMs === null) throw error;
        // All requests of the account wait, not just this one.
        gate.pause(error.retryAfterMs);
        if (Date.now() + error.retryAfterMs > deadline) throw error;
        await sleep(0, undefined, { signal });
      }
    }
  };
  const urlOf = (path: readonly string[], query: Readonly<Record<string, string>>, at: string): string => {
    // Such parts would lead elsewhere, encoded or not.
    if (path.some((part) => part === '' || part === '.' || part === '..'))
      throw faultOf({ status: 404, headers: {}, body: null }, null);
    const base = urls[at];
    if (base === undefined) throw new Error(`${name} has no address called ${at}`);
    const search = new URLSearchParams(query).toString();
    // A part may hold a colon or a dollar sign as they are, and to some sources they mean something only so.
    const encoded = path.map((part) => encodeURIComponent(part).replaceAll('%3A', ':').replaceAll('%24', '$'));
    return `${base}/${encoded.join('/')}${search === '' ? '' : `?${search}`}`;
  };
  const call = async (
    path: readonly string[],
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
    { at = 'api', headers: more = {}, asForm = false }: CallOptions = {},
    posted?: unknown,
  ): Promise<Answered> => {
    const isPost = posted !== undefined;
    const type = asForm ? 'application/x-www-form-urlencoded' : 'application/json';
    const usual = { accept: 'application/json', ...(isPost ? { 'content-type': type } : {}) };
    const url = urlOf(path, query, at);
    const request: Outgoing = { url, isOurs: true, usual, headers: more, isContent: false, takes: () => false };
    const body = asForm ? new URLSearchParams(posted as Record<string, string>).toString() : JSON.stringify(posted);
    const answer = await send(isPost ? { ...request, method: 'POST', body } : request, signal);
    return { body: parse(answer.bytes), headers: answer.headers };
  };
  /** What is content may lie elsewhere; our credentials do not go there. */
  const content = async (
    path: readonly string[],
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
    { at = 'api', headers: more = {} }: CallOptions = {},
  ): Promise<SourceAnswer> => {
    let request: Outgoing = {
      url: urlOf(path, query, at),
      isOurs: true,
      headers: more,
      isContent: true,
      takes: ({ status }) => REDIRECTS.has(status),
    };
    for (let steps = 0; steps <= MAX_REDIRECTS; steps += 1) {
      const answer = await send(request, signal);
      if (!REDIRECTS.has(answer.status)) return answer;
      const { location } = answer.headers;
      if (location === undefined || !URL.canParse(location, request.url)) break;
      const { isContent, takes } = request;
      request = { url: new URL(location, request.url).href, headers: {}, isContent, takes };
    }
    throw new Fault('too_many_redirects', `${name} redirects without an end. Open the item there and sync it again.`);
  };
  const unlike = (wanted: string): Fault =>
    new Fault('server_error', `${name} gave an answer that is no whole JSON ${wanted}. It is tried again by itself.`);

  return {
    urls,
    send: (request: SourceRequest, signal) => send(request, signal),
    content,
    async get(path, query, signal, options) {
      const { body } = await call(path, query, signal, options);
      if (isObject(body)) return body;
      throw unlike('object');
    },
    async post(path, posted, signal, options) {
      const { body } = await call(path, {}, signal, options, posted === undefined ? {} : posted);
      if (isObject(body)) return body;
      throw unlike('object');
    },
    async list(path, query, signal, within) {
      const { body, headers: told } = await call(path, query, signal);
      const values = within === undefined ? body : isObject(body) ? body[within] : null;
      if (Array.isArray(values)) return { values: values as unknown[], headers: told };
      throw unlike('list');
    },
  };
}
