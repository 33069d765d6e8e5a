import type { Connection, Model } from 'mongoose';
import { date, list, nested, number, type RecordOf, required, schemaOf, text } from '../database/record.js';

const REPEATED_BLOCK = {
  /** Length of the text, and a hash of host, path of the element in the page, and text. Made by the page reader. */
  id: text,
  /** File id of the page that keeps the block. */
  keptBy: number,
};

const SITE_BLOCKS = {
  organizationId: required(number),
  userId: required(number),
  /** File id of the scrape. */
  fileId: required(number),
  /** The run that compared the pages last. */
  runId: required(number),
  blocks: list(nested(REPEATED_BLOCK)),
  learnedAt: required(date),
};

/** A block that most pages of a site repeat. */
export interface RepeatedBlock extends Readonly<RecordOf<typeof REPEATED_BLOCK>> {}

/** The repeated blocks of the pages of a scrape. One row per scrape, deleted with it. */
export interface SiteBlocksDoc extends RecordOf<typeof SITE_BLOCKS> {}

const siteBlocks = schemaOf<SiteBlocksDoc>(SITE_BLOCKS);
// Used by `find` and `learn`: one row per scrape.
siteBlocks.index({ organizationId: 1, userId: 1, fileId: 1 }, { unique: true });

export function siteBlocksModel(connection: Connection): Model<SiteBlocksDoc> {
  return connection.model<SiteBlocksDoc>('siteBlocks', siteBlocks, 'site_blocks');
}
