/**
 * Emulates Notion by its published API (version 2025-09-03): pages, databases and blocks of one workspace. A test
 * changes them and their sharing with the person who consents.
 */
import type { ServerResponse } from 'node:http';

import { type ConsentingEmulator, startConsenting } from './consentEmulator.js';
import { type Call, type Refused, sendJson } from './emulator.js';
import { type EmulatedDatabase, type EmulatedPage, notionObjects, PEOPLE, WORKSPACE } from './notionObjects.js';

type NotionRefused = Refused & { readonly code?: string };

export interface NotionEmulator extends ConsentingEmulator<NotionRefused> {
  /** The value of SOURCE_URLS. */
  readonly settings: string;
  readonly pages: Map<string, EmulatedPage>;
  /** Databases by data source id. */
  readonly databases: Map<string, EmulatedDatabase>;
  /** Ids of items that are not shared. */
  readonly hidden: Set<string>;
  /** Whether searches return incomplete results; ids of items that they omit although they exist. */
  readonly search: { isIncomplete: boolean; readonly omitted: Set<string> };
}

const CONSENT = { authorize: '/v1/oauth/authorize', token: '/v1/oauth/token' };
/** The status of a list that ends before its last result. */
const INCOMPLETE = { request_status: { type: 'incomplete', incomplete_reason: 'query_result_limit_reached' } };
const VERSION = '2025-09-03';
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

/**
 * Starts the emulator.
 * @param perPage maximum page size, even if a request asks for more
 * @param perQuery number of rows after which a query of a data source ends
 */
export async function startNotion({ perPage = 2, perQuery = 10_000 } = {}): Promise<NotionEmulator> {
  const pages = new Map<string, EmulatedPage>();
  const databases = new Map<string, EmulatedDatabase>();
  const hidden = new Set<string>();
  const search = { isIncomplete: false, omitted: new Set<string>() };
  const { pageJson, sourceJson, databaseJson, blockJson, childrenOf, findBlock } = notionObjects(pages, databases);

  /** Sends a page of a list of one type. A cursor is the id of the next item. */
  const sendPage = (
    response: ServerResponse,
    type: string,
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
      type,
      [type]: {},
      results,
      next_cursor: after?.['id'] ?? null,
      has_more: after !== undefined,
      ...more,
    });
  };

  /**
   * Returns the rows of a data source by creation time, from the filter's `on_or_after`.
   * @throws if the query requests another order
   */
  const rowsOf = (id: string, { sorts, filter }: Readonly<Record<string, unknown>>) => {
    if (JSON.stringify(sorts) !== '[{"timestamp":"created_time","direction":"ascending"}]') throw new Error('sorts');
    const since = (filter as { created_time: { on_or_after: string } } | undefined)?.created_time.on_or_after ?? '';
    return [...pages]
      .filter(
        ([, { parent, trashed }]) => parent !== undefined && 'database' in parent && parent.database === id && !trashed,
      )
      .map(([own]) => pageJson(own))
      .filter(({ created_time: created }) => created >= since)
      .toSorted((a, b) => (a.created_time < b.created_time ? -1 : a.created_time === b.created_time ? 0 : 1));
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
      ]
        .filter((item) => !search.omitted.has(item.id))
        .toSorted((a, b) => (edited(a) < edited(b) ? -1 : 1));
      return sendPage(response, 'page_or_data_source', all, parameters, search.isIncomplete ? INCOMPLETE : {});
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
      return sendPage(response, 'property_item', items, parameters, {
        property_item: { type: kind, [kind]: {}, id: column, next_url: null },
      });
    }
    if (resource === 'data_sources' && databases.has(id)) {
      if (rest === '') return sendJson(response, 200, sourceJson(id));
      if (rest !== 'query' || method !== 'POST') return missing();
      const rows = rowsOf(id, parameters);
      const isIncomplete = rows.length > perQuery;
      return sendPage(
        response,
        'page_or_data_source',
        rows.slice(0, perQuery),
        parameters,
        isIncomplete ? INCOMPLETE : {},
      );
    }
    if (resource === 'databases') {
      // Notion answers 400 for the id of a linked database view.
      if (![...databases.values()].some(({ container }) => container === id)) return refuse(response, { status: 400 });
      return sendJson(response, 200, databaseJson(id));
    }
    if (resource !== 'blocks') return missing();
    const placed = findBlock(id);
    if (!pages.has(id) && (!placed || hidden.has(placed.page))) return missing();
    // Notion does not list the children of unsupported blocks (https://github.com/elastic/connectors/issues/2306).
    if (rest === 'children' && placed?.block.type === 'unsupported') return refuse(response, { status: 400 });
    if (rest === 'children') return sendPage(response, 'block', childrenOf(id), parameters);
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
        avatar_url: null,
        type: 'bot',
        bot: {
          owner: {
            type: 'user',
            user: {
              ...{ object: 'user', id: person.id, name: person.label, avatar_url: null },
              ...{ type: 'person', person: { email: 'ada@harbour.example' } },
            },
          },
          workspace_id: WORKSPACE,
          workspace_limits: { max_file_upload_size_in_bytes: 5_242_880 },
          workspace_name: 'Harbour',
        },
      });
    },
  });
  const sourceUrl = (part: string, path: string) => `NOTION.${part}=${emulator.origin}${path}`;
  const settings = [
    sourceUrl('api', '/v1'),
    sourceUrl('authorize', CONSENT.authorize),
    sourceUrl('token', CONSENT.token),
  ].join(',');
  return { ...emulator, pages, databases, hidden, search, settings };
}
