import { NO_TALLY, REMEDIES, type RunTally } from '../../contract/runs/ledger.js';
import type { WorkflowLink } from '../../contract/runs/temporalLinks.js';
import type { LedgerItem } from '../../store/ledger/queries.js';
import { stateOfRun } from '../../store/runs/list.js';
import type { RunDoc } from '../../store/models/runs.js';

interface Links {
  readonly workflowLink: WorkflowLink;
}

/** Describes why a run waits, or why it failed. */
function problemOf({ finishedAt, message, error, lastError, stall, stalls = [] }: RunDoc) {
  const current = finishedAt === null ? stall : undefined;
  const last = finishedAt === null ? lastError : undefined;
  return {
    message: current?.message ?? last?.message ?? message ?? null,
    error: current?.cause ?? last?.kind ?? error ?? null,
    stalled_since: current?.since.toISOString() ?? null,
    stalls: stalls.map(({ cause, message: what, since, until }) => ({
      ...{ cause, message: what, since: since.toISOString(), until: until.toISOString() },
    })),
  };
}

/** Converts a run to its record. */
export function presentRun(run: RunDoc, tally: RunTally = NO_TALLY, { workflowLink }: Links) {
  const { discovered, ok, failed, skipped, aborted, pending, bytes, tokens, reused } = tally;
  const isScheduled = run.kind === 'autoSync' || run.parentRunId !== undefined;
  return {
    id: run._id,
    kind: run.kind,
    cause: run.cause ?? (isScheduled ? ('schedule' as const) : ('request' as const)),
    status: stateOfRun(run),
    ...problemOf(run),
    organization_id: run.organizationId,
    organization_user_id: run.userId > 0 ? run.userId : null,
    organization_supplied_user_id: run.customerId === '' ? null : run.customerId,
    data_source_id: run.dataSourceId ?? null,
    file_id: run.fileId,
    parent_run_id: run.parentRunId ?? null,
    request_id: run.requestId,
    upload_id: run.uploadId ?? null,
    accepted_at: run.acceptedAt.toISOString(),
    started_at: run.startedAt?.toISOString() ?? null,
    finished_at: run.finishedAt?.toISOString() ?? null,
    counts: { discovered, ok, failed, skipped, aborted, pending },
    bytes_fetched: bytes,
    tokens_embedded: Math.round(tokens),
    tokens_reused: Math.round(reused),
    details: run.counts,
    ...workflowLink(run.workflowId),
  };
}

/** Converts an item of a run to its record. @param workflowId workflow of the item's run */
export function presentRunItem(item: LedgerItem, workflowId: string, { workflowLink }: Links) {
  return {
    id: item.id,
    sync_run_id: item.runId,
    file_id: item.fileId,
    external_id: item.externalId,
    name: item.name,
    outcome: item.outcome,
    stage: item.stage,
    cause: item.cause,
    message: item.message,
    remedy: item.cause === null ? null : REMEDIES[item.cause],
    bytes_fetched: item.bytes,
    tokens_embedded: Math.round(item.tokens),
    tokens_reused: Math.round(item.reused),
    at: item.at.toISOString(),
    ...workflowLink(workflowId),
  };
}
