import type { Connection, Model } from 'mongoose';
import { date, list, nullable, number, type RecordOf, required, schemaOf, text, textOf } from '../database/record.js';

const CRAWL_PAGE = {
  runId: required(number),
  /** Normalized address. */
  url: required(text),
  /** Smallest known number of links from the start address. */
  depth: required(number),
  /**
   * waiting: the links are not read, or need not be followed; read: the links will be followed; followed: the links
   * were followed.
   */
  state: required(textOf<'waiting' | 'read' | 'followed'>()),
  /** Address after redirects, called `finalUrl` in the code; null before the page is read. */
  endedAt: nullable(text),
  /** Addresses of the links on the page. */
  links: list(text),
  changedAt: required(date),
};

/** An address that a crawl found and accepted. One row per run and address, deleted at the end of the run. */
export interface CrawlPageDoc extends RecordOf<typeof CRAWL_PAGE> {}

/** Lifetime in seconds of rows that a terminated run leaves. It begins at the last change of a row. */
const ROW_LIFE_S = 30 * 24 * 3600;

const crawlPage = schemaOf<CrawlPageDoc>(CRAWL_PAGE);
// Used by `add` and `findFinalUrl`: each address is stored once per run.
crawlPage.index({ runId: 1, url: 1 }, { unique: true });
// Used by `listUnfollowed`: the nearest pages first.
crawlPage.index({ runId: 1, state: 1, depth: 1, _id: 1 });
crawlPage.index({ changedAt: 1 }, { expireAfterSeconds: ROW_LIFE_S });

export function crawlPageModel(connection: Connection): Model<CrawlPageDoc> {
  return connection.model<CrawlPageDoc>('crawl_pages', crawlPage, 'crawl_pages');
}
