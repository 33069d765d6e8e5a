import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import { projectLimit } from '../../../connectors/google/api.js';
import { appLimit } from '../../../connectors/microsoft/graph.js';
import { slack } from '../../../connectors/slack/index.js';
import type { ConnectedSourceType } from '../../../contract/sources/connectedSources.js';
import type { GoogleRefusal } from '../../emulators/googleApi.js';
import { type GoogleDriveEmulator, startGoogleDrive } from '../../emulators/googleDrive.js';
import type { OAuthProvider } from '../../emulators/oauthProvider.js';
import { type SlackEmulator, startSlack } from '../../emulators/slack.js';
import { type AccountCaller, startAccountCaller } from '../../support/accountCaller.js';
import type { IdentifyCalls } from '../../support/accountCallerChild.js';
import { withDatabase } from '../../support/mongo.js';
import { startService, type TestService } from '../../support/service.js';
import { thoroughRows } from '../../support/thorough.js';
import { waitFor } from '../../support/waitFor.js';

// These tests cover rate limits that a source applies to an OAuth client. Two processes call accounts of such clients.

/** Retry-After in seconds for which a call waits. */
const SHORT_S = 1;
/** Retry-After in seconds, longer than a call waits for a rate limit, so that the call fails immediately. */
const LONG_S = 60;
let drive: GoogleDriveEmulator;
let slackSite: SlackEmulator;
let service: TestService;
let callers: [AccountCaller, AccountCaller];
let accounts = 0;

beforeAll(async () => {
  [drive, slackSite] = await Promise.all([startGoogleDrive(), startSlack()]);
  service = await startService(
    {
      ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
      SOURCE_URLS: `${drive.settings},${slackSite.settings}`,
      CONNECTIONS_PER_HOST: '100',
    },
    { worker: false },
  );
  callers = await Promise.all([startAccountCaller(service.env), startAccountCaller(service.env)]);
});
afterEach(() => {
  for (const emulator of [drive, slackSite]) emulator.reset();
});
afterAll(async () => {
  await Promise.all(callers.map((caller) => caller.kill()));
  await service.close();
  await Promise.all([drive.close(), slackSite.close()]);
});

/** Connects an account through an OAuth client. Returns a function that describes calls of that account. */
async function account(
  type: ConnectedSourceType,
  oauth: OAuthProvider,
  { clientId, facts = {} }: { clientId: string; facts?: Record<string, string> },
): Promise<(calls: number) => IdentifyCalls> {
  const number = (accounts += 1);
  const tenant = await service.store.users.ensure(1, 'limited');
  const { accessToken } = oauth.grant();
  const grant = { accessToken, refreshToken: null, obtainedAt: Date.now(), expiresAt: null, facts, clientId };
  const { dataSource } = await service.store.transaction((session) =>
    service.store.dataSources.connect(
      tenant,
      {
        type,
        externalId: `${type}|account ${number}`,
        credentials: JSON.stringify(grant),
        metadata: {},
        tags: [],
        enableAutoSync: null,
      },
      session,
    ),
  );
  const { organizationId, userId } = tenant;
  return (calls) => ({
    tenant: { organizationId, userId },
    dataSourceId: dataSource._id,
    calls,
    sharesRateLimits: true,
  });
}
/** Returns a number that changes with every stored pause. */
const pauses = (): Promise<number> =>
  withDatabase(service, async (db) => {
    const rows = await db
      .collection('hostRateLimits')
      .find({ pausedUntil: { $type: 'date' } })
      .toArray();
    return rows.reduce((sum, row) => sum + (row['pausedUntil'] as Date).getTime(), 0);
  });

/**
 * Rejects a call of one process once, and calls the other account from the other process when the pause is stored.
 * @returns milliseconds from the rejection to the second account's request
 */
async function delayOfOther(
  refuseOnce: (isNow: () => boolean) => void,
  [first, second]: readonly [IdentifyCalls, IdentifyCalls],
): Promise<number> {
  const times: number[] = [];
  refuseOnce(() => times.push(Date.now()) === 1);
  const before = await pauses();
  const refused = callers[0].identify(first);
  await waitFor(pauses, (now) => now > before);
  // The pause of the account and the pause of the client are stored concurrently.
  await sleep(100);
  const begun = times.length;
  await callers[1].identify(second);
  await refused;
  return times[begun]! - times[0]!;
}
const refuseDrive =
  (refusal: GoogleRefusal, retryAfterS: number) =>
  (isNow: () => boolean): void =>
    drive.injectFault(() => (isNow() ? { ...refusal, headers: { 'retry-after': String(retryAfterS) } } : null));

test('applies a project limit to every account of its client, in all processes', async () => {
  const [one, other] = [
    await account('GOOGLE_DRIVE', drive.oauth, { clientId: 'ours' }),
    await account('GOOGLE_DRIVE', drive.oauth, { clientId: 'ours' }),
  ];
  const project = refuseDrive({ status: 403, reason: 'rateLimitExceeded' }, SHORT_S);
  expect(await delayOfOther(project, [one(1), other(1)])).toBeGreaterThanOrEqual(SHORT_S * 1_000 - 50);
});

test.each([
  ['one user', { status: 403, reason: 'userRateLimitExceeded' }, 'another'],
  ['the project of another client', { status: 403, reason: 'rateLimitExceeded' }, 'an organization’s own'],
  ...thoroughRows([['one user, by its status', { status: 429 }, 'another']] as const),
])('does not delay another account for a limit of %s', async (_scope, refusal, clientId) => {
  const [one, other] = [
    await account('GOOGLE_DRIVE', drive.oauth, { clientId: 'another' }),
    await account('GOOGLE_DRIVE', drive.oauth, { clientId }),
  ];
  expect(await delayOfOther(refuseDrive(refusal, LONG_S), [one(1), other(1)])).toBeLessThan(LONG_S * 500);
});

test('applies a workspace limit to all accounts of the workspace, and to no others', async () => {
  const inTeam = (team: string) => account('SLACK', slackSite.oauth, { clientId: 'ours', facts: { team } });
  const [one, teammate, outsider] = [await inTeam('T1'), await inTeam('T1'), await inTeam('T2')];
  const refuse =
    (retryAfterS: number) =>
    (isNow: () => boolean): void =>
      slackSite.injectFault(() =>
        isNow() ? { status: 429, error: 'ratelimited', headers: { 'retry-after': String(retryAfterS) } } : null,
      );
  expect(await delayOfOther(refuse(SHORT_S), [one(1), teammate(1)])).toBeGreaterThanOrEqual(SHORT_S * 1_000 - 50);
  expect(await delayOfOther(refuse(LONG_S), [one(1), outsider(1)])).toBeLessThan(LONG_S * 500);
});

describe('the scope of a limit', () => {
  test('is read from a header or from the reason in the body', () => {
    const graph = (scope?: string) =>
      appLimit.appliesTo({
        status: 429,
        headers: scope === undefined ? {} : { 'x-ms-throttle-scope': scope },
        body: {},
      });
    expect(graph('Application/Read/0785ef7c')).toBe(true);
    expect(graph('Tenant_Application/ReadWrite/9a3d526c/0785ef7c')).toBe(false);
    expect(graph()).toBe(false);
    const google = (status: number, reason: string) =>
      projectLimit.appliesTo({ status, headers: {}, body: { error: { errors: [{ reason }] } } });
    expect(google(403, 'dailyLimitExceeded')).toBe(true);
    for (const reason of ['rateLimitExceeded', '']) expect(google(429, reason)).toBe(false);
  });

  test('is the account alone if its workspace is unknown', () => {
    const grantOf = (facts: Record<string, string>) => ({ accessToken: 'a', facts });
    expect(slack.sharedLimit?.groupOf?.(grantOf({ team: 'T1' }))).toBe('T1');
    expect(slack.sharedLimit?.groupOf?.(grantOf({}))).toBeNull();
  });
});

// This test is the last one, because its hanging requests only end with the processes.
test('limits the concurrent requests of all accounts of a client, across all processes', async () => {
  const max = projectLimit.requestsAtOnce;
  // Each account may send four concurrent requests.
  const many = await Promise.all(
    Array.from({ length: max / 4 + 8 }, () => account('GOOGLE_DRIVE', drive.oauth, { clientId: 'busy' })),
  );
  drive.injectFault(() => 'hang');
  many.forEach((one, index) => void callers[index % 2]!.identify(one(5)).catch(() => undefined));
  await waitFor(
    () => drive.load.current,
    (now) => now >= max,
  );
  await sleep(1_500);
  expect(drive.load.max).toBe(max);
});
