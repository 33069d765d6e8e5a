import type { OAuthClient } from '../../contract/accounts/oauth.js';
import { OAUTH_SOURCES, type OAuthSource } from '../../contract/accounts/whiteLabel.js';

/** The deployment's own OAuth client of each source, if configured. */
export type OAuthClients = Partial<Readonly<Record<OAuthSource, OAuthClient>>>;

const isSource = (name: string): name is OAuthSource => (OAUTH_SOURCES as readonly string[]).includes(name);

/** Parses comma-separated `SOURCE=id:secret` pairs. @throws Error that contains nothing of the text */
export function readOAuthClients(text: string): OAuthClients {
  const clients: Partial<Record<OAuthSource, OAuthClient>> = {};
  for (const pair of text.split(',').map((part) => part.trim())) {
    if (pair === '') continue;
    const [, source = '', id = '', secret = ''] = /^(\w+)=([^:]+):(.+)$/.exec(pair) ?? [];
    if (!isSource(source) || id === '')
      throw new Error('takes SOURCE=id:secret pairs, separated by commas; write a comma in a secret as %2C');
    clients[source] = { id, secret: secret.replaceAll(/%2C/gi, ',') };
  }
  return clients;
}
