import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

import { type Backlog, type BacklogGauges, createBacklogGauges } from './backlog.js';
import { type DiskSettings, readDisks } from './diskSpace.js';
import type { CallObserver } from './watch.js';

/** Whether vectors were `computed` by a model now, or `reused`. */
export type EmbeddingOutcome = 'computed' | 'reused';

export interface EmbeddedCount {
  /** Name of the vector space, as in GET /organization. */
  readonly space: string;
  readonly purpose: 'document' | 'query' | 'image';
  readonly outcome: EmbeddingOutcome;
  readonly texts: number;
  /** Number of cl100k tokens, if they were counted. */
  readonly tokens?: number;
}

/** A finished API request, as labels of low cardinality. */
export interface AnsweredRequest {
  readonly method: string;
  /** The path template, never the path itself. */
  readonly route: string;
  /** Status of the response; null if the client disconnected first. */
  readonly status: number | null;
  readonly seconds: number;
}

/**
 * Metrics of one process since its start. Labels are names of the service (spaces, routes, statuses), never data of an
 * organization, a user or a file.
 */
export interface Metrics {
  embedded(count: EmbeddedCount): void;
  /** Counts a request to an embedding provider. @param outcome label from a small fixed set */
  providerRequest(space: string, outcome: string): void;
  /** Counts tokens that an embedding provider billed. They add to the cost if the space has a price. */
  providerTokens(space: string, tokens: number): void;
  answered(request: AnsweredRequest): void;
  filesEnded(status: string, files: number): void;
  /** Counts the content of a file: received, or unchanged since the last sync. @param source a type of source */
  contentReceived(source: string, outcome: 'new' | 'unchanged', bytes: number): void;
  /** Counts a request to a connected source. @param outcome label from a small fixed set */
  sourceRequest(source: string, outcome: string): void;
  /** Counts a token refresh. @param outcome label from a small fixed set */
  tokenRefresh(source: string, outcome: string): void;
  /** Counts one attempt to deliver an event. @param delaySeconds time since the event, if it was delivered */
  webhookAttempt(outcome: 'delivered' | 'failed' | 'given_up', delaySeconds: number | null): void;
  /** Times calls to MongoDB and Qdrant. */
  readonly watch: CallObserver;
  /** Adds the metrics of the whole service to those of this process. Call it once. */
  reportBacklog(read: () => Promise<Backlog>): void;
  /** Adds the free space of disks, read at each scrape. Call it once. */
  reportDisks(disks: DiskSettings): void;
  /** Returns all metrics in Prometheus' text format. */
  scrape(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** Buckets for API requests: from quick lists to slow uploads. */
const REQUEST_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Buckets for calls to a store. */
const CALL_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/**
 * Buckets for the time from an event to its delivery. The last retry, by default after 17.6 hours
 * (WEBHOOK_RETRY_DELAYS_S), exceeds them.
 */
const DELAY_SECONDS = [0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200, 36_000];

export interface MetricsSettings {
  /** Whether memory, processor time, event loop and garbage collection are measured too. */
  readonly ofProcess: boolean;
  /** Price per million tokens, by vector space, in the operator's currency. Absent: no cost is counted. */
  readonly prices?: Readonly<Record<string, number>>;
}

/** Creates metrics with their own registry: several instances in a process are independent. */
export function createMetrics(settings: MetricsSettings): Metrics {
  const registry = new Registry();
  if (settings.ofProcess) collectDefaultMetrics({ register: registry });
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]): Counter<Label> =>
    new Counter({ name, help, labelNames, registers: [registry] });

  const texts = counter(
    'allotrope_embedding_texts_total',
    'Texts and pictures that needed vectors, by whether these were computed or reused.',
    ['space', 'purpose', 'outcome'],
  );
  const tokens = counter('allotrope_embedding_tokens_total', 'cl100k tokens of the embedded document texts.', [
    'space',
    'outcome',
  ]);
  const requests = counter('allotrope_embedding_provider_requests_total', 'Requests sent to embedding providers.', [
    'space',
    'outcome',
  ]);
  const billed = counter('allotrope_embedding_provider_tokens_total', 'Tokens that embedding providers billed.', [
    'space',
  ]);
  const answers = counter('allotrope_http_requests_total', 'API requests by path template.', [
    'method',
    'route',
    'status',
  ]);
  const histogram = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    buckets: number[],
  ): Histogram<Label> => new Histogram({ name, help, labelNames, buckets, registers: [registry] });
  const durations = histogram(
    'allotrope_http_request_duration_seconds',
    'Time from the head of a request to the end of its response.',
    ['method', 'route'],
    REQUEST_BUCKETS_S,
  );
  const files = counter('allotrope_files_ended_total', 'Finished file syncs by final status.', ['status']);
  const cost = counter(
    'allotrope_embedding_cost_total',
    'Cost of the billed tokens, in the unit of EMBEDDING_PRICES.',
    ['space'],
  );
  const contents = counter('allotrope_contents_total', 'Pages, items and uploads whose content was checked.', [
    'source',
    'outcome',
  ]);
  const bytes = counter('allotrope_content_bytes_total', 'Bytes of new contents.', ['source']);
  const sourceRequests = counter('allotrope_source_requests_total', 'Requests to connected sources.', [
    'source',
    'outcome',
  ]);
  const refreshes = counter('allotrope_token_refreshes_total', 'Token refreshes of connected sources.', [
    'source',
    'outcome',
  ]);
  const tries = counter('allotrope_webhook_tries_total', 'Attempts to deliver an event.', ['outcome']);
  const delays = histogram('allotrope_webhook_delay_seconds', 'Time from an event to its delivery.', [], DELAY_SECONDS);
  const calls = {
    mongodb: histogram(
      'allotrope_mongodb_duration_seconds',
      'Duration of MongoDB commands.',
      ['operation'],
      CALL_SECONDS,
    ),
    qdrant: histogram('allotrope_qdrant_duration_seconds', 'Duration of Qdrant requests.', ['operation'], CALL_SECONDS),
  };
  const failures = counter('allotrope_store_failures_total', 'Failed calls to MongoDB and Qdrant.', [
    'system',
    'operation',
  ]);
  let backlog: BacklogGauges | null = null;

  return {
    embedded({ space, purpose, outcome, texts: count, tokens: counted = 0 }) {
      if (count > 0) texts.inc({ space, purpose, outcome }, count);
      if (counted > 0) tokens.inc({ space, outcome }, counted);
    },
    providerRequest: (space, outcome) => requests.inc({ space, outcome }),
    providerTokens(space, count) {
      billed.inc({ space }, count);
      const price = settings.prices?.[space] ?? 0;
      if (price > 0) cost.inc({ space }, (count * price) / 1_000_000);
    },
    answered({ method, route, status, seconds }) {
      answers.inc({ method, route, status: status === null ? 'aborted' : String(status) });
      durations.observe({ method, route }, seconds);
    },
    filesEnded(status, count) {
      if (count > 0) files.inc({ status }, count);
    },
    contentReceived(source, outcome, count) {
      contents.inc({ source, outcome });
      if (outcome === 'new') bytes.inc({ source }, count);
    },
    sourceRequest: (source, outcome) => sourceRequests.inc({ source, outcome }),
    tokenRefresh: (source, outcome) => refreshes.inc({ source, outcome }),
    webhookAttempt(outcome, delaySeconds) {
      tries.inc({ outcome });
      if (delaySeconds !== null) delays.observe(delaySeconds);
    },
    watch({ system, operation }) {
      if (system === 'http') return () => undefined;
      const startedAt = performance.now();
      return ({ failed }) => {
        calls[system].observe({ operation }, (performance.now() - startedAt) / 1000);
        if (failed) failures.inc({ system, operation });
      };
    },
    reportBacklog(read) {
      backlog = createBacklogGauges(registry, read);
    },
    reportDisks({ folders, minFreeBytes }) {
      new Gauge({
        name: 'allotrope_disk_free_bytes',
        help: 'Free space of each disk that the service writes to, named after its first folder.',
        labelNames: ['folder'],
        registers: [registry],
        async collect() {
          this.reset();
          for (const { name, freeBytes } of await readDisks(folders).catch(() => []))
            this.set({ folder: name }, freeBytes);
        },
      });
      new Gauge({
        name: 'allotrope_disk_min_free_bytes',
        help: 'MIN_FREE_DISK_BYTES: less free space makes the service degraded.',
        registers: [registry],
      }).set(minFreeBytes);
    },
    async scrape() {
      await backlog?.refresh();
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}
