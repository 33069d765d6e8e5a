import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { Activities } from '../../../activities/index.js';
import type { FileRecord } from '../../../contract/files/records.js';
import { type Site, startSampleSite } from '../../emulators/site.js';
import type { RunDoc } from '../../../store/models/runs.js';
import { readStoredState } from '../../support/storedState.js';
import type { TestUser } from '../../support/client.js';
import { withDatabase } from '../../support/mongo.js';
import { waitFor } from '../../support/waitFor.js';
import { startService, type TestService } from '../../support/service.js';
import { thoroughRows } from '../../support/thorough.js';

// Deletes whose step fails during or after its work, so that Temporal retries the step; and a repeated delete.

const PAGES = 3;
let service: TestService;
let site: Site;
let users = 0;
/** Whether the next batch of a delete fails after it has done all its work. */
let failsAfter = false;

const withLostAnswer = (activities: Activities): Activities => ({
  ...activities,
  async deleteBatch(input) {
    const answer = await activities.deleteBatch(input);
    if (!failsAfter) return answer;
    failsAfter = false;
    throw new Error('injected fault: the answer is lost');
  },
});

beforeAll(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', LOG_LEVEL: 'silent' }, { worker: false });
  await service.startWorker(withLostAnswer);
  site = await startSampleSite(PAGES, 1);
});
afterAll(async () => {
  await service.close();
  await site.close();
});

async function scraped(): Promise<{ user: TestUser; name: string; parent: FileRecord }> {
  users += 1;
  const name = `deleter ${users}`;
  const user = await service.user(name);
  return { user, name, parent: await user.settled((await user.scrape({ url: site.url('/sitemap.xml') })).id) };
}

/** Waits until this many deletes of a user have ended. */
const deletesEnded = (customerId: string, count: number): Promise<number> =>
  withDatabase(service, (connection) =>
    waitFor(
      () =>
        connection
          .collection<RunDoc>('runs')
          .countDocuments({ customerId, kind: 'deleteFiles', finishedAt: { $ne: null } }),
      (ended) => ended === count,
    ),
  );

/**
 * Makes the next deletion of vectors fail once. At that time, the delete run has already written its run id, a status
 * and an error message to the files. Returns a function that returns whether the failure has happened.
 */
function failOnce(): () => boolean {
  const { vectors } = service.store;
  const real = vectors.deletePoints;
  let failed = false;
  Object.assign(vectors, {
    deletePoints: (...given: Parameters<typeof real>) => {
      Object.assign(vectors, { deletePoints: real });
      failed = true;
      void given;
      return Promise.reject(new Error('injected fault: the vector store is down'));
    },
  });
  return () => failed;
}

test.each<readonly [string, object]>([
  ['status', { sync_statuses: ['READY'], include_containers: false }],
  ...thoroughRows([['error message', { sync_error_message: '', include_containers: false }]] as const),
])(
  'finds the files of a failed batch again, although the batch has changed the %s that selected them',
  async (_what, filters) => {
    const { user, parent } = await scraped();
    const failed = failOnce();
    await user.post('/delete_files_v2', { filters });
    expect(
      await waitFor(
        () => user.children(parent.id),
        (remaining) => remaining.length === 0,
      ),
    ).toEqual([]);
    expect(failed()).toBe(true);
    expect((await user.file(parent.id)).sync_status).toBe('READY');
    expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
  },
);

test('keeps emptied records if a batch fails after its work, and emits one event each', async () => {
  const { user, name, parent } = await scraped();
  const ids = (await user.children(parent.id)).map(({ id }) => id);
  failsAfter = true;
  await user.post('/delete_files_v2', { filters: { ids }, preserve_file_record: true, send_webhook: true });
  await deletesEnded(name, 1);
  expect(failsAfter).toBe(false);
  for (const page of await user.children(parent.id))
    expect(page).toMatchObject({ sync_status: 'READY_TO_SYNC', sync_error_message: null, file_contents_deleted: true });
  await service.store.events.number();
  const deletions = (await service.store.events.after(1, 0, 10_000)).filter(({ kind }) => kind === 'FILE_DELETED');
  expect(deletions.map(({ objectId }) => Number(objectId)).toSorted((a, b) => a - b)).toEqual(
    ids.toSorted((a, b) => a - b),
  );
});

test('accepts another delete of a record whose content is already deleted', async () => {
  const { user, name, parent } = await scraped();
  const [page] = await user.children(parent.id);
  for (let call = 0; call < 2; call += 1) {
    await user.post('/delete_files_v2', { filters: { ids: [page?.id] }, preserve_file_record: true });
    await deletesEnded(name, call + 1);
    expect(await user.file(page?.id ?? 0)).toMatchObject({ sync_status: 'READY_TO_SYNC', sync_error_message: null });
  }
});
