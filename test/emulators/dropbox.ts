/**
 * Emulates Dropbox on loopback, by its published API reference (v2): items with paths, which keep their ids when moved,
 * cursors that stay valid after the last page, and deletions reported by path. Consent and tokens come from
 * oauthProvider.ts.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';

import { createChangeLog } from './changeLog.js';
import { type ConsentingEmulator, settingsAt, startConsenting } from './consentEmulator.js';
import { type Call, type Refused, sendJson } from './emulator.js';
import type { OAuthProviderSettings } from './oauthProvider.js';

export interface EmulatedDropboxItem {
  /** The display path; paths are compared in lower case. */
  path: string;
  /** Unset: a folder. */
  content?: string | Buffer;
  /** Only for documents that cannot be downloaded: exported contents by format. The first format is the default. */
  exports?: Record<string, string>;
  /** Only for shared folders: the shared folder id. */
  shared?: string;
  /** The folder is visible, but its contents are not accessible. */
  isClosed?: boolean;
}

/** A refusal, with the error summary of the method if it has one. */
export type DropboxRefusal = Refused & { readonly summary?: string };

const PATHS = { api: '/2', content: '/2', authorize: '/oauth2/authorize', token: '/oauth2/token' };

export interface DropboxEmulator extends ConsentingEmulator<DropboxRefusal> {
  /** The value of SOURCE_URLS. */
  readonly settings: string;
  /** Items by id. */
  readonly items: Map<string, EmulatedDropboxItem>;
  /** Method and argument of each request, in order. The function given to `injectFault` receives the same text. */
  readonly requests: string[];
  /** Namespaces of the account: its home folder, and its root, which differs for a member of a team. */
  readonly namespaces: { home: string; root: string };
  /** Invalidates all cursors. */
  invalidateCursors(): void;
  /** Number of bytes missing from the end of each download. */
  readonly flaw: { missing: number };
}

/** Returns Dropbox's content hash: the hash of the concatenated hashes of blocks of 4 MiB. */
function hashOf(bytes: Buffer): string {
  const blocks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 4_194_304)
    blocks.push(
      createHash('sha256')
        .update(bytes.subarray(at, at + 4_194_304))
        .digest(),
    );
  return createHash('sha256').update(Buffer.concat(blocks)).digest('hex');
}

const TAGS: Readonly<Record<number, string>> = { 401: 'invalid_access_token', 403: 'no_permission' };
function refuse(response: ServerResponse, { status, summary, headers = {} }: DropboxRefusal): void {
  if (status === 400) return void response.writeHead(400, { 'content-type': 'text/plain' }).end('Error in call');
  if (status >= 500) return void response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>Oh no</h1>');
  if (status === 429) {
    const error = { reason: { '.tag': 'too_many_requests' }, retry_after: Number(headers['retry-after'] ?? 1) };
    return sendJson(response, 429, { error_summary: 'too_many_requests/..', error }, headers);
  }
  // Endpoint-specific errors all have status 409.
  const summaryText = summary ?? (status === 404 ? 'path/not_found' : (TAGS[status] ?? 'other'));
  const [outer = '', inner] = summaryText.split('/');
  const error = { '.tag': outer, ...(inner === undefined ? {} : { [outer]: { '.tag': inner } }) };
  const body = { error_summary: `${summaryText}/${'.'.repeat(2)}`, error };
  sendJson(response, status === 404 ? 409 : status, body, headers);
}

const nameOfPerson = (name: string) => ({
  ...{
    given_name: name,
    surname: 'Shore',
    familiar_name: name,
    display_name: name,
    abbreviated_name: name.slice(0, 2),
  },
});
const stamp = '2026-03-03T10:00:00Z';
const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));

/** @param perPage page size, whatever the request asks for */
export async function startDropbox({
  perPage = 2,
  ...settings
}: { perPage?: number } & Partial<OAuthProviderSettings> = {}): Promise<DropboxEmulator> {
  const items = new Map<string, EmulatedDropboxItem>();
  const requests: string[] = [];
  const namespaces = { home: '1001', root: '1001' };
  const flaw = { missing: 0 };
  let cursorGeneration = randomUUID();

  const keyOf = ({ path }: EmulatedDropboxItem): string => path.toLowerCase();
  const byPath = (path: string) => [...items].find(([, item]) => keyOf(item) === path.toLowerCase());
  const nameOf = ({ path }: EmulatedDropboxItem): string => path.slice(path.lastIndexOf('/') + 1);
  const find = (name: string): [string, EmulatedDropboxItem] | undefined => {
    const item = items.get(name);
    return item ? [name, item] : byPath(name);
  };
  /** Returns the id of the nearest shared folder that contains a path; null if there is none. */
  const sharedFolderAbove = (path: string): string | null => {
    if (path === '') return null;
    const [, folder] = byPath(path) ?? [];
    return folder?.shared ?? sharedFolderAbove(parentOf(path));
  };
  const jsonOf = (id: string, item: EmulatedDropboxItem): Record<string, unknown> => {
    const { path, content, exports, shared, isClosed } = item;
    const common = { id, name: nameOf(item), path_lower: keyOf(item), path_display: path };
    const parentShared = sharedFolderAbove(parentOf(path));
    const sharing = {
      ...(parentShared === null ? {} : { parent_shared_folder_id: parentShared }),
      ...(shared === undefined ? {} : { shared_folder_id: shared }),
    };
    const isShared = Object.keys(sharing).length > 0 || isClosed === true;
    if (content === undefined && exports === undefined)
      return {
        ...{ '.tag': 'folder', ...common },
        ...(isShared
          ? { sharing_info: { read_only: false, traverse_only: false, no_access: isClosed === true, ...sharing } }
          : {}),
      };
    const bytes = Buffer.from(content ?? JSON.stringify(exports));
    const options = Object.keys(exports ?? {});
    return {
      ...{ '.tag': 'file', ...common, client_modified: stamp, server_modified: stamp, size: bytes.length },
      rev: hashOf(bytes).slice(0, 13),
      ...(exports === undefined
        ? { content_hash: hashOf(bytes), is_downloadable: true }
        : {
            is_downloadable: false,
            ...(options.length > 0 ? { export_info: { export_as: options[0], export_options: options } } : {}),
          }),
      ...(isShared ? { sharing_info: { read_only: false, modified_by: 'dbid:1', ...sharing } } : {}),
    };
  };

  const log = createChangeLog(
    () =>
      new Map(
        [...items].map(([id, item]) => [
          id,
          JSON.stringify({ ...item, content: item.content === undefined ? undefined : String(item.content) }),
        ]),
      ),
  );
  /** Returns the changes after a position of the log: for each changed path its current state, once. */
  const changesSince = (from: number): { at: number; entry: Record<string, unknown> }[] => {
    const paths = new Map<string, { at: number; path: string }>();
    for (const [at, { before, now }] of log.entries.entries()) {
      if (at < from) continue;
      const [previous, current] = [before, now].map((state) =>
        state === null ? null : (JSON.parse(state) as EmulatedDropboxItem),
      );
      for (const item of previous && current && keyOf(previous) === keyOf(current) ? [current] : [previous, current]) {
        if (!item) continue;
        paths.delete(keyOf(item));
        paths.set(keyOf(item), { at, path: item.path });
      }
    }
    return [...paths.values()].flatMap(({ at, path }) => {
      const found = byPath(path);
      // Dropbox reports a deleted folder, not the items inside it.
      const isInDeletedFolder = [...paths.values()].some(
        (other) => path.toLowerCase().startsWith(`${other.path.toLowerCase()}/`) && !byPath(other.path),
      );
      if (!found && isInDeletedFolder) return [];
      const deleted = { '.tag': 'deleted', name: nameOf({ path }), path_lower: path.toLowerCase(), path_display: path };
      return [{ at, entry: found ? jsonOf(...found) : deleted }];
    });
  };

  /**
   * A cursor holds a folder and a position in its listing, or a position in the log. The cursor stays valid after the
   * last page.
   */
  const cursorOf = (content: object): string =>
    Buffer.from(JSON.stringify({ generation: cursorGeneration, ...content })).toString('base64url');
  const readCursor = (
    text: unknown,
  ): { generation?: string; folder?: string; after?: number; since?: number; root?: string } => {
    try {
      return JSON.parse(Buffer.from(String(text), 'base64url').toString()) as object;
    } catch {
      return {};
    }
  };
  /**
   * Ordinals of items in the order of creation. Cursors contain them, so a deletion does not change a cursor's
   * position.
   */
  const ordinals = new Map<string, number>();
  const ordinalOf = (id: string): number => {
    if (!ordinals.has(id)) ordinals.set(id, ordinals.size + 1);
    return ordinals.get(id) ?? 0;
  };
  const list = (response: ServerResponse, folder: string, after: number, root: string): void => {
    for (const id of items.keys()) ordinalOf(id);
    const all = [...items].filter(([id, item]) => parentOf(keyOf(item)) === folder && ordinalOf(id) > after);
    const page = all.slice(0, perPage);
    sendJson(response, 200, {
      entries: page.map(([id, item]) => jsonOf(id, item)),
      cursor: cursorOf({ folder, after: page.length === 0 ? after : ordinalOf(page.at(-1)?.[0] ?? ''), root }),
      has_more: page.length < all.length,
    });
  };
  const continueListing = (response: ServerResponse, cursor: unknown, root: string): void => {
    const { generation, folder, after = 0, since, root: cursorRoot } = readCursor(cursor);
    if (generation === undefined) return refuse(response, { status: 400 });
    if (generation !== cursorGeneration || cursorRoot !== root)
      return refuse(response, { status: 409, summary: 'reset' });
    if (folder !== undefined) return list(response, folder, after, root);
    const all = changesSince(since ?? 0);
    const page = all.slice(0, perPage);
    const next = page.length < all.length ? Math.min(...all.slice(perPage).map(({ at }) => at)) : log.entries.length;
    // Several entries can share a position. If the next page would start at the position of this one, send all entries:
    // otherwise, the listing would repeat this page forever.
    const isStuck = page.length < all.length && next === since;
    sendJson(response, 200, {
      entries: (isStuck ? all : page).map(({ entry }) => entry),
      cursor: cursorOf({ since: isStuck ? log.entries.length : next, root }),
      has_more: !isStuck && page.length < all.length,
    });
  };

  const content = ({ request, response }: Call, method: string | undefined): void => {
    const argument = JSON.parse(String(request.headers['dropbox-api-arg'])) as { path: string; export_format?: string };
    const [id, item] = find(argument.path) ?? [];
    if (id === undefined || !item) return refuse(response, { status: 404 });
    const { content: bytes, exports } = item;
    const json = jsonOf(id, item);
    if (method === 'download') {
      if (exports) return refuse(response, { status: 409, summary: 'unsupported_file' });
      if (bytes === undefined) return refuse(response, { status: 409, summary: 'path/not_file' });
      const buffer = Buffer.from(bytes);
      const headers = { 'content-type': 'application/octet-stream', 'dropbox-api-result': escaped(json) };
      return void response.writeHead(200, headers).end(buffer.subarray(0, buffer.length - flaw.missing));
    }
    const format = argument.export_format ?? Object.keys(exports ?? {})[0] ?? '';
    if (!exports || !Object.hasOwn(exports, format))
      return refuse(response, { status: 409, summary: 'non_exportable' });
    const result = { export_metadata: { name: `${nameOf(item)}.${format}`, size: 1 }, file_metadata: json };
    response.writeHead(200, { 'dropbox-api-result': escaped(result) }).end(exports[format]);
  };
  /** Escapes JSON for use in an HTTP header. */
  const escaped = (value: unknown): string =>
    JSON.stringify(value).replaceAll(
      /[\u007f-\uffff]/g,
      (character) => String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );

  const faultTargetOf = ({ path, body, request }: Call): string =>
    `${path.slice(1).join('/')} ${body.toString() || String(request.headers['dropbox-api-arg'] ?? '')}`;
  const emulator = await startConsenting<DropboxRefusal>({
    oauth: {
      name: 'Dropbox',
      paths: { authorize: PATHS.authorize, token: PATHS.token },
      people: [
        { id: 'ada@harbour.example', label: 'Ada' },
        { id: 'ben@harbour.example', label: 'Ben' },
      ],
      expiresIn: 14_400,
      ...settings,
    },
    refuse,
    unauthorized: { status: 401, summary: 'expired_access_token' },
    faultTargetOf,
    answer(call, { person }) {
      log.logChanges();
      requests.push(faultTargetOf(call));
      const { path, response, request, body } = call;
      const [version, resource, method, more] = path;
      if (version !== '2') return refuse(response, { status: 400 });
      if (resource === 'users' && method === 'get_current_account') {
        if (body.toString() !== 'null') return refuse(response, { status: 400 });
        return sendJson(response, 200, {
          account_id: `dbid:${person.label}`,
          name: nameOfPerson(person.label),
          ...{ locale: 'en', referral_link: 'https://db.tt/a', is_paired: false, account_type: { '.tag': 'business' } },
          ...{ email: person.id, email_verified: true, disabled: false },
          ...(namespaces.home === namespaces.root ? {} : { team: { id: 'dbtid:1', name: 'Harbour' } }),
          root_info: {
            '.tag': namespaces.home === namespaces.root ? 'user' : 'team',
            ...{ root_namespace_id: namespaces.root, home_namespace_id: namespaces.home },
            ...(namespaces.home === namespaces.root ? {} : { home_path: `/${person.label}` }),
          },
        });
      }
      const header = request.headers['dropbox-api-path-root'];
      const root = header === undefined ? namespaces.home : (JSON.parse(String(header)) as { root: string }).root;
      if (root !== namespaces.home && root !== namespaces.root)
        return refuse(response, { status: 422, summary: 'invalid_root' });
      if (resource !== 'files') return refuse(response, { status: 400 });
      if (method === 'download' || method === 'export') return content(call, method);
      const parameters = JSON.parse(body.toString()) as { path?: string; recursive?: boolean; cursor?: string };
      if (method === 'list_folder' && more === 'continue') return continueListing(response, parameters.cursor, root);
      const name = parameters.path ?? '';
      if (name !== '' && !/^(id:|\/)/.test(name)) return refuse(response, { status: 400 });
      if (method === 'list_folder' && more === 'get_latest_cursor')
        return sendJson(response, 200, { cursor: cursorOf({ since: log.entries.length, root }) });
      const found = name === '' ? undefined : find(name);
      if (name !== '' && !found) return refuse(response, { status: 404 });
      if (method === 'get_metadata' && found) return sendJson(response, 200, jsonOf(...found));
      if (method !== 'list_folder' || parameters.recursive === true) return refuse(response, { status: 400 });
      if (found?.[1].isClosed) return refuse(response, { status: 409, summary: 'path/restricted_content' });
      if (found && (found[1].content ?? found[1].exports) !== undefined)
        return refuse(response, { status: 409, summary: 'path/not_folder' });
      list(response, found ? keyOf(found[1]) : '', 0, root);
    },
  });
  return {
    ...emulator,
    settings: settingsAt('DROPBOX', emulator.origin, PATHS),
    reset() {
      emulator.reset();
      requests.length = 0;
    },
    invalidateCursors() {
      cursorGeneration = randomUUID();
    },
    ...{ items, requests, namespaces, flaw },
  };
}
