import { randomUUID } from 'node:crypto';
import type { Model } from 'mongoose';

import { workflowIds } from '../../contract/runs/workflowIds.js';
import type { ReembedSkipReason, ReembedRequest } from '../../contract/runs/reembed.js';
import type { Atomically } from '../events/events.js';
import type { FileDoc } from '../models/files.js';
import type { RunDoc } from '../models/runs.js';
import type { Runs } from '../runs/outbox.js';
import type { UserDoc } from '../models/users.js';
import type { PointsCensus } from '../vectors/census.js';
import type { ReembedDoc } from '../models/reembeds.js';

/** Scope of a rebuild; null: everything. */
export interface RebuildScope {
  readonly organizationId: number | null;
  /** Customer id of the end user. */
  readonly customerId: string | null;
  readonly space: string | null;
}

/** A vector space that contains vectors of files. */
export interface UsedSpace {
  readonly space: string;
  readonly dimensions: number;
  readonly files: number;
}

export interface RebuildProgress {
  readonly runs: number;
  readonly finishedRuns: number;
  /** Runs that ended before they processed all their files. */
  readonly brokenRuns: number;
  readonly rebuilt: number;
  readonly chunks: number;
  readonly failed: number;
  readonly skipped: Readonly<Partial<Record<ReembedSkipReason, number>>>;
}

/**
 * Runs that compute the vectors of files again from stored chunks, one run per user. For operators: a rebuild can span
 * organizations.
 */
export interface Rebuilds extends Pick<PointsCensus, 'check' | 'ensure' | 'recreate'> {
  spaces(scope: RebuildScope): Promise<UsedSpace[]>;
  /**
   * Queues a run for each user with files in scope. A user with an unfinished rebuild of the same `scope.space` gets no
   * second one. Returns the ids of the queued runs and of these unfinished ones.
   */
  accept(scope: RebuildScope): Promise<number[]>;
  /** Counts the active runs that compute vectors again, of all organizations. */
  countActive(): Promise<number>;
  progress(runIds: readonly number[]): Promise<RebuildProgress>;
  /** Returns the first failed files, each with its message. */
  failures(
    runIds: readonly number[],
    limit: number,
  ): Promise<Pick<ReembedDoc, 'organizationId' | 'fileId' | 'message'>[]>;
}

export interface RebuildStores {
  readonly files: Model<FileDoc>;
  readonly users: Model<UserDoc>;
  readonly runs: Model<RunDoc>;
  readonly reembeds: Model<ReembedDoc>;
  readonly points: Pick<PointsCensus, 'check' | 'ensure' | 'recreate'>;
  readonly outbox: Pick<Runs, 'nextId' | 'acceptMany'>;
  readonly atomically: Atomically;
}

/** Runs accepted in one transaction. */
const ACCEPTED_AT_ONCE = 500;

export function createRebuilds({ files, users, runs, reembeds, points, outbox, atomically }: RebuildStores): Rebuilds {
  const inScope = ({ organizationId, customerId, space }: RebuildScope) => ({
    ...(organizationId === null ? {} : { organizationId }),
    ...(customerId === null ? {} : { customerId }),
    vectorSpace: space ?? { $ne: null },
    isContainer: false,
  });
  return {
    check: () => points.check(),
    ensure: (space) => points.ensure(space),
    recreate: (space) => points.recreate(space),
    spaces: (scope) =>
      files.aggregate<UsedSpace>([
        { $match: inScope(scope) },
        { $group: { _id: '$vectorSpace', dimensions: { $max: '$dimensions' }, files: { $sum: 1 } } },
        { $project: { _id: 0, space: '$_id', dimensions: 1, files: 1 } },
        { $sort: { space: 1 } },
      ]),
    async accept(scope) {
      const owners = await files.aggregate<{ _id: Pick<FileDoc, 'organizationId' | 'userId' | 'customerId'> }>([
        { $match: inScope(scope) },
        { $group: { _id: { organizationId: '$organizationId', userId: '$userId', customerId: '$customerId' } } },
        { $sort: { _id: 1 } },
      ]);
      const ids: number[] = [];
      for (let from = 0; from < owners.length; from += ACCEPTED_AT_ONCE) {
        const batch = owners.slice(from, from + ACCEPTED_AT_ONCE).map(({ _id }) => _id);
        const userIds = batch.map(({ userId }) => userId);
        const alive = new Set(await users.distinct('_id', { _id: { $in: userIds }, deletedAt: null }));
        const open = await runs
          .find({
            ...{ kind: 'reembedFiles', userId: { $in: userIds }, finishedAt: null },
            ...{ 'request.model': null, 'request.space': scope.space },
          })
          .hint({ startedAt: 1 })
          .lean();
        const busy = new Set(open.map(({ userId }) => userId));
        ids.push(...open.map(({ _id }) => _id));
        const withoutRun = batch.filter(({ userId }) => alive.has(userId) && !busy.has(userId));
        if (withoutRun.length === 0) continue;
        const firstRunId = await outbox.nextId(withoutRun.length);
        const request: ReembedRequest = {
          ...{ filters: {}, model: null, maxTokens: null },
          ...(scope.space === null ? {} : { space: scope.space }),
        };
        const accepted = withoutRun.map((owner, offset) => {
          const workflowId = workflowIds.reembed(firstRunId + offset);
          const row = { workflowId, owner, fileId: null, requestId: randomUUID(), request };
          return [firstRunId + offset, { kind: 'reembedFiles', cause: 'command', ...row } as const] as const;
        });
        await atomically((session) => outbox.acceptMany(new Map(accepted), session));
        ids.push(...accepted.map(([id]) => id));
      }
      return ids;
    },
    countActive: () => runs.countDocuments({ kind: 'reembedFiles', finishedAt: null }).hint({ startedAt: 1 }).exec(),
    async progress(runIds) {
      const ofRuns = { $in: [...runIds] };
      const [sums, ended] = await Promise.all([
        reembeds.aggregate<{ _id: Pick<ReembedDoc, 'outcome' | 'reason'>; files: number; chunks: number }>([
          { $match: { runId: ofRuns, outcome: { $ne: null } } },
          {
            $group: {
              _id: { outcome: '$outcome', reason: '$reason' },
              files: { $sum: 1 },
              chunks: { $sum: '$chunks' },
            },
          },
        ]),
        runs.find({ _id: ofRuns, finishedAt: { $ne: null } }, { outcome: 1 }).lean(),
      ]);
      const [done] = sums.filter(({ _id }) => _id.outcome === 'reembedded');
      const skipped = sums.flatMap(({ _id, files: count }) =>
        _id.outcome === 'skipped' && _id.reason !== 'container' ? [[_id.reason, count] as const] : [],
      );
      return {
        ...{ runs: runIds.length, finishedRuns: ended.length },
        brokenRuns: ended.filter(({ outcome }) => outcome !== 'finished').length,
        ...{ rebuilt: done?.files ?? 0, chunks: done?.chunks ?? 0 },
        failed: sums.find(({ _id }) => _id.outcome === 'failed')?.files ?? 0,
        skipped: Object.fromEntries(skipped),
      };
    },
    failures: (runIds, limit) =>
      reembeds
        .find({ runId: { $in: [...runIds] }, outcome: 'failed' }, { organizationId: 1, fileId: 1, message: 1 })
        .sort({ runId: 1, fileId: 1 })
        .limit(limit)
        .lean(),
  };
}
