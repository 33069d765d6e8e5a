/**
 * `npm run bench:mcp`: searches of 50 MCP clients at once, compared with the same searches by POST /embeddings. Both
 * alternate in one run. `-- --quick` takes fewer searches.
 */
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

import type { FileRecord } from '../contract/files/records.js';
import type { TestUser } from '../test/support/client.js';
import { percentile } from './measures.js';
import { cpuNow, cpuSince } from './processes.js';
import { environment, table } from './report.js';
import { startBenchService } from './service.js';
import { writeReport } from './writeReport.js';

const quick = process.argv.includes('--quick');
const RESULTS = fileURLToPath(new URL('mcp.md', import.meta.url));
const CALLERS = 50;
const ITERATIONS = quick ? 2 : 6;
const SEARCHES_EACH = quick ? 4 : 10;
/** Untimed iterations, until V8 has compiled the code of API and clients. */
const WARM_UP = 2;
const K = 8;
const TARGET_RATIO = 1.3;
/** Paragraphs of the text of each user; each becomes a chunk. */
const PARAGRAPHS = 40;
const TOPICS = ['refunds', 'invoices', 'deliveries', 'contracts', 'holidays', 'passwords', 'printers', 'journeys'];
const printLine = (line: string): void => console.log(`· ${line}`);

const textOf = (nth: number): string =>
  Array.from({ length: PARAGRAPHS }, (_, at) => {
    const topic = TOPICS[(nth + at) % TOPICS.length];
    return `Rule ${nth}-${at}: questions about ${topic} are answered within ${1 + (at % 9)} working days. `.repeat(8);
  }).join('\n\n');
const questionOf = (nth: number): string => `How long do questions about ${TOPICS[nth % TOPICS.length]} take (${nth})?`;

/** Uploads a text for each user. @throws if one does not become ready */
async function seed(users: readonly TestUser[]): Promise<void> {
  const files: FileRecord[] = [];
  for (const [nth, user] of users.entries()) {
    const body = { contents: textOf(nth), name: `rules-${nth}.txt`, chunk_size: 150, generate_sparse_vectors: true };
    const { status, body: file } = await user.post<FileRecord>('/upload_text', body);
    if (status !== 200) throw new Error(`The upload was answered ${status}`);
    files.push(file);
  }
  for (const [nth, user] of users.entries()) {
    const { sync_status: status } = await user.settled(files[nth]?.id ?? 0, 600_000);
    if (status !== 'READY') throw new Error(`A text ended as ${status}`);
  }
}

/** Runs one search. @throws unless K passages are found */
type Search = (question: string) => Promise<void>;

const checkCount = (found: readonly unknown[]): void => {
  if (found.length !== K) throw new Error(`${found.length} passages were found instead of ${K}`);
};

/** Returns a caller of POST /embeddings with the default options of the tool `search`. */
const byRest =
  (url: string, { token }: TestUser): Search =>
  async (question) => {
    const answer = await fetch(`${url}/embeddings`, {
      method: 'POST',
      headers: { authorization: `Token ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: question, k: K, hybrid_search: true }),
    });
    if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
    checkCount(((await answer.json()) as { documents: unknown[] }).documents);
  };

/** Connects the official client. It checks each result against the schema of the tool. */
async function byMcp(url: string, { token }: TestUser): Promise<Search> {
  const client = new Client({ name: 'bench', version: '1.0.0' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit });
  await client.connect(transport as Transport);
  await client.listTools();
  return async (question) => {
    const result = await client.callTool({ name: 'search', arguments: { query: question, limit: K } });
    if (result.isError === true) throw new Error(JSON.stringify(result.content));
    checkCount((result.structuredContent as { passages: unknown[] }).passages);
  };
}

interface Variant {
  readonly name: string;
  readonly callers: readonly Search[];
  readonly times: number[];
  errors: number;
  seconds: number;
  apiMs: number;
}

/**
 * Runs the searches of all callers concurrently by one of the two interfaces; each caller searches several times in
 * sequence.
 */
async function runIteration(variant: Variant, iteration: number): Promise<void> {
  const [from, cpu] = [performance.now(), cpuNow()];
  const caller = async (search: Search, nth: number): Promise<void> => {
    for (let at = 0; at < SEARCHES_EACH; at += 1) {
      const searchStartedAt = performance.now();
      // A variant sends each question once, so that no cache can answer a repeated one.
      const done = search(questionOf(nth + CALLERS * (at + SEARCHES_EACH * (iteration + WARM_UP))));
      await done.catch((error: unknown) => {
        variant.errors += 1;
        printLine(String(error));
      });
      if (iteration >= 0) variant.times.push(performance.now() - searchStartedAt);
    }
  };
  await Promise.all(variant.callers.map(caller));
  if (iteration < 0) return;
  variant.seconds += (performance.now() - from) / 1000;
  variant.apiMs += cpuSince(cpu).api ?? 0;
}

const startedAt = new Date();
const service = await startBenchService({ siteHost: '127.0.0.1:9', profileDir: null, printLine });
const variants: Variant[] = [];
try {
  const users: TestUser[] = [];
  for (let nth = 0; nth < CALLERS; nth += 1) users.push(await service.user());
  await seed(users);
  printLine(`${CALLERS} users with ${PARAGRAPHS} paragraphs each`);
  const none = { errors: 0, seconds: 0, apiMs: 0 };
  variants.push(
    { ...none, name: 'POST /embeddings', callers: users.map((user) => byRest(service.url, user)), times: [] },
    {
      ...{ ...none, name: 'MCP `search`', times: [] },
      callers: await Promise.all(users.map((user) => byMcp(service.url, user))),
    },
  );
  for (let iteration = -WARM_UP; iteration < ITERATIONS; iteration += 1)
    // Alternate the order: both variants send the same questions, so the second finds caches that the first has filled.
    for (const variant of iteration % 2 === 0 ? variants : variants.toReversed())
      await runIteration(variant, iteration);
} finally {
  await service.stop();
}
const [rest, mcp] = variants;
if (!rest || !mcp) throw new Error('Nothing was measured');
const ratio = percentile(mcp.times, 95) / percentile(rest.times, 95);
const met = ratio <= TARGET_RATIO && mcp.errors === 0;
const rows = variants.map(({ name, times, errors, seconds, apiMs }) => [
  ...[name, String(times.length), String(errors), (times.length / seconds).toFixed(0)],
  ...[50, 95].map((percent) => percentile(times, percent).toFixed(1)),
  (apiMs / times.length).toFixed(2),
]);
const text = [
  '# Search by MCP',
  '',
  `${startedAt.toISOString()} · \`npm run bench:mcp${quick ? ' -- --quick' : ''}\`, ${((Date.now() - startedAt.getTime()) / 60_000).toFixed(1)} minutes · ${environment()}`,
  '',
  `${CALLERS} users, each with one client and ${PARAGRAPHS} paragraphs of its own, run hybrid searches for ${K} passages concurrently and as fast as possible. ` +
    `The MCP clients are those of the official SDK. Iterations of both alternate. Target: no error, p95 at most ${TARGET_RATIO}× that of POST /embeddings.`,
  '',
  table(['variant', 'searches', 'errors', 'per second', 'p50, ms', 'p95, ms', 'API CPU, ms'], rows),
  '',
  `Ratio of p95: ${ratio.toFixed(2)}× (${met ? 'met' : 'MISSED'}).`,
  '',
].join('\n');
if (!quick) await writeReport(RESULTS, text);
console.log(`\n${text}`);
process.exit(0);
