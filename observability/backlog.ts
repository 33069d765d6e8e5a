import { Gauge, type Registry } from 'prom-client';

/** How the work of the whole service stands, of all organizations together. */
export interface Backlog {
  /** Files by their status; those that no file has are 0. */
  readonly files: Readonly<Record<string, number>>;
  /** Runs that have not ended. */
  readonly runs: readonly {
    readonly kind: string;
    /** `waiting`: in the outbox; `held`: for room in its user's queue; `under_way`: Temporal has it. */
    readonly state: string;
    readonly count: number;
    readonly oldestAt: Date;
  }[];
  /** Events that a receiver is still to get and, where there is one, when the oldest of them happened. */
  readonly deliveries: { readonly waiting: number; readonly oldestAt: Date | null };
  /** Stalled runs by cause. */
  readonly stalled: readonly { readonly cause: string; readonly runs: number }[];
  /** Worker processes by state: alive, starved, silent. */
  readonly workers: Readonly<Record<string, number>>;
  /** Receivers that refuse deliveries. */
  readonly failingWebhooks: number;
  /** When the oldest event that has no number yet was written; null where all have theirs. */
  readonly unreadEventAt: Date | null;
}

/** Figures are read no more often than this… */
const LEAST_MS = 10_000;
/** …and for no more than this part of the time, however many files there are. */
const PART_OF_TIME = 0.02;

/** Keeps gauges at what a look at the records says, asked for when somebody wants to know. */
export interface BacklogGauges {
  /** Never fails: figures that can't be had are left out. */
  refresh(): Promise<void>;
}

/** @param now a clock in milliseconds; tests give their own */
export function createBacklogGauges(
  registry: Registry,
  read: () => Promise<Backlog>,
  now: () => number = () => performance.now(),
): BacklogGauges {
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []): Gauge<Label> =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const files = gauge('allotrope_files', 'Files by status.', ['status']);
  const runs = gauge('allotrope_runs', 'Runs that have not ended, by kind and by where they are.', ['kind', 'state']);
  const oldest = gauge('allotrope_oldest_run_age_seconds', 'Age of the oldest of these runs, since it was accepted.', [
    'kind',
    'state',
  ]);
  const waiting = gauge('allotrope_webhook_deliveries_waiting', 'Deliveries of events that are still to be made.');
  const lag = gauge('allotrope_webhook_lag_seconds', 'Age of the oldest event that a receiver is still to get.');
  const unread = gauge('allotrope_events_unread_age_seconds', 'Age of the oldest event that has no number yet.');
  const stalled = gauge('allotrope_stalled_runs', 'Runs with due work and no progress, by cause.', ['cause']);
  const workers = gauge('allotrope_workers', 'Worker processes by state.', ['state']);
  const failing = gauge('allotrope_webhooks_failing', 'Webhooks whose last delivery failed.');
  const up = gauge('allotrope_backlog_up', 'Whether these figures could be read from MongoDB.');
  const took = gauge('allotrope_backlog_read_seconds', 'How long the last reading of these figures took.');

  const show = (figures: Backlog): void => {
    const { files: byStatus, runs: open, deliveries, unreadEventAt } = figures;
    const ageOf = (date: Date | null): number =>
      date === null ? 0 : Math.max(0, (Date.now() - date.getTime()) / 1000);
    // What was there and is not any more must not stay as it was.
    for (const one of [files, runs, oldest, stalled, workers]) one.reset();
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
    unread.set(ageOf(unreadEventAt));
  };

  let nextAt = -Infinity;
  let underWay: Promise<void> | null = null;
  const look = async (): Promise<void> => {
    const begun = now();
    try {
      show(await read());
      up.set(1);
    } catch {
      for (const one of [files, runs, oldest, stalled, workers]) one.reset();
      for (const one of [waiting, lag, unread, failing]) one.remove();
      up.set(0);
    }
    const ms = now() - begun;
    took.set(ms / 1000);
    nextAt = now() + Math.max(LEAST_MS, ms / PART_OF_TIME);
  };
  return {
    async refresh() {
      if (now() < nextAt) return;
      underWay ??= look().finally(() => (underWay = null));
      await underWay;
    },
  };
}
