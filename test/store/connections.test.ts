/** Tests, without a database, which runs a connection accepts. test/acceptance/ connects accounts by requests. */
import { expect, test } from '@jest/globals';

import type { ConnectionOptions } from '../../contract/accounts/oauth.js';
import { createConnections, type NewConnection } from '../../store/connections/acceptConnection.js';
import { everyRow } from '../support/everyRow.js';
import { recorder } from '../support/recorder.js';

const OWNER = { organizationId: 1, userId: 2, customerId: 'ada' };
const SESSION = {} as never;
const INGEST = { chunkSize: 100 } as never;
const OPTIONS: ConnectionOptions = { ingest: INGEST, tags: { a: 1 }, requestId: null, incrementalSync: true };
const connectionOf = (fields: Partial<NewConnection> = {}): NewConnection => ({
  ...{ type: 'INTERCOM', account: 'acme', metadata: { m: 1 }, credentials: 'c', dataSourceTags: { t: 'x' } },
  ...{ listItems: false, syncFiles: false, requestId: 'r', options: OPTIONS, ...fields },
});

/** Connects an account whose data source has id 9. Run ids begin at 100. @param needsCopy whether its tags changed */
async function connect(fields: Partial<NewConnection> = {}, needsCopy = false) {
  const { stores, of } = recorder({
    'runs.nextId': 100,
    'dataSources.connect': { dataSource: { _id: 9 }, needsCopy },
  });
  const { dataSources, runs, selections } = stores as Record<string, never>;
  const connections = createConnections(dataSources!, runs!, selections!);
  const { runIds } = await connections.accept(OWNER, connectionOf(fields), SESSION);
  const accepted = of('runs.accept') as [number, Record<string, unknown>, unknown][];
  expect(accepted.map(([id]) => id)).toEqual(runIds);
  for (const [, run, session] of accepted) {
    expect(run).toMatchObject({ owner: OWNER, dataSourceId: 9, fileId: null, requestId: 'r' });
    expect(session).toBe(SESSION);
  }
  const [, connected] = of('dataSources.connect')[0] as [unknown, Record<string, unknown>];
  return { runs: accepted.map(([, { kind, workflowId }]) => [kind, workflowId]), accepted, connected, of };
}

const ACTIONS: readonly (readonly [
  fields: Partial<NewConnection>,
  needsCopy: boolean,
  runs: string[],
  workflow?: string,
])[] = [
  [{}, false, []],
  [{}, true, ['updateTags update-tags:9']],
  [{ listItems: true }, false, ['syncItems sync-items:9']],
  [{ syncFiles: true }, false, ['syncSource sync-source:101'], 'sync-source:101'],
  [{ syncFiles: true, workflowId: 'connect:7' }, false, ['syncSource sync-source:101'], 'connect:7'],
  [
    { listItems: true, syncFiles: true },
    true,
    ['updateTags update-tags:9', 'syncItems sync-items:9', 'syncSource sync-source:101'],
  ],
  // Without stored options, or at a source that does not support `sync_files_on_connection`, no files are synced.
  [{ syncFiles: true, options: undefined as never }, false, []],
  [{ syncFiles: true, type: 'GOOGLE_DRIVE' }, false, []],
];
test('a connection accepts the requested runs, and a run that copies changed tags to the files of the account', () =>
  everyRow(ACTIONS, JSON.stringify, async ([fields, needsCopy, expected, workflowId]) => {
    const { runs, connected } = await connect(fields, needsCopy);
    expect(runs.map((run) => run.join(' '))).toEqual(expected);
    // The event of the connection contains the id of the workflow that connects the account. If there is none, it
    // contains the id of the workflow that syncs the files, unless the items are listed too.
    expect(connected['workflowId']).toBe(workflowId);
    expect(connected['itemsRunId']).toBe(fields.listItems ? 100 : undefined);
  }));

test('the id of an account, and its former id, are stored with the source as prefix', async () => {
  const { connected } = await connect({ formerAccount: 'old' });
  expect(connected).toMatchObject({
    ...{ type: 'INTERCOM', externalId: 'INTERCOM|acme', formerExternalId: 'INTERCOM|old', credentials: 'c' },
    ...{ metadata: { m: 1 }, options: OPTIONS, enableAutoSync: null },
  });
  expect((await connect()).connected).not.toHaveProperty('formerExternalId');
});

test('a sync of a whole account stores its options for later syncs, and is incremental if requested', async () => {
  const { accepted, of } = await connect({ syncFiles: true });
  expect(accepted[0]?.[1]).toMatchObject({
    request: { tags: { a: 1 }, ingest: INGEST, incremental: true, isWhole: true },
    progress: { queued: 0 },
  });
  expect(of('selections.save')).toEqual([[OWNER, 9, { externalIds: null, tags: { a: 1 }, ingest: INGEST }, SESSION]]);
  const whole = await connect({ syncFiles: true, options: { ...OPTIONS, incrementalSync: false } });
  expect(whole.accepted[0]?.[1]['request']).not.toHaveProperty('incremental');
});

test('a sync stores its selection and keeps its token limit; a sync that a schedule began stores none', async () => {
  const { stores, of } = recorder();
  const { dataSources, runs, selections } = stores as Record<string, never>;
  const { select } = createConnections(dataSources!, runs!, selections!);
  const run = { runId: 100, requestId: 'r', dataSourceId: 9 };
  const selection = { externalIds: ['x'], tags: {}, ingest: INGEST };
  await select(OWNER, { ...run, begun: { temporalRunId: 't' } as never }, selection, SESSION);
  expect(of('selections.save')).toEqual([]);
  expect(of('runs.accept')[0]?.[1]).toMatchObject({ begun: { temporalRunId: 't' } });
  await select(OWNER, { ...run, maxTokens: 50 }, selection, SESSION);
  expect(of('selections.save')).toHaveLength(1);
  const [, limited] = of('runs.accept')[1] as [number, object];
  expect(limited).toMatchObject({ maxTokens: 50 });
  expect(limited).not.toHaveProperty('request.isWhole');
});
