import type { Store } from '../../../store/connect.js';

/** Thrown when the tokens of a text exceed the limit of its run: the run is paused, and the file waits in the queue. */
export class TokenBudgetReached extends Error {
  constructor() {
    super('the run has reached its token limit');
  }
}

/** The token limit of a run, for the steps that embed. */
export interface TokenBudget {
  /** Reserves tokens before they are embedded. @throws TokenBudgetReached */
  reserve(tokens: number): Promise<void>;
  /** Releases reserved tokens that were not embedded. */
  release(tokens: number): Promise<void>;
}

/** For runs without a limit. */
export const UNLIMITED_TOKENS: TokenBudget = { reserve: () => Promise.resolve(), release: () => Promise.resolve() };

/**
 * Returns the token limit of a batch's run. Whether a limit exists is read once, at the first text; without a limit,
 * nothing is counted.
 */
export function createTokenBudget({ runs, pauses }: Pick<Store, 'runs' | 'pauses'>, runId: number): TokenBudget {
  let limitLookup: Promise<boolean> | null = null;
  const hasLimit = (): Promise<boolean> => {
    limitLookup ??= runs.find(runId).then((run) => run?.maxTokens !== undefined);
    return limitLookup;
  };
  return {
    async reserve(tokens) {
      if ((await hasLimit()) && !(await pauses.reserveTokens(runId, tokens))) throw new TokenBudgetReached();
    },
    async release(tokens) {
      if (await hasLimit()) await pauses.releaseTokens(runId, tokens);
    },
  };
}
