import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';

import type { Activities } from '../activities/index.js';

export interface WorkerSettings {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  /** Activities run at once. */
  readonly activityConcurrency: number;
}

/** The workflows: bundled ahead once compiled (scripts/compile.ts), by the SDK itself under Jest. */
const workflows = import.meta.url.endsWith('.ts')
  ? { workflowsPath: fileURLToPath(new URL('../workflows/index.ts', import.meta.url)) }
  : { workflowBundle: { codePath: fileURLToPath(new URL('../workflow-bundle.js', import.meta.url)) } };

/** A Temporal worker for our workflows and these activities; `run()` it, `shutdown()` it. */
export async function createWorker(
  settings: WorkerSettings,
  activities: Activities,
): Promise<{ worker: Worker; connection: NativeConnection }> {
  const connection = await NativeConnection.connect({ address: settings.address });
  const worker = await Worker.create({
    connection,
    namespace: settings.namespace,
    taskQueue: settings.taskQueue,
    ...workflows,
    activities,
    maxConcurrentActivityTaskExecutions: settings.activityConcurrency,
    // Cancellation is seen at the next heartbeat, which the SDK holds back at most this long.
    maxHeartbeatThrottleInterval: '1 second',
    shutdownGraceTime: '5 seconds',
  });
  return { worker, connection };
}
