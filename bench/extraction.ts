/**
 * Measures the main-text extraction on public benchmarks. Reads clones of scrapinghub/article-extraction-benchmark and
 * Murrough-Foley/web-content-extraction-benchmark (only its development split) below the given folder.
 * `--save FILE` stores the F1 of each page; `--against FILE` prints the paired gain over a stored run.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { htmlParser } from '../documents/parsers/html.js';
import { LIMITS } from '../test/documents/page.js';
import { percentile } from './measures.js';
import { pairedGain } from './pairedGain.js';

interface Score {
  readonly id: string;
  readonly kind: string;
  /** Half of the development set. The points of blocks were fitted to A only. All pages of scrapinghub are B. */
  readonly half: 'A' | 'B';
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
  readonly milliseconds: number;
}

const f1Of = (precision: number, recall: number): number =>
  precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall);

const words = (text: string): string[] => text.match(/[\p{L}\p{N}_]+/gu) ?? [];

function countsOf(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** Returns precision and recall of a text as a bag of sequences of `length` words. */
function compare(text: string, truth: string, length: 1 | 4): { precision: number; recall: number } {
  const sequencesOf = (value: string): string[] => {
    const all = words(value);
    if (length === 1 || all.length === 0) return all;
    return Array.from({ length: Math.max(1, all.length - length + 1) }, (_, i) => all.slice(i, i + length).join(' '));
  };
  const [ours, wanted] = [sequencesOf(text), sequencesOf(truth)];
  if (ours.length === 0 || wanted.length === 0) {
    const same = ours.length === wanted.length ? 1 : 0;
    return { precision: same, recall: same };
  }
  const counts = countsOf(wanted);
  let common = 0;
  for (const [key, count] of countsOf(ours)) common += Math.min(count, counts.get(key) ?? 0);
  return { precision: common / ours.length, recall: common / wanted.length };
}

/** Returns the text of a page and the processor time in milliseconds; no text if the page has none. */
function read(bytes: Uint8Array, url: string): { text: string; milliseconds: number } {
  const before = process.cpuUsage();
  let text = '';
  try {
    const input = {
      bytes,
      contentType: 'text/html; charset=utf-8',
      name: url,
      baseUrl: url,
      html: { tags: [], classes: [], selectors: [] },
    };
    ({ text } = htmlParser.parse(input, LIMITS));
  } catch (error) {
    if (!(error instanceof Error && 'kind' in error && error.kind === 'no_text')) throw error;
  }
  const { user, system } = process.cpuUsage(before);
  return { text, milliseconds: (user + system) / 1000 };
}

async function json<T>(file: string): Promise<T> {
  return JSON.parse(await readFile(file, 'utf8')) as T;
}

interface ExpectedContent {
  readonly url: string;
  readonly ground_truth: { readonly main_content: string | null };
  readonly _internal: { readonly page_type: { readonly primary: string } };
}

async function scoreWcxb(folder: string): Promise<Score[]> {
  const scores: Score[] = [];
  for (const name of (await readdir(path.join(folder, 'dev/ground-truth'))).toSorted()) {
    const id = path.basename(name, '.json');
    const truth = await json<ExpectedContent>(path.join(folder, 'dev/ground-truth', name));
    const { text, milliseconds } = read(
      gunzipSync(await readFile(path.join(folder, 'dev/html', `${id}.html.gz`))),
      truth.url,
    );
    const { precision, recall } = compare(text.toLowerCase(), (truth.ground_truth.main_content ?? '').toLowerCase(), 1);
    const kind = truth._internal.page_type.primary.replace('category', 'collection');
    const half = (createHash('sha256').update(id).digest()[0] ?? 0) % 2 === 0 ? 'A' : 'B';
    scores.push({ id, kind, half, precision, recall, f1: f1Of(precision, recall), milliseconds });
  }
  return scores;
}

async function scoreScrapinghub(folder: string): Promise<Score[]> {
  const scores: Score[] = [];
  const truths = await json<Record<string, { articleBody: string; url: string }>>(
    path.join(folder, 'ground-truth.json'),
  );
  for (const [id, truth] of Object.entries(truths)) {
    const { text, milliseconds } = read(
      gunzipSync(await readFile(path.join(folder, 'html', `${id}.html.gz`))),
      truth.url,
    );
    const { precision, recall } = compare(text, truth.articleBody, 4);
    scores.push({ id, kind: 'article', half: 'B', precision, recall, f1: f1Of(precision, recall), milliseconds });
  }
  return scores;
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Prints one row. WCXB averages the F1 of pages; scrapinghub computes F1 of the means of its pages (`ofMeans`). */
function print(label: string, scores: readonly Score[], ofMeans: boolean): void {
  const precision = mean(scores.map((score) => score.precision));
  const recall = mean(scores.map((score) => score.recall));
  const f1 = ofMeans ? f1Of(precision, recall) : mean(scores.map((score) => score.f1));
  const low = scores.filter((score) => score.f1 < 0.5).length;
  const ms = percentile(
    scores.map((score) => score.milliseconds),
    50,
  );
  const cells = [label, scores.length, f1.toFixed(3), precision.toFixed(3), recall.toFixed(3), low, ms.toFixed(2)];
  if (storedF1 !== null) {
    const gain = pairedGain(scores.map(({ id, f1: now }) => now - (storedF1[id] ?? 0)));
    cells.push(`${gain.mean.toFixed(4)} (${gain.low.toFixed(4)} to ${gain.high.toFixed(4)})`);
  }
  console.log(`| ${cells.join(' | ')} |`);
}

const { values, positionals } = parseArgs({
  options: { save: { type: 'string' }, against: { type: 'string' } },
  allowPositionals: true,
});
const [folder] = positionals;
if (folder === undefined) throw new Error('Name the folder with the clones: npm run bench:extraction -- FOLDER');
const storedF1 = values.against === undefined ? null : await json<Record<string, number>>(values.against);
const all: Score[] = [];
const columns = ['set', 'pages', 'F1', 'precision', 'recall', 'F1 < 0.5', 'median ms'];
if (storedF1 !== null) columns.push('paired gain (95 %)');
console.log(`| ${columns.join(' | ')} |\n|---|${'--:|'.repeat(columns.length - 1)}`);
for (const name of await readdir(folder)) {
  const inside = new Set(await readdir(path.join(folder, name)).catch(() => [] as string[]));
  if (inside.has('dev')) {
    const scores = await scoreWcxb(path.join(folder, name));
    all.push(...scores);
    print('WCXB dev', scores, false);
    for (const half of ['A', 'B']) {
      const ofHalf = scores.filter((score) => score.half === half);
      print(`half ${half}`, ofHalf, false);
    }
    for (const kind of new Set(scores.map((score) => score.kind))) {
      const ofKind = scores.filter((score) => score.kind === kind);
      print(kind, ofKind, false);
    }
  } else if (inside.has('ground-truth.json')) {
    const scores = await scoreScrapinghub(path.join(folder, name));
    all.push(...scores);
    print('scrapinghub', scores, true);
  }
}
if (values.save !== undefined)
  await writeFile(values.save, JSON.stringify(Object.fromEntries(all.map(({ id, f1 }) => [id, f1]))));
