/**
 * Emulates Zendesk on loopback, by its published API reference: accounts by subdomain, each under its own path; the
 * help center and lists paged by cursor; the incremental ticket export, which excludes changes of the last minute and
 * requires an administrator; comments with attachments.
 */
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';

import { type ConsentingEmulator, startConsenting } from './consentEmulator.js';
import { type Call, type Refused, sendJson } from './emulator.js';

export const ZENDESK_PEOPLE = [
  { id: '501', label: 'Ada', email: 'Ada@harbour.example', role: 'admin' },
  { id: '502', label: 'Ben', email: 'ben@harbour.example', role: 'agent' },
];

interface EmulatedArticle {
  readonly section: number;
  readonly title: string;
  body: string;
  draft?: boolean;
  readonly translations?: readonly {
    readonly locale: string;
    readonly title: string;
    readonly body: string;
    readonly draft?: boolean;
  }[];
  updated?: string;
}
interface EmulatedComment {
  readonly author?: number;
  readonly text: string;
  readonly isInternal?: boolean;
  readonly attachments?: readonly {
    readonly id: number;
    readonly name: string;
    readonly type?: string;
    readonly content: string;
    readonly inline?: boolean;
  }[];
}
interface EmulatedTicket {
  readonly subject: string;
  status?: string;
  readonly type?: string;
  readonly priority?: string;
  readonly assignee?: number;
  readonly archived?: boolean;
  comments: EmulatedComment[];
  updated?: string;
}

/** The contents of one subdomain, by id. */
export interface ZendeskAccount {
  readonly categories: Map<number, string>;
  readonly sections: Map<number, { readonly category: number; readonly parent?: number; readonly name: string }>;
  readonly articles: Map<number, EmulatedArticle>;
  readonly tickets: Map<number, EmulatedTicket>;
}

type ZendeskRefused = Refused & { readonly body?: unknown };

export interface ZendeskEmulator extends ConsentingEmulator<ZendeskRefused> {
  /** Names of lists that support only numbered pages, no cursors. */
  readonly numbered: Set<string>;
  /** Sets whether links to numbered pages contain the page size even if the request had none. */
  linkSize(isLinked: boolean): void;
  /** The value of SOURCE_URLS. */
  readonly settings: string;
  readonly accounts: Map<string, ZendeskAccount>;
}

const STAMP = '2026-03-03T10:00:00Z';
const LOCALE = 'en-us';
const BODIES: Readonly<Record<number, unknown>> = {
  401: {
    error: 'invalid_token',
    error_description: 'The access token provided is expired, revoked, malformed or invalid.',
  },
  403: { error: { title: 'Forbidden', message: 'You do not have access to this page.' } },
  404: { error: 'RecordNotFound', description: 'Not found' },
  429: { error: 'TooManyRequests', description: 'Number of allowed API requests per minute exceeded' },
};
const refuse = (response: ServerResponse, { status, headers = {}, body }: ZendeskRefused): void =>
  sendJson(response, status, body ?? BODIES[status] ?? { error: 'Oops' }, headers);

export const newZendeskAccount = (): ZendeskAccount => ({
  categories: new Map(),
  sections: new Map(),
  articles: new Map(),
  tickets: new Map(),
});

const tokenOf = (ticket: number, attachment: number): string =>
  createHash('sha256').update(`${ticket} ${attachment}`).digest('hex').slice(0, 20);

/** @param perPage maximum page size by cursor, and the default size of numbered pages */
export async function startZendesk({ perPage = 2 } = {}): Promise<ZendeskEmulator> {
  const accounts = new Map<string, ZendeskAccount>();
  const users = ZENDESK_PEOPLE.map(({ id, label, email, role }) => ({ id: Number(id), name: label, email, role }));

  const numbered = new Set<string>();
  let linksSize = false;
  /**
   * Sends a numbered page: https://developer.zendesk.com/api-reference/introduction/pagination/#using-offset-pagination
   */
  const sendNumbered = ({ response, query, url }: Call, name: string, all: readonly object[], more: object): void => {
    const page = Number(query.get('page') ?? 1);
    const size = Math.min(Number(query.get('per_page') ?? perPage), 100);
    const to = page * size;
    const given = query.has('per_page') || linksSize ? `&per_page=${size}` : '';
    const next = `https://zendesk.example${url.pathname}?page=${page + 1}${given}`;
    sendJson(response, 200, {
      ...{ [name]: all.slice(to - size, to), count: all.length, previous_page: null, ...more },
      next_page: to < all.length ? next : null,
    });
  };
  const sendPage = (call: Call, name: string, all: readonly object[], more: object = {}): void => {
    const { response, query, url } = call;
    if (numbered.has(name)) return sendNumbered(call, name, all, more);
    const size = Number(query.get('page[size]') ?? 100);
    if (!(size >= 1 && size <= 100))
      return refuse(response, { status: 400, body: { error: 'InvalidPaginationParameter' } });
    const after = query.get('page[after]');
    const from = after === null ? 0 : Number(Buffer.from(after, 'base64').toString());
    if (!Number.isSafeInteger(from))
      return refuse(response, { status: 400, body: { error: 'InvalidPaginationParameter' } });
    const to = from + Math.min(size, perPage);
    const meta = {
      has_more: to < all.length,
      after_cursor: Buffer.from(String(to)).toString('base64'),
      before_cursor: 'b',
    };
    const linkTo = (parameter: string, cursor: string): string =>
      `https://zendesk.example${url.pathname}?page[size]=${size}&page[${parameter}]=${cursor}`;
    const links = {
      next: meta.has_more ? linkTo('after', meta.after_cursor) : null,
      prev: from > 0 ? linkTo('before', meta.before_cursor) : null,
    };
    sendJson(response, 200, { [name]: all.slice(from, to), meta, links, ...more });
  };
  const withUsers = ({ query }: Call) => (query.get('include') === 'users' ? { users } : {});

  const articleJson = (
    sub: string,
    id: number,
    { section, title, body, draft = false, updated = STAMP }: EmulatedArticle,
  ) => ({
    ...{ id, title, name: title, body, draft, section_id: section, locale: LOCALE, source_locale: LOCALE },
    ...{ created_at: STAMP, updated_at: updated, edited_at: updated, label_names: ['sea'] },
    html_url: `https://${sub}.zendesk.com/hc/en-us/articles/${id}`,
  });
  const ticketJson = (id: number, ticket: EmulatedTicket) => ({
    ...{ id, subject: ticket.subject, raw_subject: ticket.subject, status: ticket.status ?? 'open' },
    ...{ type: ticket.type ?? null, priority: ticket.priority ?? null, assignee_id: ticket.assignee ?? null },
    ...{ requester_id: 502, submitter_id: 501, via: { channel: 'email' }, tags: ['pier'] },
    ...{ created_at: STAMP, updated_at: ticket.updated ?? STAMP },
  });
  const commentJson = (
    sub: string,
    ticket: number,
    { author = 502, text, isInternal = false, attachments = [] }: EmulatedComment,
    at: number,
  ) => ({
    ...{ id: ticket * 1000 + at, type: 'Comment', author_id: author, public: !isInternal, created_at: STAMP },
    ...{ body: text, plain_body: text, html_body: `<p>${text}</p>` },
    attachments: attachments.map(({ id, name, type = 'text/plain', content, inline = false }) => ({
      ...{ id, file_name: name, content_type: type, size: content.length, inline, deleted: false },
      content_url: `https://${sub}.zendesk.com/attachments/token/${tokenOf(ticket, id)}/?name=${encodeURIComponent(name)}`,
    })),
  });

  /** Sends the tickets in the order of their last change, without changes of the last minute. */
  const sendExport = (call: Call, { tickets }: ZendeskAccount): void => {
    const { query, response } = call;
    const pageLength = Math.min(Number(query.get('per_page') ?? 1000), perPage);
    const cursor = query.get('cursor');
    if (cursor === null && !(Number(query.get('start_time')) > 0))
      return refuse(response, { status: 400, body: { error: 'InvalidValue', description: 'start_time' } });
    const start = Number(query.get('start_time') ?? 0) * 1000;
    if (start > Date.now() - 60_000)
      return refuse(response, { status: 422, body: { error: 'StartTimeTooRecent', description: 'Too recent' } });
    const [after = '', afterId = '0'] = cursor === null ? [] : Buffer.from(cursor, 'base64').toString().split('|');
    const latestExported = new Date(Date.now() - 60_000).toISOString();
    const all = [...tickets]
      .map(([id, ticket]) => ticketJson(id, ticket))
      .filter(({ updated_at: at }) => at < latestExported)
      .toSorted((a, b) => (a.updated_at === b.updated_at ? a.id - b.id : a.updated_at < b.updated_at ? -1 : 1))
      .filter(({ updated_at: at }) => Date.parse(at) >= start)
      .filter(({ updated_at: at, id }) => at > after || (at === after && id > Number(afterId)));
    const page = all.slice(0, pageLength);
    const last = page.at(-1);
    const next = last ? Buffer.from(`${last.updated_at}|${last.id}`).toString('base64') : cursor;
    sendJson(response, 200, {
      tickets: page,
      after_cursor: next,
      after_url: next === null ? null : `https://zendesk.example/api/v2/incremental/tickets/cursor.json?cursor=${next}`,
      ...{ before_cursor: null, before_url: null },
      end_of_stream: page.length === all.length,
      ...withUsers(call),
    });
  };

  const answerCenter = (
    call: Call,
    sub: string,
    account: ZendeskAccount,
    [resource = '', id = '', part]: readonly string[],
  ): void => {
    const missing = (): void => refuse(call.response, { status: 404 });
    const number = Number(id);
    const categories = [...account.categories].map(([key, name]) => ({
      ...{ id: key, name, locale: LOCALE, created_at: STAMP },
      html_url: `https://${sub}.zendesk.com/hc/categories/${key}`,
    }));
    const sections = [...account.sections].map(([key, { category, parent: above, name }]) => ({
      ...{ id: key, name, locale: LOCALE, created_at: STAMP },
      ...{ category_id: category, parent_section_id: above ?? null },
    }));
    const articles = [...account.articles].map(([key, article]) => articleJson(sub, key, article));
    if (resource === 'categories' && id === '') return sendPage(call, 'categories', categories);
    const all = resource === 'categories' ? categories : resource === 'sections' ? sections : articles;
    const found = all.find((item) => item.id === number);
    if (!found) return missing();
    if (part === undefined)
      return sendJson(call.response, 200, {
        [{ categories: 'category', sections: 'section' }[resource] ?? 'article']: found,
      });
    if (resource === 'articles' && part === 'translations') {
      const { title, body, draft = false, translations = [] } = account.articles.get(number)!;
      const texts = [...translations, { locale: LOCALE, title, body, draft }];
      return sendPage(
        call,
        'translations',
        texts.map((translation, at) => ({
          ...{ id: number * 100 + at, source_id: number, source_type: 'Article', draft: false, ...translation },
        })),
      );
    }
    const isIn = (section: (typeof sections)[number]): boolean =>
      (resource === 'categories' ? section.category_id : section.id) === number;
    const selected = sections.filter(isIn);
    if (part === 'sections' && resource === 'categories') return sendPage(call, 'sections', selected);
    if (part !== 'articles') return missing();
    const sectionIds = new Set(selected.map((section) => section.id));
    sendPage(
      call,
      'articles',
      articles.filter((article) => sectionIds.has(article.section_id)),
    );
  };

  const answerTickets = (
    call: Call,
    sub: string,
    { tickets }: ZendeskAccount,
    [id = '', part]: readonly string[],
  ): void => {
    if (id === '') {
      const sort = call.query.get('sort') ?? 'id';
      const all = [...tickets]
        .filter(([, ticket]) => ticket.status !== 'deleted' && ticket.archived !== true)
        .map(([key, ticket]) => ticketJson(key, ticket));
      const sorted =
        sort === '-updated_at'
          ? all.toSorted((a, b) => (a.updated_at < b.updated_at ? 1 : -1))
          : all.toSorted((a, b) => a.id - b.id);
      return sendPage(call, 'tickets', sorted, withUsers(call));
    }
    const ticket = tickets.get(Number(id));
    if (!ticket || ticket.status === 'deleted') return refuse(call.response, { status: 404 });
    if (part === undefined)
      return sendJson(call.response, 200, { ticket: ticketJson(Number(id), ticket), ...withUsers(call) });
    if (part !== 'comments') return refuse(call.response, { status: 404 });
    sendPage(
      call,
      'comments',
      ticket.comments.map((comment, at) => commentJson(sub, Number(id), comment, at)),
      withUsers(call),
    );
  };

  const contentOf = ({ tickets }: ZendeskAccount, token: string): string | undefined => {
    for (const [id, { comments }] of tickets)
      for (const { attachments = [] } of comments)
        for (const attachment of attachments) if (tokenOf(id, attachment.id) === token) return attachment.content;
    return undefined;
  };

  const emulator = await startConsenting<ZendeskRefused>({
    oauth: {
      name: 'Zendesk',
      paths: { authorize: '/*/oauth/authorizations/new', token: '/*/oauth/tokens' },
      people: ZENDESK_PEOPLE,
      rotates: true,
      expiresIn: 1_800,
      // https://github.com/NangoHQ/nango/pull/6763
      expiresOnRequest: true,
    },
    unauthorized: { status: 401 },
    refuse,
    isOpen: ({ path }) => path[1] === 'stored',
    answer(call, access) {
      const { response, path, request } = call;
      const [sub = '', resource, ...rest] = path;
      const account = accounts.get(sub);
      if (!account) return refuse(response, { status: 404, body: 'No help desk' });
      if (resource === 'attachments') {
        if (contentOf(account, rest[1] ?? '') === undefined) return refuse(response, { status: 404 });
        return void response.writeHead(302, { location: `/${sub}/stored/${rest[1]}` }).end();
      }
      if (resource === 'stored') {
        const content = contentOf(account, rest[0] ?? '');
        // Zendesk stores attachments on another host, which must not receive the token.
        const isInvalid = content === undefined || request.headers.authorization !== undefined;
        return void response
          .writeHead(isInvalid ? 400 : 200, { 'content-type': 'application/octet-stream' })
          .end(content);
      }
      if (resource !== 'api' || rest[0] !== 'v2') return refuse(response, { status: 404 });
      const where = rest.slice(1).map((part) => part.replace(/\.json$/, ''));
      const user = users.find(({ id }) => String(id) === access.person.id);
      if (where.join('/') === 'users/me') return sendJson(response, 200, { user });
      if (where.join('/') === 'incremental/tickets/cursor')
        return user?.role === 'admin' ? sendExport(call, account) : refuse(response, { status: 403 });
      if (where[0] === 'help_center') return answerCenter(call, sub, account, where.slice(1));
      if (where[0] === 'tickets') return answerTickets(call, sub, account, where.slice(1));
      refuse(response, { status: 404, body: { error: 'InvalidEndpoint', description: 'Not found' } });
    },
  });
  const at = (part: string, path: string) => `ZENDESK.${part}=${emulator.origin}/{subdomain}${path}`;
  return {
    ...emulator,
    settings: [
      at('api', '/api/v2'),
      at('files', ''),
      at('authorize', '/oauth/authorizations/new'),
      at('token', '/oauth/tokens'),
    ].join(','),
    numbered,
    linkSize: (isLinked) => void (linksSize = isLinked),
    accounts,
  };
}
