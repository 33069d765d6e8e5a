/**
 * `npm run bench:embedding`: texts per second of the embedded model through our pool, compared with the bare
 * onnxruntime-node on the same texts and threads, in alternating iterations. `-- --quick` takes fewer texts.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { glob } from 'tinyglobby';

import { splitText } from '../documents/chunking/splitText.js';
import { createLocalProvider } from '../providers/embeddings/providers/local.js';
import { loadTokenizer } from '../providers/embeddings/providers/localTokenizer.js';
import { WINDOW_PIECES } from '../providers/embeddings/providers/localWindows.js';
import { ensureEmbeddingModel } from '../engines/embeddingModel.js';
import { DEFAULT_ENGINES_DIR, ensureVenv } from '../engines/venv.js';
import type { BareOptions } from './bareEmbedding.js';
import { percentile } from './measures.js';
import { environment, table } from './report.js';
import { forkModule } from './site.js';
import { writeReport } from './writeReport.js';

const quick = process.argv.includes('--quick');
const TEXTS = quick ? 60 : 120;
const ITERATIONS = quick ? 3 : 5;
/** Threads of each setup: as many as a worker has processes for the model by default (EMBEDDING_THREADS). */
const THREADS = 2;
const TARGET_RATIO = 0.9;
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const RESULTS = fileURLToPath(new URL('embedding.md', import.meta.url));
const printLine = (line: string): void => console.log(`· ${line}`);

/** Returns chunks of the READMEs of all installed packages. */
async function chunks(): Promise<string[]> {
  const files = await glob('node_modules/**/README.md', { cwd: ROOT, absolute: true, followSymbolicLinks: true });
  const texts: string[] = [];
  for (const file of files.toSorted()) {
    const cut = splitText(await readFile(file, 'utf8'), { chunkSize: 400, chunkOverlap: 20, prefix: null }).chunks;
    texts.push(...cut.map(({ text }) => text));
  }
  const step = Math.floor(texts.length / TEXTS);
  return Array.from({ length: TEXTS }, (_, index) => texts[index * step] ?? '');
}

interface Side {
  readonly name: string;
  /** Embeds all texts. Returns the seconds that it took. */
  iteration(): Promise<number>;
  stop(): Promise<void>;
}

/**
 * Starts child processes with the bare runtime. Each embeds a part of the windows: inputs of at most WINDOW_PIECES word
 * pieces.
 */
async function bareSide(
  name: string,
  folder: string,
  modelPath: string,
  parts: readonly number[][][],
  threads: number,
): Promise<Side> {
  const start = async (windows: number[][], index: number): Promise<ChildProcess> => {
    const file = path.join(folder, `${threads}-${index}.json`);
    await writeFile(file, JSON.stringify(windows));
    const child = forkModule('bareEmbedding.ts', [JSON.stringify({ modelPath, threads, file } satisfies BareOptions)]);
    await once(child, 'message');
    return child;
  };
  const children = await Promise.all(parts.map(start));
  return {
    name,
    async iteration() {
      const startedAt = performance.now();
      await Promise.all(
        children.map(async (child) => {
          const answer = once(child, 'message');
          child.send('go');
          await answer;
        }),
      );
      return (performance.now() - startedAt) / 1000;
    },
    async stop() {
      const ended = children.map((child) => once(child, 'exit'));
      for (const child of children) child.disconnect();
      await Promise.all(ended);
    },
  };
}

const startedAt = new Date();
const folder = await mkdtemp(path.join(tmpdir(), 'allotrope-bench-embedding-'));
const model = await ensureEmbeddingModel(await ensureVenv({ enginesDir: DEFAULT_ENGINES_DIR, onProgress: printLine }));
const texts = await chunks();
const tokenizer = await loadTokenizer(model.tokenizerPath);
const windows = texts.flatMap((text) => {
  const pieces = tokenizer.tokenize(text);
  return Array.from({ length: Math.ceil(pieces.length / WINDOW_PIECES) }, (_, index) =>
    [...tokenizer.frame(pieces.slice(index * WINDOW_PIECES, (index + 1) * WINDOW_PIECES))].map(Number),
  );
});
const halves = [0, 1].map((half) => windows.filter((_window, index) => index % THREADS === half));
const provider = createLocalProvider({ ...model, threads: THREADS });
const sides: Side[] = [
  {
    name: 'our pool, texts in, vectors out',
    async iteration() {
      const from = performance.now();
      await provider.embed(texts, 'document');
      return (performance.now() - from) / 1000;
    },
    stop: () => provider.close(),
  },
  await bareSide('bare, two processes of one thread', folder, model.modelPath, halves, 1),
  await bareSide('bare, one process of two threads', folder, model.modelPath, [windows], THREADS),
];
const speeds: number[][] = sides.map(() => []);
try {
  for (let iteration = 0; iteration <= ITERATIONS; iteration += 1)
    for (const [index, side] of sides.entries()) {
      const seconds = await side.iteration();
      // The first iteration is a warm-up.
      if (iteration > 0) speeds[index]?.push(texts.length / seconds);
      printLine(`${side.name}: ${(texts.length / seconds).toFixed(1)} texts/s`);
    }
} finally {
  await Promise.all(sides.map((side) => side.stop()));
  await rm(folder, { recursive: true, force: true });
}
/**
 * Compares each iteration with the same iteration of the faster bare setup, because the speed of the machine changes.
 */
const [ours = [], ...bare] = speeds;
const best = bare.toSorted((a, b) => percentile(b, 50) - percentile(a, 50))[0] ?? [];
const ratio = percentile(
  ours.map((speed, iteration) => speed / (best[iteration] ?? Number.NaN)),
  50,
);
const text = [
  '# Embedding',
  '',
  `${startedAt.toISOString()} · \`npm run bench:embedding${quick ? ' -- --quick' : ''}\`, ${((Date.now() - startedAt.getTime()) / 60_000).toFixed(1)} minutes · ${environment()}`,
  '',
  `${texts.length} chunks of 400 tokens (${windows.length} windows, ${windows.reduce((sum, { length }) => sum + length, 0)} word pieces), ` +
    `median of ${ITERATIONS} alternating iterations; the ratio is computed per iteration. The bare runtime receives prepared word pieces; our pool also tokenizes, sends texts and vectors between processes, and joins the vectors of a text's windows.`,
  '',
  table(
    ['who', 'texts/s', 'word pieces/s'],
    sides.map(({ name }, index) => {
      const speed = percentile(speeds[index] ?? [], 50);
      return [name, speed.toFixed(1), ((speed * windows.flat().length) / texts.length).toFixed(0)];
    }),
  ),
  '',
  table(
    ['measure', 'measured', 'target', 'met'],
    [
      [
        'ours compared with the faster bare setup',
        `${ratio.toFixed(2)}×`,
        `≥ ${TARGET_RATIO}×`,
        ratio >= TARGET_RATIO ? 'yes' : 'MISSED',
      ],
    ],
  ),
  '',
].join('\n');
if (!quick) await writeReport(RESULTS, text);
console.log(`\n${text}`);
process.exit(0);
