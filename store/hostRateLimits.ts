import { randomUUID } from 'node:crypto';
import type { Connection, Model } from 'mongoose';

import type { HostRateLimits, ShareRequest } from '../contract/sources/hostRateLimits.js';
import { date, list, nested, number, optional, orNull, type RecordOf, schemaOf, text } from './database/record.js';
import { upsertByPipeline } from './database/driver.js';

const SHARE = {
  /** Id of the worker. */
  holder: text,
  /** Maximum concurrent requests of the worker. */
  slots: number,
  /** Number of slots of the worker if all workers share them equally. */
  fair: number,
  /** Time at which the share expires. */
  until: date,
};

const HOST = {
  _id: text,
  /** Workers in the order in which they get slots if there are fewer slots than workers. */
  shares: list(nested(SHARE)),
  nextStart: orNull(date),
  /** No request starts before this time. */
  pausedUntil: optional(orNull(date)),
  /** Random id of the last successful claim of a request start. */
  claim: orNull(text),
  askedAt: date,
  /** MongoDB deletes the row at this time if the host is not called until then. */
  expiresAt: date,
};

/** One row per host. All times are the database's, because workers' clocks may differ. */
interface HostDoc extends RecordOf<typeof HOST> {}

/**
 * Lifetime of a share in milliseconds, several renewals long. After it, other workers get the slots of a crashed
 * worker, and a worker that cannot reach MongoDB starts no further requests to the host.
 */
const LEASE_MS = 5_000;
/** Lifetime of a row in milliseconds, longer than any interval between starts. */
const ROW_LIFE_MS = 3_600_000;

type Expression = Record<string, unknown>;
const after = (ms: number): Expression => ({ $add: ['$$NOW', ms] });
const storedShares: Expression = { $ifNull: ['$shares', []] };
const pauseEnd: Expression = { $ifNull: ['$pausedUntil', new Date(0)] };
/** Fields that keep a row at least as long as its pause. */
const expiry: Expression = { expiresAt: { $max: [after(ROW_LIFE_MS), pauseEnd] } };
const msBetween = (from: Date, to: Date | null | undefined): number =>
  Math.max(0, (to?.getTime() ?? 0) - from.getTime());

/** Creates the store of rate limits per host. `leaseMs` is for tests. */
export function createHostRateLimits(
  connection: Connection,
  leaseMs = LEASE_MS,
): HostRateLimits & { createIndexes(): Promise<void> } {
  const hosts = hostModel(connection);
  /** One atomic step: concurrent callers see each other's changes. */
  const change = (host: string, pipeline: Expression[]): Promise<HostDoc> => upsertByPipeline(hosts, host, pipeline);
  return {
    async acquire(request) {
      const { shares, pausedUntil, askedAt } = await change(request.host, sharing(request, leaseMs));
      const share = shares.find(({ holder }) => holder === request.holder);
      return { slots: share?.slots ?? 0, fair: share?.fair ?? 0, leaseMs, pausedMs: msBetween(askedAt, pausedUntil) };
    },
    async release(host, holder) {
      await hosts.updateOne({ _id: host }, { $pull: { shares: { holder } } });
    },
    async reserveRequest(host, intervalMs) {
      const claim = randomUUID();
      const row = await change(host, claiming(claim, intervalMs));
      if (row.claim === claim) return 0;
      return Math.max(1, msBetween(row.askedAt, row.nextStart));
    },
    async pause(host, forMs) {
      await change(host, pausing(forMs));
    },
    async pausedMs(host) {
      const [row] = await hosts.aggregate<{ left: number | null }>([
        { $match: { _id: host } },
        { $project: { left: { $subtract: ['$pausedUntil', '$$NOW'] } } },
      ]);
      return Math.max(0, Number(row?.left ?? 0));
    },
    createIndexes: () => hosts.createIndexes(),
  };
}

/**
 * Removes expired shares and adds this worker's; then grants as many slots as are fair and free. If there are more
 * workers than slots, a worker with slots moves to the end of the queue when it renews, so that all get slots in turn.
 */
function sharing({ host: _host, holder, cap, minSlots }: ShareRequest, leaseMs: number): Expression[] {
  const isOwn: Expression = { $eq: ['$$one.holder', holder] };
  const filtered = (input: unknown, cond: Expression): Expression => ({ $filter: { input, as: 'one', cond } });
  const ownOf = (input: unknown): Expression => filtered(input, isOwn);
  const othersOf = (input: unknown): Expression => filtered(input, { $not: [isOwn] });
  const slotsOf = (input: unknown): Expression => ({ $sum: { $map: { input, in: '$$this.slots' } } });
  const newShare = { holder, slots: 0, fair: 0, until: '$$NOW' };
  return [
    { $set: { shares: filtered(storedShares, { $or: [isOwn, { $gt: ['$$one.until', '$$NOW'] }] }) } },
    {
      $set: {
        shares: { $cond: [{ $in: [holder, '$shares.holder'] }, '$shares', { $concatArrays: ['$shares', [newShare]] }] },
      },
    },
    {
      $set: {
        shares: {
          $cond: [
            { $and: [{ $gt: [{ $size: '$shares' }, cap] }, { $gt: [slotsOf(ownOf('$shares')), 0] }] },
            { $concatArrays: [othersOf('$shares'), ownOf('$shares')] },
            '$shares',
          ],
        },
      },
    },
    {
      $set: {
        shares: {
          $let: {
            vars: {
              count: { $size: '$shares' },
              place: { $indexOfArray: ['$shares.holder', holder] },
              free: { $subtract: [cap, slotsOf(othersOf('$shares'))] },
            },
            in: {
              $let: {
                vars: {
                  fair: {
                    $add: [
                      { $toInt: { $floor: { $divide: [cap, '$$count'] } } },
                      { $cond: [{ $lt: ['$$place', { $mod: [cap, '$$count'] }] }, 1, 0] },
                    ],
                  },
                },
                in: {
                  $map: {
                    input: '$shares',
                    as: 'one',
                    in: {
                      $cond: [
                        isOwn,
                        {
                          holder,
                          slots: { $max: [minSlots, { $min: ['$$fair', '$$free'] }] },
                          fair: '$$fair',
                          until: after(leaseMs),
                        },
                        '$$one',
                      ],
                    },
                  },
                },
              },
            },
          },
        },
      },
    },
    { $set: { askedAt: '$$NOW', ...expiry } },
  ];
}

/** Claims the start of a request only when it is due, so a worker that crashes holds no claim of a later start. */
function claiming(claim: string, intervalMs: number): Expression[] {
  const isDue: Expression = { $lte: [{ $ifNull: ['$nextStart', new Date(0)] }, '$$NOW'] };
  return [
    { $set: { shares: storedShares, claim: { $cond: [isDue, claim, '$claim'] }, askedAt: '$$NOW' } },
    {
      $set: {
        nextStart: { $cond: [isDue, after(intervalMs), '$nextStart'] },
        ...expiry,
      },
    },
  ];
}

function pausing(forMs: number): Expression[] {
  return [{ $set: { shares: storedShares, pausedUntil: { $max: [pauseEnd, after(forMs)] } } }, { $set: expiry }];
}

function hostModel(connection: Connection): Model<HostDoc> {
  const host = schemaOf<HostDoc>(HOST);
  host.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  return connection.model<HostDoc>('hostRateLimits', host, 'hostRateLimits');
}
