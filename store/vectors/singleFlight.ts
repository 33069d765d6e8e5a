import { untilAborted } from '../../contract/untilAborted.js';

/** Deduplicates concurrent computations by key: a caller waits for a value that another call is computing. */
export interface SingleFlight<T> {
  /**
   * Returns a value for each key. Waits for values that another call is computing. `make` computes all others in one
   * call, and then the values of other calls that failed or were aborted.
   * @throws errors of `make`, or the signal's reason
   */
  get(
    keys: readonly string[],
    make: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>,
    signal: AbortSignal,
  ): Promise<Map<string, T>>;
}

export function createSingleFlight<T>(): SingleFlight<T> {
  /** By key. A promise resolves to null if its call failed or was aborted. */
  const inProgress = new Map<string, Promise<T | null>>();
  return {
    async get(keys, make, signal) {
      const found = new Map<string, T>();
      let missingKeys = [...new Set(keys)];
      while (missingKeys.length > 0) {
        const otherCalls = missingKeys.flatMap((key) => {
          const making = inProgress.get(key);
          return making ? [{ key, making }] : [];
        });
        const ownKeys = missingKeys.filter((key) => !inProgress.has(key));
        if (ownKeys.length > 0) {
          // Compute the own keys before waiting for other calls, so that two calls never wait for each other.
          const making = make(ownKeys);
          for (const key of ownKeys)
            inProgress.set(
              key,
              making.then(
                (made) => made.get(key) ?? null,
                () => null,
              ),
            );
          try {
            for (const [key, value] of await making) found.set(key, value);
          } finally {
            for (const key of ownKeys) inProgress.delete(key);
          }
          const keyWithoutValue = ownKeys.find((key) => !found.has(key));
          if (keyWithoutValue !== undefined) throw new Error('make() returned no value for a key');
        }
        for (const { key, making } of otherCalls) {
          const value = await untilAborted(signal, making);
          if (value !== null) found.set(key, value);
        }
        missingKeys = missingKeys.filter((key) => !found.has(key));
      }
      return found;
    },
  };
}
