import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';

import type { Activities } from '../activities/index.js';
import { deliveryQueue, ocrQueue, transcriptionQueue } from '../contract/runs/workflowIds.js';
import type { Tracing } from '../observability/spans.js';
import { NO_TRACING } from '../observability/tracing.js';
import { type AttemptLog, interceptActivities } from './interceptActivities.js';
import { traceActivities, traceSinks } from './traces.js';

export interface WorkerSettings {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  /** Maximum number of activities that run in parallel. */
  readonly activityConcurrency: number;
  /** Maximum number of files whose pages are recognized in parallel. */
  readonly ocrConcurrency: number;
  /** Maximum number of recordings that are transcribed in parallel. */
  readonly transcriptionConcurrency: number;
  /** Maximum number of workflows that stay cached between their tasks. Absent: the SDK's default. */
  readonly maxCachedWorkflows?: number;
}

/** The bundled workflows in `dist/` (scripts/compile.ts). This module runs from `worker/` or from `dist/worker/`. */
const WORKFLOW_BUNDLE = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../dist/workflow-bundle.js' : '../workflow-bundle.js', import.meta.url),
);

/** Maximum number of parallel deliveries per worker, over all webhooks. They mostly wait for responses. */
const WEBHOOKS_AT_ONCE = 50;

/** The Temporal workers of one process. */
export interface Workers {
  /**
   * Resolves when all workers have ended, after `shutdown`; if that was called before, no worker starts.
   * @throws the error of a worker that failed, once all have ended
   */
  run(): Promise<void>;
  shutdown(): void;
  close(): Promise<void>;
}

/**
 * Creates Temporal workers for the workflows and activities. Deliveries, OCR and transcriptions have separate workers.
 */
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
    // An activity detects its cancellation at the next heartbeat, which the SDK delays by at most this long.
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
  const workers = [worker, deliverer, transcriber, recognizer];
  let isShutDown = false;
  let isStarted = false;
  const shutdown = (): void => {
    isShutDown = true;
    // A worker that is not running yet cannot be shut down.
    for (const temporalWorker of workers) if (temporalWorker.getState() === 'RUNNING') temporalWorker.shutdown();
  };
  return {
    async run() {
      if (isShutDown) return;
      isStarted = true;
      // If one worker fails, the others end too.
      const running = workers.map((temporalWorker) => temporalWorker.run().finally(shutdown));
      const failed = (await Promise.allSettled(running)).find(({ status }) => status === 'rejected');
      if (failed?.status === 'rejected') throw failed.reason;
    },
    shutdown,
    async close() {
      // The SDK refuses to close the connection of workers that never ran: it ends with the process.
      if (isStarted) await connection.close();
    },
  };
}
