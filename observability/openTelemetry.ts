/** OpenTelemetry tracing. Loaded only if traces are enabled: see openTracing. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Attributes,
  type Context,
  createContextKey,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type IdGenerator,
  ParentBasedSampler,
  RandomIdGenerator,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';

import { TRACEPARENT } from './traceContext.js';
import type { SpanIds, SpanSettings, Tracing, TracingSettings } from './spans.js';
import type { ObservedCall } from './watch.js';

const SEND_EVERY_MS = 1_000;
const SEND_TIMEOUT_MS = 10_000;
/** At exit, the process waits at most this long for an unreachable collector. */
const STOP_MS = 2_000;

const KINDS: Readonly<Record<SpanSettings['kind'], SpanKind>> = {
  server: SpanKind.SERVER,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
};
const IDS = createContextKey('allotrope ids');

const attributesOf = (ids: SpanIds): Attributes =>
  Object.fromEntries(
    Object.entries(ids).flatMap(([name, value]) =>
      value === undefined ? [] : [[`allotrope.${name}_id`, value as number | string | number[]]],
    ),
  );

/** Returns the type of an error. Its message may contain private data. */
const kindOf = (error: unknown): string => {
  const known =
    typeof error === 'object' && error !== null ? (error as { kind?: unknown; type?: unknown; name?: unknown }) : {};
  const kind = [known.kind, known.type, known.name].find((value) => typeof value === 'string' && value !== '');
  return typeof kind === 'string' ? kind : 'unknown';
};

/** Returns span attributes named by OpenTelemetry's semantic conventions. */
const callAttributes = ({ system, operation, target }: ObservedCall): Attributes =>
  system === 'http'
    ? { 'http.request.method': operation, 'server.address': target }
    : { 'db.system.name': system, 'db.operation.name': operation, 'db.collection.name': target };

/**
 * Generates random ids, except for a span whose id was chosen before its creation. Span creation is synchronous, so one
 * field is enough to pass that id.
 */
class KnownIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  known: { readonly traceId: string; readonly spanId: string } | null = null;
  generateTraceId = (): string => this.known?.traceId ?? this.#random.generateTraceId();
  generateSpanId = (): string => this.known?.spanId ?? this.#random.generateSpanId();
}

export function createOpenTelemetry(
  { endpoint, headers, ratio }: TracingSettings & { readonly endpoint: string },
  service: string,
): Tracing {
  const contexts = new AsyncLocalStorageContextManager().enable();
  const ids = new KnownIds();
  const ratioSampler = new TraceIdRatioBasedSampler(ratio);
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': service, 'service.namespace': 'allotrope' }),
    sampler: new ParentBasedSampler({ root: ratioSampler }),
    idGenerator: ids,
    spanProcessors: [
      new BatchSpanProcessor(
        new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers, timeoutMillis: SEND_TIMEOUT_MS }),
        { scheduledDelayMillis: SEND_EVERY_MS },
      ),
    ],
  });
  const tracer = provider.getTracer('allotrope');

  const remoteParent = (traceparent: string): Context => {
    const [, traceId = '', spanId = '', flags = '00'] = TRACEPARENT.exec(traceparent) ?? [];
    return trace.setSpanContext(ROOT_CONTEXT, {
      traceId,
      spanId,
      traceFlags: Number.parseInt(flags, 16),
      isRemote: true,
    });
  };
  const idsIn = (context: Context): SpanIds => (context.getValue(IDS) as SpanIds | undefined) ?? {};

  /**
   * Returns the trace id and span id of a workflow execution. They are derived from its id, because every worker needs
   * them before the execution ends.
   */
  const workflowSpanIds = (executionId: string, traceparent: string | undefined) => {
    const hex = executionId.replaceAll('-', '').toLowerCase();
    const [, traceId = hex, , flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
    const isKept =
      flags === undefined
        ? ratioSampler.shouldSample(ROOT_CONTEXT, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED
        : (Number.parseInt(flags, 16) & TraceFlags.SAMPLED) !== 0;
    // Use the second half: the first may be a timestamp.
    return { traceId, spanId: hex.slice(16), isKept };
  };

  return {
    begin({ name, kind, parent, ids: own = {}, attributes = {} }) {
      const parentContext = parent === undefined ? contexts.active() : remoteParent(parent);
      const known = { ...idsIn(parentContext), ...own };
      const span = tracer.startSpan(
        name,
        { kind: KINDS[kind], attributes: { ...attributes, ...attributesOf(known) } },
        parentContext,
      );
      let inside = trace.setSpan(parentContext, span).setValue(IDS, known);
      return {
        within: (work) => contexts.with(inside, work),
        note(more, others = {}) {
          span.setAttributes({ ...others, ...attributesOf(more) });
          Object.assign(known, more);
          inside = inside.setValue(IDS, known);
        },
        rename: (to) => void span.updateName(to),
        end(error) {
          if (error !== undefined) {
            span.setStatus({ code: SpanStatusCode.ERROR });
            span.setAttribute('error.type', kindOf(error));
          }
          span.end();
        },
      };
    },
    traceContext() {
      const context = contexts.active();
      const span = trace.getSpanContext(context);
      if (!span) return null;
      const flags = span.traceFlags.toString(16).padStart(2, '0');
      return { traceparent: `00-${span.traceId}-${span.spanId}-${flags}`, ids: idsIn(context) };
    },
    parentOf(executionId, traceContext) {
      const { traceId, spanId, isKept } = workflowSpanIds(executionId, traceContext?.traceparent);
      return `00-${traceId}-${spanId}-${isKept ? '01' : '00'}`;
    },
    workflowEnded({ type, workflowId, executionId, startedAt, failed, traceContext }) {
      ids.known = workflowSpanIds(executionId, traceContext?.traceparent);
      try {
        const span = tracer.startSpan(
          `workflow ${type}`,
          {
            kind: SpanKind.INTERNAL,
            startTime: startedAt,
            attributes: attributesOf({ ...traceContext?.ids, workflow: workflowId }),
          },
          traceContext ? remoteParent(traceContext.traceparent) : ROOT_CONTEXT,
        );
        if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      } finally {
        ids.known = null;
      }
    },
    logFields() {
      const span = trace.getSpanContext(contexts.active());
      return span ? { traceId: span.traceId, spanId: span.spanId } : {};
    },
    watch(call) {
      const parentContext = contexts.active();
      // Pings, sweeps and polls belong to no request, so they get no span.
      if (!trace.getSpan(parentContext)?.isRecording()) return () => undefined;
      const name = `${call.system === 'http' ? '' : `${call.system} `}${call.operation} ${call.target}`.trim();
      const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes: callAttributes(call) }, parentContext);
      return ({ failed, status }) => {
        if (status !== undefined) span.setAttribute('http.response.status_code', status);
        if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      };
    },
    async close() {
      // Spans that can no longer be exported must not delay the exit.
      await Promise.race([provider.shutdown().catch(() => undefined), sleep(STOP_MS, undefined, { ref: false })]);
      contexts.disable();
    },
  };
}
