/**
 * A stand-in for Notion, after its published interface (version 2025-09-03): pages, databases and blocks of one workspace
 * that a test changes, as far as they are shared with whoever consents.
 */
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';

import { type ConsentingEmulator, startConsenting } from './consentEmulator.js';
import { type Call, type Refused, sendJson } from './emulator.js';

/** Where something lies: in a page, in a block of a page, or (a row) in a data source; unset: in the workspace. */
export type EmulatedParent = { readonly page: string } | { readonly block: string } | { readonly database: string };

export interface EmulatedBlock {
  readonly type: string;
  /** Its `rich_text`, as one run. */
  readonly text?: string;
  /** What else it has under its type. */
  readonly body?: Readonly<Record<string, unknown>>;
  readonly children?: readonly EmulatedBlock[];
}

export interface EmulatedPage {
  readonly title: string;
  readonly parent?: EmulatedParent;
  blocks?: readonly EmulatedBlock[];
  /** Of a row: what its columns have, by their names, beside the title. */
  readonly columns?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Minutes since the emulator's beginning of time, or a moment. */
  edited?: number | string;
  trashed?: boolean;
}

/** One data source, in a database of its own. */
export interface EmulatedDatabase {
  readonly title: string;
  readonly parent?: EmulatedParent;
  /** The id of the database. */
  readonly container: string;
  trashed?: boolean;
}

type NotionRefused = Refused & { readonly code?: string };

export interface NotionEmulator extends ConsentingEmulator<NotionRefused> {
  /** The value of SOURCE_URLS. */
  readonly settings: string;
  readonly pages: Map<string, EmulatedPage>;
  /** By the ids of their data sources. */
  readonly databases: Map<string, EmulatedDatabase>;
  /** Ids of what is not shared. */
  readonly hidden: Set<string>;
  /** Whether searches give up before their end. */
  readonly search: { isIncomplete: boolean };
}

const CONSENT = { authorize: '/v1/oauth/authorize', token: '/v1/oauth/token' };
export const WORKSPACE = 'f00df00d-0000-4000-8000-000000000001';
export const PEOPLE = [
  { id: 'b0700000-0000-4000-8000-000000000001', label: 'Ada' },
  { id: 'b0700000-0000-4000-8000-000000000002', label: 'Ben' },
];
/** An id out of a number. */
export const notionId = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
/** The id of the block at a place in a page: numbers of blocks from the outermost in. */
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

/** A text as one run. */
export const run = (text: string, more: Readonly<Record<string, unknown>> = {}) => ({
  type: 'text',
  text: { content: text, link: null },
  annotations: { bold: false, italic: false, strikethrough: false, underline: false, code: false, color: 'default' },
  plain_text: text,
  href: null,
  ...more,
});

/** A block with where it lies. */
interface Placed {
  readonly id: string;
  readonly block: EmulatedBlock;
  readonly page: string;
  readonly parent: Readonly<Record<string, unknown>>;
}

/** @param perPage whatever a caller asks for, as servers may */
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
    // Notion tells the minute.
    typeof edited === 'string' ? edited : new Date(BEGINNING + edited * 60_000).toISOString();
  const common = (id: string, one: EmulatedPage | EmulatedDatabase) => ({
    id,
    created_time: stamp(),
    last_edited_time: stamp('edited' in one ? one.edited : 0),
    archived: one.trashed === true,
    in_trash: one.trashed === true,
    url: `https://www.notion.so/${id.replaceAll('-', '')}`,
  });
  const pageJson = (id: string) => {
    const page = pages.get(id)!;
    const columns = Object.entries(page.columns ?? {}).map(([name, column]) => {
      const kind = String(column['type']);
      const values = column[kind];
      // Of more than so many, a page has the first ones.
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
    [...pages.keys()].flatMap(blocksOf).find((one) => one.id === id);

  /** What lies in a page or in a block: its blocks, then the pages and databases in it. */
  const childrenOf = (id: string): Record<string, unknown>[] => {
    const isIn = (parent: EmulatedParent | undefined): boolean =>
      parent !== undefined && (('page' in parent && parent.page === id) || ('block' in parent && parent.block === id));
    const things = [...pages].filter(([, one]) => isIn(one.parent) && one.trashed !== true);
    const tables = [...databases.values()].filter((one) => isIn(one.parent) && one.trashed !== true);
    const placed = pages.has(id) ? blocksOf(id) : blocksOf(findBlock(id)?.page ?? '');
    return [
      ...placed
        .filter(({ parent }) => Object.values(parent).includes(id))
        .map(({ id: own, block, parent }) => blockJson(own, block, parent)),
      ...things.map(([own, { title }]) => blockJson(own, { type: 'child_page', body: { title } }, {})),
      ...tables.map(({ container, title }) => blockJson(container, { type: 'child_database', body: { title } }, {})),
    ];
  };
  const blockJson = (id: string, { type, text, body = {}, children = [] }: EmulatedBlock, parent: object) => ({
    object: 'block',
    id,
    parent,
    type,
    has_children: children.length > 0 || (type === 'child_page' ? childrenOf(id).length > 0 : hasThings(id)),
    [type]: { ...(text === undefined ? {} : { rich_text: [run(text)] }), ...body },
  });
  const hasThings = (block: string): boolean =>
    [...pages.values(), ...databases.values()].some(
      ({ parent }) => parent !== undefined && 'block' in parent && parent.block === block,
    );

  /** A page of a list; cursors are ids of what comes next. */
  const send = (
    response: ServerResponse,
    all: readonly Readonly<Record<string, unknown>>[],
    asked: { readonly start_cursor?: unknown; readonly page_size?: unknown },
    more: object = {},
  ): void => {
    const start = asked.start_cursor === undefined ? 0 : all.findIndex(({ id }) => id === asked.start_cursor);
    if (start < 0) return refuse(response, { status: 400 });
    const results = all.slice(start, start + Math.min(perPage, Number(asked.page_size ?? 100)));
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
    path: [, room = '', id = '', rest = '', column = ''],
    query,
    body,
    response,
  }: Call): void => {
    const missing = (): void => refuse(response, { status: 404 });
    const asked =
      method === 'POST' ? (JSON.parse(body.toString() || '{}') as Record<string, unknown>) : Object.fromEntries(query);
    if (room === 'search' && method === 'POST') {
      const edited = (one: { last_edited_time: string; id: string }): string => `${one.last_edited_time} ${one.id}`;
      const all = [
        ...[...pages].filter(([own, one]) => !hidden.has(own) && one.trashed !== true).map(([own]) => pageJson(own)),
        ...[...databases]
          .filter(([own, one]) => !hidden.has(own) && one.trashed !== true)
          .map(([own]) => sourceJson(own)),
      ].toSorted((a, b) => (edited(a) < edited(b) ? -1 : 1));
      return send(
        response,
        all,
        asked,
        search.isIncomplete
          ? { request_status: { type: 'incomplete', incomplete_reason: 'query_result_limit_reached' } }
          : {},
      );
    }
    if (hidden.has(id)) return missing();
    if (room === 'pages' && pages.has(id)) {
      if (rest === '') return sendJson(response, 200, pageJson(id));
      const value = Object.values(pages.get(id)?.columns ?? {}).find((one) => one['id'] === column);
      if (rest !== 'properties' || !value) return missing();
      const kind = String(value['type']);
      const items = (value[kind] as unknown[]).map((one, index) => ({
        object: 'property_item',
        id: `${index}`,
        type: kind,
        [kind]: one,
      }));
      return send(response, items, asked);
    }
    if (room === 'data_sources' && databases.has(id)) {
      if (rest === '') return sendJson(response, 200, sourceJson(id));
      if (rest !== 'query' || method !== 'POST') return missing();
      const rows = [...pages].filter(
        ([, { parent, trashed }]) => parent !== undefined && 'database' in parent && parent.database === id && !trashed,
      );
      return send(
        response,
        rows.map(([own]) => pageJson(own)),
        asked,
      );
    }
    if (room === 'databases') {
      const found = [...databases].filter(([, { container }]) => container === id);
      // Of a view of what lies elsewhere.
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
    if (room !== 'blocks') return missing();
    const placed = findBlock(id);
    if (!pages.has(id) && (!placed || hidden.has(placed.page))) return missing();
    if (rest === 'children') return send(response, childrenOf(id), asked);
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
      saysExpiry: false,
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
