/**
 * Emulates Notion by its published API (version 2025-09-03): pages, databases and blocks of one workspace. A test changes
 * them and their sharing with the person who consents.
 */
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';

import { type ConsentingEmulator, startConsenting } from './consentEmulator.js';
import { type Call, type Refused, sendJson } from './emulator.js';

/** The parent of an item: a page, a block of a page, or (for a row) a data source. Unset: the workspace. */
export type EmulatedParent = { readonly page: string } | { readonly block: string } | { readonly database: string };

export interface EmulatedBlock {
  readonly type: string;
  /** Its `rich_text`, as a single run. */
  readonly text?: string;
  /** Further members under its type. */
  readonly body?: Readonly<Record<string, unknown>>;
  readonly children?: readonly EmulatedBlock[];
}

export interface EmulatedPage {
  readonly title: string;
  readonly parent?: EmulatedParent;
  blocks?: readonly EmulatedBlock[];
  /** Only for rows: column values by name, without the title. */
  readonly columns?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Minutes since BEGINNING, or an ISO 8601 time. */
  edited?: number | string;
  trashed?: boolean;
}

/** A data source in a database of its own. */
export interface EmulatedDatabase {
  readonly title: string;
  readonly parent?: EmulatedParent;
  /** Id of the database. */
  readonly container: string;
  trashed?: boolean;
}

type NotionRefused = Refused & { readonly code?: string };

export interface NotionEmulator extends ConsentingEmulator<NotionRefused> {
  /** The value of SOURCE_URLS. */
  readonly settings: string;
  readonly pages: Map<string, EmulatedPage>;
  /** By data source id. */
  readonly databases: Map<string, EmulatedDatabase>;
  /** Ids of items that are not shared. */
  readonly hidden: Set<string>;
  /** Whether searches return incomplete results. */
  readonly search: { isIncomplete: boolean };
}

const CONSENT = { authorize: '/v1/oauth/authorize', token: '/v1/oauth/token' };
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

const VERSION = '2025-09-03';
const BEGINNING = Date.parse('2026-03-03T10:00:00.000Z');
const CODES: Readonly<Record<number, string>> = {
  400: 'validation_error',
  401: 'unauthorized',
  403: 'restricted_resource',
  404: 'object_not_found',
  429: 'rate_limited',
  529: 'service_overload',
};
const refuse = (response: ServerResponse, { status, headers = {}, code }: NotionRefused): void =>
  sendJson(
    response,
    status,
    { object: 'error', status, code: code ?? CODES[status] ?? 'internal_server_error', message: 'no', request_id: 'r' },
    headers,
  );

/** Returns a text as a single run. */
export const run = (text: string, more: Readonly<Record<string, unknown>> = {}) => ({
  type: 'text',
  text: { content: text, link: null },
  annotations: { bold: false, italic: false, strikethrough: false, underline: false, code: false, color: 'default' },
  plain_text: text,
  href: null,
  ...more,
});

/** A block with its page and parent. */
interface Placed {
  readonly id: string;
  readonly block: EmulatedBlock;
  readonly page: string;
  readonly parent: Readonly<Record<string, unknown>>;
}

/** @param perPage page size, whatever the request asks for */
export async function startNotion({ perPage = 2 } = {}): Promise<NotionEmulator> {
  const pages = new Map<string, EmulatedPage>();
  const databases = new Map<string, EmulatedDatabase>();
  const hidden = new Set<string>();
  const search = { isIncomplete: false };

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
  const common = (id: string, item: EmulatedPage | EmulatedDatabase) => ({
    id,
    created_time: stamp(),
    last_edited_time: stamp('edited' in item ? item.edited : 0),
    archived: item.trashed === true,
    in_trash: item.trashed === true,
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
      parent: parentJson(page.parent),
      properties: {
        ...Object.fromEntries(columns),
        title: { id: 'title', type: 'title', title: page.title === '' ? [] : [run(page.title)] },
      },
    };
  };
  const sourceJson = (id: string) => {
    const database = databases.get(id)!;
    return {
      object: 'data_source',
      ...common(id, database),
      title: [run(database.title)],
      parent: { type: 'database_id', database_id: database.container },
      database_parent: parentJson(database.parent),
      properties: { Name: { id: 'title', name: 'Name', type: 'title', title: {} } },
    };
  };
  const blocksOf = (page: string): Placed[] => {
    const all: Placed[] = [];
    const walk = (blocks: readonly EmulatedBlock[], parent: Placed['parent'], place: readonly number[]): void => {
      for (const [index, block] of blocks.entries()) {
        const id = blockId(page, ...place, index);
        all.push({ id, block, page, parent });
        walk(block.children ?? [], { type: 'block_id', block_id: id }, [...place, index]);
      }
    };
    walk(pages.get(page)?.blocks ?? [], { type: 'page_id', page_id: page }, []);
    return all;
  };
  const findBlock = (id: string): Placed | undefined =>
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
    return [
      ...placed
        .filter(({ parent }) => Object.values(parent).includes(id))
        .map(({ id: own, block, parent }) => blockJson(own, block, parent)),
      ...childPages.map(([own, { title }]) => blockJson(own, { type: 'child_page', body: { title } }, {})),
      ...childDatabases.map(({ container, title }) =>
        blockJson(container, { type: 'child_database', body: { title } }, {}),
      ),
    ];
  };
  const blockJson = (id: string, { type, text, body = {}, children = [] }: EmulatedBlock, parent: object) => ({
    object: 'block',
    id,
    parent,
    type,
    has_children:
      type === 'unsupported' ||
      children.length > 0 ||
      (type === 'child_page' ? childrenOf(id).length > 0 : hasChildren(id)),
    [type]: { ...(text === undefined ? {} : { rich_text: [run(text)] }), ...body },
  });
  const hasChildren = (block: string): boolean =>
    [...pages.values(), ...databases.values()].some(
      ({ parent }) => parent !== undefined && 'block' in parent && parent.block === block,
    );

  /** Sends a page of a list. A cursor is the id of the next item. */
  const send = (
    response: ServerResponse,
    all: readonly Readonly<Record<string, unknown>>[],
    parameters: { readonly start_cursor?: unknown; readonly page_size?: unknown },
    more: object = {},
  ): void => {
    const start = parameters.start_cursor === undefined ? 0 : all.findIndex(({ id }) => id === parameters.start_cursor);
    if (start < 0) return refuse(response, { status: 400 });
    const results = all.slice(start, start + Math.min(perPage, Number(parameters.page_size ?? 100)));
    const after = all[start + results.length];
    sendJson(response, 200, {
      object: 'list',
      results,
      next_cursor: after?.['id'] ?? null,
      has_more: after !== undefined,
      ...more,
    });
  };

  const answer = ({
    method,
    path: [, resource = '', id = '', rest = '', column = ''],
    query,
    body,
    response,
  }: Call): void => {
    const missing = (): void => refuse(response, { status: 404 });
    const parameters =
      method === 'POST' ? (JSON.parse(body.toString() || '{}') as Record<string, unknown>) : Object.fromEntries(query);
    if (resource === 'search' && method === 'POST') {
      const edited = (item: { last_edited_time: string; id: string }): string => `${item.last_edited_time} ${item.id}`;
      const all = [
        ...[...pages].filter(([own, page]) => !hidden.has(own) && page.trashed !== true).map(([own]) => pageJson(own)),
        ...[...databases]
          .filter(([own, database]) => !hidden.has(own) && database.trashed !== true)
          .map(([own]) => sourceJson(own)),
      ].toSorted((a, b) => (edited(a) < edited(b) ? -1 : 1));
      return send(
        response,
        all,
        parameters,
        search.isIncomplete
          ? { request_status: { type: 'incomplete', incomplete_reason: 'query_result_limit_reached' } }
          : {},
      );
    }
    if (hidden.has(id)) return missing();
    if (resource === 'pages' && pages.has(id)) {
      if (rest === '') return sendJson(response, 200, pageJson(id));
      const value = Object.values(pages.get(id)?.columns ?? {}).find((candidate) => candidate['id'] === column);
      if (rest !== 'properties' || !value) return missing();
      const kind = String(value['type']);
      const items = (value[kind] as unknown[]).map((item, index) => ({
        object: 'property_item',
        id: `${index}`,
        type: kind,
        [kind]: item,
      }));
      return send(response, items, parameters);
    }
    if (resource === 'data_sources' && databases.has(id)) {
      if (rest === '') return sendJson(response, 200, sourceJson(id));
      if (rest !== 'query' || method !== 'POST') return missing();
      const rows = [...pages].filter(
        ([, { parent, trashed }]) => parent !== undefined && 'database' in parent && parent.database === id && !trashed,
      );
      return send(
        response,
        rows.map(([own]) => pageJson(own)),
        parameters,
      );
    }
    if (resource === 'databases') {
      const found = [...databases].filter(([, { container }]) => container === id);
      // Notion answers 400 for the id of a linked database view.
      if (found.length === 0) return refuse(response, { status: 400 });
      const [[, first]] = found as [[string, EmulatedDatabase]];
      return sendJson(response, 200, {
        object: 'database',
        id,
        in_trash: first.trashed === true,
        parent: parentJson(first.parent),
        data_sources: found.map(([own, { title }]) => ({ id: own, name: title })),
      });
    }
    if (resource !== 'blocks') return missing();
    const placed = findBlock(id);
    if (!pages.has(id) && (!placed || hidden.has(placed.page))) return missing();
    // Such blocks have children, but they are not listed (https://github.com/elastic/connectors/issues/2306).
    if (rest === 'children' && placed?.block.type === 'unsupported') return refuse(response, { status: 400 });
    if (rest === 'children') return send(response, childrenOf(id), parameters);
    if (rest !== '' || !placed) return missing();
    sendJson(response, 200, blockJson(id, placed.block, placed.parent));
  };

  const facts = ({ id, label }: { id: string; label: string }) => ({
    bot_id: id,
    workspace_id: WORKSPACE,
    workspace_name: 'Harbour',
    owner: { type: 'user', user: { object: 'user', id, name: label } },
    duplicated_template_id: null,
  });
  const emulator = await startConsenting<NotionRefused>({
    oauth: {
      name: 'Notion',
      paths: CONSENT,
      people: PEOPLE,
      clientAuth: 'basic',
      bodyFormat: 'json',
      scopeParameter: null,
      rotates: true,
      sendsExpiry: false,
      expiresIn: 1e9,
      tokenHeaders: { 'notion-version': VERSION },
      facts,
    },
    refuse,
    unauthorized: { status: 401 },
    answer(call, access) {
      const { person } = access;
      const { request, response, path } = call;
      if (request.headers['notion-version'] !== VERSION)
        return refuse(response, { status: 400, code: 'missing_version' });
      if (path.join('/') !== 'v1/users/me') return answer(call);
      sendJson(response, 200, {
        object: 'user',
        id: person.id,
        name: 'The app',
        type: 'bot',
        bot: {
          owner: {
            type: 'user',
            user: { id: person.id, name: person.label, person: { email: 'ada@harbour.example' } },
          },
          workspace_id: WORKSPACE,
          workspace_name: 'Harbour',
        },
      });
    },
  });
  const at = (part: string, path: string) => `NOTION.${part}=${emulator.origin}${path}`;
  const settings = [at('api', '/v1'), at('authorize', CONSENT.authorize), at('token', CONSENT.token)].join(',');
  return { ...emulator, pages, databases, hidden, search, settings };
}
