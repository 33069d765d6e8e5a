/**
 * Emulates Box on loopback, by its published API reference: folders paged by marker, file contents behind a redirect,
 * and events, delivered twice and out of order, as Box documents. Consent and tokens come from oauthProvider.ts.
 */
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';

import { createChangeLog, type LoggedChange } from './changeLog.js';
import { type ConsentingEmulator, settingsAt, startConsenting } from './consentEmulator.js';
import { type Call, type Refused, sendJson } from './emulator.js';

export interface EmulatedBoxItem {
  name: string;
  /** Id of the parent folder. Unset: the root folder. */
  parent?: string;
  content?: string | Buffer;
  /** Only for web links. */
  url?: string;
  /** Only for folders: the parent lists the folder, but a request for its contents is answered with 403. */
  isClosed?: boolean;
}

const PATHS = { api: '/2.0', authorize: '/api/oauth2/authorize', token: '/oauth2/token' };

export interface BoxEmulator extends ConsentingEmulator<Refused> {
  /** The value of SOURCE_URLS. */
  readonly settings: string;
  /** Keys: `<id>` of a file, `folder:<id>`, `web_link:<id>`. */
  readonly items: Map<string, EmulatedBoxItem>;
  /** Number of the next downloads that are answered with status 202: the content is not ready. */
  readonly unready: { times: number };
}

const CODES: Readonly<Record<number, string>> = {
  400: 'bad_request',
  403: 'access_denied_insufficient_permissions',
  404: 'not_found',
  429: 'rate_limit_exceeded',
};
const stamp = '2026-03-03T02:00:00-08:00';
/** Position of the first event: larger than Number.MAX_SAFE_INTEGER, like Box's. */
const FIRST_POSITION = 30_401_068_076_164_269n;

function refuse(response: ServerResponse, { status, headers = {} }: Refused): void {
  if (status === 401) return void response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end();
  const code = CODES[status] ?? 'internal_server_error';
  const body = { type: 'error', status, code, message: code, request_id: 'r1', help_url: 'http://developers.box.com' };
  sendJson(response, status, body, headers);
}

const kindOf = (key: string): string => (key.includes(':') ? key.slice(0, key.indexOf(':')) : 'file');
const numberOf = (key: string): string => key.slice(key.indexOf(':') + 1);

/** @param perPage largest page size, even if a request asks for more */
export async function startBox({ perPage = 2 } = {}): Promise<BoxEmulator> {
  const items = new Map<string, EmulatedBoxItem>();
  const unready = { times: 0 };
  /** File key by download address. */
  const keyByDownload = new Map<string, string>();
  const folderOf = ({ parent = '0' }: EmulatedBoxItem) => `folder:${parent}`;
  const ancestors = (item: EmulatedBoxItem): [string, EmulatedBoxItem][] => {
    const folder = items.get(folderOf(item));
    return folder ? [...ancestors(folder), [folderOf(item), folder]] : [];
  };
  const mini = (key: string, name: string) => ({
    type: 'folder',
    id: numberOf(key),
    // Box returns null for both in the root folder.
    ...(key === 'folder:0' ? { sequence_id: null, etag: null } : { sequence_id: '0', etag: '0' }),
    name,
  });
  const jsonOf = (key: string, item: EmulatedBoxItem): Record<string, unknown> => {
    const folders = [['folder:0', { name: 'All Files' }] as const, ...ancestors(item)];
    const path = folders.map(([id, { name }]) => mini(id, name));
    const bytes = Buffer.from(item.content ?? '');
    return {
      ...{ type: kindOf(key), id: numberOf(key), etag: '0', sequence_id: '0', name: item.name, description: '' },
      ...{ created_at: stamp, modified_at: stamp, item_status: 'active' },
      ...(kindOf(key) === 'web_link' ? {} : { content_created_at: stamp, content_modified_at: stamp }),
      ...(kindOf(key) === 'file' ? { sha1: createHash('sha1').update(bytes).digest('hex'), size: bytes.length } : {}),
      ...(item.url === undefined ? {} : { url: item.url }),
      parent: path.at(-1),
      path_collection: { total_count: path.length, entries: path },
    };
  };
  /** Selects the requested fields; type, id and etag are always included. */
  const selectFields = (fields: string | null, json: Record<string, unknown>): Record<string, unknown> => {
    if (fields === null) return json;
    const chosen = new Set(['type', 'id', 'etag', ...fields.split(',')]);
    return Object.fromEntries(Object.entries(json).filter(([name]) => chosen.has(name)));
  };

  const log = createChangeLog(
    () =>
      new Map([...items].map(([key, item]) => [key, JSON.stringify({ ...item, content: String(item.content ?? '') })])),
    // Box emits no events for the contents of a deleted folder.
    ({ before, now }, all) => {
      const { parent = '0' } = JSON.parse(before ?? '{}') as EmulatedBoxItem;
      return now !== null || parent === '0' || all.has(`folder:${parent}`);
    },
  );
  const eventOf = ({ key, before, now }: LoggedChange, index: number) => {
    const item = JSON.parse(now ?? before ?? '{}') as EmulatedBoxItem;
    const type = now === null ? 'ITEM_TRASH' : before === null ? 'ITEM_UPLOAD' : 'ITEM_MODIFY';
    const source = { ...jsonOf(key, item), item_status: now === null ? 'trashed' : 'active' };
    return { type: 'event', event_id: `e${index}`, event_type: type, created_at: stamp, source };
  };
  const events = ({ query, response }: Call): void => {
    const requested = query.get('stream_position') ?? '0';
    if (requested !== 'now' && !/^\d+$/.test(requested)) return refuse(response, { status: 400 });
    const { entries } = log;
    const from = requested === 'now' ? entries.length : Number(BigInt(requested) - FIRST_POSITION);
    const to = Math.min(entries.length, Math.max(0, from) + Math.min(perPage, Number(query.get('limit') ?? 100)));
    const reported = entries.slice(Math.max(0, from), to).map((entry, index) => eventOf(entry, from + index));
    const page = [...reported, ...reported].toReversed();
    const next = String(FIRST_POSITION + BigInt(Math.max(to, from)));
    sendJson(
      response,
      200,
      `{"chunk_size":${page.length},"next_stream_position":${next},"entries":${JSON.stringify(page)}}`,
    );
  };

  /** Ordinals of items in the order of creation. Markers contain them, so a deletion does not invalidate a marker. */
  const ordinals = new Map<string, number>();
  const ordinalOf = (key: string): number => {
    if (!ordinals.has(key)) ordinals.set(key, ordinals.size + 1);
    return ordinals.get(key) ?? 0;
  };
  const listFolder = (call: Call, id: string): void => {
    const { query, response } = call;
    const folder = items.get(`folder:${id}`);
    if (id !== '0' && !folder) return refuse(response, { status: 404 });
    if (folder?.isClosed) return refuse(response, { status: 403 });
    const [markedFolder, at] = Buffer.from(query.get('marker') ?? '', 'base64url')
      .toString()
      .split(' ');
    if (query.get('usemarker') !== 'true' || (query.has('marker') && markedFolder !== id))
      return refuse(response, { status: 400 });
    for (const key of items.keys()) ordinalOf(key);
    const children = [...items].filter(([, item]) => folderOf(item) === `folder:${id}`);
    const remaining = children.filter(([key]) => ordinalOf(key) > Number(at ?? 0));
    const page = remaining.slice(0, Math.min(perPage, Number(query.get('limit') ?? 100)));
    const last = `${id} ${ordinalOf(page.at(-1)?.[0] ?? '')}`;
    sendJson(response, 200, {
      limit: perPage,
      entries: page.map(([key, item]) => selectFields(query.get('fields'), jsonOf(key, item))),
      ...(page.length < remaining.length ? { next_marker: Buffer.from(last).toString('base64url') } : {}),
    });
  };

  const content = ({ response }: Call, key: string): void => {
    if (unready.times > 0) {
      unready.times -= 1;
      return void response.writeHead(202, { 'retry-after': '0' }).end();
    }
    const name = `d${keyByDownload.size}`;
    keyByDownload.set(name, key);
    response.writeHead(302, { location: `${emulator.origin}/dl/${name}` }).end();
  };

  const emulator = await startConsenting<Refused>({
    oauth: {
      name: 'Box',
      paths: { authorize: PATHS.authorize, token: PATHS.token },
      people: [
        { id: 'ada@harbour.example', label: 'Ada' },
        { id: 'ben@harbour.example', label: 'Ben' },
      ],
      rotates: true,
    },
    refuse,
    unauthorized: { status: 401 },
    isOpen: ({ path: [resource] }) => resource === 'dl',
    answer(call, { person }) {
      log.logChanges();
      const { path, query, response, request } = call;
      const [version, resource = '', id = '', part, ...rest] = path;
      if (version === 'dl') {
        // Box serves downloads from another host, which must not receive the token.
        const bytes = items.get(keyByDownload.get(resource) ?? '')?.content;
        if (request.headers.authorization !== undefined || bytes === undefined)
          return refuse(response, { status: 400 });
        return void response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(bytes);
      }
      if (version !== '2.0' || rest.length > 0) return refuse(response, { status: 404 });
      if (resource === 'users' && id === 'me')
        return sendJson(response, 200, { type: 'user', id: '17738362', login: person.id, name: person.label });
      if (resource === 'events') return events(call);
      if (resource === 'folders' && part === 'items') return listFolder(call, id);
      const kinds: Record<string, string> = { files: id, folders: `folder:${id}`, web_links: `web_link:${id}` };
      const key = kinds[resource] ?? '';
      const item = items.get(key);
      if (!item) return refuse(response, { status: 404 });
      if (part === 'content' && resource === 'files') return content(call, key);
      if (part !== undefined) return refuse(response, { status: 404 });
      sendJson(response, 200, selectFields(query.get('fields'), jsonOf(key, item)));
    },
  });
  return { ...emulator, settings: settingsAt('BOX', emulator.origin, PATHS), items, unready };
}
