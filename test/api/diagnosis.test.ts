import { describe, expect, test } from '@jest/globals';

import {
  credential,
  limits,
  type CheckedAccount,
  sampleItem,
  scopes,
} from '../../api/dataSources/diagnosis/account.js';
import {
  bad,
  findingOf,
  runCheck,
  type CheckContext,
  ok,
  warn,
  worstOf,
} from '../../api/dataSources/diagnosis/check.js';
import { diagnosis } from '../../api/dataSources/diagnosis/diagnosis.js';
import { lastFailures } from '../../api/dataSources/diagnosis/failures.js';
import { schedule } from '../../api/dataSources/diagnosis/schedule.js';
import { Fault, FAULTS, type FaultKind } from '../../contract/failures.js';
import { everyRow } from '../support/everyRow.js';
import { recorder } from '../support/recorder.js';

// Tests of the findings of the diagnosis of a data source, by the answers of the source, of Temporal and of the store.
const NEVER = new AbortController().signal;
const AGAIN = 'Connect the account again.';

describe('check of a diagnosis', () => {
  test('reports a retryable fault as a warning and any other as bad, each with a remedy', async () => {
    await everyRow(Object.keys(FAULTS) as FaultKind[], String, (kind) => {
      const finding = findingOf(new Fault(kind, 'It failed.'), AGAIN);
      expect(finding).toMatchObject({ status: FAULTS[kind].retryable ? 'warn' : 'bad', message: 'It failed.' });
      expect(finding.details).toEqual({ cause: kind });
      expect(finding.fix === AGAIN).toBe(kind === 'access_revoked');
      expect(finding.fix).not.toBe('');
    });
    const limited = findingOf(new Fault('rate_limited', 'x', { retryAfterMs: 60_000 }), AGAIN);
    const at = Date.parse(String(limited.details['retry_at'])) - Date.now();
    expect([at > 50_000, at <= 60_000]).toEqual([true, true]);
  });

  test('never fails, whatever error the check throws, and ends at the deadline', async () => {
    const stop = new AbortController();
    const context: CheckContext = {
      ...{ signal: stop.signal, connectAgain: AGAIN },
      onTimeout: () => Promise.resolve(warn('late', null)),
      onError: (error) => bad((error as Error).message, 'fix'),
    };
    const check = (work: () => Promise<never>) => runCheck('x', context, work);
    expect(await runCheck('x', context, () => Promise.resolve(ok('good')))).toEqual({ name: 'x', ...ok('good') });
    expect(await check(() => Promise.reject(new TypeError('ours')))).toMatchObject({ status: 'bad', message: 'ours' });
    expect(await check(() => Promise.reject(new Fault('timed_out', 'slow')))).toMatchObject({ status: 'warn' });
    const hanging = check(() => new Promise(() => undefined));
    stop.abort();
    expect(await hanging).toMatchObject({ status: 'warn', message: 'late' });
  });

  test('the overall status is the worst of the parts', async () => {
    const rows: [('ok' | 'warn' | 'bad')[], string][] = [
      [[], 'ok'],
      [['ok', 'ok'], 'ok'],
      [['warn', 'ok'], 'warn'],
      [['bad', 'warn', 'ok'], 'bad'],
      [['ok', 'bad'], 'bad'],
    ];
    await everyRow(rows, String, ([statuses, worst]) => {
      expect(worstOf(statuses.map((status) => ({ status })))).toBe(worst);
    });
  });
});

const atOf = (account: object, externalId: string | null = 'BOX|ada@x.example'): CheckedAccount =>
  ({ source: { type: 'BOX', externalId }, account, service: 'Box', connectAgain: AGAIN }) as unknown as CheckedAccount;
const grantOf = (granted: string[] | null, missing: string[], requested = ['a', 'b']) => ({
  ...{ expiresAt: 0, isRefreshable: true },
  scopes: { wanted: requested, granted, missing },
});

describe('check of an account', () => {
  test('warns if the account differs from the connected one', async () => {
    const account = {
      identify: () => Promise.resolve({ account: 'ada@x.example' }),
      grant: () => Promise.resolve(grantOf(null, [])),
    };
    expect(await credential(atOf(account), NEVER)).toMatchObject({
      ...{ status: 'ok' },
      details: { expires_at: '1970-01-01T00:00:00.000Z', refreshable: true },
    });
    expect(await credential(atOf(account, null), NEVER)).toMatchObject({ status: 'ok' });
    expect(await credential(atOf(account, 'BOX|eve@x.example'), NEVER)).toMatchObject({ status: 'warn' });
    const identity = { account: 'ada@x.example', formerAccount: 'eve@x.example' };
    const renamed = { ...account, identify: () => Promise.resolve(identity) };
    expect(await credential(atOf(renamed, 'BOX|eve@x.example'), NEVER)).toMatchObject({ status: 'ok' });
  });

  test('reports missing scopes only if the source reports the granted ones', async () => {
    const rows: [string, ReturnType<typeof grantOf> | null, string][] = [
      ['no grant', null, 'ok'],
      ['no scopes requested', grantOf(['a'], [], []), 'ok'],
      ['granted scopes unknown', grantOf(null, ['a']), 'ok'],
      ['all granted', grantOf(['a', 'b'], []), 'ok'],
      ['one is missing', grantOf(['a'], ['b']), 'warn'],
    ];
    await everyRow(
      rows,
      ([what]) => what,
      async ([_what, grant, status]) => {
        const finding = await scopes(atOf({ grant: () => Promise.resolve(grant) }));
        expect(finding.status).toBe(status);
        if (status === 'warn') expect(finding.message).toBe('1 of 2 scopes were not granted: b.');
      },
    );
  });

  test('reports a pause until both rate limits have ended: of the account and of its OAuth client', async () => {
    const rows: [own: number, shared: number | null, waiting: number, status: string, until: number | null][] = [
      [0, null, 0, 'ok', null],
      [0, 0, 0, 'ok', null],
      [60_000, null, 0, 'warn', 60_000],
      [60_000, 120_000, 0, 'warn', 120_000],
      [120_000, 60_000, 5, 'warn', 120_000],
      [0, 60_000, 0, 'warn', 60_000],
      [0, null, 1, 'warn', null],
    ];
    await everyRow(rows, JSON.stringify, async ([pausedMs, shared, waiting, status, until]) => {
      const sharedLimit = shared === null ? null : { requestsAtOnce: 3, pausedMs: shared };
      const answer = { requestsAtOnce: 4, pausedMs, shared: sharedLimit };
      const finding = await limits(atOf({ limits: () => Promise.resolve(answer) }), waiting);
      expect([finding.status, finding.details['files_waiting']]).toEqual([status, waiting]);
      const at = finding.details['limited_until'] as string | null;
      if (until === null) expect(at).toBeNull();
      else expect(Math.abs(Date.parse(at!) - Date.now() - until)).toBeLessThan(30_000);
      expect(finding.message.includes('also from other accounts of the same OAuth client')).toBe(
        status === 'warn' && pausedMs < (shared ?? 0),
      );
    });
  });

  test('names an item of the first folder, else the folder, else the first item; reads at most five pages', async () => {
    const item = (externalId: string, isExpandable = false) => ({ externalId, isExpandable, name: externalId });
    const cursors: (string | null)[] = [];
    const accountOf = (pages: { items: object[]; next: string | null }[], descendants: object[] = []) =>
      atOf({
        listRoots: (cursor: string | null) => {
          cursors.push(cursor);
          return Promise.resolve(pages.shift());
        },
        listDescendants: () => Promise.resolve({ items: descendants, next: null }),
      });
    const sampledItem = async (at: CheckedAccount) => {
      const { status, details } = await sampleItem(at, NEVER);
      return [status, (details['item'] as { name?: string } | null)?.name ?? null];
    };
    expect(await sampledItem(accountOf([{ items: [], next: null }]))).toEqual(['warn', null]);
    expect(await sampledItem(accountOf([{ items: [item('file')], next: null }]))).toEqual(['ok', 'file']);
    const folder = { items: [item('file'), item('folder', true)], next: null };
    expect(await sampledItem(accountOf([folder], [item('folder'), item('inside')]))).toEqual(['ok', 'inside']);
    expect(await sampledItem(accountOf([folder], []))).toEqual(['ok', 'folder']);
    cursors.length = 0;
    const empty = { items: [], next: 'n' };
    expect(await sampledItem(accountOf([empty, empty, empty, empty, empty, folder]))).toEqual(['ok', null]);
    expect(cursors).toEqual([null, 'n', 'n', 'n', 'n']);
  });
});

const sourceOf = (fields: object = {}) =>
  ({
    _id: 9,
    organizationId: 1,
    userId: 2,
    customerId: 'ada',
    type: 'BOX',
    metadata: {},
    syncStatus: 'READY',
    ...fields,
  }) as never;

test('reports the requested schedule, its state in Temporal, and the outcome of the last scheduled sync', async () => {
  const due = { state: 'on', hours: 6 };
  const inTemporal = { isPaused: false, nextAt: new Date(0) };
  const runWith = (fields: object) => ({
    _id: 1,
    startedAt: null,
    finishedAt: new Date(),
    outcome: 'finished',
    counts: {},
    ...fields,
  });
  const rows: [
    what: string,
    wanted: object,
    known: unknown,
    run: object | undefined,
    status: string,
    message: RegExp,
  ][] = [
    ['not requested', { state: 'off' }, inTemporal, undefined, 'ok', /was not requested/],
    ['access is revoked', { state: 'paused', hours: 6 }, inTemporal, undefined, 'warn', /access is revoked/],
    ['Temporal is unreachable', due, new Error('unreachable'), undefined, 'warn', /does not answer/],
    ['the schedule does not exist yet', due, null, undefined, 'warn', /no schedule/],
    ['it is paused in Temporal', due, { ...inTemporal, isPaused: true }, undefined, 'warn', /was paused in Temporal/],
    ['it has not run yet', due, inTemporal, undefined, 'ok', /every 6 hours/],
    ['it runs', due, inTemporal, runWith({ finishedAt: null, outcome: null }), 'ok', /every 6 hours/],
    ['it succeeded', due, inTemporal, runWith({}), 'ok', /every 6 hours/],
    ['a part failed', due, inTemporal, runWith({ counts: { failed: 1 } }), 'warn', /was incomplete: 1 of its runs/],
    ['it was aborted', due, inTemporal, runWith({ outcome: 'aborted' }), 'warn', /ended aborted/],
  ];
  await everyRow(
    rows,
    ([what]) => what,
    async ([_what, desired, state, lastRun, status, message]) => {
      const { stores, of } = recorder({
        'schedules.desiredState': desired,
        'runHistory.listOfSource': lastRun ? [lastRun] : [],
      });
      const schedules = {
        stateOf: () => (state instanceof Error ? Promise.reject(state) : Promise.resolve(state)),
      };
      const finding = await schedule(sourceOf(), { store: stores, schedules: schedules as never });
      expect([finding.status, finding.message]).toEqual([status, expect.stringMatching(message)]);
      // Runs of other kinds do not count as automatic syncs.
      expect(of('runHistory.listOfSource')).toEqual([[9, 1, 'autoSync']]);
    },
  );
});

test('reports failures of the account before those of files, and deletions that await approval before failed files', async () => {
  const group = {
    cause: 'not_found',
    files: 2,
    latest: { _id: 3, syncErrorMessage: 'gone', workflowId: 'w', updatedAt: new Date(0) },
  };
  const rows: [what: string, source: object, groups: object[], status: string, message: RegExp][] = [
    ['no failure', {}, [], 'ok', /No file/],
    ['files', {}, [group, { ...group, files: 1 }], 'warn', /^3 files failed, 2 of them because: gone/],
    ['files of one cause', {}, [group], 'warn', /^2 files failed because: gone/],
    [
      'the maximum number of counted files',
      {},
      [{ ...group, files: 10_000 }],
      'warn',
      /^At least 10000 files failed because/,
    ],
    ['the maximum number of causes', {}, Array(10).fill(group), 'warn', /^At least 20 files failed, 2 of them because/],
    ['one file', {}, [{ ...group, files: 1 }], 'warn', /^1 file failed because: gone/],
    ['deletions are held', { metadata: { deletions_held: 4 } }, [group], 'warn', /^4 files are missing/],
    [
      'the sync of files',
      { metadata: { files_error: 'f', deletions_held: 4 } },
      [group],
      'warn',
      /sync of files failed: f/,
    ],
    [
      'the listing, with its own error',
      { syncStatus: 'SYNC_ERROR', metadata: { items_error: 'i', files_error: 'f' } },
      [],
      'bad',
      /failed: i$/,
    ],
    [
      'the listing, with only the error of the sync of files',
      { syncStatus: 'SYNC_ERROR', metadata: { files_error: 'f' } },
      [],
      'bad',
      /failed: f$/,
    ],
  ];
  await everyRow(
    rows,
    ([what]) => what,
    async ([_what, source, groups, status, message]) => {
      const { stores, of } = recorder({ 'files.byCause': groups, 'runHistory.listOfSource': [] });
      const finding = await lastFailures(sourceOf(source), { store: stores, workflowLink: () => ({}) as never });
      expect([finding.status, finding.message]).toEqual([status, expect.stringMatching(message)]);
      expect(of('files.byCause')[0]?.[0]).toEqual({ organizationId: 1, dataSourceId: 9 });
    },
  );
});

/** Diagnoses an account of Box. @returns the status of each check, and the calls of the store */
async function diagnose(account: object, source: object = {}) {
  const logged: object[] = [];
  const { stores, of } = recorder({
    ...{
      'dataSources.find': sourceOf({ externalId: null, sealedCredentials: 's', lastSyncedAt: new Date(0), ...source }),
    },
    ...{ 'dataSources.revoke': { _id: 9, revokedAccess: true }, 'files.byCause': [], 'runHistory.listOfSource': [] },
    ...{ 'files.waitingForLimit': 0, 'schedules.desiredState': { state: 'off' } },
  });
  const log = { warn: (fields: object) => logged.push(fields), error: (fields: object) => logged.push(fields) };
  const deps = {
    store: Object.assign(stores as object, { accountCredentials: () => null }),
    connectors: {
      account: () => ({
        ...{ identify: () => Promise.resolve({ account: 'ada' }), grant: () => Promise.resolve(null) },
        ...{
          limits: () => Promise.resolve({ requestsAtOnce: 4, pausedMs: 0, shared: null }),
          grantVersion: () => 'v2',
        },
        ...{ listRoots: () => Promise.resolve({ items: [], next: 'n' }), ...account },
      }),
    },
    ...{ log, settings: { diagnosisTimeoutMs: 60_000 }, workflowLink: () => ({}) },
    unit: { transaction: (work: (session: null) => unknown) => work(null) },
  };
  const call = { caller: { organizationId: 1, userId: 2 }, params: { data_source_id: '9' }, requestId: 'r1', deps };
  const answer = (await diagnosis.handle(call as never)) as {
    status: string;
    checks: { name: string; status: string; message: string; fix: string | null }[];
  };
  return { answer, checks: Object.fromEntries(answer.checks.map((check) => [check.name, check])), of, logged };
}

test('credentials that the source rejects are recorded as revoked; other failures of the source are not', async () => {
  const identify = (kind: FaultKind) => () => Promise.reject(new Fault(kind, 'It failed.'));
  const { answer, checks, of, logged } = await diagnose({ identify: identify('access_revoked') });
  expect(answer.status).toBe('bad');
  expect(checks['credential']!.fix).toBe('Connect the account again: POST /integrations/oauth_url.');
  // Without valid credentials the items are not read.
  expect(checks['sample_item']).toMatchObject({ status: 'warn', message: expect.stringContaining('Not checked') });
  expect(of('dataSources.revoke')).toMatchObject([[{ _id: 9 }, 9, null, { refused: 'v2', workflowId: null }]]);
  expect(of('files.abortQueuedOf')).toHaveLength(1);
  expect(logged).toEqual([{ organizationId: 1, dataSourceId: 9 }]);
  for (const kind of ['access_denied', 'rate_limited', 'unreachable'] as const)
    expect((await diagnose({ identify: identify(kind) })).of('dataSources.revoke')).toEqual([]);
});

test('an account is not called while its source limits requests, or after its access has ended', async () => {
  const calls: string[] = [];
  const account = {
    identify: () => (calls.push('identify'), Promise.resolve({ account: 'ada' })),
    listRoots: () => (calls.push('listRoots'), Promise.resolve({ items: [{ name: 'a' }], next: null })),
  };
  const healthy = await diagnose(account);
  expect([healthy.answer.status, calls]).toEqual(['ok', ['identify', 'listRoots']]);
  const pausedLimits = () => Promise.resolve({ requestsAtOnce: 4, pausedMs: 60_000, shared: null });
  const paused = await diagnose({ ...account, limits: pausedLimits });
  expect([paused.checks['credential']!.status, paused.checks['sample_item']!.status]).toEqual(['warn', 'warn']);
  const revoked = await diagnose(account, { revokedAccess: true });
  expect(revoked.checks['credential']).toMatchObject({
    status: 'bad',
    message: expect.stringContaining('ended at 1970'),
  });
  expect(revoked.checks['limits']).toMatchObject({ status: 'warn' });
  const feed = await diagnose(account, { type: 'RSS_FEED' });
  expect(feed.checks['credential']).toMatchObject({ status: 'ok', message: expect.stringContaining('no account') });
  expect(calls).toHaveLength(2);
});

test('a defect in a diagnosis is one bad check with the request id, and is logged', async () => {
  const listRoots = () => Promise.reject(new TypeError('ours'));
  const { answer, checks, logged } = await diagnose({ listRoots });
  expect([answer.status, checks['sample_item']!.status, checks['credential']!.status]).toEqual(['bad', 'bad', 'ok']);
  expect(checks['sample_item']!.fix).toContain('request id r1');
  expect(logged).toMatchObject([{ requestId: 'r1', organizationId: 1, dataSourceId: 9, err: new TypeError('ours') }]);
});
