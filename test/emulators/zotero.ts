/**
 * Emulates Zotero's Web API (version 3) on loopback, by its published documentation: libraries whose version increases
 * with each change, collections, items with children, files behind a redirect, deletions since a version. Errors are
 * plain text.
 */
import type { ServerResponse } from 'node:http';

import { type Call, type Emulator, type Refused, sendJson, startEmulator } from './emulator.js';
import { createOAuth1Provider, type OAuth1Provider } from './oauth1Provider.js';

const ZOTERO_PEOPLE = [
  { id: '475', label: 'ada' },
  { id: '476', label: 'ben' },
];

interface StoredObject {
  readonly data: Readonly<Record<string, unknown>>;
  readonly version: number;
  /** Content of the file. Unset: Zotero does not store the file. */
  readonly file?: string;
}
interface ZoteroLibrary {
  readonly name: string;
  version: number;
  readonly collections: Map<string, StoredObject>;
  readonly items: Map<string, StoredObject>;
  /** Deleted keys with the library version of the deletion. */
  readonly deleted: { readonly kind: 'items' | 'collections'; readonly key: string; readonly version: number }[];
}

export interface ZoteroEmulator extends Emulator {
  readonly settings: string;
  readonly oauth: OAuth1Provider;
  /** Libraries by path: `users/475`, `groups/12`. */
  readonly libraries: Map<string, ZoteroLibrary>;
  /** Access of keys to the personal library; groups are always accessible. */
  readonly rights: { hasLibrary: boolean };
  /** Value of the Backoff header in seconds; 0: no header. */
  readonly backoff: { seconds: number };
  put(library: string, kind: 'items' | 'collections', key: string, data: Record<string, unknown>, file?: string): void;
  drop(library: string, kind: 'items' | 'collections', key: string): void;
}

/** Returns a key in Zotero's format for a name. */
export const zoteroKey = (name: string): string =>
  name
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '')
    .padEnd(8, 'Z')
    .slice(0, 8);

const STAMP = '2026-01-07T09:00:00Z';
const PATHS = { request: '/oauth/request', authorize: '/oauth/authorize', token: '/oauth/access' };
const TEXTS: Readonly<Record<number, string>> = { 403: 'Forbidden', 404: 'Not found', 429: 'Too many requests' };
/** Zotero has no 401: it answers 403 to an invalid key. */
const refuse = (response: ServerResponse, { status, headers = {} }: Refused): void =>
  void response
    .writeHead(status === 401 ? 403 : status, { 'content-type': 'text/plain; charset=utf-8', ...headers })
    .end(status === 401 ? 'Invalid key' : (TEXTS[status] ?? 'An error occurred'));

/** @param perPage maximum page size, even if a request asks for more */
export async function startZotero({ perPage = 2 } = {}): Promise<ZoteroEmulator> {
  const libraries = new Map<string, ZoteroLibrary>();
  const oauth = createOAuth1Provider('Zotero', PATHS, ZOTERO_PEOPLE);
  const rights = { hasLibrary: true };
  const backoff = { seconds: 0 };

  const backoffHeader = (): Record<string, string> => (backoff.seconds > 0 ? { backoff: String(backoff.seconds) } : {});
  const sendList = ({ response, query, url }: Call, all: readonly unknown[], version: number): void => {
    const start = Number(query.get('start') ?? 0);
    const to = start + Math.min(perPage, Number(query.get('limit') ?? 25));
    const more =
      to < all.length
        ? {
            link: `<https://api.zotero.org${url.pathname}?limit=2&start=${to}>; rel="next", <https://api.zotero.org/x?start=9>; rel="last"`,
          }
        : {};
    sendJson(response, 200, all.slice(start, to), {
      'total-results': String(all.length),
      'last-modified-version': String(version),
      ...more,
      ...backoffHeader(),
    });
  };
  const linksOf = (path: string) => ({
    self: { href: `https://api.zotero.org/${path}`, type: 'application/json' },
    alternate: { href: `https://www.zotero.org/${path}`, type: 'text/html' },
  });
  const groupJson = (id: number, name: string) => ({
    ...{ id, version: 1, links: linksOf(`groups/${id}`) },
    meta: { created: STAMP, lastModified: STAMP, numItems: 0 },
    data: {
      ...{ id, version: 1, name, owner: 475, type: 'Private', description: '', url: '' },
      ...{ libraryEditing: 'members', libraryReading: 'members', fileEditing: 'members' },
    },
  });
  const jsonOf = (
    path: string,
    library: ZoteroLibrary,
    kind: string,
    key: string,
    { data, version, file }: StoredObject,
  ) => {
    const isItem = kind === 'items';
    const children = [...library.items.values()].filter(({ data: child }) => child['parentItem'] === key).length;
    const subcollections = [...library.collections.values()].filter(
      ({ data: child }) => child['parentCollection'] === key,
    );
    const { href } = linksOf(`${path}/${kind}/${key}`).self;
    const [owner = '', number = ''] = path.split('/');
    return {
      ...{ key, version },
      library: {
        ...{ type: owner === 'users' ? 'user' : 'group', id: Number(number), name: library.name },
        links: { alternate: linksOf(path).alternate },
      },
      links: {
        ...linksOf(`${path}/${kind}/${key}`),
        ...(file === undefined ? {} : { enclosure: { href: `${href}/file/view`, length: file.length } }),
      },
      meta: isItem ? { numChildren: children } : { numCollections: subcollections.length, numItems: 0 },
      data: {
        ...{ key, version, relations: {} },
        ...(isItem ? { tags: [], dateAdded: STAMP, dateModified: STAMP } : { parentCollection: false }),
        ...data,
      },
    };
  };

  const inLibrary = (call: Call, path: string, library: ZoteroLibrary, rest: readonly string[]): void => {
    const { response, query } = call;
    const since = Number(query.get('since') ?? 0);
    const [resource, key, sublist] = rest;
    if (resource === undefined)
      return path.startsWith('groups/')
        ? sendJson(response, 200, groupJson(Number(path.split('/')[1]), library.name), backoffHeader())
        : refuse(response, { status: 404 });
    if (resource === 'deleted') {
      const keys = (kind: string) =>
        library.deleted.filter((entry) => entry.kind === kind && entry.version > since).map((entry) => entry.key);
      const deleted = { items: keys('items'), collections: keys('collections'), searches: [], tags: [], settings: [] };
      return sendJson(response, 200, deleted, { 'last-modified-version': String(library.version) });
    }
    if (resource !== 'items' && resource !== 'collections') return refuse(response, { status: 404 });
    const objects = library[resource];
    const object = key === undefined ? undefined : objects.get(key);
    if (key !== undefined && !object) return refuse(response, { status: 404 });
    const entryJson = ([id, entry]: readonly [string, StoredObject]) =>
      jsonOf(path, library, resource === 'collections' && sublist === 'items' ? 'items' : resource, id, entry);
    if (object && key !== undefined && sublist === undefined)
      return sendJson(response, 200, entryJson([key, object]), backoffHeader());
    if (object && sublist === 'file') {
      if (object.file === undefined) return refuse(response, { status: 404 });
      return void response.writeHead(302, { location: `/files/${encodeURIComponent(path)}/${key}` }).end();
    }
    const isListed = ([, { data, version }]: readonly [string, StoredObject]): boolean =>
      version > since &&
      (query.get('includeTrashed') === '1' || data['deleted'] !== 1) &&
      !(query.get('itemType') === '-annotation' && data['itemType'] === 'annotation');
    const inCollection = ([id, { data }]: readonly [string, StoredObject]): boolean => {
      const parent =
        typeof data['parentItem'] === 'string' ? library.items.get(data['parentItem']) : library.items.get(id);
      return ((parent?.data['collections'] as readonly string[] | undefined) ?? []).includes(key ?? '');
    };
    const all =
      object === undefined
        ? [...objects]
        : sublist === 'children'
          ? [...library.items].filter(([, { data }]) => data['parentItem'] === key)
          : [...library.items].filter(inCollection);
    sendList(call, all.filter(isListed).map(entryJson), library.version);
  };

  const answer = (call: Call): void => {
    const { response, path, request } = call;
    if (oauth.take(call)) return;
    const [kind = '', number = '', ...rest] = path;
    if (kind === 'files') {
      // The API key must not follow the redirect.
      if (request.headers['zotero-api-key'] !== undefined) return refuse(response, { status: 404 });
      const file = libraries.get(number)?.items.get(rest[0] ?? '')?.file;
      response
        .writeHead(file === undefined ? 404 : 200, { 'content-type': 'application/octet-stream' })
        .end(file ?? '');
      return;
    }
    const owner = oauth.ownerOf(String(request.headers['zotero-api-key'] ?? ''));
    if (!owner) return refuse(response, { status: 401 });
    if (kind === 'keys')
      return sendJson(response, 200, {
        ...{ key: 'k', userID: Number(owner.id), username: owner.label, displayName: '' },
        access: {
          // A right that is not granted is absent.
          ...(rights.hasLibrary ? { user: { library: true, files: true, notes: true, write: false } } : {}),
          groups: { all: { library: true, write: false } },
        },
      });
    if (kind === 'users' && number === owner.id && rest[0] === 'groups') {
      const groups = [...libraries].filter(([name]) => name.startsWith('groups/'));
      return sendList(
        call,
        groups.map(([name, { name: title }]) => groupJson(Number(name.slice(7)), title)),
        0,
      );
    }
    const name = `${kind}/${number}`;
    const library = libraries.get(name);
    if (!library) return refuse(response, { status: 404 });
    if (kind === 'users' && (number !== owner.id || !rights.hasLibrary)) return refuse(response, { status: 403 });
    inLibrary(call, name, library, rest);
  };

  const isConsent = (path: string): boolean => Object.values(PATHS).includes(path);
  const emulator = await startEmulator({ refuse, answer });
  return {
    ...emulator,
    injectFault: (how) =>
      emulator.injectFault((path) => (isConsent(path) || path.startsWith('/files/') ? null : how(path))),
    settings: [
      `ZOTERO.api=${emulator.origin}`,
      ...Object.entries(PATHS).map(([part, path]) => `ZOTERO.${part}=${emulator.origin}${path}`),
    ].join(','),
    oauth,
    libraries,
    rights,
    backoff,
    put(name, kind, key, data, file) {
      const library = libraries.get(name)!;
      library.version += 1;
      library[kind].set(key, { data, version: library.version, ...(file === undefined ? {} : { file }) });
    },
    drop(name, kind, key) {
      const library = libraries.get(name)!;
      library.version += 1;
      library[kind].delete(key);
      library.deleted.push({ kind, key, version: library.version });
    },
  };
}
