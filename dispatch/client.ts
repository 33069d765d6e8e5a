import { Client, Connection } from '@temporalio/client';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';

import { TRACE_HEADER } from '../contract/runs/workflowIds.js';
import { headersOf } from '../observability/traceContext.js';
import type { Tracing } from '../observability/spans.js';
import { NO_TRACING } from '../observability/tracing.js';

export interface TemporalSettings {
  readonly address: string;
  readonly namespace: string;
}

/**
 * Creates a client that connects at its first call and reconnects automatically, so that the service can start without
 * Temporal. It passes the caller's trace to the workflows that it starts, also if it starts them by a signal.
 */
export function createTemporalClient(settings: TemporalSettings, tracing: Tracing = NO_TRACING): Client {
  const connection = Connection.lazy({ address: settings.address, connectTimeout: '5 seconds' });
  const traced = (headers: Headers): Headers => {
    const traceContext = tracing.traceContext();
    return traceContext
      ? { ...headers, [TRACE_HEADER]: defaultPayloadConverter.toPayload(headersOf(traceContext)) }
      : headers;
  };
  return new Client({
    connection,
    namespace: settings.namespace,
    interceptors: {
      workflow: [
        {
          startWithDetails: (input, next) => next({ ...input, headers: traced(input.headers) }),
          signalWithStart: (input, next) => next({ ...input, headers: traced(input.headers) }),
        },
      ],
    },
  });
}
