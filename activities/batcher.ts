/** Gathers single calls that come close together into one call for many. Each caller gets its own answer. */
export interface Batcher<In, Out> {
  add(item: In): Promise<Out>;
}

/**
 * @param work answers for all items at once, in their order; a rejection reaches every caller of that batch
 * @param maxItems a batch is worked off as soon as it has so many
 * @param maxWaitMs how long the first item of a batch waits for company
 * @param retryAlone for work that may run twice: where it rejects for several items each is tried by itself, so that a
 *   fault of one reaches no other
 */
export function createBatcher<In, Out>(
  work: (items: In[]) => Promise<Out[]>,
  maxItems: number,
  maxWaitMs: number,
  { retryAlone = false } = {},
): Batcher<In, Out> {
  interface Call {
    readonly item: In;
    readonly resolve: (out: Out) => void;
    readonly reject: (error: unknown) => void;
  }
  let waiting: Call[] = [];
  let timer: NodeJS.Timeout | null = null;

  const run = async (calls: readonly Call[]): Promise<void> => {
    try {
      const answers = await work(calls.map(({ item }) => item));
      calls.forEach(({ resolve }, index) => resolve(answers[index] as Out));
    } catch (error) {
      if (retryAlone && calls.length > 1) await Promise.all(calls.map((call) => run([call])));
      else calls.forEach(({ reject }) => reject(error));
    }
  };

  const flush = (): void => {
    if (timer) clearTimeout(timer);
    timer = null;
    const calls = waiting;
    waiting = [];
    void run(calls);
  };

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        if (waiting.length >= maxItems) flush();
        else timer ??= setTimeout(flush, maxWaitMs);
      }),
  };
}
