export interface Coalescing {
  /** Maximum number of items per call of the work. */
  readonly maxItems: number;
  /**
   * Maximum milliseconds that the first item of a batch waits for others; batches may run in parallel. If absent, one
   * batch runs at a time: an item starts immediately if no batch runs, and items that arrive meanwhile form the next
   * batch.
   */
  readonly maxWaitMs?: number;
  /**
   * For idempotent work: if a batch fails, each item is retried alone, so that a bad item fails only its own caller.
   */
  readonly retryAlone?: boolean;
}

interface Call<In, Out> {
  readonly item: In;
  readonly resolve: (out: Out) => void;
  readonly reject: (error: unknown) => void;
}

interface Batch<In, Out> {
  readonly calls: Call<In, Out>[];
  readonly start: () => void;
  timer?: ReturnType<typeof setTimeout>;
}

/**
 * Combines concurrent calls into batches; each caller receives its own result. `dataloader` does not fit: it waits its
 * full delay even when a batch is full, cannot collect items while a batch runs, and does not retry items alone.
 * @param work returns one result per item, in order. If it rejects, all callers of the batch receive the error
 */
export function coalesce<In, Out>(
  work: (items: readonly In[]) => Promise<readonly Out[]>,
  { maxItems, maxWaitMs, retryAlone = false }: Coalescing,
): (item: In) => Promise<Out> {
  let open: Batch<In, Out> | null = null;
  let isBusy = false;
  const queue: Batch<In, Out>[] = [];

  const run = async (calls: readonly Call<In, Out>[]): Promise<void> => {
    try {
      const answers = await work(calls.map(({ item }) => item));
      calls.forEach(({ resolve }, index) => resolve(answers[index] as Out));
    } catch (error) {
      if (retryAlone && calls.length > 1) await Promise.all(calls.map((call) => run([call])));
      else for (const { reject } of calls) reject(error);
    }
  };
  const begin = (batch: Batch<In, Out>): void => {
    if (open === batch) open = null;
    clearTimeout(batch.timer);
    batch.start();
  };
  const beginNext = (): void => {
    const batch = queue.shift();
    isBusy = batch !== undefined;
    if (batch) begin(batch);
  };
  const openBatch = (): Batch<In, Out> => {
    const calls: Call<In, Out>[] = [];
    let start = (): void => undefined;
    const started = new Promise<void>((resolve) => (start = resolve));
    // `then` is called here so that the work runs in the async context, and the trace, of the batch's first caller.
    const ended = started.then(() => run(calls));
    const batch: Batch<In, Out> = { calls, start: () => start() };
    if (maxWaitMs === undefined) {
      queue.push(batch);
      void ended.then(beginNext);
    } else batch.timer = setTimeout(() => begin(batch), maxWaitMs);
    return batch;
  };

  return (item) =>
    new Promise((resolve, reject) => {
      const call = { item, resolve, reject };
      if (maxWaitMs === undefined && !isBusy) {
        isBusy = true;
        void run([call]).then(beginNext);
        return;
      }
      if (open === null || open.calls.length >= maxItems) open = openBatch();
      open.calls.push(call);
      if (maxWaitMs !== undefined && open.calls.length >= maxItems) begin(open);
    });
}
