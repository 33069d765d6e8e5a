import type { Model } from 'mongoose';

import { insertOnce } from '../database/insertOnce.js';
import type { RepeatedBlock, SiteBlocksDoc } from '../models/siteBlocks.js';
import type { Tenant } from '../users/accept.js';

/** The pages of a scrape, by its file. */
export interface Site extends Tenant {
  readonly fileId: number;
}

/** The repeated blocks of a site. */
export interface LearnedBlocks extends Pick<SiteBlocksDoc, 'runId'> {
  readonly blocks: readonly RepeatedBlock[];
}

/** Repeated blocks of scraped sites, by scrape. */
export interface SiteBlocks {
  /** Returns null if the pages of the site were never compared. */
  find(site: Site): Promise<LearnedBlocks | null>;
  /**
   * Stores the blocks that a run learned, once per run: a repeated call, and a call of an older run, change nothing.
   * Returns the stored blocks.
   */
  learn(site: Site, runId: number, blocks: readonly RepeatedBlock[]): Promise<LearnedBlocks>;
  /** Deletes the blocks of some scrapes. */
  deleteOf(tenant: Tenant, fileIds: readonly number[]): Promise<void>;
  /** Deletes all rows of a user. */
  deleteAll(tenant: Tenant): Promise<void>;
  /** Counts the rows of some scrapes. Used to check that a delete leaves nothing. */
  countOf(tenant: Tenant, fileIds: readonly number[]): Promise<number>;
}

export function createSiteBlocks(rows: Model<SiteBlocksDoc>): SiteBlocks {
  const keyOf = ({ organizationId, userId, fileId }: Site) => ({ organizationId, userId, fileId });
  const find = async (site: Site): Promise<LearnedBlocks | null> => {
    const row = await rows.findOne(keyOf(site)).lean();
    return row && { runId: row.runId, blocks: row.blocks };
  };
  return {
    find,
    async learn(site, runId, blocks) {
      const learned = { runId, blocks: [...blocks], learnedAt: new Date() };
      const isFirst = await insertOnce(rows, [{ ...keyOf(site), ...learned }]);
      if (!isFirst) await rows.updateOne({ ...keyOf(site), runId: { $lt: runId } }, { $set: learned });
      return (await find(site)) ?? { runId, blocks };
    },
    async deleteOf({ organizationId, userId }, fileIds) {
      await rows.deleteMany({ organizationId, userId, fileId: { $in: [...fileIds] } });
    },
    async deleteAll({ organizationId, userId }) {
      await rows.deleteMany({ organizationId, userId });
    },
    countOf: ({ organizationId, userId }, fileIds) =>
      rows.countDocuments({ organizationId, userId, fileId: { $in: [...fileIds] } }).exec(),
  };
}
