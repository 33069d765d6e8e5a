import type { ApiDeps } from '../http/deps.js';
import type { CallContext, Perform } from '../http/perform.js';

/** The agent that sent a request, and the dependencies of its tools and resources. */
export interface Agent extends CallContext {
  /** Whether its token permits tools that write. */
  readonly mayWrite: boolean;
  /** Performs an operation of REST for the agent's user. */
  readonly perform: Perform;
  readonly deps: Pick<ApiDeps, 'store' | 'settings' | 'signedUrls' | 'publicUrl' | 'log'>;
}
