import { AsyncResource } from 'node:async_hooks';

interface Call<In, Out> {
  readonly item: In;
  readonly context: AsyncResource;
  readonly resolve: (out: Out) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Makes one call of those that come while an earlier one is under way. A single call waits for nothing; many at once
 * cost the store a few.
 * @param work answers for all items, in their order; what it throws reaches all callers. One is under way at a time
 * @param most items of one call
 */
export function together<In, Out>(
  work: (items: readonly In[]) => Promise<readonly Out[]>,
  most: number,
): (item: In) => Promise<Out> {
  let waiting: Call<In, Out>[] = [];
  let isBusy = false;
  const make = async (calls: readonly Call<In, Out>[]): Promise<void> => {
    try {
      // In the trace of the first of them.
      const outs = await calls[0]?.context.runInAsyncScope(() => work(calls.map(({ item }) => item)));
      calls.forEach(({ resolve }, index) => resolve(outs?.[index] as Out));
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
  };
  const goOn = async (): Promise<void> => {
    isBusy = true;
    while (waiting.length > 0) {
      const calls = waiting.slice(0, most);
      waiting = waiting.slice(most);
      await make(calls);
    }
    isBusy = false;
  };
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, context: new AsyncResource('together'), resolve, reject });
      if (!isBusy) void goOn();
    });
}
