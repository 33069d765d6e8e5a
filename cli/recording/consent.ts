/** Consent in the operator's browser, with a callback on loopback. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Consent } from '../../connectors/consent.js';
import type { OAuthGrant } from '../../connectors/oauthSpec.js';
import type { OAuthClient } from '../../contract/accounts/oauth.js';
import { CommandError } from '../command.js';

export interface ConsentOnLoopback {
  readonly consent: Consent;
  readonly client: OAuthClient;
  readonly facts: Readonly<Record<string, string>>;
  /** Port of the callback; 0: any. */
  readonly port: number;
  /** Shows the address to open. */
  show(url: string): void;
  readonly signal: AbortSignal;
}

const CALLBACK = '/callback';

/** Returns the redirect address that the OAuth client must have. */
export const redirectUriOf = (port: number): string => `http://localhost:${port}${CALLBACK}`;

/** Obtains a grant, which is not stored. @throws CommandError, or a Fault of the provider */
export async function consentOnLoopback(request: ConsentOnLoopback): Promise<OAuthGrant> {
  const { consent, client, facts, show, signal } = request;
  const [state, verifier] = [randomBytes(24).toString('base64url'), randomBytes(32).toString('base64url')];
  let resolveAnswer: (answer: URLSearchParams) => void = () => undefined;
  const returned = new Promise<URLSearchParams>((resolve, reject) => {
    resolveAnswer = resolve;
    signal.addEventListener('abort', () => reject(new CommandError('Stopped. Nothing was saved.')), { once: true });
  });
  // The signal may be aborted before `returned` is awaited, which would end the process as an unhandled rejection.
  returned.catch(() => undefined);
  const server = createServer((incoming, response) => {
    const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://localhost');
    const isOurs = pathname === CALLBACK && searchParams.get('state') === state;
    response.writeHead(isOurs ? 200 : 404, { 'content-type': 'text/plain', connection: 'close' });
    response.end(isOurs ? 'You can close this page and return to the terminal.' : 'Unknown address.');
    if (isOurs) resolveAnswer(searchParams);
  }).listen(request.port, 'localhost');
  try {
    await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error;
      throw new CommandError(`Port ${request.port} is in use. Choose another one with --port.`);
    });
    const redirectUri = redirectUriOf((server.address() as AddressInfo).port);
    const { url, requestToken } = await consent.begin(facts, {
      ...{ clientId: client.id, clientSecret: client.secret, scopes: consent.spec.scopes },
      ...{ redirectUri, state, verifier },
    });
    show(url);
    const answer = await returned;
    const code = answer.get(requestToken === null ? 'code' : 'oauth_verifier');
    if (code === null)
      throw new CommandError(
        `The provider did not grant access (${answer.get('error') ?? 'no code'}). Run the command again and consent.`,
      );
    const grant = await consent.exchange({
      client,
      code,
      redirectUri,
      verifier,
      requestToken,
      facts,
      keepsClient: false,
    });
    return { accessToken: grant.accessToken, facts: grant.facts };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
