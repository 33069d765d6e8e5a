import type { Store } from '../../../store/connect.js';

/** Thrown when the tokens of a text exceed the limit of its run: the run is paused, and the file waits in the queue. */
export class BoundReached extends Error {
  constructor() {
    super('the run has reached its token limit');
  }
}

/** The token limit of a run, for the steps that embed. */
export interface TokenBound {
  /** Reserves tokens before they are embedded. @throws BoundReached */
  take(tokens: number): Promise<void>;
  /** Releases reserved tokens that were not embedded. */
  giveBack(tokens: number): Promise<void>;
}

/** For runs without a limit. */
export const UNBOUND: TokenBound = { take: () => Promise.resolve(), giveBack: () => Promise.resolve() };

/**
 * Returns the token limit of a batch's run. Whether a limit exists is read once, at the first text; without a limit,
 * nothing is counted.
 */
export function createTokenBound({ runs, pauses }: Pick<Store, 'runs' | 'pauses'>, runId: number): TokenBound {
  let read: Promise<boolean> | null = null;
  const isBound = (): Promise<boolean> => {
    read ??= runs.find(runId).then((run) => run?.maxTokens !== undefined);
    return read;
  };
  return {
    async take(tokens) {
      if ((await isBound()) && !(await pauses.take(runId, tokens))) throw new BoundReached();
    },
    async giveBack(tokens) {
      if (await isBound()) await pauses.giveBack(runId, tokens);
    },
  };
}
