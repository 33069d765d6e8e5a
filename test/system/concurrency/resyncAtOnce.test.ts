import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { RunKind } from '../../../contract/runs/runKinds.js';
import type { DataSourceRecord, FileRecord } from '../../../contract/files/records.js';
import type { RunDoc } from '../../../store/models/runs.js';
import { readStoredState } from '../../support/storedState.js';
import type { Listed, TestUser } from '../../support/client.js';
import { withDatabase } from '../../support/mongo.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';
import { fixtureForGitBook } from '../../support/sourceFixtures/gitbook.js';
import type { SourceFixture, FixtureContent } from '../../support/sourceFixtures/fixture.js';

/** Number of concurrent calls. */
const CALLS = 6;

let service: TestService;
let fixture: SourceFixture;

beforeAll(async () => {
  fixture = await fixtureForGitBook();
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', SOURCE_URLS: fixture.settings });
});
afterAll(async () => {
  await service.close();
  await fixture.close();
});

const filesOf = async (user: TestUser): Promise<FileRecord[]> =>
  (await user.post<Listed<FileRecord>>('/user_files_v2', { pagination: { limit: 100 } })).body.results;
const sourceOf = async (user: TestUser): Promise<DataSourceRecord> =>
  (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results[0]!;
/** Waits until all runs of a user have ended. @returns the runs of a kind, in the order of acceptance */
async function endedRuns(customerId: string, kind: RunKind): Promise<RunDoc[]> {
  const runs = await withDatabase(service, (db) =>
    waitFor(
      () => db.collection<RunDoc>('runs').find({ customerId }).sort({ acceptedAt: 1 }).toArray(),
      (allRuns) => allRuns.every(({ finishedAt }) => finishedAt !== null),
    ),
  );
  return runs.filter((run) => run.kind === kind);
}

/** Connects an account. @returns its contents */
async function connect(user: TestUser): Promise<FixtureContent> {
  const content = fixture.reset();
  expect(await fixture.connect(user, { sync_files_on_connection: false })).toMatchObject({ status: 200 });
  await waitFor(
    () => sourceOf(user),
    ({ sync_status: status }) => status === 'READY',
  );
  return content;
}

/** Sends the same request CALLS times concurrently. */
async function postConcurrently(user: TestUser, path: string, body: unknown): Promise<void> {
  const answers = await Promise.all(Array.from({ length: CALLS }, () => user.post(path, body)));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
}

test('concurrent requests for a listing of one account run one listing at a time', async () => {
  const user = await service.user('listed');
  await connect(user);
  const earlierRuns = (await endedRuns('listed', 'syncItems')).length;
  await postConcurrently(user, '/integrations/items/sync', { data_source_id: (await sourceOf(user)).id });
  const runs = (await endedRuns('listed', 'syncItems')).slice(earlierRuns);
  // A request during a listing starts no run, so the number of runs depends on timing.
  expect(runs.length).toBeGreaterThanOrEqual(1);
  for (const [nth, { acceptedAt }] of runs.slice(1).entries())
    expect(acceptedAt.getTime()).toBeGreaterThanOrEqual(runs[nth]?.finishedAt?.getTime() ?? Infinity);
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
});

test('concurrent syncs of one account store each file, point and event once', async () => {
  const user = await service.user('synced');
  const { lighthouse, keeper, others, containers } = await connect(user);
  const request = { data_source_id: (await sourceOf(user)).id, ids: containers };
  const expectOnce = async (): Promise<void> => {
    expect(await endedRuns('synced', 'syncSource')).not.toEqual([]);
    const files = await waitFor(
      () => filesOf(user),
      (current) => current.every(({ sync_status: status }) => status === 'READY'),
    );
    expect(files.map(({ external_file_id: id }) => id).toSorted()).toEqual([lighthouse, keeper, ...others].toSorted());
    expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
  };
  // The first requests create files; the second ones sync them again.
  await postConcurrently(user, '/integrations/files/sync', request);
  await expectOnce();
  fixture.write(lighthouse, 'The lighthouse was moved in 1950.');
  await postConcurrently(user, '/integrations/files/sync', request);
  await expectOnce();
  const [hit] = await user.search({ query: 'When was the lighthouse moved?', k: 1 });
  expect(hit?.content).toContain('1950');
});
