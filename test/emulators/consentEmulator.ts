/**
 * An emulator of an API that requires OAuth consent: it serves the consent page and the tokens at the provider's paths,
 * and resolves the person of each request by its token.
 */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

import { type Call, type EmulatedSource, type Emulator, type Refused, startEmulator } from './emulator.js';
import { type Access, createOAuthProvider, type OAuthProvider, type OAuthProviderSettings } from './oauthProvider.js';

export interface ConsentingSource<R extends Refused> extends Pick<EmulatedSource<R>, 'refuse' | 'faultTargetOf'> {
  readonly oauth: OAuthProviderSettings;
  /** The refusal of a request without a valid token. */
  readonly unauthorized: R;
  /** Whether a request needs no token. */
  isOpen?(call: Call): boolean;
  /** @param access the person and scopes of the token; empty if an open request has no valid token */
  answer(call: Call, access: Access): void | Promise<void>;
}

export type ConsentingEmulator<R extends Refused> = Emulator<R> & {
  readonly oauth: OAuthProvider;
  /** Host and path of each request in order, including those for consent and tokens. */
  readonly hosts: string[];
};

const NO_ACCESS: Access = { person: { id: '', label: '' }, scopes: [], clientId: '' };

/** Returns the value of SOURCE_URLS for a source. @param paths paths by URL name: `api`, `authorize`, `token`… */
export const settingsAt = (source: string, origin: string, paths: Readonly<Record<string, string>>): string =>
  Object.entries(paths)
    .map(([part, path]) => `${source}.${part}=${origin}${path}`)
    .join(',');

/** Returns a copy of a request whose body was already read, so that it can be read again. */
export const replayable = ({ request, body }: Call): IncomingMessage =>
  Object.assign(Readable.from(body.length === 0 ? [] : [body]), {
    method: request.method,
    url: request.url,
    headers: request.headers,
    socket: request.socket,
  }) as unknown as IncomingMessage;

/** Starts an emulator. Faults are not injected into requests for consent and tokens. */
export async function startConsenting<R extends Refused>(source: ConsentingSource<R>): Promise<ConsentingEmulator<R>> {
  const oauth = createOAuthProvider(source.oauth);
  const hosts: string[] = [];
  const consent = Object.values(source.oauth.paths).map(
    (path) => new RegExp(`^${path.replaceAll('.', '\\.').replaceAll('*', '[^/]+')}$`),
  );
  const isConsent = ({ url }: Call): boolean => consent.some((path) => path.test(url.pathname));
  const isOpen = (call: Call): boolean => source.isOpen?.(call) === true;
  const emulator = await startEmulator<R>({
    admit(call) {
      hosts.push(`${call.request.headers.host}${call.url.pathname}`);
      if (isConsent(call) || isOpen(call) || oauth.accessOf(call.request) !== null) return true;
      source.refuse(call.response, source.unauthorized);
      return false;
    },
    faultTargetOf: (call) => (isConsent(call) ? '' : (source.faultTargetOf?.(call) ?? call.url.pathname)),
    refuse: source.refuse.bind(source),
    async answer(call) {
      if (isConsent(call)) await oauth.take(replayable(call), call.response);
      else await source.answer(call, oauth.accessOf(call.request) ?? NO_ACCESS);
    },
  });
  return {
    ...emulator,
    oauth,
    hosts,
    injectFault: (how) => emulator.injectFault((place) => (place === '' ? null : how(place))),
    reset() {
      emulator.reset();
      hosts.length = 0;
    },
  };
}
