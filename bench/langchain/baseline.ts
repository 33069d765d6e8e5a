/**
 * Shared code of the baselines, the programs that the service is compared with. They get their options as one JSON
 * argument and send their result to the parent process.
 */

export interface BaselineOptions {
  readonly sitemap: string;
  readonly chunkSize: number;
  readonly chunkOverlap: number;
  readonly tokenizer: 'gpt-tokenizer' | 'js-tiktoken';
  /** File for the chunks as JSON lines; null with vectors. */
  readonly outFile: string | null;
  readonly vectors: {
    readonly qdrantUrl: string;
    readonly modelPath: string;
    readonly tokenizerPath: string;
    readonly threads: number;
  } | null;
}

export interface BaselineDone {
  readonly pages: number;
  readonly chunks: number;
  readonly totalMs: number;
  /** Milliseconds of each step, if the baseline runs its steps one after the other. */
  readonly steps: Readonly<Record<string, number>>;
}

/** Runs the baseline's work and sends the result to the parent. Modules are loaded before the clock starts. */
export async function baseline(
  work: (options: BaselineOptions) => Promise<Omit<BaselineDone, 'totalMs'>>,
): Promise<void> {
  const options = JSON.parse(process.argv[2] ?? '') as BaselineOptions;
  const startedAt = performance.now();
  const done = await work(options);
  const totalMs = performance.now() - startedAt;
  // Stay alive until the parent has read the processor time of this process.
  process.once('disconnect', () => process.exit(0));
  process.send?.({ ...done, totalMs } satisfies BaselineDone);
}

/** Runs one step and records its duration in ms. */
export async function timed<T>(steps: Record<string, number>, name: string, step: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const value = await step();
  steps[name] = performance.now() - startedAt;
  return value;
}
