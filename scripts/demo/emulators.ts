/** Starts emulators of connected sources with sample content, for a service on the same machine. */
import { CONNECTED_SOURCES, type ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../test/emulators/oauthProvider.js';
import { SOURCE_FIXTURES } from '../../test/support/sourceFixtures/index.js';
import type { SourceFixture } from '../../test/support/sourceFixtures/fixture.js';

/** A request that connects an account. */
export interface ConnectingCall {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Emulators {
  /** Settings of a service that uses the emulators instead of the providers. */
  readonly env: Readonly<Record<string, string>>;
  /** The request that connects the account of each source, in the given order. */
  readonly calls: readonly ConnectingCall[];
  close(): Promise<void>;
}

/** Returns the first request that a fixture sends to connect. Nothing is sent. */
async function connectingCall(fixture: SourceFixture, serviceUrl: string): Promise<ConnectingCall> {
  const calls: ConnectingCall[] = [];
  const recorder = {
    baseUrl: serviceUrl,
    async post(path: string, body: ConnectingCall['body']) {
      calls.push({ path, body });
      // The fixture sends further requests only after a 200.
      return { status: 204, body: {}, headers: new Headers() };
    },
  };
  await fixture.connect(recorder as unknown as Parameters<SourceFixture['connect']>[0]);
  const [first] = calls;
  if (!first) throw new Error('The fixture sent no request to connect.');
  return first;
}

/**
 * Starts the emulators of the given sources on free ports of loopback.
 * @param serviceUrl address of the service, which some sources redirect to
 */
export async function startEmulators(sources: readonly ConnectedSourceType[], serviceUrl: string): Promise<Emulators> {
  const fixtures = await Promise.all(sources.map((source) => SOURCE_FIXTURES[source]()));
  for (const fixture of fixtures) fixture.reset();
  const clients = sources
    .filter((source) => CONNECTED_SOURCES[source].auth === 'oauth')
    .map((source) => `${source}=${CLIENT_ID}:${CLIENT_SECRET}`);
  return {
    env: {
      ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
      SOURCE_URLS: fixtures.map(({ settings }) => settings).join(','),
      ...(clients.length > 0 ? { OAUTH_CLIENTS: clients.join(',') } : {}),
    },
    calls: await Promise.all(fixtures.map((fixture) => connectingCall(fixture, serviceUrl))),
    async close() {
      await Promise.all(fixtures.map((fixture) => fixture.close()));
    },
  };
}
