/** Whether the feed tells of every end, and of none twice. */
import { type EventKind, objectsOf } from '../../contract/events.js';
import { IS_UPLOAD } from '../../contract/orchestration.js';
import { DATA_SOURCE_ACTIONS } from '../../contract/statuses.js';
import { type EventRowDoc, INTENDED } from '../../store/events/model.js';
import type { FileDoc } from '../../store/files/model.js';
import type { RunDoc } from '../../store/runs/model.js';

export interface EventNote {
  readonly customerId: string;
  readonly what: string;
}

/** What each state at rest is told as. A delete that was stopped tells nothing. */
const TOLD_AS: Partial<Record<FileDoc['syncStatus'], EventKind>> = {
  READY: 'FILE_READY',
  SYNC_ERROR: 'FILE_ERROR',
  SYNC_ABORTED: 'FILES_SKIPPED',
};
/** Told again at each start of a file, each time somebody limits us, and whenever it is done to a data source. */
const MAY_REPEAT: readonly EventKind[] = [
  'FILE_SYNCING',
  'RATE_LIMIT_ERROR',
  'DATA_SOURCE_READY',
  ...DATA_SOURCE_ACTIONS,
];

/** Inconsistencies in the events of a service whose files are at rest. */
export function eventsAmiss(
  rows: readonly EventRowDoc[],
  files: readonly FileDoc[],
  runs: readonly RunDoc[],
): EventNote[] {
  const notes: EventNote[] = [];
  const told = new Map<string, number>();
  const keyOf = (kind: EventKind, object: string, requestId: unknown, more: unknown = '') =>
    `${kind} ${object} of ${String(requestId)}${String(more)}`;
  for (const { kind, customerId, objectId, info } of rows.flatMap(({ last, events }) =>
    last === INTENDED ? [] : events,
  )) {
    for (const object of objectsOf({ kind, objectId })) {
      const key = keyOf(kind, object, info?.['request_id'], info?.['sparse_vector_queue_status']);
      told.set(key, (told.get(key) ?? 0) + 1);
      if (told.get(key) === 2 && !MAY_REPEAT.includes(kind)) notes.push({ customerId, what: `${key} is told twice` });
    }
  }
  for (const { _id, customerId, externalFileId, syncStatus, syncErrorMessage, requestId } of files) {
    const kind = TOLD_AS[syncStatus];
    if (kind === undefined || syncErrorMessage?.startsWith('The delete') === true) continue;
    if (!told.has(keyOf(kind, `FILE:${_id}`, requestId)))
      notes.push({ customerId, what: `${externalFileId} is ${syncStatus}, and nothing told of it` });
  }
  for (const { _id, kind, customerId, requestId, finishedAt, parentRunId, counts } of runs) {
    // A pass tells of its end once, for all its parts, and only where it has synced anything.
    const tells = kind === 'autoSync' ? (counts['synced'] ?? 0) > 0 : IS_UPLOAD[kind] && parentRunId === undefined;
    if (!tells || finishedAt === null) continue;
    if (!told.has(keyOf('ALL_FILES_PROCESSED', `UPLOAD_REQUEST_ID:${requestId}`, requestId)))
      notes.push({ customerId, what: `the end of run ${_id} was not told` });
  }
  return notes;
}
