/** The child process of `bench:documents`: splits one text several times with one chunker and reports its speed. */
import { readFile } from 'node:fs/promises';

export type Splitter = 'allotrope' | 'RecursiveCharacterTextSplitter' | 'TokenTextSplitter';

export interface SplitOptions {
  readonly splitter: Splitter;
  /** The tokenizer that counts tokens; our chunker always uses its own. */
  readonly tokenizer: 'own' | 'gpt-tokenizer' | 'js-tiktoken';
  readonly file: string;
  /** Number of characters of the text that are split. */
  readonly characters: number;
  readonly chunkSize: number;
  readonly chunkOverlap: number;
  /** Number of measured iterations, after one that warms up. */
  readonly iterations: number;
}

export interface SplitDone {
  /** Megabytes per second of this process's processor time, for each iteration. Other processes do not count. */
  readonly megabytesPerSecond: readonly number[];
  readonly chunks: number;
}

/** Runs the iterations with the options of the command line, and sends the result to the parent process. */
export async function splitIterations(
  split: (text: string, options: SplitOptions) => Promise<readonly string[]> | readonly string[],
): Promise<void> {
  const options = JSON.parse(process.argv[2] ?? '') as SplitOptions;
  const text = (await readFile(options.file, 'utf8')).slice(0, options.characters);
  const megabytes = Buffer.byteLength(text) / 1e6;
  const megabytesPerSecond: number[] = [];
  let chunks: readonly string[] = [];
  for (let iteration = 0; iteration <= options.iterations; iteration += 1) {
    const before = process.cpuUsage();
    chunks = await split(text, options);
    const { user, system } = process.cpuUsage(before);
    if (iteration > 0) megabytesPerSecond.push(megabytes / ((user + system) / 1e6));
  }
  const done: SplitDone = { megabytesPerSecond, chunks: chunks.length };
  process.send?.(done);
  process.disconnect();
}
