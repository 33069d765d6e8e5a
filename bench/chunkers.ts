/**
 * Our chunker compared with LangChain's splitters, each in a process of its own: with the same chunk sizes, and with
 * tokenizers of the same vocabulary (cl100k). All split the same text; those with js-tiktoken only its beginning.
 */
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { glob } from 'tinyglobby';

import { percentile } from './measures.js';
import { forkModule } from './site.js';
import type { SplitDone, SplitOptions, Splitter } from './splitIterations.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SIZES = { chunkSize: 400, chunkOverlap: 20 };
const CHARACTERS = 4_000_000;
/** js-tiktoken takes quadratic time for long pieces, so it gets less text. */
const FEWER_CHARACTERS = 400_000;

async function run(options: SplitOptions): Promise<SplitDone> {
  const child = forkModule(options.splitter === 'allotrope' ? 'ourSplit.ts' : 'langchain/split.ts', [
    JSON.stringify(options),
  ]);
  const ended = once(child, 'exit');
  const done = await Promise.race([
    once(child, 'message').then(([message]) => message as SplitDone),
    ended.then(([code]) => {
      throw new Error(`${options.splitter} ended with code ${String(code)}; its message is above`);
    }),
  ]);
  await ended;
  return done;
}

/** Writes the corpus: the READMEs of all installed packages. Returns its path. */
async function corpus(folder: string): Promise<string> {
  const files = await glob('node_modules/**/README.md', { cwd: ROOT, absolute: true, followSymbolicLinks: true });
  const texts = await Promise.all(files.toSorted().map((file) => readFile(file, 'utf8')));
  const file = path.join(folder, 'corpus.md');
  await writeFile(file, texts.join('\n\n'));
  return file;
}

export interface ChunkerRow {
  readonly splitter: Splitter;
  readonly tokenizer: SplitOptions['tokenizer'];
  readonly megabytesPerSecond: number;
  readonly chunks: number;
}

const COMPARISONS: ReadonlyArray<readonly [Splitter, SplitOptions['tokenizer'], characters: number]> = [
  ['allotrope', 'own', CHARACTERS],
  ['TokenTextSplitter', 'gpt-tokenizer', CHARACTERS],
  ['RecursiveCharacterTextSplitter', 'gpt-tokenizer', CHARACTERS],
  ['TokenTextSplitter', 'js-tiktoken', FEWER_CHARACTERS],
  ['RecursiveCharacterTextSplitter', 'js-tiktoken', FEWER_CHARACTERS],
];

/** Returns the speed of each splitter: the median of its iterations. */
export async function compareChunkers(folder: string, iterations: number): Promise<ChunkerRow[]> {
  const file = await corpus(folder);
  const rows: ChunkerRow[] = [];
  for (const [splitter, tokenizer, characters] of COMPARISONS) {
    const done = await run({ splitter, tokenizer, file, characters, ...SIZES, iterations });
    rows.push({
      splitter,
      tokenizer,
      megabytesPerSecond: percentile(done.megabytesPerSecond, 50),
      chunks: done.chunks,
    });
  }
  return rows;
}
