import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';

import type { Activities } from '../activities/index.js';
import { deliveryQueue, ocrQueue, transcriptionQueue } from '../contract/orchestration.js';
import type { Tracing } from '../observability/spans.js';
import { NO_TRACING } from '../observability/tracing.js';
import { type AttemptLog, interceptActivities } from './interceptActivities.js';
import { traceActivities, traceSinks } from './traces.js';

export interface WorkerSettings {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  /** Activities run at once. */
  readonly activityConcurrency: number;
  /** Files whose pages are recognized at once. */
  readonly ocrConcurrency: number;
  /** Recordings that wait for a service at once. */
  readonly transcriptionConcurrency: number;
  /** Workflows kept in memory between their tasks. Absent: the SDK's own number. */
  readonly maxCachedWorkflows?: number;
}

/** The workflows, bundled ahead (scripts/compile.ts): beside this file once compiled, in `dist/` from its source. */
const WORKFLOW_BUNDLE = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../dist/workflow-bundle.js' : '../workflow-bundle.js', import.meta.url),
);

/** Deliveries one worker has under way at once, over all webhooks: they mostly wait for receivers. */
const WEBHOOKS_AT_ONCE = 50;

/** What polls Temporal in a worker process. */
export interface Workers {
  /** Resolves when all have ended, after `shutdown`. */
  run(): Promise<void>;
  shutdown(): void;
  close(): Promise<void>;
}

/** Temporal workers for our workflows and these activities; deliveries, OCR, and what waits for others, apart from everything else. */
export async function createTemporalWorkers(
  settings: WorkerSettings,
  activities: Activities,
  attempts: AttemptLog,
  tracing: Tracing = NO_TRACING,
): Promise<Workers> {
  const { address, namespace, taskQueue, maxCachedWorkflows } = settings;
  const connection = await NativeConnection.connect({ address });
  const common = {
    connection,
    namespace,
    // Cancellation is seen at the next heartbeat, which the SDK holds back at most this long.
    maxHeartbeatThrottleInterval: '1 second',
    shutdownGraceTime: '5 seconds',
    interceptors: { activity: [traceActivities(tracing), interceptActivities(attempts)] },
  } satisfies Partial<WorkerOptions>;
  const worker = await Worker.create({
    ...common,
    workflowBundle: { codePath: WORKFLOW_BUNDLE },
    sinks: traceSinks(tracing),
    taskQueue,
    activities,
    maxConcurrentActivityTaskExecutions: settings.activityConcurrency,
    ...(maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows }),
  });
  const { deliverBatch, transcribe, recognize } = activities;
  const deliverer = await Worker.create({
    ...common,
    taskQueue: deliveryQueue(taskQueue),
    activities: { deliverBatch },
    maxConcurrentActivityTaskExecutions: WEBHOOKS_AT_ONCE,
    maxConcurrentActivityTaskPolls: 2,
  });
  const transcriber = await Worker.create({
    ...common,
    taskQueue: transcriptionQueue(taskQueue),
    activities: { transcribe },
    maxConcurrentActivityTaskExecutions: settings.transcriptionConcurrency,
    maxConcurrentActivityTaskPolls: 2,
  });
  const recognizer = await Worker.create({
    ...common,
    taskQueue: ocrQueue(taskQueue),
    activities: { recognize },
    maxConcurrentActivityTaskExecutions: settings.ocrConcurrency,
    maxConcurrentActivityTaskPolls: 1,
  });
  const all = [worker, deliverer, transcriber, recognizer];
  return {
    run: async () => void (await Promise.all(all.map((one) => one.run()))),
    shutdown() {
      // Before run() has begun there is nothing to shut down yet.
      for (const one of all) if (one.getState() === 'RUNNING') one.shutdown();
    },
    close: () => connection.close(),
  };
}
