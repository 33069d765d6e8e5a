/** Stand-ins for the three rerankers on one loopback address, which misbehave as a test wants them to. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * What goes wrong with one request. `cut`: the JSON ends in the middle; `broken`: so does the connection; `hang`: no
 * answer at all; the rest: an answer that looks whole and is wrong.
 */
export type Mishap =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | 'cut'
  | 'broken'
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
  /** Texts that reach the last step of the scoring, and so the answer; without one: all. */
  readonly sample?: number;
}

export interface Scored {
  index: number | undefined;
  score: number | undefined;
}

export interface RerankEmulator {
  /** Settings that configure all three, or the ones named. */
  settings(...providers: RerankProvider[]): Record<string, string>;
  readonly calls: RerankCall[];
  /** Requests without an answer whose caller is still connected. */
  waiting(): number;
  /** How well a text answers a query, from now on. By default: words that both have. */
  score(how: (query: string, text: string) => number): void;
  /** Answers results in another order from now on. By default: best first. */
  order(how: (results: readonly Scored[]) => readonly Scored[]): void;
  /** What goes wrong with every request from now on; null for nothing. */
  misbehave(mishap: Mishap | null): void;
  close(): Promise<void>;
}

export const KEY = 'rerank-key';

const wordsOf = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));
/** The score by default. */
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
  /** What the published interface makes of a body. */
  understand(body: Record<string, unknown>): Omit<RerankCall, 'provider'> | Refusal;
  present(results: readonly Scored[], texts: readonly string[]): unknown;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Cohere's second version and Jina's are alike. */
const alike = (path: string, model: string, fields: readonly string[], most: number): Api => ({
  path,
  allows: ({ authorization }) => authorization === `Bearer ${KEY}`,
  understand(body) {
    const refuse = (message: string): Refusal => ({ status: 400, body: { message } });
    const unknown = Object.keys(body).find((field) => !fields.includes(field));
    if (unknown !== undefined) return refuse(`unknown field: parameter '${unknown}' is not a valid field`);
    if (body['model'] !== model) return refuse(`model '${String(body['model'])}' not found`);
    const texts = listOf(body['documents']);
    if (!isText(body['query'])) return refuse('query must not be empty');
    if (texts.length === 0 || texts.length > most || !texts.every(isText)) return refuse('documents must be texts');
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
  cohere: alike(
    '/cohere/v2/rerank',
    'rerank-multilingual-v3.0',
    ['model', 'query', 'documents', 'top_n', 'max_tokens_per_doc'],
    1000,
  ),
  jina: alike(
    '/jina/v1/rerank',
    'jina-reranker-v2-base-multilingual',
    ['model', 'query', 'documents', 'top_n', 'return_documents'],
    2048,
  ),
  pongo: {
    path: '/pongo/api/v1/filter',
    allows: ({ secret }) => secret === KEY,
    understand(body) {
      const docs = listOf(body['docs']) as Record<string, unknown>[];
      const good =
        isText(body['query']) && docs.length > 0 && docs.every(({ id, text }) => id !== undefined && isText(text));
      if (!good) return { status: 422, body: { detail: 'query and docs are wanted' } };
      return {
        query: String(body['query']),
        texts: docs.map(({ text }) => String(text)),
        count: Number(body['num_results'] ?? 10),
        // https://docs.pongo.ai/api-reference/semantic-filtering/filter
        sample: Number(body['vec_sample_size'] ?? 25),
      };
    },
    present: (results, texts) =>
      results.map(({ index, score }) => ({ id: index, text: texts[index ?? 0] ?? '', metadata: {}, score })),
  },
};

/** Results that look whole and are wrong. */
function spoil(results: Scored[], texts: number, mishap: Mishap | null): Scored[] {
  const [first, ...rest] = results;
  if (!first) return results;
  if (mishap === 'few') return rest;
  if (mishap === 'unnumbered') return [{ ...first, index: undefined }, ...rest];
  if (mishap === 'beyond') return [{ ...first, index: texts }, ...rest];
  if (mishap === 'negative') return [{ ...first, index: -1 }, ...rest];
  if (mishap === 'twice') return [first, first, ...rest.slice(1)];
  if (mishap === 'nan') return [{ ...first, score: NaN }, ...rest];
  if (mishap === 'unscored') return [{ ...first, score: undefined }, ...rest];
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
  let mishap: Mishap | null = null;
  const server = createServer((request, response) => {
    waiting += 1;
    response.once('close', () => (waiting -= 1));
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const found = Object.entries(APIS).find(([, { path }]) => path === request.url);
      if (!found || request.method !== 'POST') return send(response, 404, '{"message":"not found"}');
      const [provider, api] = found as [RerankProvider, Api];
      if (!api.allows(request.headers)) return send(response, 401, '{"message":"invalid api token"}');
      const asked = api.understand(JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>);
      if ('status' in asked) return send(response, asked.status, JSON.stringify(asked.body));
      calls.push({ provider, ...asked });
      if (mishap === 'hang') return;
      if (typeof mishap === 'object' && mishap)
        return send(response, mishap.status, mishap.body ?? '{"message":"no"}', mishap.headers);
      const ranked = asked.texts
        .map((text, index) => ({ index, score: scoreOf(asked.query, text) }))
        .toSorted((a, b) => b.score - a.score)
        .slice(0, Math.min(asked.count, asked.sample ?? Infinity));
      const answer = api.present(spoil([...inOrder(ranked)], asked.texts.length, mishap), asked.texts);
      // As servers do that write numbers without a second look.
      let text = JSON.stringify(mishap === 'no list' ? { answer } : answer);
      if (mishap === 'nan') text = text.replaceAll('null', 'NaN');
      if (mishap === 'cut') text = text.slice(0, text.length / 2);
      if (mishap === 'huge') text = `{"results":"${'x'.repeat(40_000_000)}"}`;
      if (mishap !== 'broken') return send(response, 200, text);
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
        ...(providers.length > 0 ? providers : (Object.keys(APIS) as RerankProvider[])).map((one) => settings[one]),
      ) as Record<string, string>,
    calls,
    waiting: () => waiting,
    score(how) {
      scoreOf = how;
    },
    order(how) {
      inOrder = how;
    },
    misbehave(how) {
      mishap = how;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
