/** What the peers share: their orders come as one JSON argument, and what they did goes to the parent. */

export interface Orders {
  readonly sitemap: string;
  readonly chunkSize: number;
  readonly chunkOverlap: number;
  readonly tokenizer: 'gpt-tokenizer' | 'js-tiktoken';
  /** Where chunks are written as JSON lines; null with vectors. */
  readonly outFile: string | null;
  readonly vectors: {
    readonly qdrantUrl: string;
    readonly modelPath: string;
    readonly tokenizerPath: string;
    readonly threads: number;
  } | null;
}

export interface PeerDone {
  readonly pages: number;
  readonly chunks: number;
  readonly totalMs: number;
  /** How long each step took, where the peer takes them one after the other. */
  readonly steps: Readonly<Record<string, number>>;
}

/** Runs the peer's work and tells the parent; modules are loaded before the clock starts. */
export async function peer(work: (orders: Orders) => Promise<Omit<PeerDone, 'totalMs'>>): Promise<void> {
  const orders = JSON.parse(process.argv[2] ?? '') as Orders;
  const begun = performance.now();
  const done = await work(orders);
  const totalMs = performance.now() - begun;
  // It stays until the parent has read off its processor time.
  process.once('disconnect', () => process.exit(0));
  process.send?.({ ...done, totalMs } satisfies PeerDone);
}

/** Runs one step and notes how long it took. */
export async function timed<T>(steps: Record<string, number>, name: string, step: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  const value = await step();
  steps[name] = performance.now() - begun;
  return value;
}
