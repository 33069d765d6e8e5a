import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { findPort } from '../../engines/ports.js';
import type { SupervisedChild } from '../../scripts/child.js';
import type { DataSourceRecord } from '../../contract/files/records.js';
import { startGoogleDrive, type GoogleDriveEmulator } from '../emulators/googleDrive.js';
import { CLIENT_ID, CLIENT_SECRET } from '../emulators/oauthProvider.js';
import { type Receiver, startReceiver } from '../emulators/receiver.js';
import { readStoredState } from '../support/storedState.js';
import { apiClient, type Listed, type TestUser, testUser } from '../support/client.js';
import { answerConsent, consentTo, openPage } from '../support/consent.js';
import { withDatabase } from '../support/mongo.js';
import { findDifferences } from '../support/differences.js';
import { startProcess } from '../support/processes.js';
import { startService, type TestService } from '../support/service.js';
import { waitFor } from '../support/waitFor.js';

/**
 * Kills the API and the worker while each of six connections is at another point. test/long/connectKill.test.ts kills
 * them at random moments.
 */
let drive: GoogleDriveEmulator;
let receiver: Receiver;
let service: TestService;
let env: NodeJS.ProcessEnv;
let api: SupervisedChild;
let worker: SupervisedChild;

beforeAll(async () => {
  drive = await startGoogleDrive({ a: { name: 'a.txt', content: 'On anchors.' } });
  receiver = await startReceiver();
  service = await startService(
    {
      ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
      SOURCE_URLS: drive.settings,
      OAUTH_CLIENTS: `GOOGLE_DRIVE=${CLIENT_ID}:${CLIENT_SECRET}`,
      LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'silent',
    },
    { worker: false },
  );
  env = { ...service.env, PORT: String(await findPort('free')) };
  [api, worker] = await Promise.all([startProcess('api/server', env), startProcess('worker/main', env)]);
});
afterAll(async () => {
  await Promise.all([api.stop(), worker.stop()]);
  await service.close();
  await Promise.all([drive.close(), receiver.close()]);
});

/** Point of a connection at which both processes are killed, and its expected outcome. */
interface Point {
  readonly at: string;
  readonly becomes: 'connected' | 'lost';
}
const POINTS = {
  waiting: { at: 'before the callback', becomes: 'connected' },
  asking: { at: 'before the provider has received the code', becomes: 'connected' },
  spent: { at: 'after the provider has redeemed the code and before its answer', becomes: 'lost' },
  granted: { at: 'after the tokens were stored and before the data source is created', becomes: 'connected' },
  answered: { at: 'after the callback was answered', becomes: 'connected' },
  unacknowledged: { at: 'after the callback and before its workflow receives it', becomes: 'connected' },
} as const satisfies Record<string, Point>;
type Name = keyof typeof POINTS;
const NAMES = Object.keys(POINTS) as Name[];

interface Person {
  readonly user: TestUser;
  /** Address to which the provider redirects the user. */
  readonly callbackUrl: string;
}

const urlFor = async (user: TestUser): Promise<string> => {
  const answer = await user.post<{ oauth_url: string }>('/integrations/oauth_url', { service: 'GOOGLE_DRIVE' });
  expect(answer).toMatchObject({ status: 200 });
  return answer.body.oauth_url;
};
const sourcesOf = async (user: TestUser): Promise<DataSourceRecord[]> =>
  (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results;
const stateOf = (customerId: string): Promise<unknown> =>
  withDatabase(service, async (db) => {
    const rows = await db.collection('connection_attempts').find({ customerId }).sort({ _id: -1 }).toArray();
    return rows[0]?.['state'] as unknown;
  });
const tokenRequests = () => drive.oauth.requests.filter(({ kind }) => kind === 'token');
/** Opens the redirect as a browser does while the server may be killed: errors are ignored. */
const returnToService = ({ callbackUrl }: Person): void => void openPage(callbackUrl).catch(() => undefined);

test('ends each connection with one account or a page with instructions, at whatever point API and worker are killed', async () => {
  const hook = { url: receiver.url };
  const added = await apiClient(service.url, { authorization: `Bearer ${service.apiKey}` }).post('/add_webhook', hook);
  expect(added).toMatchObject({ status: 200 });
  const people = {} as Record<Name, Person>;
  for (const name of NAMES) {
    const user = await testUser(`http://127.0.0.1:${env['PORT']}`, service.apiKey, name, 60_000);
    people[name] = { user, callbackUrl: await answerConsent(await urlFor(user)) };
  }

  // Connect each user up to the point of the kill.
  expect(await openPage(people.answered.callbackUrl)).toMatchObject({ status: 200 });
  drive.injectFault(() => 'hang');
  returnToService(people.granted);
  await waitFor(
    () => stateOf('granted'),
    (state) => state === 'granted',
  );
  const sent = tokenRequests().length;
  const releaseReplies = drive.oauth.holdReplies();
  returnToService(people.spent);
  await waitFor(tokenRequests, (requests) => requests.length === sent + 1);
  const releaseRequests = drive.oauth.hold();
  returnToService(people.asking);
  await waitFor(tokenRequests, (requests) => requests.length === sent + 2);
  await worker.kill();
  returnToService(people.unacknowledged);
  await waitFor(
    () => stateOf('unacknowledged'),
    (state) => state === 'returned',
  );
  await api.kill();
  // Wait until the provider has lost the requests of the killed processes, so that no reply reaches them.
  await waitFor(
    () => drive.load.current,
    (requests) => requests === 0,
  );
  releaseReplies();
  releaseRequests();
  drive.reset();
  expect(await Promise.all(NAMES.map(stateOf))).toEqual([
    'waiting',
    'exchanging',
    'exchanging',
    'granted',
    'connected',
    'returned',
  ]);

  [api, worker] = await Promise.all([startProcess('api/server', env), startProcess('worker/main', env)]);
  const pages = await Promise.all(NAMES.map(async (name) => [name, await openPage(people[name].callbackUrl)] as const));
  for (const [name, { status, html }] of pages) {
    const isLost = POINTS[name].becomes === 'lost';
    expect([name, status]).toEqual([name, isLost ? 400 : 200]);
    expect(html).toContain(isLost ? 'was lost, so no account was connected' : 'Google Drive is connected');
    if (isLost) expect(html).toContain('connect once more');
    expect(await sourcesOf(people[name].user)).toHaveLength(isLost ? 0 : 1);
  }
  // A lost attempt does not prevent a new one.
  expect(await consentTo(await urlFor(people.spent.user))).toMatchObject({ status: 200 });

  for (const name of NAMES)
    await waitFor(
      () => sourcesOf(people[name].user),
      ([source, ...others]) =>
        others.length === 0 && source?.sync_status === 'READY' && source.source_items_synced_at !== null,
    );
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
  expect(await findDifferences(service.env)).toEqual([]);
  // A webhook may be delivered several times with the same id.
  const customersNotified = (kind: string) => {
    const deliveries = receiver.received.filter(({ event }) => event.webhook_type === kind);
    const customersById = new Map(deliveries.map(({ headers, event }) => [headers['webhook-id'], event.customer_id]));
    return [...customersById.values()].toSorted();
  };
  await waitFor(
    () => customersNotified('DATA_SOURCE_READY'),
    (customers) => customers.length >= NAMES.length,
  );
  expect(customersNotified('ADD')).toEqual(NAMES.toSorted());
  expect(customersNotified('DATA_SOURCE_READY')).toEqual(NAMES.toSorted());
}, 120_000);
