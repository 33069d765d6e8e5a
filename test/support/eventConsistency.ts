/** Checks that a service emitted an event for every final status of a file or run, and no duplicates. */
import { type EventKind, objectsOf } from '../../contract/events.js';
import { IS_UPLOAD } from '../../contract/runs/runKinds.js';
import { DATA_SOURCE_ACTIONS } from '../../contract/files/statuses.js';
import type { EventRowDoc } from '../../store/models/events.js';
import { INTENDED } from '../../store/models/hiddenRows.js';
import type { FileDoc } from '../../store/models/files.js';
import type { RunDoc } from '../../store/models/runs.js';

/** An inconsistency, and the customer whose data is inconsistent. */
export interface EventNote {
  readonly customerId: string;
  readonly what: string;
}

/**
 * The event kind of each final status. No event reports a SYNC_ABORTED file whose deletion was stopped; its error
 * message begins with 'The delete'.
 */
const EVENT_OF_STATUS: Partial<Record<FileDoc['syncStatus'], EventKind>> = {
  READY: 'FILE_READY',
  SYNC_ERROR: 'FILE_ERROR',
  SYNC_ABORTED: 'FILES_SKIPPED',
};
/** Event kinds that may repeat: for each start of a file, each rate limit, and each action on a data source. */
const REPEATABLE: readonly EventKind[] = [
  'FILE_SYNCING',
  'RATE_LIMIT_ERROR',
  'DATA_SOURCE_READY',
  ...DATA_SOURCE_ACTIONS,
];

/** Returns inconsistencies in the events of a service whose files all have a final status. */
export function findEventInconsistencies(
  rows: readonly EventRowDoc[],
  files: readonly FileDoc[],
  runs: readonly RunDoc[],
): EventNote[] {
  const notes: EventNote[] = [];
  const emitted = new Map<string, number>();
  const keyOf = (kind: EventKind, object: string, requestId: unknown, queueStatus: unknown = '') =>
    `${kind} ${object} of ${String(requestId)}${String(queueStatus)}`;
  for (const { kind, customerId, objectId, info } of rows.flatMap(({ last, events }) =>
    last === INTENDED ? [] : events,
  )) {
    for (const object of objectsOf({ kind, objectId })) {
      const key = keyOf(kind, object, info?.['request_id'], info?.['sparse_vector_queue_status']);
      emitted.set(key, (emitted.get(key) ?? 0) + 1);
      if (emitted.get(key) === 2 && !REPEATABLE.includes(kind))
        notes.push({ customerId, what: `${key} was emitted twice` });
    }
  }
  for (const { _id, customerId, externalFileId, syncStatus, syncErrorMessage, requestId } of files) {
    const kind = EVENT_OF_STATUS[syncStatus];
    if (kind === undefined || syncErrorMessage?.startsWith('The delete') === true) continue;
    if (!emitted.has(keyOf(kind, `FILE:${_id}`, requestId)))
      notes.push({ customerId, what: `${externalFileId} is ${syncStatus}, but no event reports it` });
  }
  for (const { _id, kind, customerId, requestId, finishedAt, parentRunId, counts } of runs) {
    // A scheduled sync emits one event at its end for all its parts, and only if it has synced anything.
    const isReported = kind === 'autoSync' ? (counts['synced'] ?? 0) > 0 : IS_UPLOAD[kind] && parentRunId === undefined;
    if (!isReported || finishedAt === null) continue;
    if (!emitted.has(keyOf('ALL_FILES_PROCESSED', `UPLOAD_REQUEST_ID:${requestId}`, requestId)))
      notes.push({ customerId, what: `no event reports the end of run ${_id}` });
  }
  return notes;
}
