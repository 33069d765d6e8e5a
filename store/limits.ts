import type { Model } from 'mongoose';

import { type EffectiveLimits, effectiveLimits, type LimitName } from '../contract/limits.js';
import { FINAL_FILE_STATUSES, IN_PROGRESS_STATUSES } from '../contract/files/statuses.js';
import type { FileDoc } from './models/files.js';
import type { FileQueue } from './files/queue.js';
import { transition } from './files/transitions.js';
import type { OrganizationDoc } from './models/organizations.js';
import type { Session } from './database/sequence.js';
import type { Tenant } from './users/accept.js';
import type { UserDoc } from './models/users.js';

/** Maximum number of delayed files of a run that one call processes. */
const FILES_PER_CALL = 1000;
/** Free characters that are required for a file of unknown length, which was never read. */
const UNREAD_CHARACTERS = 1;

/** A text that was read and is about to be stored. */
export interface ReadText extends Tenant {
  readonly runId: number;
  readonly fileId: number;
  readonly characters: number;
}

/**
 * Enforces the limits of users, and releases delayed files only while the queue of the user has room. Decisions about
 * the totals of a user (max_files, max_characters) are serialized per user, so that parallel runs cannot exceed them
 * together; users without such limits have no extra cost.
 */
export interface Limits {
  /** Returns the limits that apply to a user. */
  get(tenant: Tenant): Promise<EffectiveLimits>;
  /**
   * Delays the run's new files, newest first, that exceed max_files. Releases delayed files, oldest first, as far as the
   * limits and the queue allow. Returns the limit that delayed files in this call; null if none did.
   */
  applyLimits(tenant: Tenant, runId: number, limits: EffectiveLimits): Promise<LimitName | null>;
  /** Reserves the characters of a text and returns null, or returns the limit that it would exceed. Safe to repeat. */
  admit(text: ReadText, limits: EffectiveLimits): Promise<LimitName | null>;
}

interface LimitModels {
  readonly users: Model<UserDoc>;
  readonly organizations: Model<OrganizationDoc>;
  readonly files: Model<FileDoc>;
  readonly queue: FileQueue;
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>;
}

/** Characters of a file: those of its stored text or, during a sync, of the text being stored if it is longer. */
const CHARACTERS = {
  $cond: [
    { $in: ['$syncStatus', [...IN_PROGRESS_STATUSES]] },
    { $max: ['$statistics.numCharacters', '$reservedCharacters'] },
    '$statistics.numCharacters',
  ],
};

const DELAYED_MESSAGE =
  'This file waits because the user has reached a limit. It continues when the limit is raised or files are deleted.';

export function createLimits({ users, organizations, files, queue, transaction }: LimitModels): Limits {
  /** Serializes all work on this user's limits: a concurrent transaction is retried. */
  const serializeUser = <T>({ organizationId, userId }: Tenant, work: (session: Session) => Promise<T>): Promise<T> =>
    transaction(async (session) => {
      await users.updateOne({ _id: userId, organizationId }, { $inc: { limitVersion: 1 } }).session(session);
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
  /** Counts files that have content, or whose first sync is queued or in progress. */
  const countLimitedFiles = (tenant: Tenant, session: Session): Promise<number> =>
    files
      .countDocuments({
        ...ofTenant(tenant),
        isContainer: false,
        $or: [{ generation: { $gt: 0 } }, { syncStatus: { $nin: ['DELAYED', ...FINAL_FILE_STATUSES] } }],
      })
      .session(session)
      .exec();

  /** Delays the run's newest files without content. Returns how many. */
  const delayNewest = async (runId: number, excess: number, session: Session): Promise<number> => {
    const withoutContent = { isContainer: false, generation: 0 };
    const last = await files
      .findOne({ ...withoutContent, runId, syncStatus: 'QUEUED_FOR_SYNC' }, { _id: 1 })
      .sort({ _id: -1 })
      .skip(excess - 1)
      .session(session)
      .lean();
    // If there are fewer files than the excess, all of them are delayed.
    const { filter, update } = transition('delayNewest', {
      owner: { runId },
      where: { ...withoutContent, ...(last ? { _id: { $gte: last._id } } : {}) },
      message: DELAYED_MESSAGE,
    });
    return (await files.updateMany(filter, update).session(session)).modifiedCount;
  };

  /** Returns how many delayed files of the run the queue accepts now. */
  const queueRoom = async (tenant: Tenant, runId: number): Promise<number> => {
    const delayedCount = await files.countDocuments({ runId, syncStatus: 'DELAYED' }).limit(FILES_PER_CALL).exec();
    return delayedCount === 0 ? 0 : queue.freeSlots(tenant, runId, delayedCount);
  };
  /** Queues the run's oldest delayed files that fit into the remaining files, characters and queue. */
  const releaseDelayed = async (
    runId: number,
    room: { files: number; characters: number; queue: number },
    session: Session,
  ): Promise<void> => {
    if (room.queue === 0) return;
    // Exclude files that do not fit now: FILES_PER_CALL old ones would hide all later files that fit.
    const fitting = {
      ...(room.files === 0 && { generation: { $gt: 0 } }),
      ...(room.characters !== Infinity && {
        $or: [
          { delayedCharacters: { $lte: room.characters } },
          ...(room.characters >= UNREAD_CHARACTERS ? [{ delayedCharacters: null }] : []),
        ],
      }),
    };
    const delayedFiles = await files
      .find({ runId, syncStatus: 'DELAYED', ...fitting }, { generation: 1, delayedCharacters: 1 })
      .sort({ _id: 1 })
      .limit(FILES_PER_CALL)
      .session(session)
      .lean();
    let { files: filesLeft, characters: charactersLeft } = room;
    const ids: number[] = [];
    for (const { _id, generation, delayedCharacters } of delayedFiles) {
      const newFiles = generation > 0 ? 0 : 1;
      const needed = delayedCharacters ?? UNREAD_CHARACTERS;
      if (ids.length === room.queue) break;
      if (newFiles > filesLeft || needed > charactersLeft) continue;
      filesLeft -= newFiles;
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
    async get({ organizationId, userId }) {
      const [user, organization] = await Promise.all([
        users.findOne({ _id: userId, organizationId }, { customLimits: 1 }).lean(),
        organizations.findById(organizationId, { userLimits: 1 }).lean(),
      ]);
      return effectiveLimits(user?.customLimits ?? {}, organization?.userLimits ?? {});
    },
    async applyLimits(tenant, runId, { max_files, max_characters }) {
      const queueSlots = await queueRoom(tenant, runId);
      if (max_files === null && max_characters === null) {
        await releaseDelayed(runId, { files: Infinity, characters: Infinity, queue: queueSlots }, null);
        return null;
      }
      return serializeUser(tenant, async (session) => {
        const freeFiles = max_files === null ? Infinity : max_files - (await countLimitedFiles(tenant, session));
        const characters =
          max_characters === null ? Infinity : max_characters - (await charactersOf(ofTenant(tenant), session));
        const delayedCount = freeFiles < 0 ? await delayNewest(runId, -freeFiles, session) : 0;
        // Files with content already count, so they continue although max_files is exceeded.
        const room = { files: Math.max(freeFiles, 0), characters, queue: queueSlots };
        await releaseDelayed(runId, room, session);
        return delayedCount > 0 ? 'max_files' : null;
      });
    },
    async admit({ runId, fileId, characters, ...tenant }, limits) {
      const {
        max_characters_per_file: perFile,
        max_characters_per_upload: perUpload,
        max_characters: inTotal,
      } = limits;
      if (perFile !== null && characters > perFile) return 'max_characters_per_file';
      if (perUpload === null && inTotal === null) return null;
      return serializeUser(tenant, async (session) => {
        const otherFiles = { _id: { $ne: fileId } };
        const setFields = (fields: Partial<FileDoc>) =>
          files.updateOne({ _id: fileId, runId, ...ofTenant(tenant) }, { $set: fields }).session(session);
        if (perUpload !== null && (await charactersOf({ ...otherFiles, runId }, session)) + characters > perUpload)
          return 'max_characters_per_upload';
        if (inTotal !== null) {
          const used = await charactersOf({ ...otherFiles, ...ofTenant(tenant) }, session);
          if (used + characters > inTotal) {
            await setFields({ delayedCharacters: characters });
            return 'max_characters';
          }
        }
        await setFields({ reservedCharacters: characters });
        return null;
      });
    },
  };
}
