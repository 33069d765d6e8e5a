import type { Store } from '../../../store/connect.js';

/** The tokens of a text do not fit into what its run may embed: the run is paused, and the file waits in the queue. */
export class BoundReached extends Error {
  constructor() {
    super('the run has come to its bound of tokens');
  }
}

/** What a run may embed, as the steps that embed ask for it. */
export interface TokenBound {
  /** To be called before tokens are embedded. @throws BoundReached */
  take(tokens: number): Promise<void>;
  /** They were not embedded after all. */
  giveBack(tokens: number): Promise<void>;
}

/** For runs that have no bound. */
export const UNBOUND: TokenBound = { take: () => Promise.resolve(), giveBack: () => Promise.resolve() };

/** The bound of a batch's run. Of a run without one nothing is counted; whether there is one is read once, when something is to be embedded. */
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
