/**
 * Emulates GitBook on loopback, by its published OpenAPI document (@gitbook/api 0.202.0): one organization whose spaces
 * and pages a test changes.
 */
import type { ServerResponse } from 'node:http';
import { crc32 } from 'node:zlib';

import { bearerOf, type Emulator, type Refused, sendJson, startEmulator } from './emulator.js';

export const ORGANIZATION = 'harbour-org';
export const TOKEN = 'gb_api_lighthouse';

/** A page as a test defines it. */
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

/** `body` replaces GitBook's default error body. */
type GitBookRefused = Refused & { readonly body?: string };

export interface GitBookEmulator extends Emulator<GitBookRefused> {
  /** The value of SOURCE_URLS. */
  readonly settings: string;
  /** Spaces by id; each contains its pages by id. Tests may change them at any time. */
  readonly spaces: Record<string, EmulatedSpace>;
  /** The organization that each valid token can access. */
  readonly tokens: Map<string, string>;
}

const stamp = '2026-03-03T10:00:00.000Z';
/** Returns a time that differs when the title or the text of the page differs. */
const updatedAt = ({ title, text = '' }: EmulatedPage): string =>
  new Date(Date.parse(stamp) + crc32(title + text)).toISOString();

const refuse = (response: ServerResponse, code: number, message: string): void =>
  sendJson(response, code, { error: { code, message } });

/** Returns a node of the page tree, without its document. */
function pageJson(spaceId: string, id: string, page: EmulatedPage, path: string): Record<string, unknown> {
  const { type = 'document', title } = page;
  const common = { id, title, type, createdAt: stamp, updatedAt: updatedAt(page) };
  if (type === 'link') return { ...common, kind: 'link', target: { kind: 'url', url: 'https://elsewhere.example' } };
  if (type === 'computed') return { id, title, type, computed: { integration: 'openapi' } };
  const pages = pagesJson(spaceId, page.pages ?? {}, path);
  if (type === 'group') return { ...common, kind: 'group', slug: id, path, pages };
  const urls = { app: `https://app.gitbook.com/s/${spaceId}/${path}` };
  return { ...common, kind: 'sheet', slug: id, path, urls, pages, layout: {}, tags: [], documentId: `doc-${id}` };
}
const pagesJson = (spaceId: string, pages: Record<string, EmulatedPage>, parentPath = ''): Record<string, unknown>[] =>
  Object.entries(pages).map(([id, page]) =>
    pageJson(spaceId, id, page, parentPath === '' ? id : `${parentPath}/${id}`),
  );

function findPage(pages: Record<string, EmulatedPage>, id: string, parentPath = ''): [EmulatedPage, string] | null {
  for (const [key, page] of Object.entries(pages)) {
    const path = parentPath === '' ? key : `${parentPath}/${key}`;
    if (key === id) return [page, path];
    const found = findPage(page.pages ?? {}, id, path);
    if (found) return found;
  }
  return null;
}

const organizationJson = (id: string) => ({
  ...{ object: 'organization', id, title: 'The harbour', createdAt: stamp, emailDomains: [], type: 'business' },
  ...{ inviteLinks: false, plan: 'free', mergeRules: { type: 'none' }, permissions: {} },
  trial: { status: 'none', count: 0 },
  urls: { location: `https://api.gitbook.com/v1/orgs/${id}`, app: `https://app.gitbook.com/o/${id}` },
});
const spaceJson = (id: string, { title, deletedAt }: EmulatedSpace) => ({
  object: 'space',
  id,
  title,
  visibility: 'private',
  createdAt: stamp,
  updatedAt: stamp,
  ...(deletedAt === undefined ? {} : { deletedAt }),
  organization: ORGANIZATION,
  ...{ emoji: '1f30a', mergeRules: { type: 'inherit' }, revision: 'r1', defaultLevel: 'inherit', permissions: {} },
  ...{ comments: 0, changeRequests: 0, changeRequestsOpen: 0, changeRequestsDraft: 0 },
  urls: { app: `https://app.gitbook.com/s/${id}`, location: `https://api.gitbook.com/v1/spaces/${id}` },
});

/** @param spacesPerPage page size, whatever the request asks for */
export async function startGitBook(
  spaces: Record<string, EmulatedSpace> = {},
  { spacesPerPage = 2 } = {},
): Promise<GitBookEmulator> {
  const tokens = new Map([[TOKEN, ORGANIZATION]]);

  const answer = (
    path: readonly string[],
    query: URLSearchParams,
    response: ServerResponse,
    organization: string,
  ): void => {
    const [resource = '', id = '', ...rest] = path;
    const subpath = rest.join('/');
    if (resource === 'user' && id === '')
      return sendJson(response, 200, {
        ...{ object: 'user', id: 'u1', displayName: 'Ada' },
        urls: { location: 'https://api.gitbook.com/v1/users/u1' },
      });
    if (resource === 'orgs') {
      if (id !== organization) return refuse(response, 404, 'Organization not found');
      if (subpath === '') return sendJson(response, 200, organizationJson(id));
      if (subpath !== 'spaces') return refuse(response, 404, 'Not found');
      const all = Object.entries(spaces);
      const page = query.get('page') ?? 'p0';
      if (!/^p\d+$/.test(page)) return refuse(response, 400, 'Invalid page');
      const from = Number(page.slice(1));
      const items = all.slice(from, from + spacesPerPage).map(([key, space]) => spaceJson(key, space));
      const next = from + spacesPerPage < all.length ? { next: { page: `p${from + spacesPerPage}` } } : {};
      return sendJson(response, 200, { items, count: all.length, ...next });
    }
    const space = resource === 'spaces' && Object.hasOwn(spaces, id) ? spaces[id] : undefined;
    if (!space || organization !== ORGANIZATION) return refuse(response, 404, 'Space not found');
    if (subpath === '') return sendJson(response, 200, spaceJson(id, space));
    if (subpath === 'content/pages') return sendJson(response, 200, { pages: pagesJson(id, space.pages) });
    const [content, single, pageId = '', ...furtherSegments] = rest;
    const found =
      content === 'content' && single === 'page' && furtherSegments.length === 0 ? findPage(space.pages, pageId) : null;
    if (!found) return refuse(response, 404, 'Page not found');
    const [page, at] = found;
    const markdown = query.get('format') === 'markdown' && (page.type ?? 'document') === 'document';
    sendJson(response, 200, {
      ...pageJson(id, pageId, page, at),
      ...(markdown ? { markdown: `# ${page.title}\n\n${page.text ?? ''}` } : {}),
    });
  };

  const emulator = await startEmulator<GitBookRefused>({
    admit({ request, response }) {
      if (tokens.has(bearerOf(request))) return true;
      refuse(response, 401, 'Invalid API token');
      return false;
    },
    faultTargetOf: ({ url }) => url.pathname.slice('/v1'.length),
    refuse: (response, { status, headers, body = '{"error":{"code":1,"message":"no"}}' }) =>
      sendJson(response, status, body, headers),
    answer({ request, response, path: [version, ...path], query }) {
      if (version !== 'v1') return refuse(response, 404, 'Not found');
      answer(path, query, response, tokens.get(bearerOf(request)) ?? '');
    },
  });
  return { ...emulator, settings: `GITBOOK.api=${emulator.origin}/v1`, spaces, tokens };
}
