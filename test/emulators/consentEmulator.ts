/** An emulator whose interface is behind consent: pages of consent and tokens at the provider's own paths, then whose token a request carries. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

import { type Call, type EmulatedSource, type Emulator, type Refused, startEmulator } from './emulator.js';
import { type Access, createOAuthProvider, type OAuthProvider, type OAuthProviderSettings } from './oauthProvider.js';

export interface ConsentingSource<R extends Refused> extends Pick<EmulatedSource<R>, 'refuse' | 'placeOf'> {
  readonly oauth: OAuthProviderSettings;
  /** Of a request without a token that is good. */
  readonly unauthorized: R;
  /** What anybody may ask for. */
  isOpen?(call: Call): boolean;
  /** @param access of what anybody may ask for that of nobody */
  answer(call: Call, access: Access): void | Promise<void>;
}

export type ConsentingEmulator<R extends Refused> = Emulator<R> & {
  readonly oauth: OAuthProvider;
  /** Hosts as they were asked, with paths, in the order asked; of consent and tokens too. */
  readonly hosts: string[];
};

const NOBODY: Access = { person: { id: '', label: '' }, scopes: [], clientId: '' };

/** The value of SOURCE_URLS for a source. @param paths by the parts of its row */
export const settingsAt = (source: string, origin: string, paths: Readonly<Record<string, string>>): string =>
  Object.entries(paths)
    .map(([part, path]) => `${source}.${part}=${origin}${path}`)
    .join(',');

/** A request whose body was read, to be read again. */
export const again = ({ request, body }: Call): IncomingMessage =>
  Object.assign(Readable.from(body.length === 0 ? [] : [body]), {
    method: request.method,
    url: request.url,
    headers: request.headers,
    socket: request.socket,
  }) as unknown as IncomingMessage;

/** Starts one. Consent and tokens go well always. */
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
    placeOf: (call) => (isConsent(call) ? '' : (source.placeOf?.(call) ?? call.url.pathname)),
    refuse: source.refuse.bind(source),
    async answer(call) {
      if (isConsent(call)) await oauth.take(again(call), call.response);
      else await source.answer(call, oauth.accessOf(call.request) ?? NOBODY);
    },
  });
  return {
    ...emulator,
    oauth,
    hosts,
    misbehave: (how) => emulator.misbehave((place) => (place === '' ? null : how(place))),
    mend() {
      emulator.mend();
      hosts.length = 0;
    },
  };
}
