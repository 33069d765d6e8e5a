import type { Model } from 'mongoose';

import { insertOnce } from '../database/insertOnce.js';
import { type RowsOfFiles, rowsOfFiles } from '../database/rowsOfFiles.js';
import type { RepeatedBlock, SiteBlocksDoc } from '../models/siteBlocks.js';
import type { Tenant } from '../users/accept.js';

/** Identifies the pages of one scrape: `fileId` is the id of their parent file. */
export interface Site extends Tenant {
  readonly fileId: number;
}

/** The repeated blocks of a site. */
export interface LearnedBlocks extends Pick<SiteBlocksDoc, 'runId'> {
  readonly blocks: readonly RepeatedBlock[];
}

/** Repeated blocks of scraped sites, by scrape. */
export interface SiteBlocks extends RowsOfFiles {
  /** Returns null if the pages of the site were never compared. */
  find(site: Site): Promise<LearnedBlocks | null>;
  /**
   * Stores the blocks that a run learned, once per run: a repeated call, and a call of an older run, change nothing.
   * Returns the stored blocks.
   */
  learn(site: Site, runId: number, blocks: readonly RepeatedBlock[]): Promise<LearnedBlocks>;
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
    ...rowsOfFiles(rows),
  };
}
