/** Connects the account of a fixture without a service. A fake user takes the credentials from the fixture's calls. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

import { connectionFieldsOf, readConnectionFields } from '../../../api/integrations/consent/connectionFields.js';
import type { Account } from '../../../connectors/account.js';
import type { Connectors } from '../../../connectors/registry.js';
import { CONNECTED_SOURCES, type ConnectedSourceType } from '../../../contract/sources/connectedSources.js';
import { CONNECTION_CLIENTS } from '../../../contract/accounts/oauth.js';
import { isOAuthSource } from '../../../contract/accounts/whiteLabel.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../emulators/oauthProvider.js';
import type { TestUser } from '../client.js';
import type { SourceFixture } from './fixture.js';

type Fields = Readonly<Record<string, unknown>>;
const VERIFIER = 'v'.repeat(43);

/** Returns the parameters of a connection from the fields of oauth_url. */
function parametersFrom(source: ConnectedSourceType, body: Fields): Record<string, string> {
  if (!isOAuthSource(source)) return {};
  const clientFields = CONNECTION_CLIENTS[source];
  return {
    ...connectionFieldsOf(source, body),
    ...(clientFields
      ? readConnectionFields(clientFields.fields, body[clientFields.field] as Fields, [clientFields.field])
      : {}),
  };
}

const camelCase = (name: string): string => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Connects the account of a fixture. @param connectors with the addresses of the fixture */
export async function fixtureAccount(
  source: ConnectedSourceType,
  fixture: SourceFixture,
  connectors: Connectors,
): Promise<Account> {
  let credentials: object | undefined;
  const callback = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://callback');
    void exchange(searchParams.get('code') ?? searchParams.get('oauth_verifier') ?? '').then(
      () => response.end('connected'),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  }).listen(0, '127.0.0.1');
  await once(callback, 'listening');
  const baseUrl = `http://127.0.0.1:${(callback.address() as AddressInfo).port}`;
  let exchange = (_code: string): Promise<void> => Promise.reject(new Error('No consent was requested'));
  const beginConsent = async (body: Fields): Promise<string> => {
    const consent = connectors.consent(source);
    if (!consent) throw new Error(`${CONNECTED_SOURCES[source].name} has no OAuth consent`);
    const client = { id: CLIENT_ID, secret: CLIENT_SECRET };
    const parameters = parametersFrom(source, body);
    const request = { redirectUri: `${baseUrl}/callback`, verifier: VERIFIER };
    const { scopes } = consent.spec;
    const { url, requestToken } = await consent.begin(parameters, {
      ...{ ...request, scopes, state: 'state', clientId: client.id, clientSecret: client.secret },
    });
    exchange = async (code) => {
      const exchanged = { ...request, client, code, requestToken, facts: parameters, keepsClient: false };
      credentials = await consent.exchange(exchanged);
    };
    return url;
  };
  const user = {
    baseUrl,
    async post(path: string, body: Fields) {
      if (path !== '/integrations/oauth_url')
        credentials = Object.fromEntries(Object.entries(body).map(([name, value]) => [camelCase(name), value]));
      return { status: 200, body: path === '/integrations/oauth_url' ? { oauth_url: await beginConsent(body) } : {} };
    },
  } as unknown as TestUser;
  try {
    const { status, body } = await fixture.connect(user);
    if (status !== 200 || !credentials) throw new Error(`The account was not connected: ${JSON.stringify(body)}`);
  } finally {
    callback.closeAllConnections();
    callback.close();
  }
  return connectors.account(source, 'fixture', JSON.stringify(credentials));
}
