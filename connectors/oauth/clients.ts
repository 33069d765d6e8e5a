import type { OAuthClient } from '../../contract/accounts/oauth.js';
import { OAUTH_SOURCES, type OAuthSource } from '../../contract/accounts/whiteLabel.js';

/** The deployment's own client for each source that has one. */
export type OAuthClients = Partial<Readonly<Record<OAuthSource, OAuthClient>>>;

const isSource = (name: string): name is OAuthSource => (OAUTH_SOURCES as readonly string[]).includes(name);

/** Reads `SOURCE=id:secret` pairs by comma. @throws Error that repeats nothing of it */
export function readOAuthClients(text: string): OAuthClients {
  const clients: Partial<Record<OAuthSource, OAuthClient>> = {};
  for (const pair of text.split(',').map((part) => part.trim())) {
    if (pair === '') continue;
    const [, source = '', id = '', secret = ''] = /^(\w+)=([^:]+):(.+)$/.exec(pair) ?? [];
    if (!isSource(source) || id === '')
      throw new Error('takes SOURCE=id:secret, by comma; a comma in a secret is written %2C');
    clients[source] = { id, secret: secret.replaceAll(/%2C/gi, ',') };
  }
  return clients;
}
