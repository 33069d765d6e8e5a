/**
 * `npm run bench:retrieval -- --collection FOLDER`: quality of the service's rankings on a graded collection in BEIR's
 * form, alone and with the documents of another tenant in the same Qdrant collection. It writes no file.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { candidatesOf } from '../../api/chunks/search.js';
import { type EmbeddingModel, ensureEmbeddingModel } from '../../engines/embeddingModel.js';
import { startEngines } from '../../engines/start.js';
import { DEFAULT_ENGINES_DIR, ensureVenv } from '../../engines/venv.js';
import { environment, table } from '../report.js';
import { type Collection, type Graded, gradedScores, readCollection } from './beir.js';
import { rankByBm25 } from './bm25.js';
import { type Lists, rankCollection, type Rankings } from './graded.js';
import { startRerankServer } from './rerankServer.js';
import { fuseByRank } from './scores.js';

export interface CollectionOptions {
  readonly folders: readonly string[];
  /** Folders of the collections whose documents another tenant owns; empty: a third of the same documents. */
  readonly others: readonly string[];
  /** Whether the best hybrid results are also reranked by the emulated reranker. */
  readonly rerank: boolean;
}

/** Number of chunks that a search requests. */
const K = 10;
const printLine = (line: string): void => console.log(`· ${line}`);

interface Row {
  readonly mode: string;
  readonly alone: Graded;
  /** Null: there are no documents of another tenant. */
  readonly withOthers: Graded | null;
}

/** Reorders the first documents of each hybrid list by the emulated reranker. */
async function reranked({ documents, queries }: Collection, lists: Lists, baseUrl: string): Promise<number[][]> {
  const all: number[][] = [];
  for (const [index, query] of queries.entries()) {
    const list = lists[index] ?? [];
    const head = list.slice(0, candidatesOf(K));
    const body = { query, documents: head.map((document) => documents[document] ?? ''), top_n: head.length };
    const answer = await fetch(baseUrl, { method: 'POST', body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`The emulated reranker answered ${answer.status}: ${await answer.text()}`);
    const { results } = (await answer.json()) as { results: { index: number }[] };
    all.push([...results.map((result) => head[result.index] ?? -1), ...list.slice(head.length)]);
  }
  return all;
}

function rowsOf(collection: Collection, alone: Rankings, withOthers: Rankings): Row[] {
  const bm25 = rankByBm25(collection.documents, collection.queries);
  const byRank = alone.dense.map((list, index) => fuseByRank([list, bm25[index] ?? []]));
  return [
    ...(['dense', 'sparse', 'hybrid'] as const).map((mode) => ({
      mode,
      alone: gradedScores(alone[mode], collection),
      withOthers: gradedScores(withOthers[mode], collection),
    })),
    { mode: 'BM25', alone: gradedScores(bm25, collection), withOthers: null },
    { mode: 'dense and BM25 by rank', alone: gradedScores(byRank, collection), withOthers: null },
  ];
}

const figures = ({ ndcg10, recall100, mrr10 }: Graded): string[] =>
  [ndcg10, recall100, mrr10].map((figure) => figure.toFixed(4));

async function measure(folder: string, model: EmbeddingModel, options: CollectionOptions): Promise<string> {
  const collection = await readCollection(folder);
  const { documents, queries } = collection;
  const others =
    options.others.length === 0
      ? documents.filter((_, index) => index % 3 === 0)
      : (await Promise.all(options.others.map(readCollection))).flatMap((other) => other.documents);
  const dataDir = await mkdtemp(path.join(tmpdir(), 'allotrope-bench-collection-'));
  const engines = await startEngines({
    dataDir,
    need: { temporal: false, mongodb: false, qdrant: true },
    ports: 'free',
  });
  try {
    const qdrantUrl = engines.qdrantUrl ?? '';
    const { alone, withOthers } = await rankCollection(collection, others, { model, qdrantUrl, printLine });
    const rows = rowsOf(collection, alone, withOthers);
    if (options.rerank) {
      const reranker = await startRerankServer(model);
      try {
        const ranked = async (lists: Lists) =>
          gradedScores(await reranked(collection, lists, reranker.baseUrl), collection);
        rows.push({
          mode: 'hybrid, reranked',
          alone: await ranked(alone.hybrid),
          withOthers: await ranked(withOthers.hybrid),
        });
      } finally {
        await reranker.stop();
      }
    }
    const head = [
      'mode',
      'nDCG@10',
      'recall@100',
      'MRR@10',
      'nDCG@10 with others',
      'recall@100 with others',
      'MRR@10 with others',
    ];
    return [
      `## ${collection.name}: ${documents.length} documents, ${queries.length} queries, ${others.length} documents of another tenant`,
      '',
      table(
        head,
        rows.map(({ mode, alone: own, withOthers: shared }) => [
          mode,
          ...figures(own),
          ...(shared ? figures(shared) : ['–', '–', '–']),
        ]),
      ),
      '',
    ].join('\n');
  } finally {
    await engines.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Measures collections one after the other and prints a table for each. */
export async function benchCollections(options: CollectionOptions): Promise<void> {
  const model = await ensureEmbeddingModel(
    await ensureVenv({ enginesDir: DEFAULT_ENGINES_DIR, onProgress: printLine }),
  );
  console.log(`${new Date().toISOString()} · ${environment()}\n`);
  for (const folder of options.folders) console.log(await measure(folder, model, options));
}
