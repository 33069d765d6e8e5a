import { defineSearchAttributeKey, WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ActivityFailure,
  CancellationScope,
  ChildWorkflowCancellationType,
  ChildWorkflowFailure,
  continueAsNew,
  executeChild,
  isCancellation,
  ParentClosePolicy,
  proxyActivities,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import type { RunInput } from '../contract/runs/orchestration.js';
import type { AutoSyncInput, AutoSyncPart, AutoSyncResult } from '../contract/runs/autoSync.js';
import { fairnessKeys, SEARCH_ATTRIBUTES } from '../contract/runs/workflowIds.js';
import { STORE } from './activityOptions.js';

/** A scheduled sync is a run whose parts are child workflows, each a run of its own. */
const { acceptPass, nextPart, endPass } = proxyActivities<Activities>(STORE);

/** Time that a part waits for an earlier run of the same target to end, at most MAX_CONFLICTS times. */
const CONFLICT_PAUSE = '1 second';
const MAX_CONFLICTS = 5;

const attributesOf = ({ attributes }: AutoSyncPart) =>
  SEARCH_ATTRIBUTES.flatMap((name) => {
    const value = attributes[name];
    return value === undefined ? [] : [{ key: defineSearchAttributeKey(name, 'KEYWORD'), value }];
  });

/** Runs one part until it ends. The part's row records the outcome. */
async function runPart(part: AutoSyncPart): Promise<void> {
  const { runId, kind, workflowId, attributes } = part;
  for (let conflicts = 0; ; conflicts += 1) {
    try {
      await executeChild<(input: RunInput) => Promise<unknown>>(kind, {
        workflowId,
        args: [{ runId }],
        memo: { runId },
        typedSearchAttributes: attributesOf(part),
        priority: { fairnessKey: fairnessKeys.work(attributes.OrganizationId ?? '', attributes.UserId ?? '') },
        cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
        // If the sync is terminated, Temporal requests the cancellation of its running child, which then cleans up.
        parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      });
      return;
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError && conflicts < MAX_CONFLICTS) {
        await sleep(CONFLICT_PAUSE);
        continue;
      }
      // If only the part was cancelled, the next `nextPart` returns null, because the run of the part is aborted. Then no
      // further part begins, and the sync ends.
      if (!(error instanceof ChildWorkflowFailure) || CancellationScope.current().consideredCancelled) throw error;
      return;
    }
  }
}

/**
 * Syncs a data source or a scraped site with the same runs that a user would request, one after the other. A schedule
 * starts this workflow. If nothing must be synced, the workflow ends immediately and returns the reason.
 */
export async function autoSync(input: AutoSyncInput): Promise<AutoSyncResult> {
  const accepted = input.resume ?? (await acceptPass(input));
  if (accepted.runId === null) return { outcome: accepted.reason, parts: 0 };
  const { runId } = accepted;
  let { parts, lastRunId }: { parts: number; lastRunId: number | null } = input.resume ?? { parts: 0, lastRunId: null };
  let isTagged = false;
  try {
    for (;;) {
      const { part } = await nextPart({ runId });
      if (part === null) break;
      // The same part again: its run is still unfinished, so its workflow was terminated outside of this service.
      if (part.runId === lastRunId) {
        await endPass({ runId, outcome: 'failed' });
        return { outcome: 'failed', parts };
      }
      if (!isTagged) upsertSearchAttributes(attributesOf(part));
      isTagged = true;
      parts += 1;
      lastRunId = part.runId;
      await runPart(part);
      if (workflowInfo().continueAsNewSuggested)
        await continueAsNew<typeof autoSync>({ ...input, resume: { runId, parts, lastRunId } });
    }
    await endPass({ runId, outcome: 'finished' });
    return { outcome: 'finished', parts };
  } catch (error) {
    if (isCancellation(error)) await CancellationScope.nonCancellable(() => endPass({ runId, outcome: 'aborted' }));
    else if (error instanceof ActivityFailure || error instanceof WorkflowExecutionAlreadyStartedError)
      await CancellationScope.nonCancellable(() => endPass({ runId, outcome: 'failed' }));
    throw error;
  }
}
