import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { workflowIds } from '../../../contract/runs/workflowIds.js';
import type { DataSourceRecord } from '../../../contract/files/records.js';
import { createTemporalClient } from '../../../dispatch/client.js';
import { reapOnce } from '../../../dispatch/reaper.js';
import { createLog } from '../../../observability/log.js';
import type { AttemptDoc } from '../../../store/models/connections.js';
import type { RunDoc } from '../../../store/models/runs.js';
import { type GoogleDriveEmulator, startGoogleDrive } from '../../emulators/googleDrive.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../emulators/oauthProvider.js';
import type { Listed } from '../../support/client.js';
import { answerConsent, consentTo, openPage } from '../../support/consent.js';
import { withDatabase } from '../../support/mongo.js';
import { testEngines } from '../../support/engines.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';

/** Lifetime of a connection attempt in seconds: short, because tests wait until it expires. */
const LIFE_S = 3;
let drive: GoogleDriveEmulator;
let service: TestService;
let client: Client;
let customers = 0;

beforeAll(async () => {
  drive = await startGoogleDrive({ a: { name: 'a.txt', content: 'On anchors.' } });
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    SOURCE_URLS: drive.settings,
    OAUTH_CLIENTS: `GOOGLE_DRIVE=${CLIENT_ID}:${CLIENT_SECRET}`,
    CONSENT_LIFE_S: String(LIFE_S),
    LOG_LEVEL: 'silent',
  });
  client = createTemporalClient({ address: testEngines().temporalAddress, namespace: 'default' });
});
afterAll(async () => {
  await client.connection.close();
  await service.close();
  await drive.close();
});

/** Starts a connection attempt. Its user has given consent, but has not opened the callback URL yet. */
async function startConnection() {
  customers += 1;
  const customerId = `absent user ${customers}`;
  const user = await service.user(customerId);
  const url = async (): Promise<string> =>
    (await user.post<{ oauth_url: string }>('/integrations/oauth_url', { service: 'GOOGLE_DRIVE' })).body.oauth_url;
  const callbackUrl = await answerConsent(await url());
  const readAttempt = (): Promise<AttemptDoc> =>
    withDatabase(service, (db) => db.collection<AttemptDoc>('connection_attempts').findOne({ customerId })) as never;
  const { _id: runId } = await readAttempt();
  const run = (): Promise<RunDoc> =>
    withDatabase(service, (db) => db.collection<RunDoc>('runs').findOne({ _id: runId })) as never;
  await waitFor(run, ({ startedAt }) => startedAt !== null);
  const handle = client.workflow.getHandle(service.names.idOf(workflowIds.connect(runId)));
  const hasStartedTimer = async (): Promise<boolean> => {
    const { events } = await handle.fetchHistory();
    return events?.some((event) => event.timerStartedEventAttributes) === true;
  };
  return {
    callbackUrl,
    url,
    readAttempt,
    handle,
    /** Extends the expiry in the row of the attempt after the workflow has started its timer with the old expiry. */
    extendExpiry: async () => {
      await waitFor(hasStartedTimer, (is) => is);
      await withDatabase(service, (db) =>
        db
          .collection<AttemptDoc>('connection_attempts')
          .updateOne({ _id: runId }, { $set: { expiresAt: new Date(Date.now() + 3_600_000) } }),
      );
    },
    ended: () => waitFor(run, ({ finishedAt }) => finishedAt !== null),
    sources: async () => (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results,
  };
}
const withoutSecrets = { sealed: null, sealedCode: null, sealedGrant: null };

test('ends an abandoned connection by its timer, after which its page reports that it has expired', async () => {
  const { callbackUrl, url, readAttempt, handle, ended, sources } = await startConnection();
  expect((await ended()).outcome).toBe('aborted');
  // No page was opened, so only the timer can have ended the attempt.
  expect(await readAttempt()).toMatchObject({ state: 'expired', ...withoutSecrets });
  // The workflow ends after the step that ends its run.
  await handle.result();
  const { events } = await handle.fetchHistory();
  expect(events?.filter((event) => event.timerFiredEventAttributes)).toHaveLength(1);
  expect((await handle.describe()).status.name).toBe('COMPLETED');
  const page = await openPage(callbackUrl);
  expect(page).toMatchObject({ status: 410 });
  expect(page.html).toContain('connect once more');
  expect(await sources()).toEqual([]);
  expect(await consentTo(await url())).toMatchObject({ status: 200 });
});

test('a connection attempt does not expire before the time in its row, even if its timer fires', async () => {
  const { callbackUrl, extendExpiry, handle } = await startConnection();
  await extendExpiry();
  const hasFiredTimer = async () => {
    const { events = [] } = await handle.fetchHistory();
    return events?.some((event) => event.timerFiredEventAttributes) === true;
  };
  await waitFor(hasFiredTimer, (has) => has);
  expect(await openPage(callbackUrl)).toMatchObject({ status: 200 });
});

test('ends a connection cancelled in Temporal, reports that on its page, and accepts no consent for it', async () => {
  const { callbackUrl, url, extendExpiry, readAttempt, handle, ended, sources } = await startConnection();
  await extendExpiry();
  await handle.cancel();
  expect((await ended()).outcome).toBe('aborted');
  expect(await readAttempt()).toMatchObject({ state: 'cancelled', ...withoutSecrets });
  // The workflow ends shortly after its last activity, which wrote the row.
  const { status } = await waitFor(
    () => handle.describe(),
    (description) => description.status.name !== 'RUNNING',
  );
  expect(status.name).toBe('CANCELLED');
  const page = await openPage(callbackUrl);
  expect(page).toMatchObject({ status: 409 });
  expect(page.html).toContain('This service cancelled the connection');
  expect(page.html).toContain('connect once more');
  expect(await sources()).toEqual([]);
  expect(await consentTo(await url())).toMatchObject({ status: 200 });
});

test('keeps neither account nor tokens when cancelled during the exchange of the code', async () => {
  const { callbackUrl, extendExpiry, readAttempt, handle, ended, sources } = await startConnection();
  await extendExpiry();
  const release = drive.oauth.holdReplies();
  const pendingPage = openPage(callbackUrl);
  await waitFor(readAttempt, ({ state }) => state === 'exchanging');
  await handle.cancel();
  release();
  expect(await pendingPage).toMatchObject({ status: 409 });
  expect((await ended()).outcome).toBe('aborted');
  expect(await readAttempt()).toMatchObject({ state: 'cancelled', ...withoutSecrets });
  expect(await sources()).toEqual([]);
});

test('the reaper ends a connection that was terminated in Temporal, and its page reports that', async () => {
  const { callbackUrl, extendExpiry, readAttempt, handle, sources } = await startConnection();
  await extendExpiry();
  await handle.terminate();
  const log = createLog({ level: 'silent', name: 'test' });
  await reapOnce({ client, names: service.names }, service.store, log, Date.now() + 60_000);
  expect(await readAttempt()).toMatchObject({ state: 'failed', ...withoutSecrets });
  const page = await openPage(callbackUrl);
  expect(page).toMatchObject({ status: 400 });
  expect(page.html).toContain('terminated outside of this service');
  expect(await sources()).toEqual([]);
});
