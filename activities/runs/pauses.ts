import { uploadEvent } from '../../contract/events.js';
import type { PauseState, RunInput } from '../../contract/runs/orchestration.js';
import type { RunDoc, RunPause } from '../../store/models/runs.js';
import type { ActivityDeps } from '../deps.js';
import { requireRun } from '../requireRun.js';

const pauseMessage = ({ _id, maxTokens = null, tokensTaken = 0 }: RunDoc, { wanted }: RunPause): string =>
  `Paused at max_tokens: ${tokensTaken} of ${maxTokens ?? 0} tokens are used, and the next text has ${wanted}. ` +
  `Resume it with POST /sync_runs/${_id}/resume, or cancel it.`;

/** Creates the activity of paused runs, which reached their token limit. */
export function createPauseActivities({ store, settings, log }: ActivityDeps) {
  /**
   * Stores whether the run is paused: on the record of its container or, if it has none, in the metadata of its data
   * source.
   */
  const storeOnContainer = async (run: RunDoc, pause: RunPause | null): Promise<void> => {
    const message = pause && pauseMessage(run, pause);
    if (run.fileId !== null)
      await store.files.moveContainer(run._id, run.fileId, {
        status: pause ? 'QUEUED_FOR_SYNC' : 'SYNCING',
        message,
      });
    else if (run.dataSourceId) await store.dataSources.mergeMetadata(run, run.dataSourceId, { files_paused: message });
  };
  return {
    /**
     * Stores the pause on the container of the run, or on its data source if it has no container. Writes
     * FILE_SYNC_LIMIT_REACHED, and returns the time until the pause ends. Removes the pause if the run was resumed.
     * Safe to repeat.
     */
    async getPauseState({ runId }: RunInput): Promise<PauseState> {
      const run = await requireRun(store, runId);
      const { pause, organizationId, requestId, maxTokens, tokensTaken } = run;
      const context = { runId, organizationId, requestId, maxTokens, tokensTaken };
      if (!pause || pause.resumedAt !== null) {
        await storeOnContainer(run, null);
        await store.pauses.clearPause(runId);
        log.info(context, 'a paused run was resumed');
        return { isOver: true, endsInMs: 0 };
      }
      await storeOnContainer(run, pause);
      await store.transaction((session) =>
        store.events.write(
          [uploadEvent('FILE_SYNC_LIMIT_REACHED', { ...run, uploadId: run.uploadId ?? null })],
          session,
          `paused:${runId}:${pause.at.getTime()}`,
        ),
      );
      log.info(context, 'a run is paused at its token limit');
      return { isOver: false, endsInMs: Math.max(0, pause.at.getTime() + settings.pausedRunMs - Date.now()) };
    },
  };
}
