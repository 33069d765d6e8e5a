import { ContinueAsNew, type Headers, proxySinks, type Sinks, type WorkflowInterceptors } from '@temporalio/workflow';

import { TRACE_HEADER } from '../contract/orchestration.js';

/** What workers are told of a workflow. */
export interface TraceSinks extends Sinks {
  readonly traces: {
    /** An execution has ended, once. @param header what it was started with */
    ended(failed: boolean, header: Headers[string] | null): void;
  };
}

/**
 * Hands on what a workflow was started with to all that it starts, so that one trace holds it all; tells its end. Adds no
 * command, no promise and no step of its own between those of a workflow: histories replay with it as without.
 *
 * Written by hand because Temporal's interceptors do not fit: `@temporalio/interceptors-opentelemetry` needs version 1 of the
 * OpenTelemetry SDK, where we have 2, and `-opentelemetry-v2` (1.23.0 is its latest) requires SDK 1.23.0 exactly, where we have 1.24.0.
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
