import { cancellationSignal } from '@temporalio/activity';

import { coalesce } from '../../contract/coalesce.js';
import { eventId, type NumberedEvent, objectsOf } from '../../contract/events.js';
import type { DeliverBatchResult, DeliverEventsInput } from '../../contract/runs/orchestration.js';
import type { DeliveryOutcome } from '../../store/webhooks/deliveries.js';
import type { AttemptDoc, WebhookDoc, WebhookFailure } from '../../store/models/webhooks.js';
import type { WebhookProgress } from '../../store/webhooks/webhooks.js';
import type { ActivityDeps } from '../deps.js';
import { inOrder } from './inOrder.js';
import { postEvent } from './postEvent.js';

/** Maximum number of new events in a batch, and milliseconds after which a batch starts no further deliveries. */
const EVENTS_PER_BATCH = 100;
const BATCH_MS = 20_000;
/** Parallel deliveries to one receiver. */
const AT_ONCE = 8;
/**
 * With this many pending deliveries, no new events are read from the feed: the receiver is down, and the feed keeps
 * them.
 */
const MAX_PENDING = 1000;
const OUTCOMES_WAIT_MS = 20;
const OUTCOMES_PER_WRITE = 50;

/** An event to deliver, with the state of its delivery. */
interface Item {
  readonly event: NumberedEvent;
  readonly objects: readonly string[];
  readonly isNew: boolean;
  readonly tries: number;
  readonly nextTryAt: Date | null;
  /** The last attempt, if it failed. */
  readonly failed: { readonly at: Date; readonly error: string } | null;
}

/** One batch of the due deliveries of a receiver. */
class DeliveryBatch {
  readonly held = new Set<string>();
  readonly recorded = new Set<number>();
  outcome: WebhookProgress['outcome'] = null;
  disabled = false;
  /** Whether deliveries remain because BATCH_MS was reached. */
  timedOut = false;
  /** Whether deliveries are still pending. */
  waiting = false;
  /** Number of deliveries that are DELIVERED or FAILED. */
  ended = 0;
  dueAt = Infinity;
  /** The first delivery that failed and will be retried. */
  failing: (WebhookFailure & { readonly position: number }) | null = null;

  hold(item: Item): void {
    this.waiting = true;
    for (const object of item.objects) this.held.add(object);
    const { failed, event, tries, nextTryAt } = item;
    if (failed && (this.failing === null || event.position < this.failing.position))
      this.failing = { position: event.position, event: event.kind, tries, nextTryAt, ...failed };
  }
}

function failingOf({ failing, disabled }: DeliveryBatch): WebhookFailure | null {
  if (failing === null || disabled) return null;
  const { event, tries, error, at, nextTryAt } = failing;
  return { event, tries, error, at, nextTryAt };
}

/** Counts attempts by their outcomes. Outcomes that are recorded again after a lost reply count twice. */
function countAttempts(outcomes: readonly DeliveryOutcome[], metrics: ActivityDeps['metrics']): void {
  for (const { attempt, status, event } of outcomes) {
    if (!attempt) continue;
    const isDelivered = status === 'DELIVERED';
    const outcome = isDelivered ? 'delivered' : status === 'FAILED' ? 'given_up' : 'failed';
    metrics.webhookAttempt(outcome, isDelivered ? (Date.now() - event.at.getTime()) / 1000 : null);
  }
}

export function createWebhookActivities(deps: ActivityDeps) {
  const { store, settings, log, metrics } = deps;
  const { retryDelaysMs } = settings.webhooks;

  /**
   * Returns the pending deliveries in the order of the feed, then new events. `isFull`: MAX_PENDING deliveries are
   * pending, so the feed may have new events that were not read.
   */
  const itemsOf = async (
    webhook: WebhookDoc,
  ): Promise<{ items: Item[]; newEvents: NumberedEvent[]; isFull: boolean }> => {
    const pending = await store.deliveries.listPending(webhook._id);
    const capacity = Math.min(EVENTS_PER_BATCH, MAX_PENDING - pending.length);
    const newEvents = capacity > 0 ? await store.events.after(webhook.organizationId, webhook.cursor, capacity) : [];
    const deliveredPositions = new Set(
      await store.deliveries.filterDelivered(
        webhook._id,
        newEvents.map(({ position }) => position),
      ),
    );
    const items = [
      ...pending.map(({ event, position, objects, tries, nextTryAt, attempts }) => {
        const last = attempts.at(-1);
        const failed = last && last.error !== null ? { at: last.at, error: last.error } : null;
        return { event: { ...event, position }, objects, isNew: false, tries, nextTryAt, failed };
      }),
      ...newEvents
        .filter(({ position }) => !deliveredPositions.has(position))
        .map((event) => ({ event, objects: objectsOf(event), isNew: true, tries: 0, nextTryAt: null, failed: null })),
    ];
    return { items, newEvents, isFull: capacity <= 0 };
  };

  /** Converts the receiver's response to the outcome of an attempt. */
  const outcomeOf = (
    webhook: WebhookDoc,
    item: Item,
    { at, error }: AttemptDoc,
    gone: boolean,
    batch: DeliveryBatch,
  ) => {
    if (error === null) {
      // A parallel delivery must not revert the state that a 410 response has set.
      if (!batch.disabled) batch.outcome = { status: 'ACTIVE' };
      return { status: 'DELIVERED' as const, tries: item.tries, nextTryAt: null };
    }
    const tries = item.tries + 1;
    const delay = retryDelaysMs[tries - 1];
    const redeliver = `POST /webhooks/${webhook._id}/redeliver`;
    if (gone) {
      batch.disabled = true;
      const reason = `${error} No further events are sent to it. ${redeliver} enables it again.`;
      batch.outcome = { status: 'FLAGGED', reason };
      return { status: 'FAILED' as const, tries, nextTryAt: null };
    }
    if (delay === undefined) {
      const what = `${item.event.kind} (${eventId(webhook.organizationId, item.event.position)})`;
      const reason = `${what} failed after ${tries} attempts. ${error} Fix the receiver, then repeat the delivery: ${redeliver}.`;
      batch.outcome = { status: 'FLAGGED', reason };
      return { status: 'FAILED' as const, tries, nextTryAt: null };
    }
    const nextTryAt = new Date(Date.now() + delay);
    batch.dueAt = Math.min(batch.dueAt, nextTryAt.getTime());
    batch.hold({ ...item, tries, nextTryAt, failed: { at, error } });
    return { status: 'PENDING' as const, tries, nextTryAt };
  };

  const deliverItems = async (
    webhook: WebhookDoc,
    items: readonly Item[],
    signal: AbortSignal,
  ): Promise<DeliveryBatch> => {
    const batch = new DeliveryBatch();
    const until = Date.now() + BATCH_MS;
    const signingKey = store.webhooks.signingKeyOf(webhook);
    const record = coalesce<DeliveryOutcome, void>(
      async (outcomes) => {
        await store.deliveries.record(webhook, outcomes);
        countAttempts(outcomes, metrics);
        for (const { event, status } of outcomes) {
          batch.recorded.add(event.position);
          if (status !== 'PENDING') batch.ended += 1;
        }
        return outcomes.map(() => undefined);
      },
      { maxItems: OUTCOMES_PER_WRITE, maxWaitMs: OUTCOMES_WAIT_MS },
    );
    const deliver = async (item: Item): Promise<void> => {
      signal.throwIfAborted();
      const { event, nextTryAt } = item;
      if (batch.disabled || Date.now() > until) {
        batch.timedOut ||= !batch.disabled;
        return batch.hold(item);
      }
      const isLater = nextTryAt !== null && nextTryAt.getTime() > Date.now();
      if (isLater || item.objects.some((object) => batch.held.has(object))) {
        if (isLater) batch.dueAt = Math.min(batch.dueAt, nextTryAt.getTime());
        batch.hold(item);
        // The event waits for an earlier event of the same object. A row for its delivery allows the cursor to advance.
        if (item.isNew) await record({ event, status: 'PENDING', tries: 0, nextTryAt: null, attempt: null });
        return;
      }
      const { attempt, gone } = await postEvent({ ...webhook, signingKey }, event, deps, signal);
      await record({ event, ...outcomeOf(webhook, item, attempt, gone, batch), attempt });
    };
    await inOrder(items, (item) => item.objects, AT_ONCE, deliver);
    return batch;
  };

  return {
    /**
     * Delivers one batch of the due events of a webhook: retries first, then new events. Safe to repeat: recorded
     * deliveries are not sent again. An event that was sent just before a crash is sent again with the same webhook-id.
     */
    async deliverBatch({ webhookId }: DeliverEventsInput): Promise<DeliverBatchResult> {
      const webhook = await store.webhooks.find(webhookId);
      if (webhook === null || webhook.deletedAt !== null) {
        await store.webhooks.erase(webhookId);
        return { ended: true, more: false, dueInMs: null };
      }
      const signal = cancellationSignal();
      const { items, newEvents, isFull } =
        webhook.disabledAt === null ? await itemsOf(webhook) : { items: [], newEvents: [], isFull: false };
      const batch = await deliverItems(webhook, items, signal);
      const unrecorded = items.find(({ event, isNew }) => isNew && !batch.recorded.has(event.position));
      const last = newEvents.at(-1)?.position ?? webhook.cursor;
      const idle = !batch.waiting && newEvents.length === 0 && !isFull;
      const disabled = batch.disabled || webhook.disabledAt !== null;
      await store.webhooks.saveProgress(webhookId, {
        cursor: unrecorded === undefined ? last : unrecorded.event.position - 1,
        outcome: batch.outcome,
        failing: failingOf(batch),
        disabled: batch.disabled,
        done: idle || disabled ? webhook.wake : null,
      });
      if (batch.outcome?.status === 'FLAGGED') {
        const { organizationId } = webhook;
        log.warn({ webhookId, organizationId, reason: batch.outcome.reason }, 'webhook flagged');
      }
      if (disabled) return { ended: true, more: false, dueInMs: null };
      // After a timeout, deliveries of this batch remain. If the batch read new events, the feed may have more. If it
      // read none because too many deliveries were pending, it can read some now that deliveries have ended.
      const more = batch.timedOut || newEvents.length > 0 || (isFull && batch.ended > 0);
      return { ended: false, more, dueInMs: batch.dueAt === Infinity ? null : Math.max(0, batch.dueAt - Date.now()) };
    },
  };
}
