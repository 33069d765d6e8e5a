/** Walks trees that are listed one folder at a time. */
import { count, listOf, nullable, pairOf, readCursor, shapeOf, string, writeCursor, type Checked } from './cursors.js';
import { Fault } from '../contract/failures.js';
import type { ItemPage } from './sourceItem.js';

/** Position in a listing of folders. */
const CURSOR = shapeOf({
  /** The root item of the whole walk. */
  root: string,
  /** Folders still to be listed, each with its depth. The last one is listed next. */
  open: listOf(pairOf(string, count)),
  /** Position in the listing of the last folder of `open`; null: at the beginning. */
  at: nullable(string),
});
type FolderWalk = Checked<typeof CURSOR>;

/** Maximum depth; it also ends a walk through cyclic answers. */
const MAX_LEVELS = 500;

/** Returns the cursor of a walk over all descendants of a folder, before its first page. */
export const folderWalk = (folder: string, root: string): string =>
  writeCursor({ root, open: [[folder, 0]], at: null });

const pageAt = (page: Omit<ItemPage, 'next'>, walk: FolderWalk): ItemPage => ({
  ...page,
  next: walk.open.length === 0 ? null : writeCursor(walk),
});

/**
 * Returns the next page of the folder that is listed next. A folder that was deleted in the meantime is skipped; an
 * inaccessible folder is reported in `refused`.
 * @param list returns a page of the direct contents of a folder
 */
export async function nextFolderPage(
  cursor: string,
  list: (folder: string, at: string | null, root: string) => Promise<ItemPage>,
): Promise<ItemPage> {
  const walk = readCursor(CURSOR, cursor);
  const { root, open, at } = walk;
  const [folder, level] = open.at(-1) ?? [root, 0];
  const afterFolder: FolderWalk = { ...walk, open: open.slice(0, -1), at: null };
  if (level > MAX_LEVELS) return pageAt({ items: [], refused: [folder] }, afterFolder);
  let page: ItemPage;
  try {
    page = await list(folder, at, root);
  } catch (error) {
    const kind = error instanceof Fault ? error.kind : null;
    if (kind === 'not_found') return pageAt({ items: [] }, afterFolder);
    if (kind === 'access_denied') return pageAt({ items: [], refused: [folder] }, afterFolder);
    throw error;
  }
  const subfolders = page.items.flatMap(({ externalId, isExpandable }) =>
    isExpandable ? [[externalId, level + 1] as const] : [],
  );
  const unfinished: FolderWalk['open'] = page.next === null ? [] : [[folder, level]];
  const { next: _next, ...found } = page;
  return pageAt(found, { root, open: [...afterFolder.open, ...subfolders, ...unfinished], at: page.next });
}
