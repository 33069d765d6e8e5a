/** Trees that are asked for folder by folder. */
import { count, defineCursor, shapeOf, listOf, nullable, pairOf, string, type CursorOf } from './cursors.js';
import { Fault } from '../contract/failures.js';
import type { ItemPage } from './connector.js';

/** Where such a listing goes on. */
const CURSOR = defineCursor(
  shapeOf({
    /** The outermost thing that all of it lies in. */
    root: string,
    /** Folders still to be listed, the next one last, each with how deep it lies. */
    open: listOf(pairOf(string, count)),
    /** Where the listing of that one goes on; null: at its beginning. */
    at: nullable(string),
  }),
);
type FolderWalk = CursorOf<typeof CURSOR>;

/** Deeper folders are not looked into: an answer that leads in circles ends here. */
const MOST_LEVELS = 500;

/** The listing of all that lies in a folder, before its first page. */
export const folderWalk = (folder: string, root: string): string =>
  CURSOR.write({ root, open: [[folder, 0]], at: null });

const pageAt = (page: Omit<ItemPage, 'next'>, walk: FolderWalk): ItemPage => ({
  ...page,
  next: walk.open.length === 0 ? null : CURSOR.write(walk),
});

/**
 * Takes the next page of the next folder. One that went in the meantime is passed over; one that the account may not look
 * into costs itself alone. @param list a page of what lies directly in a folder
 */
export async function takeFolder(
  cursor: string,
  list: (folder: string, at: string | null, root: string) => Promise<ItemPage>,
): Promise<ItemPage> {
  const walk = CURSOR.read(cursor);
  const { root, open, at } = walk;
  const [folder, level] = open.at(-1) ?? [root, 0];
  const behind: FolderWalk = { ...walk, open: open.slice(0, -1), at: null };
  if (level > MOST_LEVELS) return pageAt({ items: [], refused: [folder] }, behind);
  let page: ItemPage;
  try {
    page = await list(folder, at, root);
  } catch (error) {
    const kind = error instanceof Fault ? error.kind : null;
    if (kind === 'not_found') return pageAt({ items: [] }, behind);
    if (kind === 'access_denied') return pageAt({ items: [], refused: [folder] }, behind);
    throw error;
  }
  const inside = page.items.flatMap(({ externalId, isExpandable }) =>
    isExpandable ? [[externalId, level + 1] as const] : [],
  );
  const here: FolderWalk['open'] = page.next === null ? [] : [[folder, level]];
  const { items, skipped = [] } = page;
  return pageAt({ items, skipped }, { root, open: [...behind.open, ...inside, ...here], at: page.next });
}
