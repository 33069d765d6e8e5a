import type { Model } from 'mongoose';

import type { CrawlPageDoc } from '../models/frontier.js';
import { updateRows } from '../database/updateRows.js';

/** An address and its distance from the start, in links. */
export type CrawlAddress = Pick<CrawlPageDoc, 'url' | 'depth'>;

/** What was found on a page. */
export interface FoundLinks extends Pick<CrawlPageDoc, 'runId' | 'url' | 'links'> {
  readonly endedAt: string;
}

/**
 * How far a crawl has come: the addresses it took, and what the pages among them link to. A run's rows are changed by
 * its batches, which tell what they found, and by one step that follows it. Every call is safe to repeat.
 */
export interface Frontier {
  /** Adds addresses; known ones stay unchanged. */
  add(runId: number, addresses: readonly CrawlAddress[]): Promise<void>;
  count(runId: number): Promise<number>;
  /** One address of the run; null when it was not taken. */
  find(runId: number, url: string): Promise<CrawlPageDoc | null>;
  /** The depth of those addresses that are known. */
  depths(runId: number, urls: readonly string[]): Promise<Map<string, number>>;
  /** Records the links of pages, to be followed, again if necessary. Addresses that the run did not take are ignored. */
  keepLinks(found: readonly FoundLinks[]): Promise<void>;
  /** The next pages whose links are to be followed, nearest first. */
  unfollowed(runId: number, limit: number): Promise<CrawlPageDoc[]>;
  /** The links of these pages were followed from the depth they had. */
  followed(runId: number, pages: readonly CrawlAddress[]): Promise<void>;
  /** Known addresses with a new shorter path: their links are followed again from there. */
  shorten(runId: number, addresses: readonly CrawlAddress[]): Promise<void>;
  /** The run has ended. */
  clear(runId: number): Promise<void>;
}

/** Addresses named in one query at most: with 2,000 characters each it stays far below what MongoDB takes. */
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
    find: (runId, url) => pages.findOne({ runId, url }).lean().exec(),
    async depths(runId, urls) {
      const known = new Map<string, number>();
      for (let from = 0; from < urls.length; from += PER_QUERY) {
        // One after the other: a thousand at a time is a bound, not a speed.
        const rows = await pages
          .find({ runId, url: { $in: urls.slice(from, from + PER_QUERY) } }, { url: 1, depth: 1 })
          .lean();
        for (const { url, depth } of rows) known.set(url, depth);
      }
      return known;
    },
    async keepLinks(found) {
      if (found.length === 0) return;
      const changedAt = new Date();
      await pages.bulkWrite(
        found.map(({ runId, url, endedAt, links }) => ({
          updateOne: {
            filter: { runId, url },
            update: { $set: { state: 'read' as const, endedAt, links, changedAt } },
          },
        })),
        { ordered: false },
      );
    },
    unfollowed: (runId, limit) =>
      pages.find({ runId, state: 'read' }).sort({ depth: 1, _id: 1 }).limit(limit).lean().exec(),
    async followed(runId, done) {
      if (done.length === 0) return;
      await pages.bulkWrite(
        done.map(({ url, depth }) => ({
          updateOne: {
            filter: { runId, url, depth, state: 'read' as const },
            update: { $set: { state: 'followed' as const, changedAt: new Date() } },
          },
        })),
        { ordered: false },
      );
    },
    async shorten(runId, addresses) {
      if (addresses.length === 0) return;
      const changedAt = new Date();
      // In one update each: what died between two would leave a page followed from too far.
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
