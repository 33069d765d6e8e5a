import { type Connection, type Model, Schema } from 'mongoose';

/** An address that a crawl has come upon and took. One row a run and address; gone with the end of the run. */
export interface CrawlPageDoc {
  runId: number;
  /** Normalised. */
  url: string;
  /** The least number of links from the start address that is known. */
  depth: number;
  /** waiting: its links are not read, or not wanted; read: they are to be followed; followed: they were. */
  state: 'waiting' | 'read' | 'followed';
  /** Where redirects ended; null before it was read. */
  endedAt: string | null;
  /** What it links to. */
  links: string[];
  changedAt: Date;
}

/** A run that was terminated leaves its rows: MongoDB removes what nobody has touched for so long. */
const ROW_LIFE_S = 30 * 24 * 3600;

const crawlPage: Schema<CrawlPageDoc> = new Schema<CrawlPageDoc>(
  {
    runId: { type: Number, required: true },
    url: { type: String, required: true },
    depth: { type: Number, required: true },
    state: { type: String, required: true },
    endedAt: { type: String, default: null },
    links: [String],
    changedAt: { type: Date, required: true },
  },
  { versionKey: false },
);
// add: each address once.
crawlPage.index({ runId: 1, url: 1 }, { unique: true });
// find, unfollowed: the nearest pages first.
crawlPage.index({ runId: 1, state: 1, depth: 1, _id: 1 });
crawlPage.index({ changedAt: 1 }, { expireAfterSeconds: ROW_LIFE_S });

export function crawlPageModel(connection: Connection): Model<CrawlPageDoc> {
  return connection.model<CrawlPageDoc>('crawl_pages', crawlPage, 'crawl_pages');
}
