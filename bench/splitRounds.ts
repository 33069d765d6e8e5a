/** Child process of `bench:documents` for every chunker: splits one text several times and measures the speed. */
import { readFile } from 'node:fs/promises';

export type Splitter = 'allotrope' | 'RecursiveCharacterTextSplitter' | 'TokenTextSplitter';

export interface SplitOrders {
  readonly splitter: Splitter;
  /** Tokenizer for counting; our chunker always uses its own. */
  readonly tokenizer: 'own' | 'gpt-tokenizer' | 'js-tiktoken';
  readonly file: string;
  /** Number of characters taken from the text. */
  readonly characters: number;
  readonly chunkSize: number;
  readonly chunkOverlap: number;
  /** Number of measured rounds, after one round of warm-up. */
  readonly rounds: number;
  /** Number of chunks to print. */
  readonly shown: number;
}

export interface SplitDone {
  /** Megabytes per second of processor time of each round. Both sides have one thread, and the machine may be busy. */
  readonly megabytesPerSecond: readonly number[];
  readonly chunks: number;
  readonly first: readonly string[];
}

/** Runs the rounds and sends the result to the parent process. */
export async function splitRounds(
  split: (text: string, orders: SplitOrders) => Promise<readonly string[]> | readonly string[],
): Promise<void> {
  const orders = JSON.parse(process.argv[2] ?? '') as SplitOrders;
  const text = (await readFile(orders.file, 'utf8')).slice(0, orders.characters);
  const megabytes = Buffer.byteLength(text) / 1e6;
  const megabytesPerSecond: number[] = [];
  let chunks: readonly string[] = [];
  for (let round = 0; round <= orders.rounds; round += 1) {
    const before = process.cpuUsage();
    chunks = await split(text, orders);
    const { user, system } = process.cpuUsage(before);
    if (round > 0) megabytesPerSecond.push(megabytes / ((user + system) / 1e6));
  }
  const done: SplitDone = { megabytesPerSecond, chunks: chunks.length, first: chunks.slice(0, orders.shown) };
  process.send?.(done);
  process.disconnect();
}
