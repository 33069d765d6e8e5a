/**
 * A stand-in for Google Drive on loopback, after its published reference (v3): one person's drive, whose files a test
 * changes. Consent and tokens are those of oauthProvider.ts, at Google's own paths.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { createOAuthProvider, type OAuthProvider, type OAuthProviderSettings } from './oauthProvider.js';

export interface EmulatedFile {
  name: string;
  /** Unset: text/plain. */
  mimeType?: string;
  /** Of the folder it lies in; unset: `root`. */
  parent?: string;
  content?: string;
  /** Raised by whoever changes it. */
  version?: number;
  trashed?: boolean;
}

export const DRIVE_FOLDER = 'application/vnd.google-apps.folder';
export const DRIVE_PEOPLE = [
  { id: 'ada@harbour.example', label: 'Ada' },
  { id: 'ben@harbour.example', label: 'Ben' },
];

export interface GoogleDriveEmulator {
  readonly url: string;
  /** The value of SOURCE_URLS. */
  readonly settings: string;
  /** By id; everybody's the same. */
  readonly files: Record<string, EmulatedFile>;
  readonly oauth: OAuthProvider;
  /** Paths with their queries, in the order asked; consent and tokens are in `oauth`. */
  readonly requests: string[];
  close(): Promise<void>;
}

const stamp = '2026-03-03T10:00:00.000Z';
const fileJson = (
  id: string,
  { name, mimeType = 'text/plain', parent = 'root', version = 1, trashed = false }: EmulatedFile,
) => ({
  kind: 'drive#file',
  ...{ id, name, mimeType, trashed, parents: [parent], version: String(version) },
  webViewLink: `https://drive.google.com/file/d/${id}/view`,
  createdTime: stamp,
});

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body));
}
const refuse = (response: ServerResponse, code: number, reason: string): void =>
  send(response, code, { error: { code, message: reason, errors: [{ domain: 'global', reason, message: reason }] } });

/** @param filesPerPage whatever a caller asks for */
export async function startGoogleDrive(
  files: Record<string, EmulatedFile> = {},
  { filesPerPage = 2, ...settings }: { filesPerPage?: number } & Partial<OAuthProviderSettings> = {},
): Promise<GoogleDriveEmulator> {
  const requests: string[] = [];
  const oauth = createOAuthProvider({
    paths: { authorize: '/o/oauth2/v2/auth', token: '/token' },
    people: DRIVE_PEOPLE,
    ...settings,
  });

  const list = (query: URLSearchParams, response: ServerResponse): void => {
    const folder = /^'([\w-]+)' in parents and trashed=false$/.exec(query.get('q') ?? '')?.[1];
    if (folder === undefined) return refuse(response, 400, 'invalid');
    const all = Object.entries(files).filter(([, file]) => (file.parent ?? 'root') === folder && file.trashed !== true);
    const from = Number(query.get('pageToken') ?? 0);
    const some = all.slice(from, from + filesPerPage).map(([id, file]) => fileJson(id, file));
    const next = from + filesPerPage < all.length ? { nextPageToken: String(from + filesPerPage) } : {};
    send(response, 200, { kind: 'drive#fileList', files: some, ...next });
  };

  const server = createServer((request, response) => {
    void oauth.take(request, response).then((isTaken) => {
      if (isTaken) return;
      request.resume();
      const url = new URL(request.url ?? '/', 'http://drive');
      requests.push(`${url.pathname}${url.search}`);
      const access = oauth.accessOf(request);
      if (!access) return refuse(response, 401, 'authError');
      const { id: emailAddress, label: displayName } = access.person;
      const [room, id, ...rest] = url.pathname.replace('/drive/v3/', '').split('/').map(decodeURIComponent);
      if (room === 'about') return send(response, 200, { user: { emailAddress, displayName } });
      if (room !== 'files' || rest.length > 0) return refuse(response, 404, 'notFound');
      if (id === undefined) return list(url.searchParams, response);
      const file = Object.hasOwn(files, id) ? files[id] : undefined;
      if (!file) return refuse(response, 404, 'notFound');
      if (url.searchParams.get('alt') !== 'media') return send(response, 200, fileJson(id, file));
      response.writeHead(200, { 'content-type': file.mimeType ?? 'text/plain' }).end(file.content ?? '');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const at = (part: string, path: string) => `GOOGLE_DRIVE.${part}=${url}${path}`;
  return {
    url,
    settings: [at('api', '/drive/v3'), at('authorize', '/o/oauth2/v2/auth'), at('token', '/token')].join(','),
    files,
    oauth,
    requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
