import type { Watch } from './watch.js';

/** Ids by which somebody finds a piece of work again. */
export interface SpanIds {
  readonly organization?: number;
  readonly user?: number;
  /** One, or several that are worked at together. */
  readonly file?: number | readonly number[];
  readonly run?: number;
  readonly request?: string;
  readonly workflow?: string;
}

/** What goes along with a piece of work to whoever does the next part of it. */
export interface Carried {
  /** As W3C Trace Context has it. */
  readonly traceparent: string;
  /** Of whose work it is; what is known where it is accepted. */
  readonly ids: SpanIds;
}

export interface SpanSettings {
  /** Of words of which there are few. */
  readonly name: string;
  readonly kind: 'server' | 'producer' | 'consumer' | 'internal';
  /** Those of what it lies in need not be said again. */
  readonly ids?: SpanIds;
  readonly attributes?: Readonly<Record<string, string | number | boolean>>;
  /** The span that it lies in; unset: that in which it is begun. */
  readonly parent?: string;
}

/** A piece of work, with its time. */
export interface OpenSpan {
  /** What `work` begins, also later on, lies in this span. */
  within<T>(work: () => T): T;
  note(ids: SpanIds, attributes?: SpanSettings['attributes']): void;
  rename(name: string): void;
  /** @param error what it failed with; of that its kind alone is written down, for messages hold names and addresses */
  end(error?: unknown): void;
}

/** One execution of a workflow, which may be on several workers in turn. */
export interface WorkflowSpan {
  readonly type: string;
  readonly workflowId: string;
  /** Temporal's own id of the execution. */
  readonly executionId: string;
  readonly startedAt: Date;
  readonly failed: boolean;
  readonly carried: Carried | null;
}

/** Traces, or nothing of the kind. */
export interface Tracing {
  begin(settings: SpanSettings): OpenSpan;
  /** What goes along from here; null outside any span. */
  carried(): Carried | null;
  /** The span of a workflow's execution, for what is done for it: known before it has ended. */
  parentOf(executionId: string, carried: Carried | null): string;
  /** Writes that span, once the execution has ended. */
  workflowEnded(span: WorkflowSpan): void;
  /** What log lines are to say. */
  logFields(): Readonly<Record<string, string>>;
  /** Makes a span of each call that is made within one; null: nobody need tell. */
  readonly watch: Watch | null;
  /** Sends what was not sent yet. */
  close(): Promise<void>;
}

export interface TracingSettings {
  /** Where spans are sent, by OTLP over HTTP; null: traces are off. */
  readonly endpoint: string | null;
  /** Sent along. Secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** The part of all traces that is kept, from 0 to 1. */
  readonly ratio: number;
}
