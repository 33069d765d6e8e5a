import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';

import { TRACE_HEADER } from '../contract/orchestration.js';
import { carriedIn } from '../observability/carried.js';
import type { Carried, SpanIds, Tracing } from '../observability/spans.js';
import { inSpan, NO_TRACING } from '../observability/tracing.js';
import type { TraceSinks } from '../workflows/interceptors.js';

const readHeader = (payload: Payload | null | undefined): Carried | null =>
  payload ? carriedIn(defaultPayloadConverter.fromPayload(payload)) : null;

/** What an activity's input says of whom it works for. */
function idsIn(input: unknown): SpanIds {
  const { runId, fileId, fileIds } = (input ?? {}) as Readonly<Record<string, unknown>>;
  const file = Array.isArray(fileIds) ? (fileIds as number[]) : fileId;
  return {
    ...(typeof runId === 'number' && { run: runId }),
    ...((typeof file === 'number' || Array.isArray(file)) && { file }),
  };
}

/** Each try of an activity is a span, below that of its workflow. */
export function traceActivities(tracing: Tracing): ActivityInterceptorsFactory {
  if (tracing === NO_TRACING) return () => ({});
  return ({ info: { activityType, workflowExecution, attempt, isLocal } }) => ({
    inbound: {
      execute(input, next) {
        const carried = readHeader(input.headers[TRACE_HEADER]);
        const { workflowId = '', runId = '' } = workflowExecution ?? {};
        return inSpan(
          tracing,
          {
            name: `activity ${activityType}`,
            kind: 'consumer',
            parent: tracing.parentOf(runId, carried),
            ids: { ...carried?.ids, workflow: workflowId, ...idsIn(input.args[0]) },
            attributes: { 'temporal.attempt': attempt, 'temporal.local': isLocal },
          },
          () => next(input),
        );
      },
    },
  });
}

/** Hears of workflows that have ended. There where traces are off as well: workflows tell in any case. */
export function traceSinks(tracing: Tracing): InjectedSinks<TraceSinks> {
  return {
    traces: {
      ended: {
        fn: ({ workflowType, workflowId, runId, runStartTime }, failed, header) =>
          tracing.workflowEnded({
            ...{ type: workflowType, workflowId, executionId: runId, startedAt: runStartTime, failed },
            carried: tracing === NO_TRACING ? null : readHeader(header),
          }),
      },
    },
  };
}
