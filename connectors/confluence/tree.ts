/** What lies in a space, a page or a folder of Confluence. */
import { defineCursor, shapeOf, listOf, nullable, oneOf, string, type CursorOf } from '../cursors.js';
import { Fault } from '../../contract/failures.js';
import type { ItemPage, SourceItem } from '../connector.js';
import { folderAround, KINDS, itemOfContent, itemOfSpace, skippedOf, type Place, parseItemId } from './adapter.js';
import { askThing, asText, type Call, takePage } from './api.js';
import type { Json } from '../json.js';
import { noSuchItem } from '../faults.js';

const isMissing = (error: unknown): boolean => error instanceof Fault && error.kind === 'not_found';

/** What of a space is listed, one after the other. */
const PARTS = ['pages', 'blogposts'] as const;

const SPACE_CURSOR = defineCursor(
  shapeOf({
    part: oneOf(...PARTS),
    at: nullable(string),
    /** Folders that were listed already; of very many, some are listed again, which changes nothing. */
    folders: listOf(string),
  }),
);
type SpaceCursor = CursorOf<typeof SPACE_CURSOR>;
const MAX_REMEMBERED = 500;

/** Folders are told of by what lies in them alone: those around some pages that are not known yet, up to the outermost. */
async function foldersAround(call: Call, pages: readonly Json[], known: ReadonlySet<string>): Promise<SourceItem[]> {
  const items: SourceItem[] = [];
  const seen = new Set(known);
  const open = pages.map(folderAround);
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === null || seen.has(id)) continue;
    seen.add(id);
    try {
      const json = await askThing(call, ['folders', id]);
      const item = itemOfContent(call.site, 'folders', json);
      if (item !== null) items.push(item);
      open.push(folderAround(json));
    } catch (error) {
      // It went in the meantime, with what lay in it.
      if (!isMissing(error)) throw error;
    }
  }
  return items;
}

/** A page of a space and of all that lies in it: its pages at any depth, then its blog posts. */
export async function belowSpace(call: Call, id: string, text: string | null): Promise<ItemPage> {
  const first: SpaceCursor = { part: 'pages', at: null, folders: [] };
  const { part, at, folders } = text === null ? first : SPACE_CURSOR.read(text);
  const own = text === null ? itemOfSpace(call.site, await askThing(call, ['spaces', id])) : null;
  // By id, so that what is written meanwhile does not move what comes later.
  const { values, next } = await takePage(call, ['spaces', id, part], { status: 'current', sort: 'id' }, at);
  const around = await foldersAround(call, values, new Set(folders));
  const items = values.flatMap((json) => itemOfContent(call.site, part, json) ?? []);
  const remembered = [...folders, ...around.map(({ externalId }) => externalId.slice(externalId.indexOf(':') + 1))];
  const later = PARTS[PARTS.indexOf(part) + 1];
  const cursor: SpaceCursor | null =
    next !== null
      ? { part, at: next, folders: remembered.slice(-MAX_REMEMBERED) }
      : later === undefined
        ? null
        : { part: later, at: null, folders: [] };
  return {
    items: [...(own === null ? [] : [own]), ...around, ...items],
    next: SPACE_CURSOR.writeNext(cursor),
  };
}

/** What is still to be looked into: pages and folders, the first one from where its list goes on. */
const TREE_CURSOR = defineCursor(
  shapeOf({ open: listOf(shapeOf({ kind: oneOf(...KINDS), id: string })), at: nullable(string) }),
);
type TreeCursor = CursorOf<typeof TREE_CURSOR>;

const next = (cursor: TreeCursor): string | null => (cursor.open.length === 0 ? null : TREE_CURSOR.write(cursor));

/** A page, folder or blog post itself. */
async function itself(call: Call, { kind, id }: Place): Promise<SourceItem> {
  if (kind === 'spaces') throw noSuchItem('Confluence');
  const item = itemOfContent(call.site, kind, await askThing(call, [kind, id]));
  if (item === null) throw noSuchItem('Confluence');
  return item;
}

/** Children as listings tell of them: the list of children itself says neither where they lie nor what version they have. */
async function wholeItems(call: Call, children: readonly Json[], parent: Place): Promise<SourceItem[]> {
  const parentType = parent.kind === 'folders' ? 'folder' : 'page';
  const folders = children
    .filter(({ type }) => type === 'folder')
    .flatMap((json) => itemOfContent(call.site, 'folders', { ...json, parentId: parent.id, parentType }) ?? []);
  const ids = children.flatMap((json) => (json['type'] === 'page' ? (asText(json['id']) ?? []) : []));
  if (ids.length === 0) return folders;
  const pages: Json[] = [];
  for (let at: string | null | undefined; at !== null;) {
    const page = await takePage(call, ['pages'], { id: ids.join(','), status: 'current', sort: 'id' }, at ?? null);
    pages.push(...page.values);
    at = page.next;
  }
  return [...folders, ...pages.flatMap((json) => itemOfContent(call.site, 'pages', json) ?? [])];
}

/** A page of what lies in a page or in a folder, at any depth, and at first of that itself. */
export async function belowContent(call: Call, place: Place, text: string | null): Promise<ItemPage> {
  if (text === null) {
    const item = await itself(call, place);
    return { items: [item], next: next({ open: item.isExpandable ? [place] : [], at: null }) };
  }
  const { open, at } = TREE_CURSOR.read(text);
  const [first, ...rest] = open;
  if (first === undefined) return { items: [], next: null };
  try {
    const children = await takePage(call, [first.kind, first.id, 'direct-children'], {}, at);
    const items = await wholeItems(call, children.values, first);
    // What lies in them comes before what lies beside them, so that little is open at once.
    const later = [...items.flatMap(({ externalId }) => parseItemId(externalId) ?? []), ...rest];
    const isWhole = children.next === null;
    const skipped = children.values.flatMap((child) => skippedOf(child) ?? []);
    return { items, skipped, next: next({ open: isWhole ? later : [first, ...later], at: children.next }) };
  } catch (error) {
    // It went in the meantime; the others are still there.
    if (!isMissing(error)) throw error;
    return { items: [], next: next({ open: rest, at: null }) };
  }
}
