/**
 * A stand-in for GitBook on loopback, after its published OpenAPI document (@gitbook/api 0.202.0): one organization whose
 * spaces and pages a test changes, and which misbehaves as a test wants.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const ORGANIZATION = 'harbour-org';
export const TOKEN = 'gb_api_lighthouse';

/** A page as a test writes it. */
export interface EmulatedPage {
  readonly type?: 'document' | 'group' | 'link' | 'computed';
  readonly title: string;
  /** Markdown below the title. */
  text?: string;
  readonly pages?: Record<string, EmulatedPage>;
}

export interface EmulatedSpace {
  readonly title: string;
  pages: Record<string, EmulatedPage>;
  deletedAt?: string;
}

/** What goes wrong with a request; null for nothing. */
export type Mishap =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | 'broken'
  | 'hang'
  | null;

export interface GitBookEmulator {
  /** host:port. */
  readonly host: string;
  /** The value of SOURCE_URLS. */
  readonly settings: string;
  /** Spaces by id, pages by id: change them at will. */
  readonly spaces: Record<string, EmulatedSpace>;
  /** Paths with their queries, in the order asked. */
  readonly requests: string[];
  /** Tokens that are taken, each with the organization it may see. */
  readonly tokens: Map<string, string>;
  /** Asked for every request that has a good token; what it answers goes wrong. */
  misbehave(how: (path: string) => Mishap): void;
  /** Requests under way at this moment, and at most so far. */
  readonly load: { now: number; most: number };
  close(): Promise<void>;
}

const stamp = '2026-03-03T10:00:00.000Z';

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}
const refuse = (response: ServerResponse, code: number, message: string): void =>
  send(response, code, { error: { code, message } });

/** A page of the tree, without its document. */
function pageJson(spaceId: string, id: string, page: EmulatedPage, path: string): Record<string, unknown> {
  const { type = 'document', title } = page;
  const common = { id, title, type, createdAt: stamp, updatedAt: stamp };
  if (type === 'link') return { ...common, kind: 'link', target: { kind: 'url', url: 'https://elsewhere.example' } };
  if (type === 'computed') return { id, title, type, computed: { integration: 'openapi' } };
  const pages = pagesJson(spaceId, page.pages ?? {}, path);
  if (type === 'group') return { ...common, kind: 'group', slug: id, path, pages };
  const urls = { app: `https://app.gitbook.com/s/${spaceId}/${path}` };
  return { ...common, kind: 'sheet', slug: id, path, urls, pages, layout: {}, tags: [], documentId: `doc-${id}` };
}
const pagesJson = (spaceId: string, pages: Record<string, EmulatedPage>, above = ''): Record<string, unknown>[] =>
  Object.entries(pages).map(([id, page]) => pageJson(spaceId, id, page, above === '' ? id : `${above}/${id}`));

function findPage(pages: Record<string, EmulatedPage>, id: string, above = ''): [EmulatedPage, string] | null {
  for (const [key, page] of Object.entries(pages)) {
    const path = above === '' ? key : `${above}/${key}`;
    if (key === id) return [page, path];
    const found = findPage(page.pages ?? {}, id, path);
    if (found) return found;
  }
  return null;
}

const spaceJson = (id: string, { title, deletedAt }: EmulatedSpace) => ({
  object: 'space',
  id,
  title,
  visibility: 'private',
  createdAt: stamp,
  updatedAt: stamp,
  ...(deletedAt === undefined ? {} : { deletedAt }),
  organization: ORGANIZATION,
  urls: { app: `https://app.gitbook.com/s/${id}`, location: `https://api.gitbook.com/v1/spaces/${id}` },
});

/** @param spacesPerPage whatever a caller asks for, as servers may */
export async function startGitBook(
  spaces: Record<string, EmulatedSpace> = {},
  { spacesPerPage = 2 } = {},
): Promise<GitBookEmulator> {
  const requests: string[] = [];
  const tokens = new Map([[TOKEN, ORGANIZATION]]);
  const load = { now: 0, most: 0 };
  let mishapOf: (path: string) => Mishap = () => null;

  const answer = (path: readonly string[], query: URLSearchParams, response: ServerResponse, sees: string): void => {
    const [room = '', id = '', ...rest] = path;
    const where = rest.join('/');
    if (room === 'user' && id === '') return send(response, 200, { object: 'user', id: 'u1', displayName: 'Ada' });
    if (room === 'orgs') {
      if (id !== sees) return refuse(response, 404, 'Organization not found');
      if (where === '') return send(response, 200, { object: 'organization', id, title: 'The harbour' });
      if (where !== 'spaces') return refuse(response, 404, 'Not found');
      const all = Object.entries(spaces);
      const page = query.get('page') ?? 'p0';
      if (!/^p\d+$/.test(page)) return refuse(response, 400, 'Invalid page');
      const from = Number(page.slice(1));
      const some = all.slice(from, from + spacesPerPage).map(([key, space]) => spaceJson(key, space));
      const next = from + spacesPerPage < all.length ? { next: { page: `p${from + spacesPerPage}` } } : {};
      return send(response, 200, { items: some, count: all.length, ...next });
    }
    const space = room === 'spaces' && Object.hasOwn(spaces, id) ? spaces[id] : undefined;
    if (!space || sees !== ORGANIZATION) return refuse(response, 404, 'Space not found');
    if (where === '') return send(response, 200, spaceJson(id, space));
    if (where === 'content/pages') return send(response, 200, { pages: pagesJson(id, space.pages) });
    const [content, single, pageId = '', ...more] = rest;
    const found =
      content === 'content' && single === 'page' && more.length === 0 ? findPage(space.pages, pageId) : null;
    if (!found) return refuse(response, 404, 'Page not found');
    const [page, at] = found;
    const markdown = query.get('format') === 'markdown' && (page.type ?? 'document') === 'document';
    send(response, 200, {
      ...pageJson(id, pageId, page, at),
      ...(markdown ? { markdown: `# ${page.title}\n\n${page.text ?? ''}` } : {}),
    });
  };

  const server = createServer((request, response) => {
    request.resume();
    const url = new URL(request.url ?? '/', 'http://gitbook');
    requests.push(`${url.pathname}${url.search}`);
    load.now += 1;
    load.most = Math.max(load.most, load.now);
    response.once('close', () => {
      load.now -= 1;
    });
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const sees = tokens.get(token);
    if (sees === undefined) return refuse(response, 401, 'Invalid API token');
    if (!url.pathname.startsWith('/v1/')) return refuse(response, 404, 'Not found');
    const mishap = mishapOf(url.pathname.slice('/v1'.length));
    if (mishap === 'hang') return;
    if (mishap === 'broken') return void request.socket.destroy();
    if (mishap !== null)
      return send(response, mishap.status, mishap.body ?? '{"error":{"code":1,"message":"no"}}', mishap.headers);
    answer(url.pathname.slice('/v1/'.length).split('/').map(decodeURIComponent), url.searchParams, response, sees);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    settings: `GITBOOK.api=http://${host}/v1`,
    spaces,
    requests,
    tokens,
    load,
    misbehave(how) {
      mishapOf = how;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
