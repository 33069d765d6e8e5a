import type { Client } from '@temporalio/client';
import { defineSearchAttributeKey, TypedSearchAttributes } from '@temporalio/common';

import { periodically } from '../config/process/periodically.js';
import {
  type DeliverEventsInput,
  EVENTS_QUEUED_SIGNAL,
  type SearchAttributeName,
  workflowIds,
} from '../contract/orchestration.js';
import type { TemporalNames } from '../contract/temporalNames.js';
import type { Log } from '../observability/log.js';
import { type Events, ROWS_PER_ROUND } from '../store/events/events.js';
import type { WebhookDoc } from '../store/webhooks/model.js';
import type { Webhooks } from '../store/webhooks/webhooks.js';

const POLL_MS = 250;
/** How often it is looked whether a webhook is to be told though nothing new was numbered: a redelivery, an end of somebody's own making. */
const WAKE_MS = 1_000;
/** How often what deaths have left is looked for: that is seldom, and old before it counts. */
const SETTLE_MS = 5_000;
/** A call that Temporal does not answer in this time is made again in a later round. */
const CALL_TIMEOUT_MS = 5_000;
const WOKEN_PER_ROUND = 50;
const ORGANIZATION: SearchAttributeName = 'OrganizationId';

export interface FeedStores {
  readonly events: Pick<Events, 'number' | 'settle'>;
  readonly webhooks: Pick<Webhooks, 'toWake' | 'woken'>;
}

/**
 * The reader of the feed: gives events their numbers, and tells the workflows of webhooks that there is something to
 * do. Every worker runs one; they do not get into each other's way.
 */
export function createFeedReader(
  client: Client,
  { taskQueue, idOf }: TemporalNames,
  { events, webhooks }: FeedStores,
  log: Log,
  /** How long a workflow that was told goes unasked whether it is still there. */
  lookAgainMs: number,
) {
  const isRunning = async (workflowId: string): Promise<boolean> => {
    const { status } = await client.workflow.getHandle(workflowId).describe();
    return status.name === 'RUNNING';
  };

  const wake = async ({ _id: webhookId, organizationId, wake: since, wokenAt }: WebhookDoc): Promise<void> => {
    const workflowId = idOf(workflowIds.deliverEvents(webhookId));
    await client.withDeadline(Date.now() + CALL_TIMEOUT_MS, async () => {
      // Told before, and not done: it waits for a receiver, or somebody has ended it.
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
    await webhooks.woken(webhookId, since);
  };

  return {
    /** Reads on until the signal is aborted. */
    async read(signal: AbortSignal): Promise<void> {
      let settled = -Infinity;
      let looked = -Infinity;
      const round = async (): Promise<number> => {
        if (performance.now() - settled > SETTLE_MS) {
          await events.settle();
          settled = performance.now();
        }
        const numbered = await events.number();
        if (numbered === 0 && performance.now() - looked < WAKE_MS) return POLL_MS;
        const told = await webhooks.toWake(new Date(Date.now() - lookAgainMs), WOKEN_PER_ROUND);
        // Wait for all: a call that is still running when the worker stops would meet a closed connection.
        const ends = await Promise.allSettled(told.map(wake));
        const broken = ends.find((end) => end.status === 'rejected');
        if (broken) throw broken.reason;
        looked = performance.now();
        // A full round: more events wait. Otherwise pause, since an ingest writes events all the time.
        return numbered >= ROWS_PER_ROUND ? 0 : POLL_MS;
      };
      const onError = (error: unknown): void =>
        log.warn({ err: error }, 'the feed of events could not be read on; trying again');
      await periodically(round, { intervalMs: POLL_MS, signal, onError });
    },
  };
}
