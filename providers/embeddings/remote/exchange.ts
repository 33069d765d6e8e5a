import { Fault, type FaultKind } from '../../../contract/failures.js';
import { retryAfterMs } from '../../../egress/retryAfter.js';
import type { Egress } from '../../../egress/types.js';
import { findDefect } from '../guardVectors.js';
import type { EmbeddingPurpose } from '../types.js';
import { member } from '../../members.js';
import { reasonIn, refusalOf, type Reply, send } from '../../serviceClient.js';
import type { Input, RemoteModel, RemoteRequest, Upstream } from './types.js';

/** The result of one request; `kind` determines what follows. */
export type Outcome =
  | { readonly kind: 'answered'; readonly vectors: readonly Float32Array[]; readonly tokens: number | null }
  /** The key's rate limit was exceeded. `waitMs`: the provider's Retry-After; null without one. */
  | { readonly kind: 'refused'; readonly waitMs: number | null; readonly fault: Fault }
  /** A retry may succeed. */
  | { readonly kind: 'failed'; readonly fault: Fault }
  /** An input was rejected. `tooLong`: the provider's message states that it is too long. */
  | { readonly kind: 'rejected'; readonly tooLong: boolean; readonly fault: Fault }
  /** A retry will not succeed, or not soon. */
  | { readonly kind: 'permanent'; readonly fault: Fault };

/** Maximum size of a response in bytes: twice that of 512 vectors of 3,072 numbers in decimal digits. */
const MAX_ANSWER_BYTES = 64_000_000;

export interface Exchange {
  readonly egress: Pick<Egress, 'request'>;
  readonly upstream: Upstream;
  readonly model: RemoteModel;
  readonly inputs: readonly Input[];
  readonly purpose: EmbeddingPurpose;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Sends one request and classifies its response. Rejects only with the signal's reason, or because of a programming
 * error.
 */
export async function exchange(request: Exchange): Promise<Outcome> {
  try {
    const answer = await sendOnce(request);
    // A token may be revoked before it expires: fetch a new one, once.
    const needsNewToken = answer.status === 401 && request.model.renew?.() === true;
    return classifyReply(needsNewToken ? await sendOnce(request) : answer, request);
  } catch (error) {
    if (!(error instanceof Fault) || request.signal.aborted) throw error;
    if (error.kind === 'rate_limited') return { kind: 'refused', waitMs: error.retryAfterMs, fault: error };
    return { kind: error.retryable ? 'failed' : 'permanent', fault: error };
  }
}

async function sendOnce({ egress, model, inputs, purpose, timeoutMs, signal }: Exchange): Promise<Reply> {
  const { url, headers, body }: RemoteRequest = await model.createRequest(inputs, purpose, signal);
  const request = { url, method: 'POST', headers, json: body, maxBytes: MAX_ANSWER_BYTES, timeoutMs, signal } as const;
  return send(egress, request);
}

function classifyReply(answer: Reply, { upstream, model, inputs }: Exchange): Outcome {
  const { status, headers } = answer;
  const { name, credentials, address } = upstream;
  const fault = (kind: FaultKind, message: string, waitMs: number | null = null): Fault =>
    new Fault(kind, message, waitMs === null ? {} : { retryAfterMs: waitMs });
  if (status === 200) return read(answer.text, upstream, model, inputs.length);
  const reason = reasonIn(answer.text, reasonsIn);
  const waitMs = retryAfterMs(headers);
  const refusal = refusalOf(status, waitMs);
  if (status === 429 && /insufficient_quota/.test(answer.text)) {
    const message = `The account of ${credentials} at ${name} has no credit left (429). Check its plan and billing there, then sync again.`;
    return { kind: 'permanent', fault: fault('rate_limited', message, waitMs) };
  }
  if (refusal === 'busy') {
    const message = `${name} accepts no more requests at the moment (${status}). They are retried automatically. If this happens often, ask ${name} for a higher limit.`;
    return { kind: 'refused', waitMs, fault: fault('rate_limited', message, waitMs) };
  }
  if (refusal === 'unauthorized' || refusal === 'forbidden') {
    const message = `${name} refused the credentials (${status}). Check the setting ${credentials}, then sync again.`;
    return { kind: 'permanent', fault: fault('access_denied', message) };
  }
  if (status === 400 || status === 413 || status === 422) {
    const tooLong = status === 413 || /token|length|long|large|charact|size|bytes/i.test(reason);
    const message =
      `${name} rejected the text (${status}${reason === '' ? '' : `: ${reason}`}). ` +
      `Check that the setting ${address} leads to the model of the vector space "${model.space.name}".`;
    return { kind: 'rejected', tooLong, fault: fault('bad_response', message) };
  }
  if (refusal === 'failed' || status === 409 || status === 425) {
    return { kind: 'failed', fault: fault('server_error', `${name} answered ${status}. Try again later.`, waitMs) };
  }
  const message = `${name} answered ${status}${reason === '' ? '' : `: ${reason}`}. Check the setting ${address}, then sync again.`;
  return { kind: 'permanent', fault: fault('bad_response', message) };
}

function read(text: string, { name, address }: Upstream, model: RemoteModel, count: number): Outcome {
  const invalid = (defect: string): Outcome => {
    const message = `${name} returned an invalid response: ${defect}. Nothing was stored. If it happens again, check the setting ${address}.`;
    return { kind: 'failed', fault: new Fault('embedding_failed', message) };
  };
  let answer;
  try {
    answer = model.read(JSON.parse(text) as unknown, count);
  } catch (error) {
    // The parser's message would quote the response; ours do not.
    return invalid(error instanceof SyntaxError ? 'incomplete or invalid JSON' : (error as Error).message);
  }
  const defect = findDefect(answer.vectors, count, model.space);
  if (defect !== null) return invalid(defect);
  return { kind: 'answered', vectors: answer.vectors as readonly Float32Array[], tokens: answer.tokens };
}

/** The forms of an error: {error: {message}} (OpenAI, Azure, Google), {message} (Cohere, Solar). */
function reasonsIn(body: unknown): unknown[] {
  // Google wraps some of its errors in a list.
  const errorObject: unknown = Array.isArray(body) ? body[0] : body;
  return [member(member(errorObject, 'error'), 'message'), member(errorObject, 'message')];
}
