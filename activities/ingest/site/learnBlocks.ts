import type { RepeatedBlock } from '../../../store/models/siteBlocks.js';

/** The blocks of one page of a scrape. */
export interface PageBlocks {
  readonly fileId: number;
  readonly host: string;
  /** Distinct ids of the blocks, from the reader of the page. */
  readonly blocks: readonly string[];
}

/** Minimum number of pages of a host from which its blocks are learned. Fewer pages are not representative. */
export const MIN_PAGES = 5;
/**
 * Minimum share of a host's pages that contain a block before it counts as repeated. Sites have pages of several
 * templates.
 */
const MIN_SHARE_OF_PAGES = 0.6;
/** Maximum number of repeated blocks of a scrape, the longest first. */
const MAX_BLOCKS = 500;

const lengthOf = (id: string): number => Number.parseInt(id, 36);

/**
 * Returns the blocks that repeat over most pages of a host. The result depends only on the pages, not on their order.
 * The page with the lowest id keeps the block, so that no text of a site disappears completely.
 */
export function learnBlocks(pages: readonly PageBlocks[]): RepeatedBlock[] {
  const pagesOf = new Map<string, number>();
  for (const { host } of pages) pagesOf.set(host, (pagesOf.get(host) ?? 0) + 1);
  const counts = new Map<string, number>();
  const keptBy = new Map<string, number>();
  const repeatedIds = new Set<string>();
  for (const { fileId, host, blocks } of pages) {
    const numPages = pagesOf.get(host) ?? 0;
    if (numPages < MIN_PAGES) continue;
    for (const id of new Set(blocks)) {
      const key = `${host} ${id}`;
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      keptBy.set(id, Math.min(fileId, keptBy.get(id) ?? fileId));
      if (count >= MIN_SHARE_OF_PAGES * numPages) repeatedIds.add(id);
    }
  }
  return [...repeatedIds]
    .map((id) => ({ id, keptBy: keptBy.get(id) ?? 0 }))
    .toSorted((a, b) => lengthOf(b.id) - lengthOf(a.id) || (a.id < b.id ? -1 : 1))
    .slice(0, MAX_BLOCKS);
}
