import pLimit from 'p-limit';

/**
 * Processes items in parallel, `atOnce` at a time, but items of the same file in sequence. An item waits for all items
 * before it, and the items after it wait for it, if it has no object, several objects, or an object that is not a file.
 * After an error, the later items of the same file are skipped. Items of other files continue until the next item that
 * waits for all; that item and the later ones do not start.
 * @throws the error of the failed file that is first in the order of the items, after all started work has ended
 */
export async function inOrder<T>(
  items: readonly T[],
  objectsOf: (item: T) => readonly string[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const slots = pLimit(atOnce);
  const chains = new Map<string, Promise<void>>();
  const waitForAll = async (): Promise<void> => {
    const results = await Promise.allSettled(chains.values());
    chains.clear();
    const rejected = results.find((end) => end.status === 'rejected');
    if (rejected) throw rejected.reason;
  };
  for (const item of items) {
    const [object, ...others] = objectsOf(item);
    if (object === undefined || others.length > 0 || !object.startsWith('FILE:')) {
      await waitForAll();
      await work(item);
      continue;
    }
    const previous = chains.get(object) ?? Promise.resolve();
    const next = previous.then(() => slots(() => work(item)));
    // waitForAll() handles the rejection.
    next.catch(() => undefined);
    chains.set(object, next);
  }
  await waitForAll();
}
