/**
 * A stand-in for Gong on loopback, after its published reference (v2): workspaces, libraries, calls by date, transcripts;
 * 404 where nothing is found. Consent and tokens are those of oauthProvider.ts; with them goes the company's own address.
 */
import type { ServerResponse } from 'node:http';

import { type ConsentingEmulator, settingsAt, startConsenting } from './consentEmulator.js';
import { type Call, type Refused, sendJson } from './emulator.js';
import type { OAuthProviderSettings } from './oauthProvider.js';

/** What stands before `.gong.io` in the company's address. */
export const CUSTOMER = 'us-12345.api';

export interface EmulatedGongCall {
  title: string;
  workspace: string;
  /** ISO 8601. */
  started?: string;
  /** Who took part: `speakerId`s are their places, from 1. */
  parties?: Record<string, unknown>[];
  /** What was said, in order; unset: nothing is written down yet. */
  said?: { speaker: string; text: string; topic?: string; atMs?: number }[];
}

const PATHS = { api: '/{customer}/v2', authorize: '/oauth2/authorize', token: '/oauth2/generate-customer-token' };

export interface GongEmulator extends ConsentingEmulator<Refused> {
  /** The value of SOURCE_URLS. */
  readonly settings: string;
  /** Names by id. */
  readonly workspaces: Map<string, string>;
  readonly folders: Map<string, { name: string; workspace: string; parent?: string; calls: string[] }>;
  readonly calls: Map<string, EmulatedGongCall>;
  /** Paths with what they were asked, in the order asked. `misbehave` is asked with the same. */
  readonly asked: string[];
}

const SCOPES: Readonly<Record<string, string>> = {
  workspaces: 'api:workspaces:read',
  library: 'api:library:read',
  calls: 'api:calls:read:basic',
  'calls/extensive': 'api:calls:read:extensive',
  'calls/transcript': 'api:calls:read:transcript',
};
const refuse = (response: ServerResponse, { status, headers = {} }: Refused): void =>
  sendJson(response, status, { requestId: 'r1', errors: [`refused with ${status}`] }, headers);

/** @param perPage Gong gives 100 */
export async function startGong({
  perPage = 2,
  ...settings
}: { perPage?: number } & Partial<OAuthProviderSettings> = {}): Promise<GongEmulator> {
  const workspaces = new Map<string, string>();
  const folders: GongEmulator['folders'] = new Map();
  const calls = new Map<string, EmulatedGongCall>();
  const asked: string[] = [];

  const basicOf = (id: string, { title, workspace, started = '2026-03-03T10:00:00Z' }: EmulatedGongCall) => ({
    ...{ id, title, started, scheduled: started, workspaceId: workspace, url: `https://app.gong.io/call?id=${id}` },
    ...{ duration: 61, direction: 'Conference', system: 'Zoom', scope: 'External', media: 'Video', language: 'eng' },
    ...{ primaryUserId: '7', isPrivate: false, purpose: null },
  });
  /** A page of a list; 404 where nothing is found. */
  const send = (response: ServerResponse, cursor: string | undefined, name: string, all: readonly unknown[]): void => {
    const from = Number(Buffer.from(cursor ?? '', 'base64').toString() || 0);
    if (!Number.isSafeInteger(from)) return refuse(response, { status: 400 });
    if (all.length === 0) return refuse(response, { status: 404 });
    const to = from + perPage;
    sendJson(response, 200, {
      requestId: 'r1',
      records: {
        ...{ totalRecords: all.length, currentPageSize: Math.min(perPage, all.length - from) },
        currentPageNumber: Math.floor(from / perPage),
        ...(to < all.length ? { cursor: Buffer.from(String(to)).toString('base64') } : {}),
      },
      [name]: all.slice(from, to),
    });
  };
  const foundBy = ({ callIds = [] }: { callIds?: string[] }) =>
    callIds.flatMap((id) => {
      const call = calls.get(id);
      return call ? [[id, call] as const] : [];
    });
  const detailsOf = (id: string, call: EmulatedGongCall, withParties: boolean) => ({
    metaData: basicOf(id, call),
    ...(withParties
      ? { parties: (call.parties ?? []).map((party, at) => ({ id: `p${at}`, speakerId: String(at + 1), ...party })) }
      : {}),
  });
  const transcriptOf = (id: string, { said = [] }: EmulatedGongCall) => ({
    callId: id,
    transcript: said.map(({ speaker, text, topic, atMs = 0 }) => ({
      speakerId: speaker,
      topic: topic ?? null,
      sentences: text
        .split(/(?<=\.) /)
        .map((part, index) => ({ start: atMs + index * 1000, end: atMs + 999, text: part })),
    })),
  });

  const placeOf = ({ path, url, body }: Call): string => `${path.slice(2).join('/')}${url.search} ${body.toString()}`;
  const emulator = await startConsenting<Refused>({
    oauth: {
      name: 'Gong',
      paths: { authorize: PATHS.authorize, token: PATHS.token },
      people: [{ id: '7', label: 'Ada' }],
      clientAuth: 'basic',
      rotates: true,
      expiresIn: 86_400,
      facts: () => ({ api_base_url_for_customer: `https://${CUSTOMER}.gong.io` }),
      ...settings,
    },
    refuse,
    unauthorized: { status: 401 },
    placeOf,
    answer(call, { scopes }) {
      asked.push(placeOf(call));
      const { path, query, response, request } = call;
      const [customer = '', version, room = '', what, ...rest] = path;
      if (version !== 'v2' || rest.length > 0 || ![CUSTOMER, 'api'].includes(customer))
        return refuse(response, { status: 404 });
      const scope = SCOPES[`${room}/${what ?? ''}`] ?? SCOPES[room];
      if (scopes.length > 0 && !scopes.includes(scope ?? '')) return refuse(response, { status: 403 });
      if (room === 'workspaces')
        return sendJson(response, 200, {
          requestId: 'r1',
          workspaces: [...workspaces].map(([id, name]) => ({ id, name, description: '' })),
        });
      if (room === 'library' && what === 'folders') {
        const some = [...folders].filter(([, { workspace }]) => workspace === query.get('workspaceId'));
        return sendJson(response, 200, {
          requestId: 'r1',
          folders: some.map(([id, { name, parent }]) => ({ id, name, parentFolderId: parent ?? null, createdBy: '7' })),
        });
      }
      if (room === 'library' && what === 'folder-content') {
        const id = query.get('folderId') ?? '';
        const folder = folders.get(id);
        if (!folder) return refuse(response, { status: 404 });
        const some = folder.calls.map((one) => ({ id: one, title: calls.get(one)?.title, snippet: null }));
        return sendJson(response, 200, { requestId: 'r1', id, name: folder.name, calls: some });
      }
      if (room === 'calls' && what === undefined && request.method === 'GET') {
        const [from, to] = [Date.parse(query.get('fromDateTime') ?? ''), Date.parse(query.get('toDateTime') ?? '')];
        if (!(from < to)) return refuse(response, { status: 400 });
        const all = [...calls].map(([id, one]) => basicOf(id, one));
        const some = all.filter(
          ({ workspaceId, started }) =>
            workspaceId === query.get('workspaceId') && Date.parse(started) >= from && Date.parse(started) < to,
        );
        return send(response, query.get('cursor') ?? undefined, 'calls', some);
      }
      if (room !== 'calls' || request.method !== 'POST') return refuse(response, { status: 404 });
      const given = JSON.parse(call.body.toString()) as {
        filter: { callIds?: string[] };
        cursor?: string;
        contentSelector?: { exposedFields?: { parties?: boolean } };
      };
      const some = foundBy(given.filter);
      const withParties = given.contentSelector?.exposedFields?.parties === true;
      if (what === 'extensive')
        return send(
          response,
          given.cursor,
          'calls',
          some.map(([id, one]) => detailsOf(id, one, withParties)),
        );
      if (what !== 'transcript') return refuse(response, { status: 404 });
      const written = some.filter(([, { said }]) => said !== undefined);
      send(
        response,
        given.cursor,
        'callTranscripts',
        written.map(([id, one]) => transcriptOf(id, one)),
      );
    },
  });
  return {
    ...emulator,
    settings: settingsAt('GONG', emulator.origin, PATHS),
    mend() {
      emulator.mend();
      asked.length = 0;
    },
    ...{ workspaces, folders, calls, asked },
  };
}
