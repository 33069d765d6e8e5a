/**
 * Emulates Microsoft Graph v1.0 on loopback, by its published reference: the drives, sites and mail of one person,
 * which a test changes. Contents are served from a second host, consent and tokens from a third.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { type Call, type Emulator, startEmulator } from '../emulator.js';
import { createOAuthProvider, type OAuthProvider } from '../oauthProvider.js';
import { type GraphRefused, refuse, sendOne, sendPage } from './answers.js';
import { answerDrive, driveJson, Drives } from './drives.js';
import { Mailbox, answerMail } from './mail.js';
import { answerSites, type Sites } from './sites.js';

export const PERSON = { id: '87d349ed-44d7-43e1-9a83-5f2406dee5bd', label: 'Ada of the harbour' };
export const ADDRESS = 'Ada@harbour.example';

export interface GraphEmulator extends Emulator<GraphRefused> {
  /** Returns the part of SOURCE_URLS for a source. */
  settingsOf(source: string): string;
  readonly provider: OAuthProvider;
  readonly drives: Drives;
  /** Ids of the person's own drives. */
  readonly ownDrives: string[];
  readonly sites: Sites;
  readonly mailbox: Mailbox;
  /** Requests to the download host: the path, and whether they had credentials. */
  readonly downloads: { readonly path: string; readonly withCredentials: boolean }[];
  /** The credential in a download address. */
  readonly downloadToken: string;
}

async function listen(answer: Parameters<typeof createServer>[1]) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Starts the emulator. @param pageSize page size, whatever the request asks for */
export async function startGraph({ pageSize = 2 } = {}): Promise<GraphEmulator> {
  const provider = createOAuthProvider({
    name: 'Microsoft',
    paths: { authorize: '/*/oauth2/v2.0/authorize', token: '/*/oauth2/v2.0/token' },
    people: [PERSON],
    rotates: true,
  });
  const drives = new Drives();
  const ownDrives: string[] = [];
  const sites: Sites = new Map();
  const mailbox = new Mailbox();
  const downloads: GraphEmulator['downloads'] = [];
  const downloadToken = 'tempauth-lantern';

  const contents = await listen((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://contents');
    const withCredentials = request.headers.authorization !== undefined;
    downloads.push({ path: pathname, withCredentials });
    const [, drive = '', item = ''] = pathname.split('/').map(decodeURIComponent);
    const content = drives.all.get(drive)?.items.get(item)?.content;
    // The credential in the address is the only one; an Authorization header is an error.
    if (withCredentials || searchParams.get('tempauth') !== downloadToken) response.writeHead(401).end();
    else if (content === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(content);
  });
  const login = await listen((request, response) => {
    void provider.take(request, response).then((taken) => (taken ? null : response.writeHead(404).end()));
  });
  const driveAnswers = {
    drives,
    pageSize,
    contentUrl: (drive: string, item: string) =>
      `${contents.origin}/${encodeURIComponent(drive)}/${encodeURIComponent(item)}?tempauth=${downloadToken}`,
  };

  const answer = (call: Call): void => {
    const { response, path } = call;
    const [version, resource, ...rest] = path;
    if (version !== 'v1.0') return refuse(response, { status: 404 });
    if (resource === 'drives') return answerDrive(call, drives.all.get(rest[0] ?? ''), rest.slice(1), driveAnswers);
    if (resource === 'sites') return answerSites(call, sites, rest, driveAnswers);
    if (resource !== 'me') return refuse(response, { status: 400, code: 'BadRequest' });
    const ownedDrives = ownDrives.flatMap((id) => drives.all.get(id) ?? []);
    if (rest.length === 0)
      return sendOne(call, { id: PERSON.id, displayName: PERSON.label, mail: ADDRESS, userPrincipalName: ADDRESS });
    if (rest[0] === 'drives') return sendPage(call, ownedDrives.map(driveJson), pageSize);
    if (rest[0] === 'drive') return answerDrive(call, ownedDrives[0], rest.slice(1), driveAnswers);
    if (!answerMail(call, mailbox, rest, pageSize)) refuse(response, { status: 400, code: 'BadRequest' });
  };

  const emulator = await startEmulator<GraphRefused>({
    admit({ request, response }) {
      if (provider.accessOf(request) !== null) return true;

      refuse(response, { status: 401 });
      return false;
    },
    refuse,
    answer,
  });
  return {
    ...emulator,
    settingsOf: (source) =>
      [
        `${source}.api=${emulator.origin}/v1.0`,
        `${source}.authorize=${login.origin}/{tenant}/oauth2/v2.0/authorize`,
        `${source}.token=${login.origin}/{tenant}/oauth2/v2.0/token`,
      ].join(','),
    provider,
    drives,
    ownDrives,
    sites,
    mailbox,
    downloads,
    downloadToken,
    async close() {
      await Promise.all([emulator.close(), contents.close(), login.close()]);
    },
  };
}
