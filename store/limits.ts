import type { Model } from 'mongoose';

import { type EffectiveLimits, effectiveLimits, type LimitName } from '../contract/limits.js';
import { FINAL_FILE_STATUSES, UNDER_WAY_STATUSES } from '../contract/files/statuses.js';
import type { FileDoc } from './models/files.js';
import type { FileQueue } from './files/queue.js';
import { transition } from './files/transitions.js';
import type { OrganizationDoc } from './models/organizations.js';
import type { Session } from './database/sequence.js';
import type { Tenant } from './users/accept.js';
import type { UserDoc } from './models/users.js';

/** Held-back files of a run that are looked at in one turn. */
const FILES_PER_TURN = 1000;

/** A text that was read and is about to be kept. */
export interface ReadText extends Tenant {
  readonly runId: number;
  readonly fileId: number;
  readonly characters: number;
}

/**
 * Keeps users within their limits, and queues their files in turn where more are accepted than the queue takes. The totals of a user (max_files, max_characters) are decided by one caller at a time for
 * each user, so that parallel runs don't exceed them together; users without such limits pay nothing.
 */
export interface Limits {
  /** The limits that hold for a user. */
  of(tenant: Tenant): Promise<EffectiveLimits>;
  /**
   * Holds back the run's new files, newest first, that exceed the user's limits, and releases held ones,
   * oldest first, when there is room again: within the limits, and in the queue. Returns the limit that held files back in this call.
   */
  takeTurn(tenant: Tenant, runId: number, limits: EffectiveLimits): Promise<LimitName | null>;
  /** Counts a text in, or answers the limit that it would break. Safe to repeat. */
  admit(text: ReadText, limits: EffectiveLimits): Promise<LimitName | null>;
}

interface LimitModels {
  readonly users: Model<UserDoc>;
  readonly organizations: Model<OrganizationDoc>;
  readonly files: Model<FileDoc>;
  readonly queue: FileQueue;
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>;
}

/** What a file counts: its text, or the one that is just being kept. */
const CHARACTERS = {
  $cond: [
    { $in: ['$syncStatus', [...UNDER_WAY_STATUSES]] },
    { $max: ['$statistics.numCharacters', '$reservedCharacters'] },
    '$statistics.numCharacters',
  ],
};

const HELD =
  'It waits because a limit of the user is reached. It continues when the limit is raised or files are deleted.';

export function createLimits({ users, organizations, files, queue, transaction }: LimitModels): Limits {
  /** Serializes all work on this user's limits: a concurrent transaction is retried. */
  const alone = <T>({ organizationId, userId }: Tenant, work: (session: Session) => Promise<T>): Promise<T> =>
    transaction(async (session) => {
      await users.updateOne({ _id: userId, organizationId }, { $inc: { limitTurns: 1 } }).session(session);
      return work(session);
    });
  const charactersOf = async (query: object, session: Session): Promise<number> => {
    const [sum] = await files
      .aggregate<{ characters: number }>([
        { $match: { ...query, isContainer: false } },
        { $group: { _id: null, characters: { $sum: CHARACTERS } } },
      ])
      .session(session);
    return sum?.characters ?? 0;
  };
  const ofTenant = ({ organizationId, userId }: Tenant) => ({ organizationId, userId });
  /** Files that have content, or are on their way to it. */
  const countTaken = (tenant: Tenant, session: Session): Promise<number> =>
    files
      .countDocuments({
        ...ofTenant(tenant),
        isContainer: false,
        $or: [{ generation: { $gt: 0 } }, { syncStatus: { $nin: ['DELAYED', ...FINAL_FILE_STATUSES] } }],
      })
      .session(session)
      .exec();

  /** Puts the run's newest files back that have no content yet. */
  const holdBack = async (runId: number, excess: number, session: Session): Promise<void> => {
    const withoutContent = { isContainer: false, generation: 0 };
    const last = await files
      .findOne({ ...withoutContent, runId, syncStatus: 'QUEUED_FOR_SYNC' }, { _id: 1 })
      .sort({ _id: -1 })
      .skip(excess - 1)
      .session(session)
      .lean();
    // There may be fewer than that: all of them wait then.
    const { filter, update } = transition('holdBack', {
      owner: { runId },
      where: { ...withoutContent, ...(last ? { _id: { $gte: last._id } } : {}) },
      message: HELD,
    });
    await files.updateMany(filter, update).session(session);
  };

  /** How many held-back files of the run the queue takes now. */
  const queueRoom = async (tenant: Tenant, runId: number): Promise<number> => {
    const held = await files.countDocuments({ runId, syncStatus: 'DELAYED' }).limit(FILES_PER_TURN).exec();
    return held === 0 ? 0 : queue.room(tenant, runId, held);
  };
  /** Queues the run's oldest held-back files that fit into what is left of files, characters and the queue. */
  const releaseDelayed = async (
    runId: number,
    room: { files: number; characters: number; queue: number },
    session: Session,
  ): Promise<void> => {
    if (room.queue === 0) return;
    const held = await files
      .find({ runId, syncStatus: 'DELAYED' }, { generation: 1, delayedCharacters: 1 })
      .sort({ _id: 1 })
      .limit(FILES_PER_TURN)
      .session(session)
      .lean();
    let { files: filesLeft, characters: charactersLeft } = room;
    const ids: number[] = [];
    for (const { _id, generation, delayedCharacters } of held) {
      const places = generation > 0 ? 0 : 1;
      const needed = delayedCharacters ?? 1;
      if (ids.length === room.queue) break;
      if (places > filesLeft || needed > charactersLeft) continue;
      filesLeft -= places;
      charactersLeft -= delayedCharacters ?? 0;
      ids.push(_id);
    }
    if (ids.length === 0) return;
    const { filter, update } = transition('releaseDelayed', {
      owner: { runId },
      where: { _id: { $in: ids } },
      message: null,
      set: { notBefore: null },
    });
    await files.updateMany(filter, update).session(session);
  };

  return {
    async of({ organizationId, userId }) {
      const [user, organization] = await Promise.all([
        users.findOne({ _id: userId, organizationId }, { customLimits: 1 }).lean(),
        organizations.findById(organizationId, { userLimits: 1 }).lean(),
      ]);
      return effectiveLimits(user?.customLimits ?? {}, organization?.userLimits ?? {});
    },
    async takeTurn(tenant, runId, { max_files, max_characters }) {
      const inQueue = await queueRoom(tenant, runId);
      if (max_files === null && max_characters === null) {
        await releaseDelayed(runId, { files: Infinity, characters: Infinity, queue: inQueue }, null);
        return null;
      }
      return alone(tenant, async (session) => {
        const left = max_files === null ? Infinity : max_files - (await countTaken(tenant, session));
        const characters =
          max_characters === null ? Infinity : max_characters - (await charactersOf(ofTenant(tenant), session));
        if (left < 0) await holdBack(runId, -left, session);
        else await releaseDelayed(runId, { files: left, characters, queue: inQueue }, session);
        return left < 0 ? 'max_files' : null;
      });
    },
    async admit({ runId, fileId, characters, ...tenant }, limits) {
      const { max_characters_per_file: perFile, max_characters_per_upload: perUpload, max_characters: inAll } = limits;
      if (perFile !== null && characters > perFile) return 'max_characters_per_file';
      if (perUpload === null && inAll === null) return null;
      return alone(tenant, async (session) => {
        const others = { _id: { $ne: fileId } };
        const note = (fields: Partial<FileDoc>) =>
          files.updateOne({ _id: fileId, runId, ...ofTenant(tenant) }, { $set: fields }).session(session);
        if (perUpload !== null && (await charactersOf({ ...others, runId }, session)) + characters > perUpload)
          return 'max_characters_per_upload';
        if (inAll !== null) {
          const used = await charactersOf({ ...others, ...ofTenant(tenant) }, session);
          if (used + characters > inAll) {
            await note({ delayedCharacters: characters });
            return 'max_characters';
          }
        }
        await note({ reservedCharacters: characters });
        return null;
      });
    },
  };
}
