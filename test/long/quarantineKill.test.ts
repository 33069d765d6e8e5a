/** Kills processes at random moments while files enter quarantine, are restored, and are erased. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { DataSourceRecord, FileRecord } from '../../contract/files/records.js';
import { type StoredState, readStoredState } from '../support/storedState.js';
import { apiClient, type ApiClient, type Listed, type TestUser } from '../support/client.js';
import { pointsOfFile, fileIdsWithStoredVectors, eventKindsOf } from '../support/coldFiles.js';
import { withDatabase } from '../support/mongo.js';
import { findDifferences } from '../support/differences.js';
import { type OwnService, startOwnService, type KillTarget } from '../support/ownService.js';
import { seededRandom } from '../support/seed.js';
import { waitFor } from '../support/waitFor.js';
import { fixtureForGitBook } from '../support/sourceFixtures/gitbook.js';
import type { SourceFixture, FixtureContent } from '../support/sourceFixtures/fixture.js';

const KILLS = Number(process.env['TEST_KILLS'] ?? 4);
/**
 * Number of files that a trial removes at the source. A listing moves up to this number of missing files into
 * quarantine without an operator's approval, whatever their share of the source's files.
 */
const GONE = 10;
const SETTLE_MS = 150_000;
const TARGETS: readonly KillTarget[] = ['worker', 'mongodb', 'qdrant', 'temporal'];

let service: OwnService;
let fixture: SourceFixture;
let content: FixtureContent;
let organization: ApiClient;
let user: TestUser;
let sourceId: number;

beforeAll(async () => {
  fixture = await fixtureForGitBook();
  service = await startOwnService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    SOURCE_URLS: fixture.settings,
    QUARANTINE_SWEEP_INTERVAL_S: '1',
    REAP_INTERVAL_S: '2',
  });
  organization = apiClient(service.url, { authorization: `Bearer ${service.env['API_KEY'] ?? ''}` }, 60_000);
  user = await service.user('quarantined');
  content = fixture.reset(20);
  expect(await fixture.connect(user, { sync_files_on_connection: true })).toMatchObject({ status: 200 });
  await settled(22 + content.others.length);
  sourceId = (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results[0]!.id;
}, 300_000);
afterAll(async () => {
  await service.close();
  await fixture.close();
});

const files = async (): Promise<FileRecord[]> =>
  (await user.post<Listed<FileRecord>>('/user_files_v2', { pagination: { limit: 100 } })).body.results;
const settled = (number: number): Promise<FileRecord[]> =>
  waitFor(
    files,
    (records) => records.length === number && records.every((file) => file.sync_status === 'READY'),
    SETTLE_MS,
  );
const quarantinedFiles = async () =>
  (await organization.get<Listed<{ file_id: number; state: string }>>('/quarantined_files?limit=100')).body.results;
/**
 * A file that is deleted, restored and deleted again correctly emits FILE_DELETED twice. The end of each trial counts
 * these events.
 */
const EXPECTED_REPEAT = /^FILE_DELETED .* was emitted twice$/;
const unexpectedIn = (state: StoredState): string[] =>
  state.findInconsistencies().filter((what) => !EXPECTED_REPEAT.test(what));
const expectConsistent = async (): Promise<void> => {
  const state = await waitFor(
    () => readStoredState(service.env),
    (one) => unexpectedIn(one).length === 0,
    SETTLE_MS,
  ).catch(() => readStoredState(service.env));
  expect(unexpectedIn(state)).toEqual([]);
  expect(await findDifferences(service.env)).toEqual([]);
};
const listItems = async (): Promise<void> => {
  await waitFor(
    () => user.post('/integrations/items/sync', { data_source_id: sourceId }),
    ({ status }) => status === 200,
  );
};

describe.each(TARGETS)('quarantine with %s killed at random moments', (target) => {
  const chance = seededRandom(`kills of ${target} during quarantine`);
  /** Runs `work`, and kills the target at a random moment during it. */
  const withKill = async (work: () => Promise<void>): Promise<void> => {
    const killing = (async () => {
      await sleep(chance.below(chance.below(2) === 0 ? 300 : 1_500));
      await service.kill(target);
    })();
    await work();
    await killing;
  };

  test(
    `quarantines missing files, restores them unchanged, and erases them, ${KILLS} times`,
    async () => {
      for (let number = 0; number < KILLS; number += 1) {
        // Files that the previous trial has erased exist at the source again.
        fixture.reset(20);
        await listItems();
        const selection = { data_source_id: sourceId, ids: content.containers };
        expect((await user.post('/integrations/files/sync', selection)).status).toBe(200);
        const syncedFiles = await settled(22 + content.others.length);
        await expectConsistent();
        const allFiles = new Set([content.lighthouse, content.keeper, ...content.others]);
        const removed = syncedFiles.filter((file) => !allFiles.has(file.external_file_id)).slice(0, GONE);
        const ids = removed.map(({ id }) => id);
        const points = await Promise.all(ids.map((id) => pointsOfFile(service.env, id)));
        expect(points.every((filePoints) => filePoints.length > 0)).toBe(true);

        for (const file of removed) fixture.remove(file.external_file_id);
        const isKept = async (): Promise<boolean> =>
          (await quarantinedFiles()).filter(({ file_id, state }) => ids.includes(file_id) && state === 'KEPT')
            .length === GONE;
        await withKill(async () => {
          await listItems();
          await waitFor(isKept, Boolean, SETTLE_MS);
        });
        await settled(syncedFiles.length - GONE);
        await expectConsistent();
        const stored = await fileIdsWithStoredVectors(service.env);
        expect([stored.length, new Set(stored)]).toEqual([ids.length, new Set(ids)]);

        await withKill(async () => {
          const answer = await organization.post('/quarantined_files/restore', { file_ids: ids });
          expect(answer).toMatchObject({ status: 200 });
          await settled(syncedFiles.length);
        });
        await expectConsistent();
        expect(await Promise.all(ids.map((id) => pointsOfFile(service.env, id)))).toEqual(points);
        expect(await fileIdsWithStoredVectors(service.env)).toEqual([]);

        // The files return, are removed again, and are not restored.
        fixture.reset(20);
        await listItems();
        await expectConsistent();
        for (const file of removed) fixture.remove(file.external_file_id);
        await listItems();
        await waitFor(isKept, Boolean, SETTLE_MS);
        await withKill(async () => {
          await withDatabase(service, (db) =>
            db.collection('quarantined_files').updateMany({}, { $set: { keptUntil: new Date() } }),
          );
          await waitFor(
            () => withDatabase(service, (db) => db.collection('quarantined_files').countDocuments()).catch(() => 1),
            (remaining) => remaining === 0,
            SETTLE_MS,
          );
        });
        await expectConsistent();
        expect(await fileIdsWithStoredVectors(service.env)).toEqual([]);
        for (const id of ids) {
          expect(await pointsOfFile(service.env, id)).toEqual([]);
          expect((await eventKindsOf(service.env, id)).filter((kind) => kind === 'FILE_DELETED')).toHaveLength(2);
        }
        process.stdout.write(`${target}: trial ${number + 1} of ${KILLS}\n`);
      }
    },
    KILLS * 400_000,
  );
});
