import { Fault, type FaultKind } from '../contract/failures.js';
import { MAX_WAIT_MS, retryAfterMs } from '../egress/retryAfter.js';
import type { Egress } from '../egress/types.js';
import { type Clock, systemClock } from './clock.js';
import type { Connector } from './connector.js';
import type { Refusal, SourceAnswer, SourceRequest } from './accountClient.js';
import { classOfStatus, ERROR_CLASSES } from './errorClasses.js';
import { parseAnswer } from './parseAnswer.js';
import type { RateLimiter } from './rateLimiter.js';
import { type SentRequest, sentRequests } from './sentRequests.js';

const MAX_ANSWER_BYTES = 50_000_000;
const TIMEOUT_MS = 60_000;
/** Time limit for the content of an item, which may be large. */
const CONTENT_TIMEOUT_MS = 600_000;
/** Default maximum time that a request waits for a rate limit. */
const TIME_LIMIT_MS = 30_000;
/** Wait after a rate limit if the source does not state a duration. */
const DEFAULT_WAIT_MS = 1_000;
/** Minimum wait, even if the source requests none: it has just rate limited a request. */
const MIN_WAIT_MS = 200;
/** Error codes of a source that are safe to show to a user. */
const SAFE_ERROR_CODE = /^\w{1,60}$/;

/** Credentials that expire. Each request, and each retry, uses the current ones. */
export interface LiveHeaders {
  now(signal: AbortSignal): Promise<Readonly<Record<string, string>>>;
  /** Returns credentials other than the refused ones. Throws a Fault if there are none. */
  renewed(refused: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Readonly<Record<string, string>>>;
}

export interface TransportSettings {
  readonly name: string;
  /** URLs of the source, by the name of the part of its API (see CallOptions.at). */
  readonly urls: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>> | LiveHeaders;
  readonly connector: Pick<Connector<never>, 'classify' | 'waitMs' | 'restMs' | 'refusalIn' | 'sharedLimit'>;
  readonly rateLimiter: RateLimiter;
  readonly egress: Pick<Egress, 'request'>;
  readonly signal: AbortSignal;
  /** Maximum size of an item's content in bytes. */
  readonly maxItemBytes: number;
  /** Maximum time in milliseconds that a request waits for a rate limit. For a longer wait, a Fault is thrown. */
  readonly timeLimitMs?: number;
  /** Clock that measures the waits. Unset: the system's clock. */
  readonly clock?: Clock;
  /** Called when a request has ended. */
  readonly onRequest?: (outcome: RequestOutcome) => void;
}

/** Result of a request: answered, failed with a Fault of this kind, or aborted. */
export type RequestOutcome = 'answered' | FaultKind | 'aborted';

/** Returns the outcome for an error. */
export const outcomeOf = (error: unknown): RequestOutcome => (error instanceof Fault ? error.kind : 'aborted');

/** A request before the account's headers are added. Headers of the request override those of the account. */
export interface Outgoing extends SourceRequest {
  readonly withCredentials?: true;
  /** Headers that the account's headers override. */
  readonly defaultHeaders?: Readonly<Record<string, string>>;
}

/** Returns the Fault for a refusal. @param waitMs the requested wait; null for none */
export function faultOf(
  { name, connector }: Pick<TransportSettings, 'name' | 'connector'>,
  refusal: Refusal,
  waitMs: number | null,
): Fault {
  const { kind, sentence } = ERROR_CLASSES[connector.classify?.(refusal) ?? classOfStatus(refusal.status)];
  const retryHint = waitMs === null ? '' : ` Try again after ${Math.ceil(waitMs / 1000)} s.`;
  const code = refusal.status < 300 ? connector.refusalIn?.(refusal.body) : null;
  const shown = code && SAFE_ERROR_CODE.test(code) ? code : `HTTP ${refusal.status}`;
  const message = `${name} ${sentence}${retryHint} (${shown})`;
  return new Fault(kind, message, waitMs === null ? {} : { retryAfterMs: waitMs });
}

function emitRequest({ name, urls }: TransportSettings, request: SourceRequest): void {
  const { url, headers, method = 'GET', body = null } = request;
  const sent: SentRequest = { source: name, urls, method, url, headers, body };
  sentRequests.publish(sent);
}

/**
 * Creates a function that sends requests of one account: with its credentials, within its limits, and with a retry
 * after a requested wait.
 */
export function createTransport(settings: TransportSettings): (request: Outgoing) => Promise<SourceAnswer> {
  const {
    headers,
    connector,
    rateLimiter,
    egress,
    signal,
    maxItemBytes,
    timeLimitMs = TIME_LIMIT_MS,
    clock = systemClock,
    onRequest,
  } = settings;
  const live: LiveHeaders | null =
    'now' in headers && typeof headers.now === 'function' ? (headers as LiveHeaders) : null;
  const fixed = live ? {} : (headers as Readonly<Record<string, string>>);
  /** Adds the credentials; retries once with renewed ones if the source refuses them. */
  const sendRequest = async (outgoing: Outgoing): Promise<SourceAnswer> => {
    const { withCredentials, defaultHeaders, ...request } = outgoing;
    if (!withCredentials) return counted(request);
    const signed = (credentials: Readonly<Record<string, string>>) => ({
      ...request,
      headers: { ...defaultHeaders, ...credentials, ...request.headers },
    });
    if (!live) return counted(signed(fixed));
    const credentials = await live.now(signal);
    try {
      return await counted(signed(credentials));
    } catch (error) {
      if (!(error instanceof Fault) || error.kind !== 'access_revoked') throw error;
      return counted(signed(await live.renewed(credentials, signal)));
    }
  };
  const counted = async (request: SourceRequest): Promise<SourceAnswer> => {
    try {
      const answer = await exchange(request);
      onRequest?.('answered');
      return answer;
    } catch (error) {
      onRequest?.(outcomeOf(error));
      throw error;
    }
  };
  const exchange = async (request: SourceRequest): Promise<SourceAnswer> => {
    if (sentRequests.hasSubscribers) emitRequest(settings, request);
    const answer = await egress.request({
      url: request.url,
      ...(request.method === undefined ? {} : { method: request.method }),
      ...(request.body === undefined ? {} : { body: request.body }),
      headers: request.headers,
      maxBytes: request.isContent ? maxItemBytes : MAX_ANSWER_BYTES,
      totalTimeoutMs: request.isContent ? CONTENT_TIMEOUT_MS : TIMEOUT_MS,
      // Redirects are not followed: credentials are sent to the configured URL only.
      redirects: 'answer',
      signal,
    });
    const { status } = answer;
    const sourceAnswer = { status, headers: answer.headers, bytes: await answer.bytes() };
    const isSuccess = status >= 200 && status < 300;
    if (isSuccess && (request.isContent || !connector.refusalIn)) return sourceAnswer;
    const refusal = { status, headers: answer.headers, body: parseAnswer(sourceAnswer.bytes) };
    if (isSuccess && connector.refusalIn?.(refusal.body) === null) return sourceAnswer;
    if (request.isExpected(refusal)) return sourceAnswer;
    const fault = faultOf(settings, refusal, null);
    if (fault.kind !== 'rate_limited') throw fault;
    const requestedMs =
      connector.waitMs?.(refusal, clock.now()) ?? retryAfterMs(answer.headers, clock.now()) ?? DEFAULT_WAIT_MS;
    const waitMs = Math.min(Math.max(requestedMs, MIN_WAIT_MS), MAX_WAIT_MS);
    if (connector.sharedLimit?.appliesTo(refusal)) rateLimiter.pause(waitMs, 'shared');
    throw faultOf(settings, refusal, waitMs);
  };

  /** Sends a request when a slot is free, and retries it if the requested wait is short enough. */
  return async (request) => {
    const deadline = clock.now() + timeLimitMs;
    for (;;) {
      let isSent = false;
      try {
        const answer = await rateLimiter.pass(signal, deadline, () => {
          isSent = true;
          return sendRequest(request);
        });
        const restMs = connector.restMs?.(answer.headers) ?? 0;
        if (restMs > 0) rateLimiter.pause(restMs);
        return answer;
      } catch (error) {
        if (!(error instanceof Fault) || error.retryAfterMs === null) throw error;
        // Pause all requests of the account. If the limiter threw before the request was sent, the pause exists
        // already.
        if (isSent) rateLimiter.pause(error.retryAfterMs);
        if (clock.now() + error.retryAfterMs > deadline) throw error;
        await clock.sleep(0, signal);
      }
    }
  };
}
