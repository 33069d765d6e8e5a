/** Emulates the three rerankers on one loopback address, with faults that a test injects. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A fault of one request. `invalidJson`: the JSON ends in the middle; `brokenConnection`: the connection closes in the
 * middle; `hang`: no answer; `nan`: the JSON contains NaN, which is invalid. The other names stand for valid JSON with
 * wrong contents.
 */
export type InjectedFault =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | 'invalidJson'
  | 'brokenConnection'
  | 'hang'
  | 'huge'
  | 'few'
  | 'unnumbered'
  | 'beyond'
  | 'negative'
  | 'twice'
  | 'nan'
  | 'unscored'
  | 'no list';

export type RerankProvider = 'cohere' | 'jina' | 'pongo';

export interface RerankCall {
  readonly provider: RerankProvider;
  readonly query: string;
  readonly texts: readonly string[];
  readonly count: number;
  /** Maximum number of texts that reach the last scoring step. Unset: all. */
  readonly maxScored?: number;
}

export interface Scored {
  index: number | undefined;
  score: number | undefined;
}

export interface RerankEmulator {
  /** Returns the settings that configure all three rerankers, or the given ones. */
  settings(...providers: RerankProvider[]): Record<string, string>;
  readonly calls: RerankCall[];
  /** Returns the number of open requests without an answer. */
  waiting(): number;
  /** Sets the score function. Default: `sharedWords`. */
  setScore(how: (query: string, text: string) => number): void;
  /** Sets the order of results. Default: best first. */
  setOrder(how: (results: readonly Scored[]) => readonly Scored[]): void;
  /** Sets the fault of all later requests; null for none. */
  injectFault(injectedFault: InjectedFault | null): void;
  close(): Promise<void>;
}

export const KEY = 'rerank-key';

const wordsOf = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));
/** The default score: the number of words that query and text share, divided by 100. */
export const sharedWords = (query: string, text: string): number => {
  const words = wordsOf(text);
  return [...wordsOf(query)].filter((word) => words.has(word)).length / 100;
};

interface Refusal {
  readonly status: number;
  readonly body: object;
}
interface Api {
  readonly path: string;
  allows(headers: IncomingHttpHeaders): boolean;
  /** Interprets a request body by the published API. */
  parse(body: Record<string, unknown>): Omit<RerankCall, 'provider'> | Refusal;
  present(results: readonly Scored[], texts: readonly string[]): unknown;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Returns the API of Cohere (v2) or Jina, which have the same form. */
const similarApi = (path: string, model: string, fields: readonly string[], maxTexts: number): Api => ({
  path,
  allows: ({ authorization }) => authorization === `Bearer ${KEY}`,
  parse(body) {
    const refuse = (message: string): Refusal => ({ status: 400, body: { message } });
    const unknown = Object.keys(body).find((field) => !fields.includes(field));
    if (unknown !== undefined) return refuse(`unknown field: parameter '${unknown}' is not a valid field`);
    if (body['model'] !== model) return refuse(`model '${String(body['model'])}' not found`);
    const texts = listOf(body['documents']);
    if (!isText(body['query'])) return refuse('query must not be empty');
    if (texts.length === 0 || texts.length > maxTexts || !texts.every(isText)) return refuse('documents must be texts');
    const count = body['top_n'];
    if (!Number.isInteger(count) || (count as number) < 1) return refuse('top_n must be at least 1');
    return { query: body['query'], texts, count: count as number };
  },
  present: (results) => ({
    id: 'r1',
    results: results.map(({ index, score }) => ({ index, relevance_score: score })),
    meta: { billed_units: { search_units: 1 } },
  }),
});

const APIS: Readonly<Record<RerankProvider, Api>> = {
  cohere: similarApi(
    '/cohere/v2/rerank',
    'rerank-multilingual-v3.0',
    ['model', 'query', 'documents', 'top_n', 'max_tokens_per_doc'],
    1000,
  ),
  jina: similarApi(
    '/jina/v1/rerank',
    'jina-reranker-v2-base-multilingual',
    ['model', 'query', 'documents', 'top_n', 'return_documents'],
    2048,
  ),
  pongo: {
    path: '/pongo/api/v1/filter',
    allows: ({ secret }) => secret === KEY,
    parse(body) {
      const docs = listOf(body['docs']) as Record<string, unknown>[];
      const isValid =
        isText(body['query']) && docs.length > 0 && docs.every(({ id, text }) => id !== undefined && isText(text));
      if (!isValid) return { status: 422, body: { detail: 'query and docs are required' } };
      return {
        query: String(body['query']),
        texts: docs.map(({ text }) => String(text)),
        count: Number(body['num_results'] ?? 10),
        // https://docs.pongo.ai/api-reference/semantic-filtering/filter
        maxScored: Number(body['vec_sample_size'] ?? 25),
      };
    },
    present: (results, texts) =>
      results.map(({ index, score }) => ({ id: index, text: texts[index ?? 0] ?? '', metadata: {}, score })),
  },
};

/** Applies a fault to the results; a fault of the whole answer leaves them unchanged. */
function withFault(results: Scored[], texts: number, injectedFault: InjectedFault | null): Scored[] {
  const [first, ...rest] = results;
  if (!first) return results;
  if (injectedFault === 'few') return rest;
  if (injectedFault === 'unnumbered') return [{ ...first, index: undefined }, ...rest];
  if (injectedFault === 'beyond') return [{ ...first, index: texts }, ...rest];
  if (injectedFault === 'negative') return [{ ...first, index: -1 }, ...rest];
  if (injectedFault === 'twice') return [first, first, ...rest.slice(1)];
  if (injectedFault === 'nan') return [{ ...first, score: NaN }, ...rest];
  if (injectedFault === 'unscored') return [{ ...first, score: undefined }, ...rest];
  return results;
}

function send(response: ServerResponse, status: number, text: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}

export async function startRerankEmulator(): Promise<RerankEmulator> {
  const calls: RerankCall[] = [];
  let waiting = 0;
  let scoreOf = sharedWords;
  let inOrder = (results: readonly Scored[]): readonly Scored[] => results;
  let injectedFault: InjectedFault | null = null;
  const server = createServer((request, response) => {
    waiting += 1;
    response.once('close', () => (waiting -= 1));
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const matched = Object.entries(APIS).find(([, { path }]) => path === request.url);
      if (!matched || request.method !== 'POST') return send(response, 404, '{"message":"not found"}');
      const [provider, api] = matched as [RerankProvider, Api];
      if (!api.allows(request.headers)) return send(response, 401, '{"message":"invalid api token"}');
      const parsed = api.parse(JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>);
      if ('status' in parsed) return send(response, parsed.status, JSON.stringify(parsed.body));
      calls.push({ provider, ...parsed });
      if (injectedFault === 'hang') return;
      if (typeof injectedFault === 'object' && injectedFault)
        return send(response, injectedFault.status, injectedFault.body ?? '{"message":"no"}', injectedFault.headers);
      const ranked = parsed.texts
        .map((text, index) => ({ index, score: scoreOf(parsed.query, text) }))
        .toSorted((a, b) => b.score - a.score)
        .slice(0, Math.min(parsed.count, parsed.maxScored ?? Infinity));
      const answer = api.present(withFault([...inOrder(ranked)], parsed.texts.length, injectedFault), parsed.texts);
      // JSON.stringify writes null for NaN, but some servers write NaN into their JSON.
      let text = JSON.stringify(injectedFault === 'no list' ? { answer } : answer);
      if (injectedFault === 'nan') text = text.replaceAll('null', 'NaN');
      if (injectedFault === 'invalidJson') text = text.slice(0, text.length / 2);
      if (injectedFault === 'huge') text = `{"results":"${'x'.repeat(40_000_000)}"}`;
      if (injectedFault !== 'brokenConnection') return send(response, 200, text);
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length });
      response.write(text.slice(0, text.length / 2), () => request.socket.destroy());
    })();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const settings: Record<RerankProvider, Record<string, string>> = {
    cohere: { COHERE_API_KEY: KEY, COHERE_BASE_URL: `${base}/cohere/v2/` },
    jina: { JINA_API_KEY: KEY, JINA_BASE_URL: `${base}/jina/v1` },
    pongo: { PONGO_API_KEY: KEY, PONGO_BASE_URL: `${base}/pongo/api/v1` },
  };
  return {
    settings: (...providers) =>
      Object.assign(
        {},
        ...(providers.length > 0 ? providers : (Object.keys(APIS) as RerankProvider[])).map(
          (provider) => settings[provider],
        ),
      ) as Record<string, string>,
    calls,
    waiting: () => waiting,
    setScore(how) {
      scoreOf = how;
    },
    setOrder(how) {
      inOrder = how;
    },
    injectFault(how) {
      injectedFault = how;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
