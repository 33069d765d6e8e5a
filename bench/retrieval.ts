/**
 * `npm run bench:retrieval`: how often a search through the public API finds the right section of real documentation by
 * its heading, compared with LangChain.js on the same model and store, and with BM25 alone. `-- --all` takes all pages.
 *
 * `-- --collection FOLDER` measures a graded collection in BEIR's form instead (bench/retrieval/collections.ts). The
 * option may be repeated. `--others FOLDER` names the documents of another tenant, `--no-rerank` skips the reranker.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pLimit from 'p-limit';

import { ensureEmbeddingModel } from '../engines/embeddingModel.js';
import { startEngines } from '../engines/start.js';
import { DEFAULT_ENGINES_DIR, ensureVenv } from '../engines/venv.js';
import type { TestUser } from '../test/support/client.js';
import { CHUNKING } from './measures.js';
import { ensureBaselines } from './baselines.js';
import { environment, table } from './report.js';
import { benchCollections } from './retrieval/collections.js';
import { DOCUMENTATION } from './retrieval/documentation.js';
import { type PassageSite, servePassages } from './retrieval/passageSite.js';
import type { RetrievalDone } from './retrieval/baselineOptions.js';
import { type QuestionSet, questionSet } from './retrieval/questionSet.js';
import { runRetrievalBaseline } from './retrieval/baseline.js';
import { startRerankServer } from './retrieval/rerankServer.js';
import { fuseByRank, type Scores, scoresOf } from './retrieval/scores.js';
import { ingest, startBenchService } from './service.js';
import { writeReport } from './writeReport.js';

const { values: options } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    collection: { type: 'string', multiple: true, default: [] },
    others: { type: 'string', multiple: true, default: [] },
    'no-rerank': { type: 'boolean', default: false },
  },
});
if (options.collection.length > 0) {
  const { collection: folders, others, 'no-rerank': noRerank } = options;
  await benchCollections({ folders, others, rerank: !noRerank });
  process.exit(0);
}

const { all } = options;
const RESULTS = fileURLToPath(new URL('headings.md', import.meta.url));
const printLine = (line: string): void => console.log(`· ${line}`);

/** Number of chunks that each search requests. */
const K = 10;
/** Length of each list of the baselines before fusion. */
const BASELINE_DEPTH = 50;
const CONCURRENT_SEARCHES = 2;
const INGEST_MS = 30 * 60_000;

const SEARCH_MODES: Readonly<Record<string, Record<string, unknown>>> = {
  dense: {},
  sparse: { hybrid_search: true, hybrid_search_tuning_parameters: { weight_a: 0, weight_b: 1 } },
  hybrid: { hybrid_search: true },
  'hybrid, reranked': { hybrid_search: true, rerank: { model: 'COHERE_RERANK_MULTILINGUAL_V3' } },
};

interface Row {
  readonly who: string;
  readonly mode: string;
  readonly scores: Scores;
}

async function searchOurs(
  user: TestUser,
  parentId: number,
  { questions }: QuestionSet,
  site: PassageSite,
): Promise<Row[]> {
  const limit = pLimit(CONCURRENT_SEARCHES);
  const rows: Row[] = [];
  for (const [mode, more] of Object.entries(SEARCH_MODES)) {
    const found = await limit.map(questions, async ({ text }) => {
      const documents = await user.search({ query: text, k: K, parent_file_ids: [parentId], ...more });
      return documents.map(({ source_url: url }) => site.passageAt(url ?? ''));
    });
    const scores = scoresOf(
      found,
      questions.map(({ answer }) => answer),
    );
    rows.push({ who: 'Allotrope', mode, scores });
    printLine(`${mode}: ${cells(scores).join(' ')}`);
  }
  return rows;
}

function scoreBaseline({ passages, dense, bm25 }: RetrievalDone, { questions }: QuestionSet): Row[] {
  const answers = questions.map(({ answer }) => answer);
  const score = (lists: readonly (readonly number[])[]): Scores =>
    scoresOf(
      lists.map((list) => list.map((chunk) => passages[chunk] ?? -1)),
      answers,
    );
  return [
    { who: 'LangChain.js', mode: 'dense', scores: score(dense) },
    { who: 'wink-bm25', mode: 'BM25', scores: score(bm25) },
    { who: 'both', mode: 'by rank', scores: score(dense.map((list, index) => fuseByRank([list, bm25[index] ?? []]))) },
  ];
}

const FIGURES = ['recall1', 'recall5', 'mrr', 'ndcg10'] as const;
const cells = (scores: Scores): string[] => FIGURES.map((figure) => scores[figure].toFixed(3));

/** Returns the differences between hybrid and another mode, and whether hybrid is better on every figure. */
function verdictOf(rows: readonly Row[], who: string, mode: string): string[] {
  const [hybrid, other] = [
    rows.find((row) => row.mode === 'hybrid'),
    rows.find((row) => row.who === who && row.mode === mode),
  ];
  if (!hybrid || !other) throw new Error(`${who}, ${mode} was not measured`);
  const differences = FIGURES.map((figure) => hybrid.scores[figure] - other.scores[figure]);
  const signed = differences.map((each) => `${each < 0 ? '−' : '+'}${Math.abs(each).toFixed(3)}`);
  return [`hybrid above ${who}, ${mode}`, ...signed, differences.every((each) => each > 0) ? 'yes' : 'MISSED'];
}

const startedAt = new Date();
ensureBaselines(printLine);
const sets = await Promise.all(
  DOCUMENTATION.map((documentation) => questionSet(documentation, all ? 1 : documentation.step)),
);
const folder = await mkdtemp(path.join(tmpdir(), 'allotrope-bench-retrieval-'));
const site = await servePassages(sets);
const model = await ensureEmbeddingModel(await ensureVenv({ enginesDir: DEFAULT_ENGINES_DIR, onProgress: printLine }));
const reranker = await startRerankServer(model);
const rowsOf = new Map<QuestionSet, Row[]>(sets.map((set) => [set, []]));
const chunksOf = new Map<QuestionSet, number>();
try {
  const service = await startBenchService({
    siteHost: `${site.host},${reranker.host}`,
    profileDir: null,
    settings: {
      COHERE_API_KEY: 'bench',
      COHERE_BASE_URL: reranker.baseUrl,
      RERANK_TIMEOUT_MS: '120000',
      COMPUTE_NICENESS: '0',
    },
    printLine,
  });
  try {
    for (const [index, set] of sets.entries()) {
      const user = await service.user();
      const pages = set.passages.length;
      const body = { url: site.sitemap(index), ...CHUNKING, generate_sparse_vectors: true, max_pages_to_scrape: pages };
      const { parent, ms } = await ingest(user, pages, body, INGEST_MS);
      printLine(
        `${set.name}: ${pages} sections ingested in ${(ms / 1000).toFixed(0)} s; ${set.questions.length} questions`,
      );
      const from = performance.now();
      rowsOf.get(set)?.push(...(await searchOurs(user, parent.id, set, site)));
      printLine(`${set.name}: answered in ${((performance.now() - from) / 1000).toFixed(0)} s`);
    }
  } finally {
    await service.stop();
  }
  const need = { temporal: false, mongodb: false, qdrant: true };
  const engines = await startEngines({ dataDir: folder, need, ports: 'free' });
  try {
    for (const set of sets) {
      const from = performance.now();
      const vectors = { ...model, qdrantUrl: engines.qdrantUrl ?? '', threads: 2 };
      const done = await runRetrievalBaseline(folder, set, { ...CHUNKING, depth: BASELINE_DEPTH, vectors });
      rowsOf.get(set)?.push(...scoreBaseline(done, set));
      chunksOf.set(set, done.passages.length);
      printLine(`${set.name}: LangChain.js and BM25 in ${((performance.now() - from) / 1000).toFixed(0)} s`);
    }
  } finally {
    await engines.stop();
  }
} finally {
  await reranker.stop();
  site.stop();
  await rm(folder, { recursive: true, force: true });
}

const part = (set: QuestionSet): string[] => {
  const rows = rowsOf.get(set) ?? [];
  return [
    `## ${set.name}`,
    '',
    `${set.debian} ${set.version}: ${set.passages.length} sections (${chunksOf.get(set) ?? 0} chunks of LangChain.js), ${set.questions.length} questions.`,
    '',
    table(
      ['who', 'mode', 'recall@1', 'recall@5', 'MRR', 'nDCG@10'],
      rows.map((row) => [row.who, row.mode, ...cells(row.scores)]),
    ),
    '',
    table(
      ['measure', 'recall@1', 'recall@5', 'MRR', 'nDCG@10', 'met'],
      [
        verdictOf(rows, 'Allotrope', 'dense'),
        verdictOf(rows, 'Allotrope', 'sparse'),
        verdictOf(rows, 'LangChain.js', 'dense'),
        verdictOf(rows, 'wink-bm25', 'BM25'),
      ],
    ),
    '',
  ];
};
const text = [
  '# Retrieval',
  '',
  `${startedAt.toISOString()} · \`npm run bench:retrieval${all ? ' -- --all' : ''}\`, ${((Date.now() - startedAt.getTime()) / 60_000).toFixed(1)} minutes · ${environment()}`,
  '',
  'A question is the heading of a section of real documentation; the answer is that section without its heading. ' +
    'All sections are searched, including those without a question. A hit is a chunk of the right section, by the same rule for all systems; ' +
    `each returns ${K} chunks, best first. MRR ignores ranks after the tenth. Chunks of ${CHUNKING.chunk_size} tokens with an overlap of ${CHUNKING.chunk_overlap}.`,
  '',
  ...sets.flatMap(part),
  '- Allotrope: through the public API, after a scrape with generate_sparse_vectors; hybrid_search with its default weights, sparse with weight_a 0.',
  '- LangChain.js: RecursiveCharacterTextSplitter by tokens, our embedding model, QdrantVectorStore on the same engine. BM25 is wink-bm25-text-search over the same chunks, stemmed and without stop words. *both*: both lists fused by reciprocal rank, as a user would combine them.',
  '- **The reranker is an emulator** of Cohere on loopback, which compares the query with single sentences by the embedded model and by shared words. It shows that the path works, not the quality of a real reranker.',
  '- Two different sets of documentation are used, to expose results that hold for only one of them.',
  '',
].join('\n');
await writeReport(RESULTS, text);
console.log(`\n${text}`);
process.exit(0);
