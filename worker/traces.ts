import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';

import { TRACE_HEADER } from '../contract/runs/workflowIds.js';
import { parseTraceContext } from '../observability/traceContext.js';
import type { TraceContext, SpanIds, Tracing } from '../observability/spans.js';
import { inSpan, NO_TRACING } from '../observability/tracing.js';
import type { TraceSinks } from '../workflows/interceptors.js';

const readHeader = (payload: Payload | null | undefined): TraceContext | null =>
  payload ? parseTraceContext(defaultPayloadConverter.fromPayload(payload)) : null;

/** Reads the ids of the run and the files from an activity's input. */
function idsIn(input: unknown): SpanIds {
  const { runId, fileId, fileIds } = (input ?? {}) as Readonly<Record<string, unknown>>;
  const file = Array.isArray(fileIds) ? (fileIds as number[]) : fileId;
  return {
    ...(typeof runId === 'number' && { run: runId }),
    ...((typeof file === 'number' || Array.isArray(file)) && { file }),
  };
}

/** Creates an interceptor that records each attempt of an activity as a child span of its workflow's span. */
export function traceActivities(tracing: Tracing): ActivityInterceptorsFactory {
  if (tracing === NO_TRACING) return () => ({});
  return ({ info: { activityType, workflowExecution, attempt, isLocal } }) => ({
    inbound: {
      execute(input, next) {
        const callerContext = readHeader(input.headers[TRACE_HEADER]);
        const { workflowId = '', runId = '' } = workflowExecution ?? {};
        return inSpan(
          tracing,
          {
            name: `activity ${activityType}`,
            kind: 'consumer',
            parent: tracing.parentOf(runId, callerContext),
            ids: { ...callerContext?.ids, workflow: workflowId, ...idsIn(input.args[0]) },
            attributes: { 'temporal.attempt': attempt, 'temporal.local': isLocal },
          },
          () => next(input),
        );
      },
    },
  });
}

/**
 * Creates the sink that receives the ends of workflows. It is needed even if tracing is disabled, because workflows
 * always call it.
 */
export function traceSinks(tracing: Tracing): InjectedSinks<TraceSinks> {
  return {
    traces: {
      ended: {
        fn: ({ workflowType, workflowId, runId, runStartTime }, failed, header) =>
          tracing.workflowEnded({
            ...{ type: workflowType, workflowId, executionId: runId, startedAt: runStartTime, failed },
            traceContext: tracing === NO_TRACING ? null : readHeader(header),
          }),
      },
    },
  };
}
