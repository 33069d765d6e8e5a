/** Accepts the files that a run has found, many at a time. */
import type { Model } from 'mongoose';

import { itemEnd, type SkipCause } from '../../../contract/runs/ledger.js';
import { insertOnce } from '../../database/insertOnce.js';
import type { Sequence } from '../../database/sequence.js';
import { updateRows } from '../../database/updateRows.js';
import type { Intents } from '../../events/intents.js';
import type { LedgerWriter } from '../../ledger/ledger.js';
import type { FileDoc } from '../../models/files.js';
import type { Selections } from '../../selections/selections.js';
import type { Tenant } from '../../users/accept.js';
import { markedFiles } from '../changes.js';
import { isTakenBySchedule, queueKnownFiles } from '../evaluate.js';
import type { FileQueue } from '../queue.js';
import { transitionEvents } from '../transitions.js';
import { withoutDeleted } from '../withoutDeleted.js';
import { acceptedWrite, type FileOwner, newFile } from './records.js';
import {
  accountOf,
  type FileRequest,
  isSameKind,
  KNOWN_FIELDS,
  type KnownFile,
  fileKey,
  fileKeyOfRequest,
} from './request.js';

export interface AcceptManyDeps {
  readonly files: Model<FileDoc>;
  /** A record with the defaults of all fields. */
  readonly blank: FileDoc;
  readonly sequence: Sequence;
  readonly intents: Intents;
  readonly queue: FileQueue;
  /** Items whose files a caller has deleted, so that scheduled syncs skip them. */
  readonly deleted: Pick<Selections, 'filterSkipped' | 'unskip'>;
  readonly ledger: Pick<LedgerWriter, 'recordOutcomes' | 'addItems'>;
}

/** Maximum number of times that a file's tags may change while it is accepted. */
const TAG_CHANGES = 5;

/** Returns the known files that the requests refer to, by `fileKey`. */
async function findExisting(
  { files }: Pick<AcceptManyDeps, 'files'>,
  { organizationId, userId }: Tenant,
  requests: readonly FileRequest[],
): Promise<Map<string, KnownFile>> {
  const rows = await files
    .find(
      {
        organizationId,
        userId,
        source: { $in: [...new Set(requests.map((request) => request.source))] },
        externalFileId: { $in: requests.map((request) => request.externalFileId) },
        accountId: { $in: [...new Set(requests.map(accountOf))] },
      },
      { source: 1, externalFileId: 1, accountId: 1, ...KNOWN_FIELDS },
    )
    .lean();
  return new Map(rows.map((row) => [fileKey(row), row]));
}

/** Records the outcomes of other runs for known files in the ledger, before this run takes the files over. */
async function recordTakenOver(
  { ledger }: Pick<AcceptManyDeps, 'ledger'>,
  taken: readonly { readonly request: FileRequest; readonly file: KnownFile }[],
): Promise<void> {
  const [first] = taken;
  if (!first) return;
  await ledger.recordOutcomes(
    taken.map(({ file }) => file),
    first.request.runId,
  );
}

/** Records in the ledger the requests for which no file is queued. */
function recordSkipped(
  { ledger }: Pick<AcceptManyDeps, 'ledger'>,
  owner: Tenant,
  skipped: readonly FileRequest[],
  cause: SkipCause,
): Promise<void> {
  const { organizationId, userId } = owner;
  const run = { organizationId, userId, _id: skipped[0]?.runId ?? 0 };
  const end = itemEnd('skipped', 'select', cause);
  const items = skipped.map(({ externalFileId, name }) => ({ externalId: externalFileId, name }));
  return ledger.addItems(
    run,
    items.map((item) => ({ ...item, fileId: null, end, message: null })),
  );
}

/** Queues the requests whose files exist. Writes a file only if its tags have not changed since it was read. */
async function queueKnown(
  deps: Pick<AcceptManyDeps, 'files' | 'ledger'>,
  owner: Tenant,
  requests: readonly FileRequest[],
  knownFiles: Map<string, KnownFile>,
  { now, fitting }: { readonly now: Date; readonly fitting: ReadonlySet<FileRequest> },
): Promise<void> {
  let existing = knownFiles;
  for (let change = 0; ; change += 1) {
    const matching = requests.flatMap((request) => {
      const file = existing.get(fileKeyOfRequest(request));
      return file && isSameKind(request, file) ? [{ request, file }] : [];
    });
    if (matching.length === 0) return;
    await recordTakenOver(deps, matching);
    const matched = await updateRows(
      deps.files,
      matching.map(({ request, file }) => {
        const where = { tagsRevision: file.tagsRevision ?? null };
        return acceptedWrite(owner, request, file, { now, fitsQueue: fitting.has(request), where });
      }),
    );
    if (matched === matching.length) return;
    if (change === TAG_CHANGES) throw new Error('tags of files change faster than the files can be accepted');
    // The tags of some files have changed meanwhile: read these files again.
    const reread = await findExisting(
      deps,
      owner,
      matching.map(({ request }) => request),
    );
    const runs = new Set(matching.map(({ request }) => request.runId));
    existing = new Map([...reread].filter(([, file]) => file.runId === null || !runs.has(file.runId)));
  }
}

/** Inserts new files and writes their events; false if some files existed already. */
async function insertUnknown(
  { files, blank, sequence, intents }: Pick<AcceptManyDeps, 'files' | 'blank' | 'sequence' | 'intents'>,
  owner: FileOwner,
  newRequests: readonly FileRequest[],
  { now, fitting }: { readonly now: Date; readonly fitting: ReadonlySet<FileRequest> },
): Promise<boolean> {
  if (newRequests.length === 0) return true;
  const first = await sequence.next('file', newRequests.length);
  const rows = newRequests.map((request, index) =>
    newFile(blank, first + index, owner, request, { now, fitsQueue: fitting.has(request) }),
  );
  let allInserted = true;
  await intents.withPendingEvents(transitionEvents('create', rows, {}), async (mark) => {
    allInserted = await insertOnce(
      files,
      rows.map((row) => ({ ...row, marks: [mark] })),
    );
    if (allInserted) return 'all';
    return markedFiles(files)(
      mark,
      rows.map(({ _id }) => _id),
    );
  });
  return allInserted;
}

/**
 * Accepts many files of one run; returns the number of accepted files. `FileAcceptance.acceptMany` states the rules.
 */
export async function acceptMany(
  deps: AcceptManyDeps,
  owner: FileOwner,
  allRequests: readonly FileRequest[],
): Promise<number> {
  const { files, queue, deleted } = deps;
  const requests = await withoutDeleted(deleted, owner, allRequests);
  if (requests.length < allRequests.length) {
    const accepted = new Set(requests);
    const skipped = allRequests.filter((request) => !accepted.has(request));
    await recordSkipped(deps, owner, skipped, 'deleted_by_caller');
  }
  const [first] = requests;
  if (!first) return 0;
  const fitting = new Set(requests.slice(0, await queue.freeSlots(owner, first.runId, requests.length)));
  const now = new Date();
  const existing = await findExisting(deps, owner, requests);
  const newRequests = requests.filter((request) => !existing.has(fileKeyOfRequest(request)));
  if (!(await insertUnknown(deps, owner, newRequests, { now, fitting }))) {
    // Another request has inserted some of the files meanwhile.
    for (const [name, file] of await findExisting(deps, owner, newRequests)) existing.set(name, file);
  }
  const scheduled = requests.filter(({ isScheduled }) => isScheduled === true);
  const requested = requests.filter(({ isScheduled }) => isScheduled !== true);
  await queueKnown(deps, owner, requested, existing, { now, fitting });
  const found = scheduled.flatMap((request) => {
    const file = existing.get(fileKeyOfRequest(request));
    if (!file || !isSameKind(request, file) || !isTakenBySchedule(file)) return [];
    return [{ request, file, fitsQueue: fitting.has(request) }];
  });
  await recordTakenOver(deps, found);
  await queueKnownFiles(files, owner, found, now);
  const ofOtherKind = requests.filter((request) => !isSameKind(request, existing.get(fileKeyOfRequest(request))));
  if (ofOtherKind.length > 0) await recordSkipped(deps, owner, ofOtherKind, 'is_container');
  return requests.length - ofOtherKind.length;
}
