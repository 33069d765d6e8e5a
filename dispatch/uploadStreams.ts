import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';

import { UPLOADS_QUEUED_SIGNAL, type UploadStreamInput } from '../contract/runs/orchestration.js';
import type { TemporalNames } from '../contract/runs/temporalNames.js';
import type { Log } from '../observability/log.js';
import type { Tracing } from '../observability/spans.js';
import { inSpan } from '../observability/tracing.js';
import type { RunDoc } from '../store/models/runs.js';
import type { FairShares } from './fairShares.js';
import { searchAttributes } from './searchAttributes.js';

/** Uploads of a user that arrive within this time share a signal, in milliseconds. */
const SIGNAL_MS = 250;
/** Minimum interval between two signals of the sweeper to the same stream, in milliseconds. */
const REPEAT_MS = 5_000;
const CALL_TIMEOUT_MS = 5_000;

/** Starts and signals the workflows that ingest uploads: one workflow for each user with uploads. */
export interface UploadStreamStarter {
  /** Starts or signals the stream workflow of a run. Never throws: the sweeper repeats the signal for waiting runs. */
  signalStream(run: RunDoc): Promise<void>;
  /**
   * Starts or signals the stream workflow of a run that the sweeper found waiting, unless this process has signalled it
   * within REPEAT_MS.
   */
  wakeAgain(run: RunDoc): Promise<void>;
  close(): void;
}

export function createUploadStreamStarter(
  client: Client,
  { taskQueue, idOf }: TemporalNames,
  shares: FairShares,
  log: Log,
  tracing: Tracing,
): UploadStreamStarter {
  const closing = new AbortController();
  /**
   * Maps the workflow id of each stream that is being signalled to the newest run that waits for the next signal; to
   * null if no run waits.
   */
  const signalling = new Map<string, RunDoc | null>();
  const signalledAt = new Map<string, number>();

  const signal = async ({ organizationId, userId, workflowId }: RunDoc) => {
    const priority = await shares.of({ organizationId, userId });
    return client.withDeadline(Date.now() + CALL_TIMEOUT_MS, () =>
      client.workflow.signalWithStart<(user: UploadStreamInput) => Promise<unknown>>('drainUploads', {
        workflowId: idOf(workflowId),
        taskQueue,
        args: [{ organizationId, userId }],
        signal: UPLOADS_QUEUED_SIGNAL,
        signalArgs: [],
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        typedSearchAttributes: searchAttributes({ OrganizationId: String(organizationId), UserId: String(userId) }),
        priority,
      }),
    );
  };
  const signalTraced = async (run: RunDoc): Promise<void> => {
    const { _id, organizationId, userId, fileId, requestId, traceparent } = run;
    const workflowId = idOf(run.workflowId);
    const ids = { organization: organizationId, user: userId, run: _id, request: requestId, workflow: workflowId };
    const spanIds = { ...ids, ...(fileId !== null && { file: fileId }) };
    const span = { name: 'start drainUploads', kind: 'producer', ids: spanIds } as const;
    try {
      await inSpan(tracing, { ...span, ...(traceparent && { parent: traceparent }) }, () => signal(run));
      log.info({ runId: _id, workflowId, organizationId, requestId }, 'workflow started or signalled');
    } catch (error) {
      log.warn(
        { runId: _id, workflowId, organizationId, requestId, err: error },
        'the upload stream could not be signalled; the sweeper repeats the signal',
      );
    }
  };

  const wake = async (run: RunDoc): Promise<void> => {
    const { workflowId } = run;
    if (signalling.has(workflowId)) {
      signalling.set(workflowId, run);
      return;
    }
    let next: RunDoc | null = run;
    while (next !== null && !closing.signal.aborted) {
      signalling.set(workflowId, null);
      signalledAt.set(workflowId, Date.now());
      await signalTraced(next);
      // Closing ends the wait.
      await sleep(SIGNAL_MS, undefined, { signal: closing.signal }).catch(() => undefined);
      next = signalling.get(workflowId) ?? null;
    }
    signalling.delete(workflowId);
  };
  return {
    signalStream: wake,
    async wakeAgain(run) {
      const now = Date.now();
      for (const [id, at] of signalledAt) if (at < now - REPEAT_MS) signalledAt.delete(id);
      if (!signalledAt.has(run.workflowId)) await wake(run);
    },
    close: () => closing.abort(),
  };
}
