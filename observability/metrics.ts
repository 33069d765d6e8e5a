import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';

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
  /** Tokens that an embedding provider billed. */
  providerTokens(space: string, tokens: number): void;
  answered(request: AnsweredRequest): void;
  filesEnded(status: string, files: number): void;
  /** All of it in Prometheus' text format. */
  scrape(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** From a list that is read at once to an upload that takes its time. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Counters of their own: several in one process share nothing.
 * @param settings.ofProcess whether memory, processor time, the event loop and the collector are measured too
 */
export function createMetrics(settings: { readonly ofProcess: boolean }): Metrics {
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
  const durations = new Histogram({
    name: 'allotrope_http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer.',
    labelNames: ['method', 'route'],
    buckets: SECONDS,
    registers: [registry],
  });
  const files = counter('allotrope_files_ended_total', 'Files whose sync has ended, by the status it ended in.', [
    'status',
  ]);

  return {
    embedded({ space, purpose, outcome, texts: count, tokens: counted = 0 }) {
      if (count > 0) texts.inc({ space, purpose, outcome }, count);
      if (counted > 0) tokens.inc({ space, outcome }, counted);
    },
    providerRequest: (space, outcome) => requests.inc({ space, outcome }),
    providerTokens: (space, count) => billed.inc({ space }, count),
    answered({ method, route, status, seconds }) {
      answers.inc({ method, route, status: status === null ? 'aborted' : String(status) });
      durations.observe({ method, route }, seconds);
    },
    filesEnded(status, count) {
      if (count > 0) files.inc({ status }, count);
    },
    scrape: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  };
}
