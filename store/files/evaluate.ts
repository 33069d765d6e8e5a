import type { Model } from 'mongoose';

import { endedAs, type ItemCost, type SkipCause } from '../../contract/runs/ledger.js';
import { BEING_DELETED } from '../../contract/runs/reembed.js';
import type { DataSourceDoc } from '../models/dataSources.js';
import type { Tenant } from '../users/accept.js';
import type { FileChanges } from './changes.js';
import type { FileDoc } from '../models/files.js';
import { type Change, CONNECT_CREDENTIALS, transition } from './transitions.js';
import { updateRows } from '../database/updateRows.js';

/** What a pass needs to know of a file that it meets. */
export type MetFile = Pick<FileDoc, '_id' | 'syncStatus' | 'syncErrorMessage' | 'generation' | 'requestId'>;

/** What a pass says of a file that it meets. */
interface Met {
  readonly runId: number;
  readonly requestId: string;
  readonly version?: string | null;
  readonly workflowOf: (fileId: number) => string;
}

/** A file that was looked at and has not changed, under the number that was given out for it. */
interface EvaluatedFile {
  readonly runId: number;
  readonly file: Pick<FileDoc, '_id' | 'listedVersion' | 'keptRequestId'>;
  readonly generation: number;
  readonly cost: ItemCost;
}

/** Files that a scheduled sync compares: their content and events stay unchanged until a change is found. */
export interface FileEvaluation {
  /** The containers in a data source. */
  containersOf(tenant: Tenant, dataSourceId: number, limit: number): Promise<number[]>;
  /** Whether anything of a data source was not brought to its end. */
  anyUnsynced(source: Pick<DataSourceDoc, '_id' | 'organizationId' | 'userId'>): Promise<boolean>;
  /** The content of files has changed: their sync starts now, with its events. */
  beginChanged(runId: number, fileIds: readonly number[]): Promise<void>;
  /** A file can't be compared: its state is restored. */
  endLook(runId: number, fileId: number): Promise<void>;
}

/** A file that turned out to be unchanged: it belongs to its earlier request again. */
const unchanged = (requestId: string | null) => ({ ...CONNECT_CREDENTIALS, requestId });

/** Ends evaluations that were not completed: the files get their old state. */
export async function endEvaluations<N extends 'endEvaluation' | 'endEvaluationsOfSource'>(
  files: Model<FileDoc>,
  name: N,
  whose: Pick<Change<N>, 'owner' | 'where'>,
  cause: SkipCause,
): Promise<void> {
  const ended = { $literal: endedAs('aborted', 'queue', cause) };
  // A pipeline, as the request comes from another field of the record.
  const { filter, update } = transition(name, {
    ...whose,
    message: null,
    set: { ...unchanged('$keptRequestId'), ended },
  });
  await files.updateMany(filter, [update], { updatePipeline: true });
}

/** Ends evaluations of unchanged files. Nothing is reported, and their last sync stays the earlier one. */
export const keepEvaluated = (changes: FileChanges, kept: readonly EvaluatedFile[]): Promise<void> =>
  changes.manyWithoutEvents(
    'keepEvaluated',
    kept.map(({ runId, file, generation, cost }) => ({
      owner: { runId },
      where: { _id: file._id, lastGeneration: generation },
      message: null,
      set: {
        ...unchanged(file.keptRequestId ?? null),
        ended: { ...endedAs('skipped', 'fetch', 'unchanged'), ...cost },
        // It is at its source.
        restoredAt: null,
        // It was listed before its content was compared.
        ...(file.listedVersion ? { version: file.listedVersion } : {}),
      },
    })),
  );

/**
 * Hands known files to a scheduled sync, with their own options and tags. A file with content is EVALUATING_RESYNC until it is
 * compared; a failed one is queued; unfinished ones and those without content by request are filtered out.
 */
export async function passKnown(
  files: Model<FileDoc>,
  { organizationId, userId }: Tenant,
  met: readonly { readonly request: Met; readonly file: MetFile; readonly inTurn: boolean }[],
  now: Date,
): Promise<void> {
  const open = met.filter(({ file }) => file.syncErrorMessage !== BEING_DELETED);
  await updateRows(
    files,
    open.map(({ request, file, inTurn }) => {
      const { _id, syncStatus, generation } = file;
      const isComparable = syncStatus === 'READY' && generation > 0;
      return transition(isComparable ? 'passEvaluate' : inTurn ? 'passQueue' : 'passDelay', {
        owner: { organizationId, userId },
        where: { _id, generation },
        seen: syncStatus,
        message: null,
        set: {
          // Its events belong to the pass from here on.
          requestId: request.requestId,
          keptRequestId: file.requestId,
          runId: request.runId,
          workflowId: request.workflowOf(_id),
          listedVersion: request.version ?? null,
          ...CONNECT_CREDENTIALS,
          updatedAt: now,
        },
      });
    }),
  );
}

export function createFileEvaluation(files: Model<FileDoc>, changes: FileChanges): FileEvaluation {
  return {
    async containersOf({ organizationId, userId }, dataSourceId, limit) {
      const rows = await files
        .find({ organizationId, userId, isContainer: true, dataSourceId }, { _id: 1 })
        .sort({ _id: 1 })
        .limit(limit)
        .lean();
      return rows.map(({ _id }) => _id);
    },
    async anyUnsynced({ _id: dataSourceId, organizationId, userId }) {
      const syncStatus = { $in: ['SYNC_ERROR', 'SYNC_ABORTED'] as const };
      return (await files.exists({ organizationId, userId, syncStatus, dataSourceId })) !== null;
    },
    endLook: (runId, fileId) =>
      endEvaluations(files, 'endEvaluation', { owner: { runId }, where: { _id: fileId } }, 'source_revoked'),
    async beginChanged(runId, fileIds) {
      const rows = await files.find({ _id: { $in: [...fileIds] }, runId, syncStatus: 'EVALUATING_RESYNC' }).lean();
      await changes.all('startChanged', rows, { owner: { runId }, where: {} });
    },
  };
}
