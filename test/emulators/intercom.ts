/**
 * Emulates Intercom on loopback, by its published API reference: collections and articles in numbered pages,
 * conversations and tickets by search with cursors, full objects by id, and attachments at signed addresses.
 */
import type { ServerResponse } from 'node:http';

import { type ConsentingEmulator, startConsenting } from './consentEmulator.js';
import { type Call, type Refused, sendJson } from './emulator.js';

export const WORKSPACE = 'harbour1';
const ADA = { type: 'admin', id: '501', name: 'Ada', email: 'ada@harbour.example' };

interface EmulatedCollection {
  readonly name: string;
  readonly parentId?: number;
  updated?: number;
}
interface EmulatedArticle {
  /** Null: the article is in no collection. */
  readonly collection: number | null;
  readonly title: string;
  body: string;
  draft?: boolean;
  readonly translated?: Readonly<
    Record<string, { readonly title: string; readonly body: string; readonly draft?: boolean }>
  >;
  updated?: number;
}
export interface EmulatedPart {
  readonly text: string;
  readonly isNote?: boolean;
  readonly files?: readonly { readonly name: string; readonly content: string; readonly type?: string }[];
}
interface EmulatedDiscussion {
  readonly title: string;
  readonly parts: readonly EmulatedPart[];
  updated?: number;
  /** Reported number of parts, if it differs from the actual number. */
  readonly total?: number;
}

type IntercomRefused = Refused & { readonly code?: string };

export interface IntercomEmulator extends ConsentingEmulator<IntercomRefused> {
  /** The value of SOURCE_URLS. */
  readonly settings: string;
  readonly collections: Map<number, EmulatedCollection>;
  readonly articles: Map<number, EmulatedArticle>;
  readonly conversations: Map<number, EmulatedDiscussion>;
  readonly tickets: Map<number, EmulatedDiscussion>;
  /** Status of all attachment downloads. Null: 200, or an error for an unknown file or a wrong signature. */
  fileStatus: number | null;
}

const STAMP = 1_772_532_000;
const PATHS = { authorize: '/oauth', token: '/auth/eagle/token' };
const CODES: Readonly<Record<number, string>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  429: 'rate_limit_exceeded',
};

const refuse = (
  response: ServerResponse,
  { status, headers = {}, code = CODES[status] ?? 'server_error' }: IntercomRefused,
): void =>
  sendJson(response, status, { type: 'error.list', request_id: 'r1', errors: [{ code, message: code }] }, headers);

/** @param perPage maximum page size, even if a request asks for more */
export async function startIntercom({ perPage = 2 } = {}): Promise<IntercomEmulator> {
  const collections: IntercomEmulator['collections'] = new Map();
  const articles: IntercomEmulator['articles'] = new Map();
  const conversations: IntercomEmulator['conversations'] = new Map();
  const tickets: IntercomEmulator['tickets'] = new Map();
  const downloads = { fileStatus: null as number | null };
  let origin = '';

  const sendNumbered = ({ query, response }: Call, all: readonly object[]): void => {
    const page = Number(query.get('page') ?? 1);
    const requested = Number(query.get('per_page') ?? 20);
    if (!(page >= 1 && requested >= 1 && requested <= 250))
      return refuse(response, { status: 400, code: 'parameter_invalid' });
    const size = Math.min(perPage, requested);
    const pages = {
      type: 'pages',
      page,
      per_page: size,
      total_pages: Math.max(1, Math.ceil(all.length / size)),
      next: null,
    };
    sendJson(response, 200, {
      type: 'list',
      data: all.slice((page - 1) * size, page * size),
      pages,
      total_count: all.length,
    });
  };
  const collectionJson = (id: number, { name, parentId, updated = STAMP - id }: EmulatedCollection) => ({
    ...{ id: String(id), workspace_id: WORKSPACE, name, parent_id: parentId === undefined ? null : String(parentId) },
    ...{ created_at: STAMP, updated_at: updated, url: `https://help.example/${id}` },
  });
  const articleJson = (
    id: number,
    { collection, title, body, draft = false, translated = {}, updated = STAMP - id }: EmulatedArticle,
  ) => ({
    ...{ type: 'article', id: String(id), workspace_id: WORKSPACE, title, body, state: draft ? 'draft' : 'published' },
    ...{ parent_id: collection, parent_type: collection === null ? null : 'collection', default_locale: 'en' },
    ...{ created_at: STAMP, updated_at: updated, url: draft ? null : `https://help.example/articles/${id}` },
    translated_content: {
      type: 'article_translated_content',
      en: { title, body, state: draft ? 'draft' : 'published' },
      ...Object.fromEntries(
        Object.entries(translated).map(([locale, translation]) => [
          locale,
          { title: translation.title, body: translation.body, state: translation.draft ? 'draft' : 'published' },
        ]),
      ),
    },
  });
  const filesOf = (partPath: string, { files = [] }: EmulatedPart) =>
    files.map(({ name, content, type = 'text/plain' }, at) => ({
      ...{ type: 'upload', name, content_type: type, filesize: content.length },
      url: `${origin}/files/${partPath}/${at}?expires=9&signature=s3cr3t`,
    }));
  const partJson = (kind: string, id: number, part: EmulatedPart, at: number) => ({
    ...{ type: `${kind}_part`, id: String(id * 100 + at), part_type: part.isNote === true ? 'note' : 'comment' },
    ...{ body: `<p>${part.text}</p>`, created_at: STAMP + at, author: ADA, redacted: false },
    attachments: filesOf(`${kind}/${id}/${at}`, part),
  });
  const conversationJson = (
    id: number,
    { title, parts, updated = STAMP, total }: EmulatedDiscussion,
    isWhole: boolean,
    isPlain = false,
  ) => {
    const [first = { text: '' }, ...rest] = parts;
    const replies = rest.map((part, at) => partJson('conversation', id, part, at + 1));
    return {
      ...{ type: 'conversation', id: String(id), title, state: 'open', created_at: STAMP, updated_at: updated },
      source: {
        ...{ type: 'conversation', id: '9', subject: '', body: isPlain ? first.text : `<p>${first.text}</p>` },
        ...{ author: { type: 'user', id: 'c1', name: 'Ben', email: 'ben@sea.example' } },
        attachments: filesOf(`conversation/${id}/0`, first),
      },
      ...(isWhole
        ? {
            conversation_parts: {
              type: 'conversation_part.list',
              conversation_parts: replies,
              total_count: total ?? replies.length,
            },
          }
        : {}),
    };
  };
  const ticketJson = (id: number, { title, parts, updated = STAMP, total }: EmulatedDiscussion, isWhole: boolean) => ({
    ...{
      type: 'ticket',
      id: String(id),
      ticket_id: String(id + 1),
      category: 'Customer',
      created_at: STAMP,
      updated_at: updated,
    },
    ticket_attributes: { _default_title_: title, _default_description_: `<p>About ${title}.</p>` },
    ticket_state: { type: 'ticket_state', id: '1', category: 'in_progress', internal_label: 'In progress' },
    ticket_type: { type: 'ticket_type', id: '3', name: 'Bug', category: 'Customer' },
    contacts: { type: 'contact.list', contacts: [{ type: 'contact', id: 'c1' }] },
    ...{ admin_assignee_id: '501', team_assignee_id: '77' },
    ...(isWhole
      ? {
          ticket_parts: {
            ...{ type: 'ticket_part.list', total_count: total ?? parts.length },
            ticket_parts: parts.map((part, at) => partJson('ticket', id, part, at)),
          },
        }
      : {}),
  });

  const search = ({ body, response }: Call, name: string, all: readonly object[]): void => {
    const { query, pagination = {} } = JSON.parse(body.toString()) as {
      query?: { field?: string; operator?: string; value?: unknown };
      pagination?: { per_page?: number; starting_after?: string };
    };
    const { per_page: requested = 20, starting_after: after } = pagination;
    const from = after === undefined ? 0 : Number(Buffer.from(after, 'base64').toString());
    if (query?.field === undefined || requested > 150 || !Number.isSafeInteger(from))
      return refuse(response, { status: 400, code: 'parameter_invalid' });
    const { field, operator, value } = query;
    if (typeof value !== 'number' || (operator !== '>' && operator !== '<'))
      return refuse(response, { status: 400, code: 'parameter_invalid' });
    const found = all.filter((item) => {
      const at = (item as Readonly<Record<string, number>>)[field] ?? 0;
      return operator === '>' ? at > value : at < value;
    });
    const to = from + Math.min(requested, perPage);
    const next = { per_page: requested, starting_after: Buffer.from(String(to)).toString('base64') };
    sendJson(response, 200, {
      ...{ type: name.replace(/s$/, '.list'), [name]: found.slice(from, to), total_count: found.length },
      pages: { type: 'pages', page: 1, ...(to < found.length ? { next } : {}) },
    });
  };

  const sendFile = ({ path: [, kind, id, part, at], response, request, query }: Call): void => {
    const discussion = (kind === 'ticket' ? tickets : conversations).get(Number(id));
    const file = discussion?.parts[Number(part)]?.files?.[Number(at)];
    // The signature in the address is the only credential; an Authorization header is an error.
    const isInvalid = request.headers.authorization !== undefined || query.get('signature') !== 's3cr3t';
    const status = downloads.fileStatus ?? (isInvalid ? 400 : file === undefined ? 404 : 200);
    response.writeHead(status, { 'content-type': 'text/plain' }).end(status === 200 ? file?.content : 'no');
  };

  const emulator = await startConsenting<IntercomRefused>({
    oauth: {
      name: 'Intercom',
      ...{ paths: PATHS, people: [{ id: '501', label: 'Ada' }], scopeParameter: null },
      ...{ sendsExpiry: false, refreshes: false, expiresIn: 1e9 },
    },
    unauthorized: { status: 401 },
    refuse,
    isOpen: ({ path }) => path[0] === 'files',
    answer(call) {
      const { path, response, method, request } = call;
      const [resource = '', id = ''] = path;
      const missing = (): void => refuse(response, { status: 404 });
      if (resource === 'files') return sendFile(call);
      if (request.headers['intercom-version'] === undefined)
        return refuse(response, { status: 400, code: 'intercom_version_invalid' });
      if (resource === 'me')
        return sendJson(response, 200, {
          ...ADA,
          app: { type: 'app', id_code: WORKSPACE, name: 'Harbour', region: 'US' },
        });
      if (resource === 'admins') return sendJson(response, 200, { type: 'admin.list', admins: [ADA] });
      if (resource === 'teams')
        return sendJson(response, 200, { type: 'team.list', teams: [{ type: 'team', id: '77', name: 'Piers' }] });
      if (resource === 'contacts')
        return id === 'c1'
          ? sendJson(response, 200, { type: 'contact', id, name: 'Ben', email: 'ben@sea.example' })
          : missing();
      if (resource === 'help_center' && id === 'collections')
        return sendNumbered(
          call,
          [...collections]
            .map(([key, collection]) => collectionJson(key, collection))
            .toSorted((left, right) => right.updated_at - left.updated_at),
        );
      if (resource === 'articles') {
        // Articles are listed by last update, newest first:
        // https://developers.intercom.com/docs/references/rest-api/api.intercom.io/Articles/listArticles/
        const byChange = [...articles].toSorted(
          ([a, left], [b, right]) => (right.updated ?? STAMP - b) - (left.updated ?? STAMP - a),
        );
        if (id === '')
          return sendNumbered(
            call,
            byChange.map(([key, article]) => articleJson(key, article)),
          );
        const article = articles.get(Number(id));
        return article ? sendJson(response, 200, articleJson(Number(id), article)) : missing();
      }
      if (resource !== 'conversations' && resource !== 'tickets') return missing();
      const all = resource === 'tickets' ? tickets : conversations;
      const isPlain = call.query.get('display_as') === 'plaintext';
      const jsonOf = (key: number, discussion: EmulatedDiscussion, isWhole: boolean) =>
        resource === 'tickets'
          ? ticketJson(key, discussion, isWhole)
          : conversationJson(key, discussion, isWhole, isPlain);
      if (method === 'POST' && id === 'search')
        return search(
          call,
          resource,
          [...all].map(([key, discussion]) => jsonOf(key, discussion, false)),
        );
      const found = all.get(Number(id));
      return found ? sendJson(response, 200, jsonOf(Number(id), found, true)) : missing();
    },
  });
  ({ origin } = emulator);
  const at = (part: string, path: string) => `INTERCOM.${part}=${origin}${path}`;
  return Object.assign(downloads, emulator, {
    settings: [at('api', ''), at('authorize', PATHS.authorize), at('token', PATHS.token)].join(','),
    ...{ collections, articles, conversations, tickets },
  });
}
