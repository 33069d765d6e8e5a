import type { Model } from 'mongoose';

import { stateOfWorker } from '../../contract/runs/workers.js';
import { FILE_SYNC_STATUSES } from '../../contract/files/statuses.js';
import type { Backlog } from '../../observability/backlog.js';
import type { EventRowDoc } from '../models/events.js';
import { FILTER_INDEXES } from '../models/fileIndexes.js';
import type { FileDoc } from '../models/files.js';
import type { RunDoc } from '../models/runs.js';
import type { Stalls } from '../runs/stalls.js';
import type { Workers } from '../workers/workers.js';
import { ANY_NUMBER, type WebhookDoc } from '../models/webhooks.js';

/** Time limit of one query, in milliseconds. */
const MAX_MS = 20_000;
/** Maximum number of receivers with pending work that are read. */
const MAX_WEBHOOKS = 1_000;

interface BacklogParts {
  readonly files: Model<FileDoc>;
  readonly runs: Model<RunDoc>;
  readonly events: Model<EventRowDoc>;
  readonly webhooks: Model<WebhookDoc>;
  readonly stalls: Pick<Stalls, 'groupByCause'>;
  readonly workers: Pick<Workers, 'list'>;
}

/** Counts all files by status from the keys of an index, without reading documents: about 0.5 s per million files. */
export const countFilesByStatus = (files: Model<FileDoc>) =>
  files
    .aggregate<{ _id: string; count: number }>([{ $group: { _id: '$syncStatus', count: { $sum: 1 } } }])
    .hint(FILTER_INDEXES.status)
    .option({ maxTimeMS: MAX_MS });

const openRuns = (runs: Model<RunDoc>) =>
  runs
    .aggregate<{ _id: { kind: string; state: string }; count: number; oldestAt: Date }>([
      { $match: { finishedAt: null } },
      {
        $group: {
          _id: {
            kind: '$kind',
            state: {
              $switch: {
                branches: [
                  { case: { $ne: ['$startedAt', null] }, then: 'under_way' },
                  { case: { $eq: ['$held', true] }, then: 'held' },
                ],
                default: 'waiting',
              },
            },
          },
          count: { $sum: 1 },
          oldestAt: { $min: '$acceptedAt' },
        },
      },
    ])
    .hint({ startedAt: 1 })
    .option({ maxTimeMS: MAX_MS });

/**
 * Returns, for each receiver with pending events, the number of pending deliveries and the time of the oldest event
 * among them, and the time of the oldest event without a delivery.
 */
const openDeliveries = (webhooks: Model<WebhookDoc>) =>
  webhooks
    .aggregate<{ pending: { count: number; oldestAt: Date }[]; fresh: { at: Date }[] }>([
      { $match: { wake: ANY_NUMBER, deletedAt: null, disabledAt: null } },
      { $limit: MAX_WEBHOOKS },
      {
        $lookup: {
          from: 'webhook_deliveries',
          localField: '_id',
          foreignField: 'webhookId',
          pipeline: [
            { $match: { status: 'PENDING' } },
            { $group: { _id: null, count: { $sum: 1 }, oldestAt: { $min: '$event.at' } } },
          ],
          as: 'pending',
        },
      },
      {
        $lookup: {
          from: 'events',
          localField: 'organizationId',
          foreignField: 'organizationId',
          let: { cursor: '$cursor' },
          pipeline: [
            { $match: { $expr: { $gt: ['$last', '$$cursor'] } } },
            { $sort: { last: 1 } },
            { $limit: 1 },
            { $project: { at: 1 } },
          ],
          as: 'fresh',
        },
      },
      { $project: { pending: 1, fresh: 1 } },
    ])
    .option({ maxTimeMS: MAX_MS });

/** Creates the reader of the backlog of the whole service: counts only, over all organizations. */
export function createBacklogReader({
  files,
  runs,
  events,
  webhooks,
  stalls,
  workers,
}: BacklogParts): () => Promise<Backlog> {
  return async () => {
    const [byStatus, open, receivers, stalled, reports, failingWebhooks, unnumbered] = await Promise.all([
      countFilesByStatus(files),
      openRuns(runs),
      openDeliveries(webhooks),
      stalls.groupByCause(),
      workers.list(),
      webhooks
        .countDocuments({ deletedAt: null, $or: [{ status: 'FLAGGED' }, { failing: { $ne: null } }] })
        .maxTimeMS(MAX_MS),
      events.findOne({ last: null }, { at: 1 }).sort({ writtenAt: 1 }).maxTimeMS(MAX_MS).lean(),
    ]);
    const counts = new Map(byStatus.map(({ _id, count }) => [_id, count]));
    const times = receivers.flatMap(({ pending, fresh }) => [
      ...pending.map(({ oldestAt }) => oldestAt.getTime()),
      ...fresh.map(({ at }) => at.getTime()),
    ]);
    return {
      files: Object.fromEntries(FILE_SYNC_STATUSES.map((status) => [status, counts.get(status) ?? 0])),
      runs: open.map(({ _id, count, oldestAt }) => ({ ..._id, count, oldestAt })),
      deliveries: {
        waiting: receivers.reduce((sum, { pending }) => sum + (pending[0]?.count ?? 0), 0),
        oldestAt: times.length === 0 ? null : new Date(Math.min(...times)),
      },
      stalled: stalled.map(({ cause, runs: count }) => ({ cause, runs: count })),
      workers: {
        alive: reports.filter((report) => stateOfWorker(report) === 'alive').length,
        starved: reports.filter((report) => stateOfWorker(report) === 'starved').length,
        silent: reports.filter((report) => stateOfWorker(report) === 'silent').length,
      },
      failingWebhooks,
      unnumberedEventAt: unnumbered?.at ?? null,
    };
  };
}
