import { Fault, type FaultKind } from '../../../contract/failures.js';
import { retryAfterMs } from '../../../egress/retryAfter.js';
import type { Egress } from '../../../egress/types.js';
import { findWrong } from '../guardVectors.js';
import type { EmbeddingPurpose } from '../types.js';
import { member } from '../../members.js';
import { reasonIn, refusalOf, type Reply, send } from '../../serviceClient.js';
import type { Input, RemoteModel, RemoteRequest, Upstream } from './types.js';

/** What came of one request, and what is to be done about it. */
export type Outcome =
  | { readonly kind: 'answered'; readonly vectors: readonly Float32Array[]; readonly tokens: number | null }
  /** The key is used too hard. `waitMs`: as the provider said; null when it said nothing. */
  | { readonly kind: 'refused'; readonly waitMs: number | null; readonly fault: Fault }
  /** It may work the next time. */
  | { readonly kind: 'failed'; readonly fault: Fault }
  /** Something among the inputs is not taken. `tooLong`: by its words, because there is too much of it. */
  | { readonly kind: 'not taken'; readonly tooLong: boolean; readonly fault: Fault }
  /** It won't work the next time either, or not soon. */
  | { readonly kind: 'hopeless'; readonly fault: Fault };

/** Bytes of an answer at most: 512 vectors of 3,072 numbers, each in full, have half of it. */
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

/** Sends one request and judges its answer. Rejects only with the reason of the signal, or at a defect. */
export async function exchange(one: Exchange): Promise<Outcome> {
  try {
    const answer = await ask(one);
    // A token may have been withdrawn before its time: once, a new one is taken.
    const again = answer.status === 401 && one.model.renew?.() === true;
    return judge(again ? await ask(one) : answer, one);
  } catch (error) {
    if (!(error instanceof Fault) || one.signal.aborted) throw error;
    if (error.kind === 'rate_limited') return { kind: 'refused', waitMs: error.retryAfterMs, fault: error };
    return { kind: error.retryable ? 'failed' : 'hopeless', fault: error };
  }
}

async function ask({ egress, model, inputs, purpose, timeoutMs, signal }: Exchange): Promise<Reply> {
  const { url, headers, body }: RemoteRequest = await model.ask(inputs, purpose, signal);
  const request = { url, method: 'POST', headers, json: body, maxBytes: MAX_ANSWER_BYTES, timeoutMs, signal } as const;
  return send(egress, request);
}

function judge(answer: Reply, { upstream, model, inputs }: Exchange): Outcome {
  const { status, headers } = answer;
  const { name, credentials, address } = upstream;
  const fault = (kind: FaultKind, message: string, waitMs: number | null = null): Fault =>
    new Fault(kind, message, waitMs === null ? {} : { retryAfterMs: waitMs });
  if (status === 200) return read(answer.text, upstream, model, inputs.length);
  const said = reasonIn(answer.text, reasonsIn);
  const waitMs = retryAfterMs(headers);
  const refusal = refusalOf(status, waitMs);
  if (status === 429 && /insufficient_quota/.test(answer.text)) {
    const message = `The account of ${credentials} at ${name} has no credit left (429). Look at its plan and billing there, then sync again.`;
    return { kind: 'hopeless', fault: fault('rate_limited', message, waitMs) };
  }
  if (refusal === 'busy') {
    const message = `${name} takes no more requests for now (${status}). They are sent again by themselves; if it happens often, ask ${name} for a higher limit.`;
    return { kind: 'refused', waitMs, fault: fault('rate_limited', message, waitMs) };
  }
  if (refusal === 'unauthorized' || refusal === 'forbidden') {
    const message = `${name} refused the credentials (${status}). Check the setting ${credentials}, then sync again.`;
    return { kind: 'hopeless', fault: fault('access_denied', message) };
  }
  if (status === 400 || status === 413 || status === 422) {
    const tooLong = status === 413 || /token|length|long|large|charact|size|bytes/i.test(said);
    const message = `${name} did not take the text (${status}${said === '' ? '' : `: ${said}`}). Check that the model behind ${address} is ${model.space.name}'s.`;
    return { kind: 'not taken', tooLong, fault: fault('bad_response', message) };
  }
  if (refusal === 'failed' || status === 409 || status === 425) {
    return { kind: 'failed', fault: fault('server_error', `${name} answered ${status}. Try again later.`, waitMs) };
  }
  const message = `${name} answered ${status}${said === '' ? '' : `: ${said}`}. Check the setting ${address}, then sync again.`;
  return { kind: 'hopeless', fault: fault('bad_response', message) };
}

function read(text: string, { name, address }: Upstream, model: RemoteModel, count: number): Outcome {
  const wrong = (what: string): Outcome => {
    const message = `${name} gave a wrong answer: ${what}. Nothing of it was kept. If it happens again, check the setting ${address}.`;
    return { kind: 'failed', fault: new Fault('embedding_failed', message) };
  };
  let answer;
  try {
    answer = model.read(JSON.parse(text) as unknown, count);
  } catch (error) {
    // A parser's words repeat what it read; ours don't.
    return wrong(error instanceof SyntaxError ? 'no whole JSON' : (error as Error).message);
  }
  const amiss = findWrong(answer.vectors, count, model.space);
  if (amiss !== null) return wrong(amiss);
  return { kind: 'answered', vectors: answer.vectors as readonly Float32Array[], tokens: answer.tokens };
}

/** {error: {message}} (OpenAI, Azure, Google), {message} (Cohere, Solar). */
function reasonsIn(body: unknown): unknown[] {
  // Google wraps some of its errors into a list.
  const first: unknown = Array.isArray(body) ? body[0] : body;
  return [member(member(first, 'error'), 'message'), member(first, 'message')];
}
