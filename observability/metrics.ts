import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

import { type Backlog, type BacklogGauges, createBacklogGauges } from './backlog.js';
import { type DiskSettings, readDisks } from './diskSpace.js';
import type { Watch } from './watch.js';

/** What became of texts: `computed` by a model now, or `reused` from before. */
export type EmbeddingOutcome = 'computed' | 'reused';

export interface EmbeddedCount {
  /** Name of the vector space, as in GET /organization. */
  readonly space: string;
  readonly purpose: 'document' | 'query' | 'image';
  readonly outcome: EmbeddingOutcome;
  readonly texts: number;
  /** cl100k tokens of the texts, where they were counted. */
  readonly tokens?: number;
}

/** One answered request to the API, in words of which there are few. */
export interface AnsweredRequest {
  readonly method: string;
  /** The template of the path, never the path itself. */
  readonly route: string;
  /** Of the answer; null where the caller went away before it. */
  readonly status: number | null;
  readonly seconds: number;
}

/**
 * What one process counts of its work since it was started. Labels are names of this service's own (spaces, routes, statuses):
 * nothing of an organization, a user or a file.
 */
export interface Metrics {
  embedded(count: EmbeddedCount): void;
  /** A request to an embedding provider has ended. @param outcome one of a few words */
  providerRequest(space: string, outcome: string): void;
  /** Tokens that an embedding provider billed; they cost something where the space has a price. */
  providerTokens(space: string, tokens: number): void;
  answered(request: AnsweredRequest): void;
  filesEnded(status: string, files: number): void;
  /** The content of a file came in, or was found to be the one that we have. @param source a type of source */
  contentCame(source: string, outcome: 'new' | 'unchanged', bytes: number): void;
  /** A connected source has answered a request, or not. @param outcome one of a few words */
  sourceRequest(source: string, outcome: string): void;
  /** New tokens were asked for. @param outcome one of a few words */
  tokenRefresh(source: string, outcome: string): void;
  /** One try to deliver an event has ended. @param delaySeconds since it happened, where it was delivered */
  webhookTry(outcome: 'delivered' | 'failed' | 'given_up', delaySeconds: number | null): void;
  /** Times calls to MongoDB and Qdrant. */
  readonly watch: Watch;
  /** Has the figures of the whole service told beside those of this process. To be called once. */
  tellBacklog(read: () => Promise<Backlog>): void;
  /** Reports the free space of disks, read at each scrape. To be called once. */
  reportDisks(disks: DiskSettings): void;
  /** All of it in Prometheus' text format. */
  scrape(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** From a list that is read at once to an upload that takes its time. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Of a call to a store. */
const CALL_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** From an event to its delivery: from at once to the last try. */
const DELAY_SECONDS = [0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200, 36_000];

export interface MetricsSettings {
  /** Whether memory, processor time, the event loop and the collector are measured too. */
  readonly ofProcess: boolean;
  /** Price of a million tokens, by vector space. Unset: nothing costs anything. */
  readonly prices?: Readonly<Record<string, number>>;
}

/** Counters of their own: several in one process share nothing. */
export function createMetrics(settings: MetricsSettings): Metrics {
  const registry = new Registry();
  if (settings.ofProcess) collectDefaultMetrics({ register: registry });
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]): Counter<Label> =>
    new Counter({ name, help, labelNames, registers: [registry] });

  const texts = counter(
    'allotrope_embedding_texts_total',
    'Texts and pictures that vectors were wanted for, by whether they were computed or reused.',
    ['space', 'purpose', 'outcome'],
  );
  const tokens = counter('allotrope_embedding_tokens_total', 'cl100k tokens of the texts of documents among them.', [
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
  const answers = counter('allotrope_http_requests_total', 'Requests to the API, by the template of their path.', [
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
    'Time from the head of a request to the end of its answer.',
    ['method', 'route'],
    SECONDS,
  );
  const files = counter('allotrope_files_ended_total', 'Files whose sync has ended, by the status it ended in.', [
    'status',
  ]);
  const cost = counter('allotrope_embedding_cost_total', 'What those tokens cost, in the unit of EMBEDDING_PRICES.', [
    'space',
  ]);
  const contents = counter('allotrope_contents_total', 'Pages, items and uploads whose content was looked at.', [
    'source',
    'outcome',
  ]);
  const bytes = counter('allotrope_content_bytes_total', 'Bytes of those of them that were new.', ['source']);
  const sourceRequests = counter('allotrope_source_requests_total', 'Requests to connected sources.', [
    'source',
    'outcome',
  ]);
  const refreshes = counter('allotrope_token_refreshes_total', 'Refreshes of tokens of connected sources.', [
    'source',
    'outcome',
  ]);
  const tries = counter('allotrope_webhook_tries_total', 'Tries to deliver an event.', ['outcome']);
  const delays = histogram('allotrope_webhook_delay_seconds', 'From an event to its delivery.', [], DELAY_SECONDS);
  const calls = {
    mongodb: histogram('allotrope_mongodb_duration_seconds', 'Commands to MongoDB.', ['operation'], CALL_SECONDS),
    qdrant: histogram('allotrope_qdrant_duration_seconds', 'Requests to Qdrant.', ['operation'], CALL_SECONDS),
  };
  const failures = counter('allotrope_store_failures_total', 'Those of them that failed.', ['system', 'operation']);
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
    contentCame(source, outcome, count) {
      contents.inc({ source, outcome });
      if (outcome === 'new') bytes.inc({ source }, count);
    },
    sourceRequest: (source, outcome) => sourceRequests.inc({ source, outcome }),
    tokenRefresh: (source, outcome) => refreshes.inc({ source, outcome }),
    webhookTry(outcome, delaySeconds) {
      tries.inc({ outcome });
      if (delaySeconds !== null) delays.observe(delaySeconds);
    },
    watch({ system, operation }) {
      if (system === 'http') return () => undefined;
      const begun = performance.now();
      return ({ failed }) => {
        calls[system].observe({ operation }, (performance.now() - begun) / 1000);
        if (failed) failures.inc({ system, operation });
      };
    },
    tellBacklog(read) {
      backlog = createBacklogGauges(registry, read);
    },
    reportDisks({ folders, minFreeBytes }) {
      new Gauge({
        name: 'allotrope_disk_free_bytes',
        help: 'Free space of each disk that the service writes to, by the first of its folders there.',
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
