/**
 * Emulates Gong on loopback, by its published API reference (v2): workspaces, libraries, calls by date, transcripts,
 * and 404 for an empty list. Consent and tokens come from oauthProvider.ts; the token response includes the company's
 * API host.
 */
import type { ServerResponse } from 'node:http';

import { type ConsentingEmulator, settingsAt, startConsenting } from './consentEmulator.js';
import { type Call, type Refused, sendJson } from './emulator.js';
import type { OAuthProviderSettings } from './oauthProvider.js';

/** The prefix of `.gong.io` in the company's API host. */
export const CUSTOMER = 'us-12345.api';

export interface EmulatedGongCall {
  title: string;
  workspace: string;
  /** ISO 8601. */
  started?: string;
  /** Participants; their `speakerId`s are their positions, from 1. */
  parties?: Record<string, unknown>[];
  /** Spoken passages in order. Unset: the call has no transcript yet. */
  monologues?: { speaker: string; text: string; topic?: string; atMs?: number }[];
}

const PATHS = { api: '/{customer}/v2', authorize: '/oauth2/authorize', token: '/oauth2/generate-customer-token' };

export interface GongEmulator extends ConsentingEmulator<Refused> {
  /** The value of SOURCE_URLS. */
  readonly settings: string;
  /** Names by workspace id. */
  readonly workspaces: Map<string, string>;
  readonly folders: Map<string, { name: string; workspace: string; parent?: string; calls: string[] }>;
  readonly calls: Map<string, EmulatedGongCall>;
  /** Paths with their queries and bodies, in order. The function given to `injectFault` receives the same text. */
  readonly requests: string[];
  /** First part of the path of each request, in order: `CUSTOMER`, or `api`. */
  readonly customers: string[];
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

/** @param perPage page size; the real API uses 100 */
export async function startGong({
  perPage = 2,
  ...settings
}: { perPage?: number } & Partial<OAuthProviderSettings> = {}): Promise<GongEmulator> {
  const workspaces = new Map<string, string>();
  const folders: GongEmulator['folders'] = new Map();
  const calls = new Map<string, EmulatedGongCall>();
  const requests: string[] = [];
  const customers: string[] = [];

  const basicOf = (id: string, { title, workspace, started = '2026-03-03T10:00:00Z' }: EmulatedGongCall) => ({
    ...{ id, title, started, scheduled: started, workspaceId: workspace, url: `https://app.gong.io/call?id=${id}` },
    ...{ duration: 61, direction: 'Conference', system: 'Zoom', scope: 'External', media: 'Video', language: 'eng' },
    ...{ primaryUserId: '7', isPrivate: false, purpose: null },
  });
  /** Sends a page of a list; 404 for an empty list. */
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
  const callsSelectedBy = ({ callIds = [] }: { callIds?: string[] }) =>
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
  const transcriptOf = (id: string, { monologues = [] }: EmulatedGongCall) => ({
    callId: id,
    transcript: monologues.map(({ speaker, text, topic, atMs = 0 }) => ({
      speakerId: speaker,
      topic: topic ?? null,
      sentences: text
        .split(/(?<=\.) /)
        .map((part, index) => ({ start: atMs + index * 1000, end: atMs + 999, text: part })),
    })),
  });

  const faultTargetOf = ({ path, url, body }: Call): string =>
    `${path.slice(2).join('/')}${url.search} ${body.toString()}`;
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
    faultTargetOf,
    answer(call, { scopes }) {
      requests.push(faultTargetOf(call));
      const { path, query, response, request } = call;
      const [customer = '', version, resource = '', part, ...rest] = path;
      customers.push(customer);
      if (version !== 'v2' || rest.length > 0 || ![CUSTOMER, 'api'].includes(customer))
        return refuse(response, { status: 404 });
      const scope = SCOPES[`${resource}/${part ?? ''}`] ?? SCOPES[resource];
      if (scopes.length > 0 && !scopes.includes(scope ?? '')) return refuse(response, { status: 403 });
      if (resource === 'workspaces')
        return sendJson(response, 200, {
          requestId: 'r1',
          workspaces: [...workspaces].map(([id, name]) => ({ id, name, description: '' })),
        });
      if (resource === 'library' && part === 'folders') {
        if (!query.has('workspaceId')) return refuse(response, { status: 400 });
        const selected = [...folders].filter(([, { workspace }]) => workspace === query.get('workspaceId'));
        return sendJson(response, 200, {
          requestId: 'r1',
          folders: selected.map(([id, { name, parent }]) => ({
            id,
            name,
            parentFolderId: parent ?? null,
            createdBy: '7',
          })),
        });
      }
      if (resource === 'library' && part === 'folder-content') {
        const id = query.get('folderId') ?? '';
        const folder = folders.get(id);
        if (!folder) return refuse(response, { status: 404 });
        const entries = folder.calls.map((callId) => ({ id: callId, title: calls.get(callId)?.title, snippet: null }));
        return sendJson(response, 200, { requestId: 'r1', id, name: folder.name, calls: entries });
      }
      if (resource === 'calls' && part === undefined && request.method === 'GET') {
        const [from, to] = [Date.parse(query.get('fromDateTime') ?? ''), Date.parse(query.get('toDateTime') ?? '')];
        if (!(from < to)) return refuse(response, { status: 400 });
        const all = [...calls].map(([id, entry]) => basicOf(id, entry));
        const selected = all.filter(
          ({ workspaceId, started }) =>
            workspaceId === query.get('workspaceId') && Date.parse(started) >= from && Date.parse(started) < to,
        );
        return send(response, query.get('cursor') ?? undefined, 'calls', selected);
      }
      if (resource !== 'calls' || request.method !== 'POST') return refuse(response, { status: 404 });
      const parameters = JSON.parse(call.body.toString()) as {
        filter: { callIds?: string[] };
        cursor?: string;
        contentSelector?: { exposedFields?: { parties?: boolean } };
      };
      const selected = callsSelectedBy(parameters.filter);
      const withParties = parameters.contentSelector?.exposedFields?.parties === true;
      if (part === 'extensive')
        return send(
          response,
          parameters.cursor,
          'calls',
          selected.map(([id, entry]) => detailsOf(id, entry, withParties)),
        );
      if (part !== 'transcript') return refuse(response, { status: 404 });
      const withTranscript = selected.filter(([, { monologues }]) => monologues !== undefined);
      send(
        response,
        parameters.cursor,
        'callTranscripts',
        withTranscript.map(([id, entry]) => transcriptOf(id, entry)),
      );
    },
  });
  return {
    ...emulator,
    settings: settingsAt('GONG', emulator.origin, PATHS),
    reset() {
      emulator.reset();
      requests.length = 0;
      customers.length = 0;
    },
    ...{ workspaces, folders, calls, requests, customers },
  };
}
