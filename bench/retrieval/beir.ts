import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** A graded collection: documents, queries, and the grade of each relevant document by query. */
export interface Collection {
  readonly name: string;
  /** Title and text of each document. */
  readonly documents: readonly string[];
  /** The queries that have a relevant document. */
  readonly queries: readonly string[];
  /** For each query, the grades above 0 by the index of the document. */
  readonly grades: readonly ReadonlyMap<number, number>[];
}

interface Line {
  readonly _id: string;
  readonly title?: string;
  readonly text: string;
}

async function linesOf(file: string): Promise<string[]> {
  return (await readFile(file, 'utf8')).split('\n').filter((line) => line.trim() !== '');
}

const records = async (file: string): Promise<Line[]> =>
  (await linesOf(file)).map((line) => {
    const { _id, title, text } = JSON.parse(line) as Line;
    return { _id, text, ...(title ? { title } : {}) };
  });

/**
 * Reads a collection in BEIR's form: corpus.jsonl, queries.jsonl and qrels/test.tsv
 * (https://github.com/beir-cellar/beir/wiki/Load-your-custom-dataset).
 * @throws Error if a file is missing, or if no query has a relevant document
 */
export async function readCollection(folder: string): Promise<Collection> {
  const [corpus, queries, judgements] = await Promise.all([
    records(path.join(folder, 'corpus.jsonl')),
    records(path.join(folder, 'queries.jsonl')),
    linesOf(path.join(folder, 'qrels', 'test.tsv')),
  ]);
  const indexOf = new Map(corpus.map(({ _id }, index) => [_id, index]));
  const gradesOf = new Map<string, Map<number, number>>();
  // The first line names the columns.
  for (const line of judgements.slice(1)) {
    const [query = '', document = '', grade] = line.split('\t');
    const index = indexOf.get(document);
    if (index === undefined || !(Number(grade) > 0)) continue;
    const grades = gradesOf.get(query) ?? new Map<number, number>();
    gradesOf.set(query, grades.set(index, Number(grade)));
  }
  const judged = queries.flatMap(({ _id, text }) => {
    const grades = gradesOf.get(_id);
    return grades ? [{ text, grades }] : [];
  });
  if (judged.length === 0) throw new Error(`${folder}: no query has a relevant document. Check qrels/test.tsv.`);
  return {
    name: path.basename(path.resolve(folder)),
    documents: corpus.map(({ title, text }) => (title === undefined ? text : `${title}\n${text}`)),
    queries: judged.map(({ text }) => text),
    grades: judged.map(({ grades }) => grades),
  };
}

/** Mean scores of ranked lists of a collection's documents. */
export interface Graded {
  readonly ndcg10: number;
  readonly recall100: number;
  readonly mrr10: number;
}

/** Returns the discount of a rank, counted from 0. */
const discount = (rank: number): number => 1 / Math.log2(rank + 2);

/** Scores one list of documents per query, best first. The gain of a document is its grade, as in trec_eval. */
export function gradedScores(lists: readonly (readonly number[])[], { grades }: Pick<Collection, 'grades'>): Graded {
  const scores = grades.map((relevant, query) => {
    const list = lists[query] ?? [];
    const best = [...relevant.values()].toSorted((a, b) => b - a).slice(0, 10);
    const ideal = best.reduce((sum, grade, rank) => sum + grade * discount(rank), 0);
    const gain = list
      .slice(0, 10)
      .reduce((sum, document, rank) => sum + (relevant.get(document) ?? 0) * discount(rank), 0);
    const first = list.slice(0, 10).findIndex((document) => relevant.has(document));
    return {
      ndcg10: gain / ideal,
      recall100: list.slice(0, 100).filter((document) => relevant.has(document)).length / relevant.size,
      mrr10: first < 0 ? 0 : 1 / (first + 1),
    };
  });
  const mean = (figure: keyof Graded): number =>
    scores.reduce((sum, one) => sum + one[figure], 0) / Math.max(1, scores.length);
  return { ndcg10: mean('ndcg10'), recall100: mean('recall100'), mrr10: mean('mrr10') };
}
