/** What stand-ins for sources that people consent at have in common: the provider's two pages beside its interface. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';

import { type Call, type Emulator, type Refused, startEmulator } from './emulator.js';
import { type Access, createOAuthProvider, type OAuthProvider, type OAuthProviderSettings } from './oauthProvider.js';

export interface ConsentingSource<R extends Refused> {
  /** As it is named in SOURCE_URLS. */
  readonly source: string;
  /** Of its addresses, by the parts of its row; `authorize` and `token` are the pages. */
  readonly paths: Readonly<Record<'api' | 'authorize' | 'token', string>> & Readonly<Record<string, string>>;
  readonly oauth: Omit<OAuthProviderSettings, 'paths'>;
  refuse(response: ServerResponse, refused: R): void;
  /** Refuses a token that is none, or no longer. */
  refuseToken(response: ServerResponse): void;
  answer(call: Call, access: Access): void | Promise<void>;
  /** Requests that need no token. */
  isOpen?(call: Call): boolean;
  /** What `misbehave` is asked with. Unset: the path. */
  placeOf?(call: Call): string;
}

export interface ConsentingEmulator<R extends Refused> extends Emulator<R> {
  /** The value of SOURCE_URLS. */
  readonly settings: string;
  readonly oauth: OAuthProvider;
}

const NOBODY: Access = { person: { id: '', label: '' }, scopes: [], clientId: '' };

/** A request whose body was read, to be read again. */
const again = ({ request, body }: Call): IncomingMessage =>
  Object.assign(Readable.from(body.length === 0 ? [] : [body]), {
    method: request.method,
    url: request.url,
    headers: request.headers,
    socket: request.socket,
  }) as unknown as IncomingMessage;

/** Starts one. Consent and tokens are never misbehaved with. */
export async function startConsenting<R extends Refused>(source: ConsentingSource<R>): Promise<ConsentingEmulator<R>> {
  const { authorize, token } = source.paths;
  const oauth = createOAuthProvider({ paths: { authorize, token }, ...source.oauth });
  const isConsent = ({ url }: Call): boolean => url.pathname === authorize || url.pathname === token;
  const emulator = await startEmulator<R>({
    admit(call) {
      if (isConsent(call) || source.isOpen?.(call) === true || oauth.accessOf(call.request)) return true;
      source.refuseToken(call.response);
      return false;
    },
    placeOf: (call) => (isConsent(call) ? '' : (source.placeOf?.(call) ?? call.url.pathname)),
    refuse: source.refuse,
    async answer(call) {
      if (await oauth.take(again(call), call.response)) return;
      await source.answer(call, oauth.accessOf(call.request) ?? NOBODY);
    },
  });
  return {
    ...emulator,
    oauth,
    misbehave: (how) => emulator.misbehave((place) => (place === '' ? null : how(place))),
    settings: Object.entries(source.paths)
      .map(([part, path]) => `${source.source}.${part}=${emulator.origin}${path}`)
      .join(','),
  };
}
