/**
 * Emulates Guru's API, by its published reference: collections with folders and cards, which a test changes. Lists are
 * paged with a Link header.
 */
import type { ServerResponse } from 'node:http';

import { type Call, type Emulator, type Refused, sendJson, startEmulator } from './emulator.js';

export const USERNAME = 'Ada@harbour.example';
export const TOKEN = 'guru-lighthouse-token';

export interface EmulatedFolder {
  readonly title: string;
  /** Id of a folder or of a collection. */
  readonly parent: string;
}
export interface EmulatedCard {
  readonly title: string;
  html: string;
  readonly collection: string;
  /** Id of its folder. Unset: the card is in no folder. */
  readonly folder?: string;
  edited?: number;
  archived?: boolean;
}

export interface GuruEmulator extends Emulator {
  /** The value of SOURCE_URLS. */
  readonly settings: string;
  /** Names by collection id. */
  readonly collections: Map<string, string>;
  readonly folders: Map<string, EmulatedFolder>;
  readonly cards: Map<string, EmulatedCard>;
  readonly tokens: Set<string>;
}

const CREATED_AT = Date.parse('2026-03-03T10:00:00.000Z');
/** Returns a time in Guru's format. */
const stamp = (minutes = 0): string => new Date(CREATED_AT + minutes * 60_000).toISOString().replace('Z', '+0000');
const refuse = (response: ServerResponse, { status, headers = {} }: Refused): void =>
  sendJson(response, status, { description: 'no', code: status }, headers);

/** Starts the emulator. @param perPage page size, whatever the request asks for */
export async function startGuru({ perPage = 2 } = {}): Promise<GuruEmulator> {
  const collections = new Map<string, string>();
  const folders = new Map<string, EmulatedFolder>();
  const cards = new Map<string, EmulatedCard>();
  const tokens = new Set([TOKEN]);

  /** Returns a collection as cards and folders contain it. @param id id of the collection */
  const collectionReference = (id: string) => ({
    id,
    name: collections.get(id),
    slug: `${id}/name`,
    // An id and a name (https://developer.getguru.com/docs/cards); only the id is accepted in a path.
    homeBoardSlug: `home-${id}/Home`,
    ...{ color: '#7100d7', collectionType: 'INTERNAL', publicCardsEnabled: false, roiEnabled: false },
  });
  const collectionJson = (id: string) => ({
    ...collectionReference(id),
    ...{ description: null, dateCreated: stamp(), roles: ['COLL_ADMIN'] },
  });
  const collectionOf = (folder: string): string => {
    const { parent } = folders.get(folder)!;
    return collections.has(parent) ? parent : collectionOf(parent);
  };
  const folderJson = (id: string) => ({
    ...{ id, title: folders.get(id)?.title, slug: `${id}/slug`, description: null },
    ...{ lastModified: stamp(), home: false, collection: collectionReference(collectionOf(id)) },
  });
  /** Returns the fields of a card in a folder's list of entries, without `cardDetail=FULL`. */
  const basicCardJson = (id: string) => ({
    ...{ id, preferredPhrase: cards.get(id)!.title, slug: `${id}/slug`, shareStatus: 'TEAM' },
    verificationState: 'TRUSTED',
  });
  const cardJson = (id: string) => {
    const { html, collection, folder, edited, archived = false } = cards.get(id)!;
    return {
      ...basicCardJson(id),
      ...{ cardType: 'CARD', content: html, version: 1 + (edited ?? 0), archived },
      collection: collectionReference(collection),
      boards: folder === undefined ? [] : [{ id: folder }],
      dateCreated: stamp(),
      lastModified: stamp(edited),
    };
  };
  /** Returns a card as an entry of a folder. https://github.com/guruhq/py-sdk/commit/824dfe5 */
  const entryJson = (id: string, detail: string | null) => ({
    ...(detail === 'FULL' ? { ...cardJson(id), content: undefined } : basicCardJson(id)),
    ...{ type: 'card', itemId: `item-${id}`, folderCount: 1 },
  });
  /** Sends a page of a list. The link to the next page contains only a token, which is valid for this list only. */
  const sendPage = ({ request, response, url, query }: Call, all: readonly object[]): void => {
    const [from = '0', listPath = url.pathname] = Buffer.from(query.get('token') ?? '', 'base64url')
      .toString()
      .split(' ');
    if (listPath !== url.pathname) return refuse(response, { status: 400 });
    const start = Number(from);
    const end = start + perPage;
    const token = Buffer.from(`${end} ${url.pathname}`).toString('base64url');
    const link = `< http://${request.headers.host}${url.pathname}?token=${token} >; rel="next-page"`;
    sendJson(response, 200, all.slice(start, end), end < all.length ? { link } : {});
  };

  const answer = (call: Call): void => {
    const { response, path, query } = call;
    const [, , resource = '', id = '', rest = ''] = path;
    const missing = (): void => refuse(response, { status: 404 });
    if (resource === 'whoami')
      return sendJson(response, 200, {
        user: { id: USERNAME, email: USERNAME, status: 'ACTIVE' },
        team: { id: 'team-1', name: 'Harbour', status: 'ACTIVE', dateCreated: stamp() },
      });
    if (resource === 'collections') {
      if (id === '') return sendPage(call, [...collections.keys()].map(collectionJson));
      return collections.has(id) ? sendJson(response, 200, collectionJson(id)) : missing();
    }
    if (resource === 'folders') {
      const parent = id.startsWith('home-') ? id.slice('home-'.length) : id;
      if (!collections.has(parent) && !folders.has(parent)) return missing();
      if (rest === '') return folders.has(id) ? sendJson(response, 200, folderJson(id)) : missing();
      const isInFolder = ({ collection, folder }: EmulatedCard): boolean =>
        folder === parent && folders.has(parent) && collections.has(collection);
      const detail = query.get('cardDetail');
      return sendPage(call, [
        ...[...folders]
          .filter(([, folder]) => folder.parent === parent)
          .map(([at]) => ({ type: 'folder', itemId: `item-${at}`, ...folderJson(at) })),
        ...[...cards]
          .filter(([, card]) => isInFolder(card) && card.archived !== true)
          .map(([at]) => entryJson(at, detail)),
      ]);
    }
    if (resource === 'search' && id === 'query') {
      if (query.get('token') === null && query.get('sortField') !== 'dateCreated')
        return refuse(response, { status: 400 });
      const found = [...cards].filter(([, card]) => card.archived !== true).map(([at]) => cardJson(at));
      if (found.length > 0) return sendPage(call, found);
      response.writeHead(204).end();
      return;
    }
    if (resource !== 'cards' || !cards.has(id) || (rest !== '' && rest !== 'extended')) return missing();
    // An archived card has no extended form.
    if (rest === 'extended' && cards.get(id)?.archived === true) return missing();
    sendJson(response, 200, cardJson(id));
  };

  const emulator = await startEmulator({
    refuse,
    admit({ request, response }) {
      const [, basic = ''] = /^Basic (.+)$/.exec(request.headers.authorization ?? '') ?? [];
      const [username, token = ''] = Buffer.from(basic, 'base64').toString().split(':');
      if (username === USERNAME && tokens.has(token)) return true;
      refuse(response, { status: 401 });
      return false;
    },
    answer(call) {
      if (call.url.pathname.startsWith('/api/v1/')) answer(call);
      else refuse(call.response, { status: 404 });
    },
  });
  return { ...emulator, collections, folders, cards, tokens, settings: `GURU.api=${emulator.origin}/api/v1` };
}
