import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import { projectLimit } from '../../connectors/google/api.js';
import { appLimit } from '../../connectors/microsoft/graph.js';
import { slack } from '../../connectors/slack/index.js';
import type { ConnectedSourceType } from '../../contract/sources.js';
import type { GoogleRefusal } from '../emulators/googleApi.js';
import { type GoogleDriveEmulator, startGoogleDrive } from '../emulators/googleDrive.js';
import type { OAuthProvider } from '../emulators/oauthProvider.js';
import { type SlackEmulator, startSlack } from '../emulators/slack.js';
import { type AccountCaller, startAccountCaller } from '../support/accountCaller.js';
import type { CallsToMake } from '../support/accountCallerChild.js';
import { withDatabase } from '../support/dataSources.js';
import { startService, type TestService } from '../support/service.js';
import { waitFor } from '../support/waitFor.js';

/** Limits that a source sets to a client: two processes, each with accounts of its own. */
const SHORT_S = 1;
/** Longer than a call waits by itself: it is refused at once. */
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
  for (const emulator of [drive, slackSite]) emulator.mend();
});
afterAll(async () => {
  await Promise.all(callers.map((caller) => caller.kill()));
  await service.close();
  await Promise.all([drive.close(), slackSite.close()]);
});

/** Calls of an account that was connected by a client. */
async function account(
  type: ConnectedSourceType,
  oauth: OAuthProvider,
  { clientId, facts = {} }: { clientId: string; facts?: Record<string, string> },
): Promise<(calls: number) => CallsToMake> {
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
  return (calls) => ({ tenant: { organizationId, userId }, dataSourceId: dataSource._id, calls, inTurn: true });
}
/** Another number after every pause that is written down. */
const pauses = (): Promise<number> =>
  withDatabase(service, async (db) => {
    const rows = await db
      .collection('hostRateLimits')
      .find({ pausedUntil: { $type: 'date' } })
      .toArray();
    return rows.reduce((sum, row) => sum + (row['pausedUntil'] as Date).getTime(), 0);
  });

/**
 * Has a call of one process refused once, and another account called from the other process as soon as that is known.
 * @returns milliseconds from the refusal to the second account's request
 */
async function waited(
  refuseOnce: (isNow: () => boolean) => void,
  [first, second]: readonly [CallsToMake, CallsToMake],
): Promise<number> {
  const times: number[] = [];
  refuseOnce(() => times.push(Date.now()) === 1);
  const before = await pauses();
  const refused = callers[0].ask(first);
  await waitFor(pauses, (now) => now > before);
  // That of its account and that of its client are written side by side.
  await sleep(100);
  const begun = times.length;
  await callers[1].ask(second);
  await refused;
  return times[begun]! - times[0]!;
}
const refuseDrive =
  (refusal: GoogleRefusal, forS: number) =>
  (isNow: () => boolean): void =>
    drive.misbehave(() => (isNow() ? { ...refusal, headers: { 'retry-after': String(forS) } } : null));

test('a limit of the project holds for every account of its client, in all processes', async () => {
  const [one, other] = [
    await account('GOOGLE_DRIVE', drive.oauth, { clientId: 'ours' }),
    await account('GOOGLE_DRIVE', drive.oauth, { clientId: 'ours' }),
  ];
  const project = refuseDrive({ status: 403, reason: 'rateLimitExceeded' }, SHORT_S);
  expect(await waited(project, [one(1), other(1)])).toBeGreaterThanOrEqual(SHORT_S * 1_000 - 50);
});

test.each([
  ['one user', { status: 403, reason: 'userRateLimitExceeded' }, 'another'],
  ['one user, by its status', { status: 429 }, 'another'],
  ['the project of another client', { status: 403, reason: 'rateLimitExceeded' }, 'an organization’s own'],
])('a limit of %s keeps no other account waiting', async (_whose, refusal, clientId) => {
  const [one, other] = [
    await account('GOOGLE_DRIVE', drive.oauth, { clientId: 'another' }),
    await account('GOOGLE_DRIVE', drive.oauth, { clientId }),
  ];
  expect(await waited(refuseDrive(refusal, LONG_S), [one(1), other(1)])).toBeLessThan(LONG_S * 500);
});

test('a limit of a workspace holds for all who have consented in it, and for nobody elsewhere', async () => {
  const inTeam = (team: string) => account('SLACK', slackSite.oauth, { clientId: 'ours', facts: { team } });
  const [one, mate, stranger] = [await inTeam('T1'), await inTeam('T1'), await inTeam('T2')];
  const refuse =
    (forS: number) =>
    (isNow: () => boolean): void =>
      slackSite.misbehave(() =>
        isNow() ? { status: 429, error: 'ratelimited', headers: { 'retry-after': String(forS) } } : null,
      );
  expect(await waited(refuse(SHORT_S), [one(1), mate(1)])).toBeGreaterThanOrEqual(SHORT_S * 1_000 - 50);
  expect(await waited(refuse(LONG_S), [one(1), stranger(1)])).toBeLessThan(LONG_S * 500);
});

describe('whose limit it is', () => {
  test('a source says by a header or a word of its own', () => {
    const graph = (scope?: string) =>
      appLimit.isMet({ status: 429, headers: scope === undefined ? {} : { 'x-ms-throttle-scope': scope }, body: {} });
    expect(graph('Application/Read/0785ef7c')).toBe(true);
    expect(graph('Tenant_Application/ReadWrite/9a3d526c/0785ef7c')).toBe(false);
    expect(graph()).toBe(false);
    const google = (status: number, reason: string) =>
      projectLimit.isMet({ status, headers: {}, body: { error: { errors: [{ reason }] } } });
    expect(google(403, 'dailyLimitExceeded')).toBe(true);
    expect(google(429, 'rateLimitExceeded')).toBe(false);
  });

  test('an account whose workspace nobody told shares it with none', () => {
    const grantOf = (facts: Record<string, string>) => ({ accessToken: 'a', facts });
    expect(slack.sharedLimit?.groupOf?.(grantOf({ team: 'T1' }))).toBe('T1');
    expect(slack.sharedLimit?.groupOf?.(grantOf({}))).toBeNull();
  });
});

// The last one, for what hangs is ended with the processes.
test('all accounts of a client together have no more requests under way than it may, from all processes', async () => {
  const most = projectLimit.requestsAtOnce;
  // Each account may have four at once by itself.
  const many = await Promise.all(
    Array.from({ length: most / 4 + 8 }, () => account('GOOGLE_DRIVE', drive.oauth, { clientId: 'busy' })),
  );
  drive.misbehave(() => 'hang');
  many.forEach((one, index) => void callers[index % 2]!.ask(one(5)).catch(() => undefined));
  await waitFor(
    () => drive.load.now,
    (now) => now >= most,
  );
  await sleep(1_500);
  expect(drive.load.most).toBe(most);
});
