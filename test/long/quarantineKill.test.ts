/** Files on their way into quarantine, back, and out of everything, with kills at random moments in between. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { DataSourceRecord, FileRecord } from '../../contract/records.js';
import { type AtRest, readAtRest } from '../support/atRest.js';
import { apiClient, type ApiClient, type Listed, type TestUser } from '../support/client.js';
import { pointsOfFile, storedFor, toldOf } from '../support/coldFiles.js';
import { withDatabase } from '../support/dataSources.js';
import { findDifferences } from '../support/differences.js';
import { type OwnService, startOwnService, type Victim } from '../support/ownService.js';
import { seededChance } from '../support/seed.js';
import { waitFor } from '../support/waitFor.js';
import { standForGitBook } from '../support/sourceStands/gitbook.js';
import type { SourceStand, StandContent } from '../support/sourceStands/stand.js';

const KILLS = Number(process.env['TEST_KILLS'] ?? 4);
/** As many as may vanish without being held. */
const GONE = 10;
const SETTLE_MS = 150_000;
const VICTIMS: readonly Victim[] = ['worker', 'mongodb', 'qdrant', 'temporal'];

let service: OwnService;
let stand: SourceStand;
let content: StandContent;
let organization: ApiClient;
let user: TestUser;
let sourceId: number;

beforeAll(async () => {
  stand = await standForGitBook();
  service = await startOwnService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    SOURCE_URLS: stand.settings,
    QUARANTINE_SWEEP_INTERVAL_S: '1',
    REAP_INTERVAL_S: '2',
  });
  organization = apiClient(service.url, { authorization: `Bearer ${service.env['API_KEY'] ?? ''}` }, 60_000);
  user = await service.user('quarantined');
  content = stand.reset(20);
  expect(await stand.connect(user, { sync_files_on_connection: true })).toMatchObject({ status: 200 });
  await settled(22 + content.others.length);
  sourceId = (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results[0]!.id;
}, 300_000);
afterAll(async () => {
  await service.close();
  await stand.close();
});

const files = async (): Promise<FileRecord[]> =>
  (await user.post<Listed<FileRecord>>('/user_files_v2', { pagination: { limit: 100 } })).body.results;
const settled = (number: number): Promise<FileRecord[]> =>
  waitFor(files, (some) => some.length === number && some.every((file) => file.sync_status === 'READY'), SETTLE_MS);
const kept = async () =>
  (await organization.get<Listed<{ file_id: number; state: string }>>('/quarantined_files?limit=100')).body.results;
/** A file that vanishes, is had back and vanishes again is told of twice: how often is counted at the end of a round. */
const MAY_BE = /^FILE_DELETED .* was emitted twice$/;
const amissIn = (now: AtRest): string[] => now.findInconsistencies().filter((what) => !MAY_BE.test(what));
const rest = async (): Promise<void> => {
  const now = await waitFor(
    () => readAtRest(service.env),
    (one) => amissIn(one).length === 0,
    SETTLE_MS,
  ).catch(() => readAtRest(service.env));
  expect(amissIn(now)).toEqual([]);
  expect(await findDifferences(service.env)).toEqual([]);
};
const list = async (): Promise<void> => {
  await waitFor(
    () => user.post('/integrations/items/sync', { data_source_id: sourceId }),
    ({ status }) => status === 200,
  );
};

describe.each(VICTIMS)('%s killed at random moments', (victim) => {
  const chance = seededChance(`kills of ${victim} amid quarantine`);
  /** Does something, and kills meanwhile. */
  const amid = async (work: () => Promise<void>): Promise<void> => {
    const killing = (async () => {
      await sleep(chance.below(chance.below(2) === 0 ? 300 : 1_500));
      await service.kill(victim);
    })();
    await work();
    await killing;
  };

  test(
    `what vanished is kept, comes back as it was, and is erased, ${KILLS} times`,
    async () => {
      for (let number = 0; number < KILLS; number += 1) {
        // What was erased before is there anew.
        stand.reset(20);
        await list();
        const selection = { data_source_id: sourceId, ids: content.containers };
        expect((await user.post('/integrations/files/sync', selection)).status).toBe(200);
        const all = await settled(22 + content.others.length);
        await rest();
        const known = new Set([content.lighthouse, content.keeper, ...content.others]);
        const going = all.filter((file) => !known.has(file.external_file_id)).slice(0, GONE);
        const ids = going.map(({ id }) => id);
        const points = await Promise.all(ids.map((id) => pointsOfFile(service.env, id)));
        expect(points.every((some) => some.length > 0)).toBe(true);

        for (const file of going) stand.remove(file.external_file_id);
        const isKept = async (): Promise<boolean> =>
          (await kept()).filter(({ file_id, state }) => ids.includes(file_id) && state === 'KEPT').length === GONE;
        await amid(async () => {
          await list();
          await waitFor(isKept, Boolean, SETTLE_MS);
        });
        await settled(all.length - GONE);
        await rest();
        const stored = await storedFor(service.env);
        expect([stored.length, new Set(stored)]).toEqual([ids.length, new Set(ids)]);

        await amid(async () => {
          const answer = await organization.post('/quarantined_files/restore', { file_ids: ids });
          expect(answer).toMatchObject({ status: 200 });
          await settled(all.length);
        });
        await rest();
        expect(await Promise.all(ids.map((id) => pointsOfFile(service.env, id)))).toEqual(points);
        expect(await storedFor(service.env)).toEqual([]);

        // Found once more, missed once more, and had back by nobody.
        stand.reset(20);
        await list();
        await rest();
        for (const file of going) stand.remove(file.external_file_id);
        await list();
        await waitFor(isKept, Boolean, SETTLE_MS);
        await amid(async () => {
          await withDatabase(service, (db) =>
            db.collection('quarantined_files').updateMany({}, { $set: { keptUntil: new Date() } }),
          );
          await waitFor(
            () => withDatabase(service, (db) => db.collection('quarantined_files').countDocuments()).catch(() => 1),
            (left) => left === 0,
            SETTLE_MS,
          );
        });
        await rest();
        expect(await storedFor(service.env)).toEqual([]);
        for (const id of ids) {
          expect(await pointsOfFile(service.env, id)).toEqual([]);
          expect((await toldOf(service.env, id)).filter((kind) => kind === 'FILE_DELETED')).toHaveLength(2);
        }
        process.stdout.write(`${victim}: round ${number + 1} of ${KILLS}\n`);
      }
    },
    KILLS * 400_000,
  );
});
