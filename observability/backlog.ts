import { Gauge, type Registry } from 'prom-client';

/** Pending work of the whole service, over all organizations. */
export interface Backlog {
  /** Number of files by status; 0 for statuses without files. */
  readonly files: Readonly<Record<string, number>>;
  /** Runs that have not ended. */
  readonly runs: readonly {
    readonly kind: string;
    /** `waiting`: in the outbox; `held`: waits until the user's queue has room; `under_way`: started in Temporal. */
    readonly state: string;
    readonly count: number;
    readonly oldestAt: Date;
  }[];
  /** Undelivered events and, if there are any, the time of the oldest. */
  readonly deliveries: { readonly waiting: number; readonly oldestAt: Date | null };
  /** Stalled runs by cause. */
  readonly stalled: readonly { readonly cause: string; readonly runs: number }[];
  /** Worker processes by state: alive, starved (too little processor time), silent (heartbeat overdue). */
  readonly workers: Readonly<Record<string, number>>;
  /** Webhooks whose deliveries fail. */
  readonly failingWebhooks: number;
  /** Time of the oldest event without a position in its feed; null if all have one. */
  readonly unnumberedEventAt: Date | null;
}

/** Minimum time between two reads of the figures. */
const MIN_INTERVAL_MS = 10_000;
/** Maximum share of time for reading the figures, however many files exist. */
const MAX_TIME_SHARE = 0.02;

/** Maximum pause after a failed read: the store may have been unavailable for a moment, and alerts need the figures. */
const MAX_PAUSE_MS = 60_000;

/** Gauges that are refreshed from the records when a scrape requests them. */
export interface BacklogGauges {
  /** Refreshes the gauges. Never fails: unavailable figures are omitted. */
  refresh(): Promise<void>;
}

/** Creates the gauges. @param now a clock in milliseconds; tests pass their own */
export function createBacklogGauges(
  registry: Registry,
  read: () => Promise<Backlog>,
  now: () => number = () => performance.now(),
): BacklogGauges {
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []): Gauge<Label> =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const files = gauge('allotrope_files', 'Files by status.', ['status']);
  const runs = gauge('allotrope_runs', 'Unfinished runs by kind and state.', ['kind', 'state']);
  const oldest = gauge('allotrope_oldest_run_age_seconds', 'Age of the oldest unfinished run, since it was accepted.', [
    'kind',
    'state',
  ]);
  const waiting = gauge('allotrope_webhook_deliveries_waiting', 'Pending event deliveries.');
  const lag = gauge('allotrope_webhook_lag_seconds', 'Age of the oldest undelivered event.');
  const unread = gauge(
    'allotrope_events_unread_age_seconds',
    'Age of the oldest event without a position in its feed.',
  );
  const stalled = gauge('allotrope_stalled_runs', 'Runs with due work and no progress, by cause.', ['cause']);
  const workers = gauge('allotrope_workers', 'Worker processes by state.', ['state']);
  const failing = gauge('allotrope_webhooks_failing', 'Webhooks whose last delivery failed.');
  const up = gauge('allotrope_backlog_up', 'Whether the last read of the backlog from MongoDB succeeded.');
  const took = gauge('allotrope_backlog_read_seconds', 'Duration of the last read of the backlog.');

  const show = (figures: Backlog): void => {
    const { files: byStatus, runs: open, deliveries, unnumberedEventAt } = figures;
    const ageOf = (date: Date | null): number =>
      date === null ? 0 : Math.max(0, (Date.now() - date.getTime()) / 1000);
    // A label that no longer occurs must not keep its last value.
    for (const metric of [files, runs, oldest, stalled, workers]) metric.reset();
    for (const [status, count] of Object.entries(byStatus)) files.set({ status }, count);
    for (const { kind, state, count, oldestAt } of open) {
      runs.set({ kind, state }, count);
      oldest.set({ kind, state }, ageOf(oldestAt));
    }
    for (const { cause, runs: count } of figures.stalled) stalled.set({ cause }, count);
    for (const [state, count] of Object.entries(figures.workers)) workers.set({ state }, count);
    failing.set(figures.failingWebhooks);
    waiting.set(deliveries.waiting);
    lag.set(ageOf(deliveries.oldestAt));
    unread.set(ageOf(unnumberedEventAt));
  };

  let nextAt = -Infinity;
  let inProgress: Promise<void> | null = null;
  const readBacklog = async (): Promise<void> => {
    const startedAt = now();
    let maxPauseMs = Infinity;
    try {
      show(await read());
      up.set(1);
    } catch {
      for (const metric of [files, runs, oldest, stalled, workers]) metric.reset();
      for (const metric of [waiting, lag, unread, failing]) metric.remove();
      up.set(0);
      maxPauseMs = MAX_PAUSE_MS;
    }
    const ms = now() - startedAt;
    took.set(ms / 1000);
    nextAt = now() + Math.min(maxPauseMs, Math.max(MIN_INTERVAL_MS, ms / MAX_TIME_SHARE));
  };
  return {
    async refresh() {
      if (now() < nextAt) return;
      inProgress ??= readBacklog().finally(() => (inProgress = null));
      await inProgress;
    },
  };
}
