import type { Egress } from '../../egress/types.js';
import { member } from '../members.js';
import { call, readJson, type Service, type ServiceKind, wrongAnswer } from '../serviceClient.js';
import type { Ranked, RerankService } from './types.js';

/** Maximum size of a response in bytes; a response that repeats every text has a few megabytes. */
const MAX_ANSWER_BYTES = 32_000_000;
/** Maximum length of a text: these models read less than that at once. */
const MAX_TEXT_CHARACTERS = 20_000;

const SEARCH_AGAIN_LATER = 'Search again later, or without rerank';
const RERANKING: ServiceKind = {
  // The forms of an error: {message} (Cohere), {detail} (Jina, Pongo), {error}.
  reasonsIn: (body) => ['message', 'detail', 'error'].map((name) => member(body, name)),
  refusals: {
    unauthorized: ['access_denied', ({ keySetting }) => `rejects the key of the setting ${keySetting}. Correct it`],
    unpaid: ['access_denied', notAllowed],
    forbidden: ['access_denied', notAllowed],
    busy: ['rate_limited', () => `accepts no more requests at the moment. ${SEARCH_AGAIN_LATER}`],
    failed: ['server_error', () => `failed. ${SEARCH_AGAIN_LATER}`],
    moved: ['bad_response', notAccepted],
    too_large: ['bad_response', notAccepted],
    not_accepted: ['bad_response', notAccepted],
  },
  onWrongAnswer: ({ urlSetting }) =>
    `Search again, or without rerank. If it happens again, check the setting ${urlSetting}`,
};

function notAllowed({ keySetting }: Service): string {
  return `does not permit the account of ${keySetting} to rerank. Check its plan and balance there`;
}
function notAccepted({ urlSetting }: Service): string {
  return `rejected the texts. Search without rerank, and check the setting ${urlSetting}`;
}

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

/**
 * Sends one request.
 * @throws Fault for anything but a complete and valid response
 */
export async function exchange(input: Exchange): Promise<Ranked[]> {
  const { service, settings, egress, timeoutMs, query, texts, count, signal } = input;
  const shortened = texts.map((text) => text.slice(0, MAX_TEXT_CHARACTERS));
  const { url, headers, body } = service.createRequest(settings, query, shortened, count);
  const peer = { service, kind: RERANKING, apiKey: settings.apiKey };
  const request = { url, method: 'POST', headers, json: body, maxBytes: MAX_ANSWER_BYTES, timeoutMs, signal } as const;
  const read = service.read(readJson(await call(egress, request, peer), peer));
  if (read === undefined) throw wrongAnswer('no list of results', peer);
  const defect = findDefect(read, texts.length, service.filters ? null : count);
  if (defect !== null) throw wrongAnswer(defect, peer);
  // Sort by score: the response may have another order. Equal scores keep the order in which the texts were sent.
  return (read as readonly Ranked[]).toSorted((a, b) => b.score - a.score || a.index - b.index).slice(0, count);
}

/**
 * Returns a description of the defect of a ranking; null for a valid one.
 * @param count required number of results; null: any number
 */
function findDefect(
  results: readonly { readonly index: unknown; readonly score: unknown }[],
  texts: number,
  count: number | null,
): string | null {
  const seen = new Set<unknown>();
  for (const { index, score } of results) {
    if (!Number.isInteger(index) || (index as number) < 0 || (index as number) >= texts)
      return 'a result that is not one of the texts';
    if (seen.has(index)) return 'the same text twice';
    if (!Number.isFinite(score)) return 'a score that is not a number';
    seen.add(index);
  }
  if (count !== null && results.length < Math.min(count, texts))
    return `${results.length} results instead of ${Math.min(count, texts)}`;
  return null;
}
