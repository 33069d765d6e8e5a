/**
 * Emulates Freshdesk on loopback, by its published API reference: accounts by domain, each under its own path; API keys
 * as user names of Basic authentication; numbered pages with a Link header; tickets in the order of their last change;
 * attachments at signed addresses.
 */
import type { ServerResponse } from 'node:http';

import { type Call, type Emulator, type Refused, sendJson, startEmulator } from './emulator.js';

export const FRESHDESK_DOMAIN = 'harbour';
export const FRESHDESK_KEY = 'fd-key-lighthouse';

interface EmulatedFolder {
  readonly category: number;
  readonly parentId?: number;
  readonly name: string;
}
interface EmulatedArticle {
  readonly folder: number;
  readonly title: string;
  body: string;
  draft?: boolean;
  updated?: string;
}
interface EmulatedFile {
  readonly id: number;
  readonly name: string;
  readonly content: string;
}
interface EmulatedTicket {
  readonly subject: string;
  readonly text: string;
  readonly replies?: readonly {
    readonly text: string;
    readonly user?: number;
    readonly isPrivate?: boolean;
    readonly files?: readonly EmulatedFile[];
  }[];
  readonly files?: readonly EmulatedFile[];
  deleted?: boolean;
  spam?: boolean;
  updated?: string;
}

/** The contents of one domain, by id. */
export interface FreshdeskAccount {
  readonly categories: Map<number, string>;
  readonly folders: Map<number, EmulatedFolder>;
  readonly articles: Map<number, EmulatedArticle>;
  readonly tickets: Map<number, EmulatedTicket>;
}
export const newFreshdeskAccount = (): FreshdeskAccount => ({
  categories: new Map(),
  folders: new Map(),
  articles: new Map(),
  tickets: new Map(),
});

export interface FreshdeskEmulator extends Emulator {
  /** The value of SOURCE_URLS. */
  readonly settings: string;
  readonly accounts: Map<string, FreshdeskAccount>;
  /** Valid API keys. */
  readonly keys: Set<string>;
  /** Host and path of each request, in order. */
  readonly addresses: string[];
  /** Whether the folders of a category include nested ones. */
  readonly lists: { nested: boolean };
}

const STAMP = '2026-03-03T10:00:00Z';
const BODIES: Readonly<Record<number, unknown>> = {
  401: { code: 'invalid_credentials', message: 'You have to be logged in to perform this action.' },
  403: { code: 'access_denied', message: 'You are not authorized to perform this action.' },
};
function refuse(response: ServerResponse, { status, headers = {} }: Refused): void {
  // Freshdesk answers an unknown id without a body.
  if (status === 404) return void response.writeHead(404, headers).end();
  sendJson(response, status, BODIES[status] ?? { description: 'Validation failed', errors: [] }, headers);
}
/** The agent to whom the API key belongs. */
const AGENT = {
  ...{ id: 501, available: true, occasional: false, signature: null, ticket_scope: 1, type: 'support_agent' },
  ...{ group_ids: [4], role_ids: [1], skill_ids: [], available_since: null, created_at: STAMP, updated_at: STAMP },
  contact: {
    ...{ name: 'Ada', email: 'ada@harbour.example', active: true, job_title: null, language: 'en', mobile: null },
    ...{ last_login_at: null, phone: null, time_zone: 'London', created_at: STAMP, updated_at: STAMP },
  },
};

/** @param perPage maximum page size, even if a request asks for more */
export async function startFreshdesk({ perPage = 2 } = {}): Promise<FreshdeskEmulator> {
  const accounts = new Map<string, FreshdeskAccount>();
  const keys = new Set([FRESHDESK_KEY]);
  const addresses: string[] = [];
  const lists = { nested: false };
  let origin = '';

  const sendPage = ({ response, query, url }: Call, all: readonly object[]): void => {
    const [page, size] = [Number(query.get('page') ?? 1), Number(query.get('per_page') ?? 30)];
    if (!(page >= 1 && page <= 300 && size >= 1 && size <= 100)) return refuse(response, { status: 400 });
    const to = page * Math.min(size, perPage);
    const next =
      to < all.length ? { link: `<https://elsewhere.example${url.pathname}?page=${page + 1}>; rel="next"` } : {};
    sendJson(response, 200, all.slice(to - Math.min(size, perPage), to), next);
  };
  const filesJson = (domain: string, files: readonly EmulatedFile[] = []) =>
    files.map(({ id, name, content }) => ({
      ...{ id, name, content_type: 'text/plain', size: content.length, created_at: STAMP, updated_at: STAMP },
      attachment_url: `${origin}/${domain}/stored/${id}?X-Amz-Signature=s3cr3t`,
    }));
  const ticketJson = (domain: string, id: number, ticket: EmulatedTicket, isWhole: boolean) => ({
    ...{
      id,
      subject: ticket.subject,
      status: 2,
      priority: 3,
      type: 'Question',
      source: 1,
      requester_id: 9,
      tags: ['pier'],
    },
    ...{ cc_emails: [], fwd_emails: [], reply_cc_emails: [], to_emails: null, custom_fields: {} },
    ...{ fr_escalated: false, is_escalated: false, due_by: STAMP, fr_due_by: STAMP, company_id: null },
    ...{ email_config_id: null, group_id: null, responder_id: null, product_id: null },
    ...{ spam: ticket.spam ?? false, created_at: STAMP, updated_at: ticket.updated ?? STAMP },
    ...(ticket.deleted === true ? { deleted: true } : {}),
    ...(isWhole
      ? {
          ...{ description: `<p>${ticket.text}</p>`, description_text: ticket.text },
          ...{ requester: { id: 9, name: 'Ben', email: 'ben@sea.example', mobile: null, phone: null } },
          attachments: filesJson(domain, ticket.files),
        }
      : {}),
  });

  const answerTickets = (
    call: Call,
    domain: string,
    { tickets }: FreshdeskAccount,
    [id, part]: readonly string[],
  ): void => {
    const { query, response } = call;
    if (id === undefined) {
      const since = query.get('updated_since') ?? new Date(Date.now() - 30 * 86_400_000).toISOString();
      const all = [...tickets]
        .filter(([, ticket]) => ticket.deleted !== true && ticket.spam !== true)
        .map(([key, ticket]) => ticketJson(domain, key, ticket, false))
        .filter(({ updated_at: at }) => Date.parse(at) >= Date.parse(since));
      const sorted = all.toSorted((a, b) =>
        a.updated_at === b.updated_at ? a.id - b.id : a.updated_at < b.updated_at ? -1 : 1,
      );
      return sendPage(call, query.get('order_type') === 'asc' ? sorted : sorted.toReversed());
    }
    const ticket = tickets.get(Number(id));
    if (!ticket) return refuse(response, { status: 404 });
    if (part === undefined) return sendJson(response, 200, ticketJson(domain, Number(id), ticket, true));
    if (part !== 'conversations') return refuse(response, { status: 404 });
    sendPage(
      call,
      (ticket.replies ?? []).map(({ text, user = 501, isPrivate = false, files }, at) => ({
        ...{
          id: at + 1,
          body: `<p>${text}</p>`,
          body_text: text,
          incoming: user === 9,
          private: isPrivate,
          user_id: user,
        },
        ...{ from_email: null, support_email: null, to_emails: [], cc_emails: [], bcc_emails: [], source: 0 },
        ...{ ticket_id: Number(id), last_edited_at: null, last_edited_user_id: null },
        ...{ created_at: STAMP, updated_at: STAMP, attachments: filesJson(domain, files) },
      })),
    );
  };

  const answerSolutions = (
    call: Call,
    account: FreshdeskAccount,
    [resource = '', id, part]: readonly string[],
  ): void => {
    const { response } = call;
    const missing = (): void => refuse(response, { status: 404 });
    const categories = [...account.categories].map(([key, name]) => ({
      ...{ id: key, name, description: null, created_at: STAMP, updated_at: STAMP },
    }));
    const folders = [...account.folders].map(([key, { category, parentId, name }]) => ({
      ...{ id: key, name, category_id: category, parent_folder_id: parentId ?? null, description: null },
      ...{ visibility: 1, created_at: STAMP, updated_at: STAMP },
      articles_count: [...account.articles.values()].filter((article) => article.folder === key).length,
      sub_folders_count: [...account.folders.values()].filter((folder) => folder.parentId === key).length,
    }));
    const articles = [...account.articles].map(([key, { folder, title, body, draft, updated = STAMP }]) => ({
      ...{
        id: key,
        title,
        description: body,
        description_text: body,
        status: draft === true ? 1 : 2,
        folder_id: folder,
      },
      ...{ category_id: account.folders.get(folder)?.category, created_at: STAMP, updated_at: updated, tags: ['sea'] },
      ...{ type: 1, thumbs_up: 0, thumbs_down: 0, hits: 0, agent_id: 501, seo_data: {} },
    }));
    const all: readonly { id: number }[] | undefined = { categories, folders, articles }[resource];
    if (!all) return missing();
    if (id === undefined) return resource === 'categories' ? sendPage(call, categories) : missing();
    const number = Number(id);
    const found = all.find((item) => item.id === number);
    if (!found) return missing();
    if (part === undefined) return sendJson(response, 200, found);
    if (resource === 'categories' && part === 'folders')
      return sendPage(
        call,
        folders.filter((folder) => folder.category_id === number && (lists.nested || folder.parent_folder_id === null)),
      );
    if (resource === 'folders' && part === 'subfolders')
      return sendPage(
        call,
        folders.filter((folder) => folder.parent_folder_id === number),
      );
    if (resource === 'folders' && part === 'articles')
      return sendPage(
        call,
        articles.filter((article) => article.folder_id === number),
      );
    missing();
  };

  const sendFile = ({ path, query, request, response }: Call): void => {
    const tickets = [...(accounts.get(path[0] ?? '')?.tickets.values() ?? [])];
    const files = tickets.flatMap((ticket) => [
      ...(ticket.files ?? []),
      ...(ticket.replies ?? []).flatMap((message) => message.files ?? []),
    ]);
    const file = files.find(({ id }) => String(id) === path[2]);
    // The signature in the address is the only credential; an Authorization header is an error.
    const isInvalid = request.headers.authorization !== undefined || query.get('X-Amz-Signature') !== 's3cr3t';
    response
      .writeHead(isInvalid ? 400 : file === undefined ? 404 : 200, { 'content-type': 'text/plain' })
      .end(file?.content);
  };

  const emulator = await startEmulator({
    admit({ request, response, path, url }) {
      addresses.push(`${request.headers.host}${url.pathname}`);
      const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
      const [key = '', password = ''] = Buffer.from(basic, 'base64').toString().split(':');
      if (path[1] === 'stored' || (keys.has(key) && password !== '')) return true;
      refuse(response, { status: 401 });
      return false;
    },
    refuse,
    answer(call) {
      const { path, response } = call;
      const [domain = '', resource, version, ...rest] = path;
      const account = accounts.get(domain);
      if (!account) return refuse(response, { status: 404 });
      if (resource === 'stored') return sendFile(call);
      if (resource !== 'api' || version !== 'v2') return refuse(response, { status: 404 });
      if (rest.join('/') === 'agents/me') return sendJson(response, 200, AGENT);
      if (rest[0] === 'tickets') return answerTickets(call, domain, account, rest.slice(1));
      if (rest[0] === 'solutions') return answerSolutions(call, account, rest.slice(1));
      refuse(response, { status: 404 });
    },
  });
  ({ origin } = emulator);
  return { ...emulator, settings: `FRESHDESK.api=${origin}/{domain}/api/v2`, accounts, keys, addresses, lists };
}
