/** Gathers single calls that come close together into one call for many. Each caller gets its own answer. */
export interface Batcher<In, Out> {
  add(item: In): Promise<Out>;
}

/**
 * @param work answers for all items at once, in their order; a rejection reaches every caller of that batch
 * @param maxItems a batch is worked off as soon as it has so many
 * @param maxWaitMs how long the first item of a batch waits for company
 */
export function createBatcher<In, Out>(
  work: (items: In[]) => Promise<Out[]>,
  maxItems: number,
  maxWaitMs: number,
): Batcher<In, Out> {
  let waiting: { item: In; resolve: (out: Out) => void; reject: (error: unknown) => void }[] = [];
  let timer: NodeJS.Timeout | null = null;

  const flush = (): void => {
    if (timer) clearTimeout(timer);
    timer = null;
    const batch = waiting;
    waiting = [];
    work(batch.map(({ item }) => item)).then(
      (answers) => batch.forEach(({ resolve }, index) => resolve(answers[index] as Out)),
      (error: unknown) => batch.forEach(({ reject }) => reject(error)),
    );
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
