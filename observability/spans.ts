import type { CallObserver } from './watch.js';

/** Ids by which operators find spans. */
export interface SpanIds {
  readonly organization?: number;
  readonly user?: number;
  /** One file, or several that are processed together. */
  readonly file?: number | readonly number[];
  readonly run?: number;
  readonly request?: string;
  readonly workflow?: string;
}

/** Trace context that a message passes to another process. */
export interface TraceContext {
  /** Traceparent header, as defined by W3C Trace Context. */
  readonly traceparent: string;
  /** Ids of the work that are known when it is accepted. */
  readonly ids: SpanIds;
}

export interface SpanSettings {
  /** Span name, of low cardinality. */
  readonly name: string;
  readonly kind: 'server' | 'producer' | 'consumer' | 'internal';
  /** Ids of this span. Those of the active span are added, but not those of a parent given as traceparent. */
  readonly ids?: SpanIds;
  readonly attributes?: Readonly<Record<string, string | number | boolean>>;
  /** Traceparent of the parent span; unset: the active span is the parent. */
  readonly parent?: string;
}

/** An open span. */
export interface OpenSpan {
  /** Runs `work` so that everything it starts, also later, belongs to this span. */
  within<T>(work: () => T): T;
  /** Adds ids and attributes to the span. */
  note(ids: SpanIds, attributes?: SpanSettings['attributes']): void;
  rename(name: string): void;
  /** @param error why the work failed; only its type is recorded, since messages may contain names and addresses */
  end(error?: unknown): void;
}

/** One execution of a workflow, which may move between workers. */
export interface WorkflowSpan {
  readonly type: string;
  readonly workflowId: string;
  /** Temporal's id of the execution. */
  readonly executionId: string;
  readonly startedAt: Date;
  readonly failed: boolean;
  readonly traceContext: TraceContext | null;
}

/** Tracing, or a no-op if traces are disabled. */
export interface Tracing {
  begin(settings: SpanSettings): OpenSpan;
  /** Returns the trace context of the active span; null outside any span. */
  traceContext(): TraceContext | null;
  /** Returns the traceparent of a workflow execution's span, even before the execution has ended. */
  parentOf(executionId: string, traceContext: TraceContext | null): string;
  /** Records the span of a workflow execution after its end. */
  workflowEnded(span: WorkflowSpan): void;
  /** Returns the fields of the active span for log lines. */
  logFields(): Readonly<Record<string, string>>;
  /** Observer that records each call to another process as a child of the active span; null if traces are disabled. */
  readonly watch: CallObserver | null;
  /** Exports the remaining spans. */
  close(): Promise<void>;
}

export interface TracingSettings {
  /** OTLP endpoint over HTTP; null: traces are disabled. */
  readonly endpoint: string | null;
  /** Headers of each export. They are secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** Share of traces that is sampled, from 0 to 1. */
  readonly ratio: number;
}
