import { Fault, type FaultKind } from '../contract/failures.js';
import { retryAfterMs } from '../egress/retryAfter.js';
import { statedReason } from '../egress/statedReason.js';
import type { Egress, EgressRequest } from '../egress/types.js';

/** An outside service, as messages name it and its settings. */
export interface Service {
  /** The product's name. */
  readonly name: string;
  /** Null: the service takes no key. */
  readonly keySetting: string | null;
  readonly urlSetting: string;
}

export interface ServiceRequest extends Pick<EgressRequest, 'url' | 'method' | 'headers' | 'body' | 'bodyBytes'> {
  /** A body sent as JSON, in place of `body`. */
  readonly json?: unknown;
  /** Maximum size of the answer in bytes, decoded. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A whole answer. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** What a status means, whichever service answers it. `busy` is 429, or 503 with a time to wait. */
export type Refusal =
  | 'unauthorized'
  | 'unpaid'
  | 'forbidden'
  | 'moved'
  | 'too_large'
  | 'busy'
  | 'failed'
  | 'not_accepted';

/** What is common to the services of one kind, such as all rerankers. */
export interface ServiceKind {
  /** Where the JSON of a refusal may state its reason, the best place first. */
  readonly reasonsIn: (body: unknown) => readonly unknown[];
  /** The fault of each refusal, and the predicate of its sentence, which says what to do. */
  readonly refusals: Readonly<Record<Refusal, readonly [FaultKind, (service: Service) => string]>>;
  /** What to do about an answer of the wrong shape. */
  readonly onWrongAnswer: (service: Service) => string;
}

/** Whom a request goes to. */
export interface Peer {
  readonly service: Service;
  readonly kind: ServiceKind;
  /** Removed from quoted reasons: some services repeat the key that they refuse. */
  readonly apiKey: string | null;
  /** A refusal in the service's own words; undefined where its status says what it means. */
  refusal?(reply: Reply): { readonly kind: FaultKind; readonly sentence: string } | undefined;
  /** The wait that the service asks for in headers of its own, in milliseconds. */
  waitMs?(headers: Reply['headers']): number | null;
}

/** Sends one request and reads the whole answer, whatever its status. @throws Fault of the network, of time or of size */
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
    // The key and the content go to the address of the setting only.
    redirects: 'answer',
    ...(signal && { signal }),
  });
  return { status: answer.status, headers: answer.headers, text: Buffer.from(await answer.bytes()).toString() };
}

/** Sends one request. @throws Fault for an answer other than 2xx, besides those of `send` */
export async function call(egress: Pick<Egress, 'request'>, request: ServiceRequest, peer: Peer): Promise<Reply> {
  const reply = await send(egress, request);
  if (reply.status < 200 || reply.status >= 300) throw refusalFault(reply, peer);
  return reply;
}

/** Parses an answer as JSON. @throws Fault when it is none */
export function readJson({ text }: Reply, peer: Pick<Peer, 'service' | 'kind'>): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The parser's message would quote the answer.
    throw wrongAnswer('no whole JSON', peer);
  }
}

/** Returns the fault of an answer that does not have the documented shape. @param what as in "a wrong answer: <what>" */
export const wrongAnswer = (what: string, { service, kind }: Pick<Peer, 'service' | 'kind'>): Fault =>
  new Fault(
    'server_error',
    `${service.name} gave a wrong answer: ${what}. Nothing of it was used. ${kind.onWrongAnswer(service)}.`,
  );

/** Returns what a status other than 2xx means. @param waitMs the wait that the answer asks for; null: none */
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

/** Returns the reason that an answer states: a field of its JSON, or all of a plain text. '' for the HTML page of a proxy. */
export function reasonIn(text: string, reasonsIn: ServiceKind['reasonsIn']): string {
  const isPlain = !/^\s*(?:[<{["]|$)/.test(text);
  return isPlain ? statedReason(JSON.stringify(text), (whole) => [whole]) : statedReason(text, reasonsIn);
}

function refusalFault(reply: Reply, { service, kind, apiKey, ...own }: Peer): Fault {
  const { status, headers, text } = reply;
  const waitMs = own.waitMs?.(headers) ?? retryAfterMs(headers);
  const [usualKind, sentenceOf] = kind.refusals[refusalOf(status, waitMs)];
  const fault = own.refusal?.(reply) ?? { kind: usualKind, sentence: sentenceOf(service) };
  const reason = reasonIn(apiKey === null ? text : text.replaceAll(apiKey, '…'), kind.reasonsIn);
  const quoted = reason === '' ? '' : ` (“${reason}”)`;
  return new Fault(
    fault.kind,
    `${service.name} ${fault.sentence}${quoted}. (HTTP ${status})`,
    waitMs === null ? {} : { retryAfterMs: waitMs },
  );
}
