import type { Dispatcher } from '../../dispatch/dispatcher.js';
import type { Store } from '../../store/connect.js';
import type { Atomically } from '../../store/events/events.js';
import type { NewContainers } from '../../store/files/newContainers.js';
import type { RunDoc } from '../../store/models/runs.js';

/** The writes of a request, and the runs that it starts. Handlers have no other access to transactions or starts. */
export interface UnitOfWork {
  /** Runs `work` in one MongoDB transaction; repeats it after transient errors of MongoDB. */
  readonly transaction: Atomically;
  /**
   * Accepts a new container in a transaction shared with concurrent requests.
   * @returns false if nothing was written: accept it in `transaction`
   */
  readonly acceptContainer: NewContainers['accept'];
  /**
   * Starts an accepted run once its row is committed; call it after `transaction` has resolved. Never throws and is not
   * awaited: the outbox row guarantees the start, by the sweeper if Temporal is down.
   * @param first the run, if its request also created the record that it works on, such as a file. The run is then not
   * read again, and does not wait for earlier runs of this record, because there are none
   */
  start(runId: number, first?: RunDoc | null): void;
}

/** Dependencies of a unit of work. */
export interface UnitOfWorkDeps {
  readonly store: Pick<Store, 'transaction' | 'newContainers'>;
  readonly dispatcher: Pick<Dispatcher, 'start'>;
}

/** Returns the unit of work of requests without an Idempotency-Key: each transaction is committed separately. */
export const createUnitOfWork = ({ store, dispatcher }: UnitOfWorkDeps): UnitOfWork => ({
  transaction: (work) => store.transaction(work),
  acceptContainer: (container) => store.newContainers.accept(container),
  start: (runId, first) => void dispatcher.start(runId, first),
});
