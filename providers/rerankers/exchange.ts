import { Fault, type FaultKind } from '../../contract/failures.js';
import { retryAfterMs } from '../../egress/retryAfter.js';
import { statedReason } from '../../egress/statedReason.js';
import type { Egress } from '../../egress/types.js';
import { member } from './members.js';
import type { Ranked, RerankService } from './types.js';

/** Of an answer; one that repeats every text has a few megabytes. */
const MAX_ANSWER_BYTES = 32_000_000;
/** Of a text at most: what these models read of it at once is shorter. */
const MAX_TEXT_CHARACTERS = 20_000;

export interface Exchange {
  readonly service: RerankService;
  readonly settings: { readonly baseUrl: string; readonly apiKey: string };
  readonly egress: Pick<Egress, 'request'>;
  readonly timeoutMs: number;
  readonly query: string;
  readonly texts: readonly string[];
  readonly count: number;
  readonly signal: AbortSignal | undefined;
}

/** Sends one request. @throws Fault for whatever is not a whole and true answer */
export async function exchange(one: Exchange): Promise<Ranked[]> {
  const { service, settings, egress, timeoutMs, query, texts, count, signal } = one;
  const shortened = texts.map((text) => text.slice(0, MAX_TEXT_CHARACTERS));
  const { url, headers, body } = service.ask(settings, query, shortened, count);
  const answer = await egress.request({
    url,
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
    body: JSON.stringify(body),
    maxBytes: MAX_ANSWER_BYTES,
    totalTimeoutMs: timeoutMs,
    // The key and the texts go where the setting says, and nowhere else.
    redirects: 'answer',
    ...(signal ? { signal } : {}),
  });
  const said = Buffer.from(await answer.bytes()).toString();
  if (answer.status !== 200)
    throw refusal(service, answer.status, statedReason(said, reasonsIn), retryAfterMs(answer.headers));
  const wrong = (what: string): Fault =>
    new Fault(
      'server_error',
      `${service.name} gave a wrong answer: ${what}. Nothing of it was used. Search again, or without rerank; if it stays, check the setting ${service.urlSetting}.`,
    );
  let read: ReturnType<RerankService['read']>;
  try {
    read = service.read(JSON.parse(said) as unknown);
  } catch {
    throw wrong('no whole JSON');
  }
  if (read === undefined) throw wrong('no list of results');
  const amiss = findWrong(read, texts.length, service.filters ? null : count);
  if (amiss !== null) throw wrong(amiss);
  // As scored, whatever the order of the answer; equal ones in the order in which they were sent.
  return (read as readonly Ranked[]).toSorted((a, b) => b.score - a.score || a.index - b.index).slice(0, count);
}

/** What is wrong with a ranking, in words; null for a right one. @param count results there must be; null: any number */
function findWrong(
  results: readonly { readonly index: unknown; readonly score: unknown }[],
  texts: number,
  count: number | null,
): string | null {
  const seen = new Set<unknown>();
  for (const { index, score } of results) {
    if (!Number.isInteger(index) || (index as number) < 0 || (index as number) >= texts)
      return 'a result that is none of the texts';
    if (seen.has(index)) return 'the same text twice';
    if (!Number.isFinite(score)) return 'a score that is no number';
    seen.add(index);
  }
  if (count !== null && results.length < Math.min(count, texts))
    return `${results.length} results instead of ${Math.min(count, texts)}`;
  return null;
}

function refusal(
  { name, keySetting, urlSetting }: RerankService,
  status: number,
  reason: string,
  waitMs: number | null,
): Fault {
  const quoted = reason === '' ? '' : ` (“${reason}”)`;
  const fault = (kind: FaultKind, sentence: string): Fault =>
    new Fault(kind, `${name} ${sentence}${quoted}. (HTTP ${status})`, waitMs === null ? {} : { retryAfterMs: waitMs });
  if (status === 401) return fault('access_denied', `refuses the key of the setting ${keySetting}. Have it corrected`);
  if (status === 402 || status === 403)
    return fault(
      'access_denied',
      `does not let the account of ${keySetting} rerank. Look at its plan and balance there`,
    );
  if (status === 429 || (status === 503 && waitMs !== null))
    return fault('rate_limited', 'takes no more requests for now. Search again later, or without rerank');
  if (status >= 500 || status === 408) return fault('server_error', 'failed. Search again later, or without rerank');
  return fault(
    'bad_response',
    `did not take the texts. Search without rerank, and have the setting ${urlSetting} checked`,
  );
}

/** {message} (Cohere), {detail} (Jina, Pongo), {error}. */
const reasonsIn = (body: unknown): unknown[] => ['message', 'detail', 'error'].map((name) => member(body, name));
