import { Fault, type FaultKind } from '../contract/failures.js';
import { retryAfterMs } from '../egress/retryAfter.js';
import { statedReason } from '../egress/statedReason.js';
import type { Egress, EgressRequest } from '../egress/types.js';

/** An external service, with the names that error messages use. */
export interface Service {
  /** The product's name. */
  readonly name: string;
  /** Null: the service needs no key. */
  readonly keySetting: string | null;
  readonly urlSetting: string;
}

export interface ServiceRequest extends Pick<EgressRequest, 'url' | 'method' | 'headers' | 'body' | 'bodyBytes'> {
  /** A body that is sent as JSON, instead of `body`. */
  readonly json?: unknown;
  /** Maximum size of the response in bytes, decoded. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A complete response. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** The meaning of a status, for all services. `busy` is 429, or 503 with a time to wait. */
export type Refusal =
  | 'unauthorized'
  | 'unpaid'
  | 'forbidden'
  | 'moved'
  | 'too_large'
  | 'busy'
  | 'failed'
  | 'not_accepted';

/** The error handling that all services of one kind share, such as all rerankers. */
export interface ServiceKind {
  /** Returns the values in the JSON of a refusal that may state its reason, in order of preference. */
  readonly reasonsIn: (body: unknown) => readonly unknown[];
  /** The fault kind of each refusal, and its message without the subject (the service's name), with a remedy. */
  readonly refusals: Readonly<Record<Refusal, readonly [FaultKind, (service: Service) => string]>>;
  /** Returns what to do about an invalid response. */
  readonly onWrongAnswer: (service: Service) => string;
}

/** The recipient of a request. */
export interface Peer {
  readonly service: Service;
  readonly kind: ServiceKind;
  /** The key of the request. It is removed from quoted reasons, because some services repeat a rejected key. */
  readonly apiKey: string | null;
  /** Returns the fault of an error response whose status alone does not identify it; undefined for others. */
  refusal?(reply: Reply): { readonly kind: FaultKind; readonly sentence: string } | undefined;
  /** Returns the wait that the service requests in headers of its own, in milliseconds. */
  waitMs?(headers: Reply['headers']): number | null;
}

/**
 * Sends one request and reads the whole response of any status.
 * @throws Fault of the network, of a timeout or of the size
 */
export async function send(egress: Pick<Egress, 'request'>, request: ServiceRequest): Promise<Reply> {
  const { json, timeoutMs, signal, headers, ...rest } = request;
  const answer = await egress.request({
    ...rest,
    ...(json !== undefined && { body: JSON.stringify(json) }),
    headers: {
      accept: 'application/json',
      ...(json !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    totalTimeoutMs: timeoutMs,
    // Do not follow redirects: the key and the content go only to the configured address.
    redirects: 'answer',
    ...(signal && { signal }),
  });
  return { status: answer.status, headers: answer.headers, text: Buffer.from(await answer.bytes()).toString() };
}

/**
 * Sends one request.
 * @throws Fault for a status other than 2xx, in addition to those of `send`
 */
export async function call(egress: Pick<Egress, 'request'>, request: ServiceRequest, peer: Peer): Promise<Reply> {
  const reply = await send(egress, request);
  if (reply.status < 200 || reply.status >= 300) throw refusalFault(reply, peer);
  return reply;
}

/**
 * Parses a response as JSON.
 * @throws Fault if it is invalid
 */
export function readJson({ text }: Reply, peer: Pick<Peer, 'service' | 'kind'>): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The parser's message would quote the response.
    throw wrongAnswer('incomplete or invalid JSON', peer);
  }
}

/**
 * Returns the fault of a response that does not have the documented shape.
 * @param defect as in "an invalid response: <defect>"
 */
export const wrongAnswer = (defect: string, { service, kind }: Pick<Peer, 'service' | 'kind'>): Fault =>
  new Fault(
    'server_error',
    `${service.name} returned an invalid response: ${defect}. It was not used. ${kind.onWrongAnswer(service)}.`,
  );

/**
 * Returns the meaning of a status other than 2xx.
 * @param waitMs the wait that the response requests; null: none
 */
export function refusalOf(status: number, waitMs: number | null): Refusal {
  if (status === 401) return 'unauthorized';
  if (status === 402) return 'unpaid';
  if (status === 403) return 'forbidden';
  if (status === 413) return 'too_large';
  if (status === 429 || (status === 503 && waitMs !== null)) return 'busy';
  if (status >= 500 || status === 408) return 'failed';
  if (status === 404 || status === 405 || (status >= 300 && status < 400)) return 'moved';
  return 'not_accepted';
}

/**
 * Returns the reason in a refusal: a field of its JSON, or the whole of a plain text. '' for the HTML page of a proxy.
 */
export function reasonIn(text: string, reasonsIn: ServiceKind['reasonsIn']): string {
  const isPlain = !/^\s*(?:[<{["]|$)/.test(text);
  return isPlain ? statedReason(JSON.stringify(text), (whole) => [whole]) : statedReason(text, reasonsIn);
}

function refusalFault(reply: Reply, { service, kind, apiKey, ...peer }: Peer): Fault {
  const { status, headers, text } = reply;
  const waitMs = peer.waitMs?.(headers) ?? retryAfterMs(headers);
  const [defaultKind, sentenceOf] = kind.refusals[refusalOf(status, waitMs)];
  const fault = peer.refusal?.(reply) ?? { kind: defaultKind, sentence: sentenceOf(service) };
  const reason = reasonIn(apiKey === null ? text : text.replaceAll(apiKey, '…'), kind.reasonsIn);
  const quoted = reason === '' ? '' : ` (“${reason}”)`;
  return new Fault(
    fault.kind,
    `${service.name} ${fault.sentence}${quoted}. (HTTP ${status})`,
    waitMs === null ? {} : { retryAfterMs: waitMs },
  );
}
