import type { Client } from '@temporalio/client';
import { defineSearchAttributeKey, TypedSearchAttributes } from '@temporalio/common';

import { periodically } from '../config/process/periodically.js';
import { type DeliverEventsInput, EVENTS_QUEUED_SIGNAL } from '../contract/runs/orchestration.js';
import { type SearchAttributeName, workflowIds } from '../contract/runs/workflowIds.js';
import type { TemporalNames } from '../contract/runs/temporalNames.js';
import type { Log } from '../observability/log.js';
import { type Events, ROWS_PER_ITERATION } from '../store/events/events.js';
import type { WebhookDoc } from '../store/models/webhooks.js';
import type { Webhooks } from '../store/webhooks/webhooks.js';

const POLL_MS = 250;
/**
 * Interval in milliseconds of the check for webhooks with pending deliveries but no new event: after a request for
 * redelivery, or after an operator terminated the workflow.
 */
const RECHECK_MS = 1_000;
/**
 * Interval in milliseconds between calls of `events.settle`. It publishes or deletes events that a crashed process
 * wrote but left hidden. Such events are rare, and `settle` ignores them for several seconds after they were written,
 * so more frequent calls would gain little.
 */
const SETTLE_MS = 5_000;
/** Deadline of a call to Temporal; a later iteration repeats the call. */
const CALL_TIMEOUT_MS = 5_000;
const SIGNALLED_PER_ITERATION = 50;
const ORGANIZATION: SearchAttributeName = 'OrganizationId';

export interface FeedStores {
  readonly events: Pick<Events, 'number' | 'settle'>;
  readonly webhooks: Pick<Webhooks, 'listUnsignalled' | 'acknowledgeWake'>;
}

/**
 * Creates the reader of the event feed. It numbers the events, and signals the workflows of webhooks with new
 * deliveries. Every worker runs a reader; several readers do not interfere with each other.
 */
export function createFeedReader(
  client: Client,
  { taskQueue, idOf }: TemporalNames,
  { events, webhooks }: FeedStores,
  log: Log,
  /** Time that a signalled workflow is assumed to run before it is checked, in milliseconds. */
  recheckMs: number,
) {
  const isRunning = async (workflowId: string): Promise<boolean> => {
    const { status } = await client.workflow.getHandle(workflowId).describe();
    return status.name === 'RUNNING';
  };

  const wake = async ({ _id: webhookId, organizationId, wake: since, wokenAt }: WebhookDoc): Promise<void> => {
    const workflowId = idOf(workflowIds.deliverEvents(webhookId));
    await client.withDeadline(Date.now() + CALL_TIMEOUT_MS, async () => {
      // The workflow was signalled before: it still runs and waits for a receiver, or it was terminated.
      if (wokenAt !== null && (await isRunning(workflowId).catch(() => false))) return;
      await client.workflow.signalWithStart<(input: DeliverEventsInput) => Promise<void>>('deliverEvents', {
        workflowId,
        taskQueue,
        args: [{ webhookId }],
        signal: EVENTS_QUEUED_SIGNAL,
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        typedSearchAttributes: new TypedSearchAttributes([
          { key: defineSearchAttributeKey(ORGANIZATION, 'KEYWORD'), value: String(organizationId) },
        ]),
        priority: { fairnessKey: String(organizationId) },
      });
    });
    await webhooks.acknowledgeWake(webhookId, since);
  };

  return {
    /** Reads the feed until the signal is aborted. */
    async read(signal: AbortSignal): Promise<void> {
      let settled = -Infinity;
      let checkedAt = -Infinity;
      const iteration = async (): Promise<number> => {
        if (performance.now() - settled > SETTLE_MS) {
          await events.settle();
          settled = performance.now();
        }
        const numbered = await events.number();
        if (numbered === 0 && performance.now() - checkedAt < RECHECK_MS) return POLL_MS;
        const due = await webhooks.listUnsignalled(new Date(Date.now() - recheckMs), SIGNALLED_PER_ITERATION);
        // Wait for all calls, so that none uses a closed connection when the worker stops.
        const results = await Promise.allSettled(due.map(wake));
        const failed = results.find((end) => end.status === 'rejected');
        if (failed) throw failed.reason;
        checkedAt = performance.now();
        // If the iteration was full, continue immediately, because more events wait. Otherwise pause, so that the next
        // iteration can number several events together.
        return numbered >= ROWS_PER_ITERATION ? 0 : POLL_MS;
      };
      const onError = (error: unknown): void =>
        log.warn({ err: error }, 'the event feed could not be read; trying again');
      await periodically(iteration, { intervalMs: POLL_MS, signal, onError });
    },
  };
}
