/**
 * Emulates Confluence Cloud by its published API (v2, through the gateway for apps): sites whose spaces, pages, folders
 * and blog posts a test changes, all on one host.
 */
import type { ServerResponse } from 'node:http';

import { type ConsentingEmulator, startConsenting } from './consentEmulator.js';
import { type Call, type Refused, sendJson } from './emulator.js';

/** A page, blog post, folder or whiteboard of a space, as a test defines it. */
export interface EmulatedContent {
  readonly kind?: 'page' | 'blogpost' | 'folder' | 'whiteboard';
  readonly space: string;
  /** Id of the parent. Unset: the content is at the top of the space. */
  readonly parent?: string;
  readonly title: string;
  /** Body in Confluence's storage format. */
  storage?: string;
  version?: number;
  status?: 'current' | 'archived' | 'draft' | 'trashed';
}

export interface EmulatedSite {
  readonly subdomain: string;
  /** Scopes that the person granted for this site. */
  readonly scopes: readonly string[];
  /** Names by space id. */
  readonly spaces: Map<string, string>;
  /** Contents by id. */
  readonly contents: Map<string, EmulatedContent>;
}

/** `body` replaces Atlassian's default error body. */
type AtlassianRefused = Refused & { readonly body?: unknown };

export interface ConfluenceEmulator extends ConsentingEmulator<AtlassianRefused> {
  /** The value of SOURCE_URLS. */
  readonly settings: string;
  /** Sites by cloud id. */
  readonly sites: Map<string, EmulatedSite>;
}

const STAMP = '2026-03-03T10:00:00.000Z';
const CONSENT = { authorize: '/authorize', token: '/oauth/token' };
export const PEOPLE = [
  { id: 'acc-ada', label: 'Ada' },
  { id: 'acc-ben', label: 'Ben' },
];
const MESSAGES: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  429: 'Rate limit exceeded',
};

const refuse = (response: ServerResponse, { status, headers = {}, body }: AtlassianRefused): void => {
  const defaultBody =
    status === 404
      ? { errors: [{ status, code: 'NOT_FOUND', title: 'Not Found', detail: null }] }
      : { code: status, message: MESSAGES[status] ?? 'no' };
  sendJson(response, status, body ?? defaultBody, headers);
};

/** Kinds by the path segment of the API. */
const KINDS: Readonly<Record<string, NonNullable<EmulatedContent['kind']>>> = {
  pages: 'page',
  blogposts: 'blogpost',
  folders: 'folder',
  whiteboards: 'whiteboard',
};
const kindOf = ({ kind = 'page' }: EmulatedContent) => kind;
const SCOPES: Readonly<Record<string, string>> = {
  spaces: 'read:space:confluence',
  pages: 'read:page:confluence',
  blogposts: 'read:page:confluence',
  folders: 'read:folder:confluence',
};

/** @param perPage maximum page size, even if a request asks for more */
export async function startConfluence({ perPage = 2 } = {}): Promise<ConfluenceEmulator> {
  const sites = new Map<string, EmulatedSite>();

  const spaceJson = (id: string, name: string) => ({
    id,
    key: name.toUpperCase().replaceAll(/\W/g, ''),
    name,
    type: 'global',
    status: 'current',
    createdAt: STAMP,
    _links: { webui: `/spaces/${id}` },
  });
  const contentJson = ({ contents }: EmulatedSite, id: string, withBody: boolean) => {
    const content = contents.get(id)!;
    const { parent, version = 1, storage = '' } = content;
    const parentContent = parent === undefined ? undefined : contents.get(parent);
    const kind = kindOf(content);
    return {
      id,
      status: content.status ?? 'current',
      title: content.title,
      // Folders have no spaceId in answers; blog posts have no parentId.
      ...(kind === 'folder' ? { type: 'folder' } : { spaceId: content.space }),
      ...(kind === 'blogpost'
        ? {}
        : { parentId: parent ?? null, parentType: parentContent === undefined ? null : kindOf(parentContent) }),
      createdAt: STAMP,
      version: { number: version, createdAt: new Date(Date.parse(STAMP) + version * 1_000).toISOString() },
      ...(kind === 'folder'
        ? {}
        : { body: withBody ? { storage: { representation: 'storage', value: storage } } : {} }),
      _links: { webui: `/spaces/${content.space}/${kindOf(content)}s/${id}` },
    };
  };

  /**
   * Sends a page of a list with a link to the next one. A cursor holds the last id returned and is valid for this list
   * only.
   */
  const send = ({ response, url, query }: Call, values: readonly { readonly id: string }[]): void => {
    const parameters = new URLSearchParams(query);
    parameters.delete('cursor');
    const listUrl = `${url.pathname}?${parameters.toString()}`;
    let from = 0;
    const cursor = query.get('cursor');
    if (cursor !== null) {
      const [id, list] = Buffer.from(cursor, 'base64').toString().split(' ');
      if (list !== listUrl)
        return refuse(response, {
          status: 400,
          body: { errors: [{ status: 400, code: 'INVALID_CURSOR', title: 'Invalid cursor', detail: null }] },
        });
      from = values.findIndex((value) => Number(value.id) > Number(id));
      if (from < 0) from = values.length;
    }
    const page = values.slice(from, from + Math.min(perPage, Number(query.get('limit') ?? 25)));
    const next = Buffer.from(`${page.at(-1)?.id} ${listUrl}`).toString('base64');
    const path = url.pathname.slice(url.pathname.indexOf('/wiki'));
    parameters.set('cursor', next);
    const links = from + page.length < values.length ? { next: `${path}?${parameters.toString()}` } : {};
    sendJson(response, 200, { results: page, _links: { ...links, base: 'https://harbour.atlassian.net/wiki' } });
  };

  const answer = (
    call: Call,
    site: EmulatedSite,
    [resource = '', id = '', list = '', ...rest]: readonly string[],
  ): void => {
    const { response, query } = call;
    const { spaces, contents } = site;
    const missing = () => refuse(response, { status: 404 });
    const sortedById = <T extends { readonly id: string }>(items: readonly T[]): T[] =>
      items.toSorted((a, b) => Number(a.id) - Number(b.id));
    const statuses = query.get('status')?.split(',') ?? ['current', 'archived'];
    const contentsWhere = (matches: (content: EmulatedContent, id: string) => boolean) =>
      sortedById(
        [...contents]
          .filter(
            ([contentId, candidate]) =>
              statuses.includes(candidate.status ?? 'current') && matches(candidate, contentId),
          )
          .map(([contentId]) => contentJson(site, contentId, query.get('body-format') === 'storage')),
      );
    if (rest.length > 0) return missing();
    if (resource === 'spaces') {
      if (id === '') return send(call, sortedById([...spaces].map(([spaceId, name]) => spaceJson(spaceId, name))));
      const name = spaces.get(id);
      if (name === undefined) return missing();
      if (list === '') return sendJson(response, 200, spaceJson(id, name));
      if (list !== 'pages' && list !== 'blogposts') return missing();
      return send(
        call,
        contentsWhere((candidate) => candidate.space === id && kindOf(candidate) === KINDS[list]),
      );
    }
    const kind = KINDS[resource];
    if (kind === undefined) return missing();
    if (id === '') {
      const ids = (query.get('id') ?? '').split(',');
      return send(
        call,
        contentsWhere((candidate, contentId) => kindOf(candidate) === kind && ids.includes(contentId)),
      );
    }
    const content = contents.get(id);
    if (!content || kindOf(content) !== kind) return missing();
    if (list === '') return sendJson(response, 200, contentJson(site, id, query.get('body-format') === 'storage'));
    if (list !== 'direct-children') return missing();
    // Entries of this list have neither parentId nor version.
    const children = contentsWhere((candidate) => candidate.parent === id).map((child) => ({
      id: child.id,
      status: child.status,
      title: child.title,
      type: kindOf(contents.get(child.id)!),
      spaceId: contents.get(child.id)!.space,
      childPosition: 1,
    }));
    send(call, children);
  };

  const emulator = await startConsenting<AtlassianRefused>({
    oauth: { name: 'Atlassian', paths: CONSENT, people: PEOPLE, bodyFormat: 'json', rotates: true, refusalStatus: 403 },
    refuse,
    unauthorized: { status: 401 },
    answer(call, access) {
      const { person, scopes } = access;
      const { path, response } = call;
      const may = (scope: string): boolean => scopes.includes(scope);
      const mismatch = { status: 401, body: { code: 401, message: 'Unauthorized; scope does not match' } };
      if (path.join('/') === 'me')
        return may('read:me')
          ? sendJson(response, 200, {
              account_id: person.id,
              email: `${person.label}@harbour.example`,
              name: person.label,
            })
          : refuse(response, mismatch);
      if (path.join('/') === 'oauth/token/accessible-resources')
        return sendJson(
          response,
          200,
          [...sites].map(([id, { subdomain, scopes: granted }]) => ({
            id,
            name: subdomain,
            url: `https://${subdomain}.atlassian.net`,
            scopes: granted,
            avatarUrl: '',
          })),
        );
      const [ex, product, cloudId = '', wiki, api, version, ...rest] = path;
      const site = sites.get(cloudId);
      if ([ex, product, wiki, api, version].join('/') !== 'ex/confluence/wiki/api/v2' || !site)
        return refuse(response, { status: 404 });
      const isTree = rest[2] === 'direct-children';
      const needed = isTree ? 'read:hierarchical-content:confluence' : SCOPES[rest[2] ?? rest[0] ?? ''];
      if (needed !== undefined && !may(needed)) return refuse(response, mismatch);
      answer(call, site, rest);
    },
  });
  const at = (part: string, path: string) => `CONFLUENCE.${part}=${emulator.origin}${path}`;
  return {
    ...emulator,
    sites,
    settings: [at('api', ''), at('authorize', CONSENT.authorize), at('token', CONSENT.token)].join(','),
  };
}
