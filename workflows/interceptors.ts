import { ContinueAsNew, type Headers, proxySinks, type Sinks, type WorkflowInterceptors } from '@temporalio/workflow';

import { TRACE_HEADER } from '../contract/runs/workflowIds.js';

/** Trace events that a workflow sends to its worker. */
export interface TraceSinks extends Sinks {
  readonly traces: {
    /**
     * Sent once when an execution ends.
     * @param header the trace header with which the execution started
     */
    ended(failed: boolean, header: Headers[string] | null): void;
  };
}

/**
 * Passes the trace header of a workflow to everything that the workflow starts, so that one trace contains it all, and
 * reports the end of the workflow. Adds no commands to a workflow, so recorded histories still replay.
 *
 * Temporal's own interceptors do not fit: `@temporalio/interceptors-opentelemetry` needs version 1 of the OpenTelemetry
 * SDK, and we use version 2. `-opentelemetry-v2` (1.23.0 is its latest version) requires Temporal's SDK 1.23.0 exactly,
 * and we use 1.24.0.
 */
export function interceptors(): WorkflowInterceptors {
  const { traces } = proxySinks<TraceSinks>();
  let carried: Headers = {};
  const withCarried = <Input extends { readonly headers: Headers }>(input: Input): Input => ({
    ...input,
    headers: { ...carried, ...input.headers },
  });
  return {
    inbound: [
      {
        execute(input, next) {
          const header = input.headers[TRACE_HEADER];
          if (header) carried = { [TRACE_HEADER]: header };
          const end = next(input);
          end.then(
            () => traces.ended(false, header ?? null),
            (error: unknown) => traces.ended(!(error instanceof ContinueAsNew), header ?? null),
          );
          return end;
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(withCarried(input)),
        scheduleLocalActivity: (input, next) => next(withCarried(input)),
        startChildWorkflowExecution: (input, next) => next(withCarried(input)),
        continueAsNew: (input, next) => next(withCarried(input)),
      },
    ],
  };
}
