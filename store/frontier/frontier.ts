import type { Model } from 'mongoose';

import type { CrawlPageDoc } from '../models/frontier.js';
import { updateRows } from '../database/updateRows.js';

/** An address and its distance from the start, in links. */
export type CrawlAddress = Pick<CrawlPageDoc, 'url' | 'depth'>;

/** The links of a page. */
export interface FoundLinks extends Pick<CrawlPageDoc, 'runId' | 'url' | 'links'> {
  /** Address of the page after redirects. */
  readonly finalUrl: string;
}

/**
 * Progress of a crawl: its addresses, and the links of the pages among them. The batches of the run read pages and
 * store their links. A separate step (`followLinks`), one at a time, adds the addresses to which these links lead.
 * Every call is safe to repeat.
 */
export interface Frontier {
  /** Adds addresses. Existing addresses stay unchanged. */
  add(runId: number, addresses: readonly CrawlAddress[]): Promise<void>;
  count(runId: number): Promise<number>;
  /** Returns the address of a page after redirects; null if the run has not read the page. */
  findFinalUrl(runId: number, url: string): Promise<string | null>;
  /** Returns the depth of each address that the run has. */
  findDepths(runId: number, urls: readonly string[]): Promise<Map<string, number>>;
  /**
   * Stores the links of pages. A later step follows them, even if it followed earlier links of the page. Ignores pages
   * that the run does not have.
   */
  saveLinks(found: readonly FoundLinks[]): Promise<void>;
  /** Returns the next pages whose links are to be followed, nearest first. */
  listUnfollowed(runId: number, limit: number): Promise<CrawlPageDoc[]>;
  /** Marks pages whose links were followed. Skips a page whose depth changed since: its links are followed again. */
  markFollowed(runId: number, pages: readonly CrawlAddress[]): Promise<void>;
  /** Lowers the depth of addresses to which a shorter path was found. Their links are followed again. */
  lowerDepths(runId: number, addresses: readonly CrawlAddress[]): Promise<void>;
  /** Deletes the rows of a run that has ended. */
  clear(runId: number): Promise<void>;
}

/** Maximum addresses per query. With 2,000 characters each, the query stays far below MongoDB's limit. */
const PER_QUERY = 1000;
const FOLLOWED = { $eq: ['$state', 'followed'] };

export function createFrontier(pages: Model<CrawlPageDoc>): Frontier {
  return {
    async add(runId, addresses) {
      if (addresses.length === 0) return;
      const changedAt = new Date();
      await pages.bulkWrite(
        addresses.map(({ url, depth }) => ({
          updateOne: {
            filter: { runId, url },
            update: { $setOnInsert: { depth, state: 'waiting' as const, endedAt: null, links: [], changedAt } },
            upsert: true,
          },
        })),
        { ordered: false },
      );
    },
    count: (runId) => pages.countDocuments({ runId }),
    findFinalUrl: async (runId, url) => (await pages.findOne({ runId, url }, { endedAt: 1 }).lean())?.endedAt ?? null,
    async findDepths(runId, urls) {
      const depths = new Map<string, number>();
      for (let from = 0; from < urls.length; from += PER_QUERY) {
        // Sequential, to bound the load on MongoDB.
        const rows = await pages
          .find({ runId, url: { $in: urls.slice(from, from + PER_QUERY) } }, { url: 1, depth: 1 })
          .lean();
        for (const { url, depth } of rows) depths.set(url, depth);
      }
      return depths;
    },
    async saveLinks(found) {
      if (found.length === 0) return;
      const changedAt = new Date();
      await pages.bulkWrite(
        found.map(({ runId, url, finalUrl, links }) => ({
          updateOne: {
            filter: { runId, url },
            update: { $set: { state: 'read' as const, endedAt: finalUrl, links, changedAt } },
          },
        })),
        { ordered: false },
      );
    },
    listUnfollowed: (runId, limit) =>
      pages.find({ runId, state: 'read' }).sort({ depth: 1, _id: 1 }).limit(limit).lean().exec(),
    async markFollowed(runId, followed) {
      if (followed.length === 0) return;
      await pages.bulkWrite(
        followed.map(({ url, depth }) => ({
          updateOne: {
            filter: { runId, url, depth, state: 'read' as const },
            update: { $set: { state: 'followed' as const, changedAt: new Date() } },
          },
        })),
        { ordered: false },
      );
    },
    async lowerDepths(runId, addresses) {
      if (addresses.length === 0) return;
      const changedAt = new Date();
      // Depth and state change in one update: after a crash between two updates, links would stay followed from a depth
      // that is too large.
      await updateRows(
        pages,
        addresses.map(({ url, depth }) => ({
          filter: { runId, url, depth: { $gt: depth } },
          update: [{ $set: { depth, changedAt, state: { $cond: [FOLLOWED, 'read', '$state'] } } }],
        })),
      );
    },
    async clear(runId) {
      await pages.deleteMany({ runId });
    },
  };
}
