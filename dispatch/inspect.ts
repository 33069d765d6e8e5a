import type { TemporalNames } from '../contract/runs/temporalNames.js';
import type { RunDoc } from '../store/models/runs.js';
import { createTemporalClient, type TemporalSettings } from './client.js';
import { createDiagnosis, type DiagnosisResult, type DiagnosisStores, type StoresDown } from './diagnosis.js';
import { isAlive } from './orphanedRuns.js';

/** Read-only access to Temporal. */
export interface TemporalInspection {
  /** @throws when Temporal does not answer */
  server(): Promise<{ readonly version: string; readonly pollers: number }>;
  /** Returns whether the workflow of a run is active in Temporal. */
  isAlive(run: RunDoc): Promise<boolean>;
  /** Searches once for stalled runs, without recording them. */
  stalled(stores: DiagnosisStores, down: StoresDown, stallAfterMs: number): Promise<DiagnosisResult['stalled']>;
  close(): Promise<void>;
}

const DEADLINE_MS = 5_000;

/** Opens a connection to Temporal for the command `doctor`. */
export function inspectTemporal(settings: TemporalSettings, names: TemporalNames): TemporalInspection {
  const client = createTemporalClient(settings);
  return {
    server: () =>
      client.withDeadline(Date.now() + DEADLINE_MS, async () => {
        const { serverVersion } = await client.workflowService.getSystemInfo({});
        const { pollers } = await client.workflowService.describeTaskQueue({
          namespace: settings.namespace,
          taskQueue: { name: names.taskQueue },
          // TASK_QUEUE_TYPE_WORKFLOW
          taskQueueType: 1,
        });
        return { version: serverVersion ?? 'unknown', pollers: pollers?.length ?? 0 };
      }),
    isAlive: (run) => isAlive({ client, names }, run),
    stalled: async (stores, down, stallAfterMs) => {
      const diagnosis = createDiagnosis({ client, names }, stores, () => Promise.resolve(down), stallAfterMs);
      return (await diagnosis.diagnose()).stalled;
    },
    close: () => client.connection.close(),
  };
}
