import { setTimeout as sleep } from 'node:timers/promises';

import { Fault } from '../contract/failures.js';
import { retryAfterMs } from '../egress/retryAfter.js';
import type { Egress } from '../egress/types.js';
import type { Connector, Refusal, SourceAnswer, SourceClient, SourceRequest } from './connector.js';
import { classOfStatus, ERROR_CLASSES } from './errorClasses.js';
import type { RequestGate } from './requestGate.js';

const MAX_ANSWER_BYTES = 50_000_000;
const TIMEOUT_MS = 60_000;
/** For the content of an item, which may be large. */
const CONTENT_TIMEOUT_MS = 600_000;
/** How long a source may be waited for that asks us to come later: a longer wait is its caller's. */
const PATIENCE_MS = 30_000;
/** The wait where a source does not say how long. */
const UNSAID_WAIT_MS = 1_000;

export interface SourceClientSettings {
  readonly name: string;
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connector: Pick<Connector<never>, 'classify' | 'waitMs'>;
  readonly gate: RequestGate;
  readonly egress: Pick<Egress, 'request'>;
  /** Of the content of one item at most, where it is asked for as such. */
  readonly maxItemBytes: number;
  /** For tests of waiting. */
  readonly patienceMs?: number;
}

interface Answered {
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parse(bytes: Uint8Array): unknown {
  const text = Buffer.from(bytes).toString();
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

export function createSourceClient(settings: SourceClientSettings): SourceClient {
  const { name, baseUrl, headers, connector, gate, egress, maxItemBytes, patienceMs = PATIENCE_MS } = settings;
  const faultOf = (refusal: Refusal, waitMs: number | null): Fault => {
    const { kind, sentence } = ERROR_CLASSES[connector.classify?.(refusal) ?? classOfStatus(refusal.status)];
    const again = waitMs === null ? '' : ` Try again after ${Math.ceil(waitMs / 1000)} s.`;
    const message = `${name} ${sentence}${again} (HTTP ${refusal.status})`;
    return new Fault(kind, message, waitMs === null ? {} : { retryAfterMs: waitMs });
  };
  const ask = async (request: SourceRequest, signal: AbortSignal): Promise<SourceAnswer> => {
    const answer = await egress.request({
      url: request.url,
      headers: request.headers,
      maxBytes: request.isContent ? maxItemBytes : MAX_ANSWER_BYTES,
      totalTimeoutMs: request.isContent ? CONTENT_TIMEOUT_MS : TIMEOUT_MS,
      // The credentials go where the setting says, and nowhere else.
      redirects: 'answer',
      signal,
    });
    const { status } = answer;
    const whole = { status, headers: answer.headers, bytes: await answer.bytes() };
    if (status >= 200 && status < 300) return whole;
    const refusal = { status, headers: answer.headers, body: parse(whole.bytes) };
    if (request.takes(refusal)) return whole;
    const fault = faultOf(refusal, null);
    if (fault.kind !== 'rate_limited') throw fault;
    const waitMs = connector.waitMs?.(refusal, Date.now()) ?? retryAfterMs(answer.headers) ?? UNSAID_WAIT_MS;
    throw faultOf(refusal, waitMs);
  };

  /** Asks in the account's turn, and again where the source asks for patience that we have. */
  const send = async (request: SourceRequest, signal: AbortSignal): Promise<SourceAnswer> => {
    const deadline = Date.now() + patienceMs;
    for (;;) {
      try {
        return await gate.pass(signal, deadline, () => ask(request, signal));
      } catch (error) {
        if (!(error instanceof Fault) || error.retryAfterMs === null) throw error;
        // All requests of the account wait, not just this one.
        gate.pauseUntil(Date.now() + error.retryAfterMs);
        if (Date.now() + error.retryAfterMs > deadline) throw error;
        await sleep(0, undefined, { signal });
      }
    }
  };
  const call = async (
    path: readonly string[],
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
    accept?: string,
  ): Promise<Answered> => {
    // Such parts would lead elsewhere, encoded or not.
    if (path.some((part) => part === '' || part === '.' || part === '..'))
      throw faultOf({ status: 404, headers: {}, body: null }, null);
    const search = new URLSearchParams(query).toString();
    const url = `${baseUrl}/${path.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`;
    const asked = { accept: 'application/json', ...headers, ...(accept === undefined ? {} : { accept }) };
    const answer = await send({ url, headers: asked, isContent: false, takes: () => false }, signal);
    return { body: parse(answer.bytes), headers: answer.headers };
  };
  const unlike = (wanted: string): Fault =>
    new Fault('server_error', `${name} gave an answer that is no whole JSON ${wanted}. It is tried again by itself.`);

  return {
    baseUrl,
    send,
    async get(path, query, signal, accept) {
      const { body } = await call(path, query, signal, accept);
      if (isObject(body)) return body;
      throw unlike('object');
    },
    async list(path, query, signal) {
      const answer = await call(path, query, signal);
      if (Array.isArray(answer.body)) return { values: answer.body as unknown[], headers: answer.headers };
      throw unlike('list');
    },
  };
}
