/** What every chunker of `bench:documents` does in a process of its own: cut one text several times, and tell how fast. */
import { readFile } from 'node:fs/promises';

export type Splitter = 'allotrope' | 'RecursiveCharacterTextSplitter' | 'TokenTextSplitter';

export interface SplitOrders {
  readonly splitter: Splitter;
  /** What counts tokens; ours is always our own. */
  readonly tokenizer: 'own' | 'gpt-tokenizer' | 'js-tiktoken';
  readonly file: string;
  /** Of the text so many characters are taken. */
  readonly characters: number;
  readonly chunkSize: number;
  readonly chunkOverlap: number;
  /** The first round of all warms up and is not counted. */
  readonly rounds: number;
  /** Number of chunks that are printed. */
  readonly shown: number;
}

export interface SplitDone {
  /** Of each round, a second of processor time: both sides have one thread, and the machine may have other work. */
  readonly megabytesPerSecond: readonly number[];
  readonly chunks: number;
  readonly first: readonly string[];
}

/** Runs the rounds that the process was ordered and tells its parent. */
export async function splitRounds(
  split: (text: string, orders: SplitOrders) => Promise<readonly string[]> | readonly string[],
): Promise<void> {
  const orders = JSON.parse(process.argv[2] ?? '') as SplitOrders;
  const text = (await readFile(orders.file, 'utf8')).slice(0, orders.characters);
  const megabytes = Buffer.byteLength(text) / 1e6;
  const megabytesPerSecond: number[] = [];
  let chunks: readonly string[] = [];
  for (let round = 0; round <= orders.rounds; round += 1) {
    const begun = process.cpuUsage();
    chunks = await split(text, orders);
    const { user, system } = process.cpuUsage(begun);
    if (round > 0) megabytesPerSecond.push(megabytes / ((user + system) / 1e6));
  }
  const done: SplitDone = { megabytesPerSecond, chunks: chunks.length, first: chunks.slice(0, orders.shown) };
  process.send?.(done);
  process.disconnect();
}
