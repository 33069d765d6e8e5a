/** The objects that the Notion emulator returns: pages, data sources, databases and blocks. */
import { createHash } from 'node:crypto';

import { bodyOf, type EmulatedBlock, textRun } from './notionBlocks.js';

/** The parent of an item: a page, a block of a page, or (for a row) a data source. Unset: the workspace. */
export type EmulatedParent = { readonly page: string } | { readonly block: string } | { readonly database: string };

export interface EmulatedPage {
  readonly title: string;
  readonly parent?: EmulatedParent;
  blocks?: readonly EmulatedBlock[];
  /** Only for rows: column values by name, without the title. */
  readonly columns?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Minutes since BEGINNING. */
  readonly created?: number;
  /** Minutes since BEGINNING, or an ISO 8601 time. */
  edited?: number | string;
  trashed?: boolean;
}

/** A database with a single data source. */
export interface EmulatedDatabase {
  readonly title: string;
  readonly parent?: EmulatedParent;
  /** Id of the database. */
  readonly container: string;
  trashed?: boolean;
}

export const WORKSPACE = 'f00df00d-0000-4000-8000-000000000001';
export const PEOPLE = [
  { id: 'b0700000-0000-4000-8000-000000000001', label: 'Ada' },
  { id: 'b0700000-0000-4000-8000-000000000002', label: 'Ben' },
];
/** Returns an id made from a number. */
export const notionId = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
/** Returns the id of a block in a page. @param place indexes of the block and its ancestors, outermost first */
export function blockId(page: string, ...place: readonly number[]): string {
  const hex = createHash('sha256')
    .update([page, ...place].join())
    .digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}

const BEGINNING = Date.parse('2026-03-03T10:00:00.000Z');

/** A block with its page and parent. */
interface BlockInPage {
  readonly id: string;
  readonly block: EmulatedBlock;
  readonly page: string;
  readonly parent: Readonly<Record<string, unknown>>;
}

/**
 * Returns functions that convert objects in their current state to JSON.
 * @param databases databases by data source id
 */
export function notionObjects(
  pages: ReadonlyMap<string, EmulatedPage>,
  databases: ReadonlyMap<string, EmulatedDatabase>,
) {
  const parentJson = (parent: EmulatedParent | undefined) => {
    if (parent === undefined) return { type: 'workspace', workspace: true };
    if ('page' in parent) return { type: 'page_id', page_id: parent.page };
    if ('block' in parent) return { type: 'block_id', block_id: parent.block };
    const container = databases.get(parent.database)?.container;
    return { type: 'data_source_id', data_source_id: parent.database, database_id: container };
  };
  const stamp = (edited: number | string = 0): string =>
    // Notion rounds edit times to the minute.
    typeof edited === 'string' ? edited : new Date(BEGINNING + edited * 60_000).toISOString();
  const author = { object: 'user', id: PEOPLE[0]!.id };
  const common = (id: string, item: EmulatedPage | EmulatedDatabase) => ({
    id,
    created_time: stamp('created' in item ? item.created : 0),
    created_by: author,
    last_edited_time: stamp('edited' in item ? item.edited : 0),
    last_edited_by: author,
    archived: item.trashed === true,
    in_trash: item.trashed === true,
    ...constantFields(id),
  });
  /** Returns the fields of pages, data sources and databases that do not depend on the emulated state. */
  const constantFields = (id: string) => ({
    ...{ icon: null, cover: null, public_url: null },
    url: `https://www.notion.so/${id.replaceAll('-', '')}`,
  });
  const pageJson = (id: string) => {
    const page = pages.get(id)!;
    const columns = Object.entries(page.columns ?? {}).map(([name, column]) => {
      const kind = String(column['type']);
      const values = column[kind];
      // Notion returns only the first 25 values of a column with the page.
      return [name, { ...column, [kind]: Array.isArray(values) ? values.slice(0, 25) : values }] as const;
    });
    return {
      object: 'page',
      ...common(id, page),
      ...{ is_archived: page.trashed === true, is_locked: false },
      parent: parentJson(page.parent),
      properties: {
        ...Object.fromEntries(columns),
        title: { id: 'title', type: 'title', title: page.title === '' ? [] : [textRun(page.title)] },
      },
    };
  };
  const sourceJson = (id: string) => {
    const database = databases.get(id)!;
    return {
      object: 'data_source',
      ...common(id, database),
      title: [textRun(database.title)],
      description: [],
      is_inline: false,
      parent: { type: 'database_id', database_id: database.container },
      database_parent: parentJson(database.parent),
      properties: { Name: { id: 'title', name: 'Name', description: null, type: 'title', title: {} } },
    };
  };
  const databaseJson = (id: string) => {
    const dataSources = [...databases].filter(([, { container }]) => container === id);
    const [[, first]] = dataSources as [[string, EmulatedDatabase]];
    return {
      object: 'database',
      id,
      ...constantFields(id),
      ...{ title: [textRun(first.title)], description: [], is_inline: false, is_locked: false },
      ...{ created_time: stamp(), last_edited_time: stamp() },
      ...{ archived: first.trashed === true, in_trash: first.trashed === true },
      parent: parentJson(first.parent),
      data_sources: dataSources.map(([sourceId, { title }]) => ({ id: sourceId, name: title })),
    };
  };
  const blocksOf = (page: string): BlockInPage[] => {
    const all: BlockInPage[] = [];
    const walk = (blocks: readonly EmulatedBlock[], parent: BlockInPage['parent'], place: readonly number[]): void => {
      for (const [index, block] of blocks.entries()) {
        const id = blockId(page, ...place, index);
        all.push({ id, block, page, parent });
        walk(block.children ?? [], { type: 'block_id', block_id: id }, [...place, index]);
      }
    };
    walk(pages.get(page)?.blocks ?? [], { type: 'page_id', page_id: page }, []);
    return all;
  };
  const findBlock = (id: string): BlockInPage | undefined =>
    [...pages.keys()].flatMap(blocksOf).find((placed) => placed.id === id);

  /** Returns the children of a page or block: its blocks, then its pages and databases. */
  const childrenOf = (id: string): Record<string, unknown>[] => {
    const isIn = (parent: EmulatedParent | undefined): boolean =>
      parent !== undefined && (('page' in parent && parent.page === id) || ('block' in parent && parent.block === id));
    const childPages = [...pages].filter(([, page]) => isIn(page.parent) && page.trashed !== true);
    const childDatabases = [...databases.values()].filter(
      (database) => isIn(database.parent) && database.trashed !== true,
    );
    const placed = pages.has(id) ? blocksOf(id) : blocksOf(findBlock(id)?.page ?? '');
    const parentOfChild = parentJson(pages.has(id) ? { page: id } : { block: id });
    return [
      ...placed
        .filter(({ parent }) => Object.values(parent).includes(id))
        .map(({ id: own, block, parent }) => blockJson(own, block, parent)),
      ...childPages.map(([own, { title }]) => blockJson(own, { type: 'child_page', body: { title } }, parentOfChild)),
      ...childDatabases.map(({ container, title }) =>
        blockJson(container, { type: 'child_database', body: { title } }, parentOfChild),
      ),
    ];
  };
  const blockJson = (id: string, block: EmulatedBlock, parent: object) => {
    const { type, children = [] } = block;
    return {
      object: 'block',
      id,
      parent,
      type,
      ...{ created_time: stamp(), created_by: author, last_edited_time: stamp(), last_edited_by: author },
      ...{ archived: false, in_trash: false },
      has_children:
        type === 'unsupported' ||
        children.length > 0 ||
        (type === 'child_page' ? childrenOf(id).length > 0 : hasChildren(id)),
      [type]: bodyOf(block),
    };
  };
  const hasChildren = (block: string): boolean =>
    [...pages.values(), ...databases.values()].some(
      ({ parent }) => parent !== undefined && 'block' in parent && parent.block === block,
    );

  return { pageJson, sourceJson, databaseJson, blockJson, childrenOf, findBlock };
}
