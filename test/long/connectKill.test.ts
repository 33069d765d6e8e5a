import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { DataSourceRecord } from '../../contract/files/records.js';
import { startGoogleDrive, type GoogleDriveEmulator } from '../emulators/googleDrive.js';
import { CLIENT_ID, CLIENT_SECRET } from '../emulators/oauthProvider.js';
import { readStoredState } from '../support/storedState.js';
import type { Listed, TestUser } from '../support/client.js';
import { answerConsent, openPage, type FinalPage } from '../support/consent.js';
import { withDatabase } from '../support/mongo.js';
import { type OwnService, startOwnService, KILL_TARGETS } from '../support/ownService.js';
import { seededRandom } from '../support/seed.js';
import { waitFor } from '../support/waitFor.js';

const TRIALS = Number(process.env['TEST_KILLS'] ?? 10);
/** Number of users who connect at the same time. */
const USERS = 4;
/** The API, the worker and one engine are killed within this time (ms) after a trial begins. */
const KILL_WITHIN_MS = 1_500;
/** Until this time (ms) after a trial begins, the provider holds back its answers to token requests. */
const SLOW_MS = 1_200;
const ITEMS = ['My Drive', 'Shared with me', 'a.txt'];
/** Maximum number of connection attempts per user. */
const MAX_ATTEMPTS = 5;
/** Engines to kill. Connecting does not use Qdrant. */
const ENGINES = KILL_TARGETS.filter((target) => target === 'temporal' || target === 'mongodb');

const chance = seededRandom('kills during connections');
let drive: GoogleDriveEmulator;
let service: OwnService;

beforeAll(async () => {
  drive = await startGoogleDrive({ a: { name: 'a.txt', content: 'On anchors.' } });
  service = await startOwnService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    SOURCE_URLS: drive.settings,
    OAUTH_CLIENTS: `GOOGLE_DRIVE=${CLIENT_ID}:${CLIENT_SECRET}`,
    // Attempts whose authorization URL was never returned, because the API died, expire soon.
    CONSENT_LIFE_S: '90',
  });
}, 120_000);
afterAll(async () => {
  await service.close();
  await drive.close();
});

const sourcesOf = async (user: TestUser): Promise<DataSourceRecord[]> =>
  (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results;

/** Reloads the page, as a user does when it fails to load or is still waiting. */
const reload = (url: string): Promise<FinalPage> =>
  waitFor(
    () => openPage(url).catch(() => ({ status: 0, url, html: '', headers: new Headers() })),
    ({ status }) => status !== 0 && status < 500 && status !== 202,
  );

/** Connects as a user does: starts again after a failure that the page reports. Returns the number of attempts. */
async function connect(user: TestUser): Promise<number> {
  for (let tries = 1; tries <= MAX_ATTEMPTS; tries += 1) {
    const answer = await user.post<{ oauth_url: string }>('/integrations/oauth_url', {
      service: 'GOOGLE_DRIVE',
      connecting_new_account: true,
    });
    expect(answer).toMatchObject({ status: 200 });
    const page = await reload(await answerConsent(answer.body.oauth_url));
    if (page.status === 200) return tries;
    expect(page.html).toContain('connect once more');
  }
  throw new Error(`not connected after ${MAX_ATTEMPTS} tries`);
}

test(
  `connects exactly one account per user when processes are killed at random moments, ${TRIALS} times`,
  async () => {
    const people: { customerId: string; user: TestUser; tries: number }[] = [];
    for (let trial = 0; trial < TRIALS; trial += 1) {
      const users = await Promise.all(
        Array.from({ length: USERS }, async (_, index) => {
          const customerId = `user ${trial}.${index}`;
          return { customerId, user: await service.user(customerId) };
        }),
      );
      const kills = [...chance.shuffle(['worker', 'api'] as const), chance.pick(ENGINES)].map((target) => {
        return { target, atMs: chance.below(KILL_WITHIN_MS) };
      });
      const killing = Promise.all(kills.map(({ target, atMs }) => sleep(atMs).then(() => service.kill(target))));
      const begun = Date.now();
      setTimeout(drive.oauth.holdReplies(), SLOW_MS);
      const connected = await Promise.all(users.map(async (one) => ({ ...one, tries: await connect(one.user) })));
      await killing;
      people.push(...connected);
      const how = kills.map(({ target, atMs }) => `${target} at ${atMs} ms`).join(', ');
      process.stdout.write(`${how}: tries ${connected.map(({ tries }) => tries).join()}, ${Date.now() - begun} ms\n`);
    }

    for (const { user } of people) {
      const [source] = await waitFor(
        () => sourcesOf(user),
        ([one]) => one?.sync_status === 'READY' && one.source_items_synced_at !== null,
      );
      expect(await sourcesOf(user)).toHaveLength(1);
      const items = await user.post<{ items: { name: string }[] }>('/integrations/items/list', {
        data_source_id: source?.id,
        filters: { root_files_only: false },
      });
      expect(items.body.items.map(({ name }) => name).toSorted()).toEqual(ITEMS);
    }
    expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
    await withDatabase(service, async (db) => {
      const attempts = await db.collection('connection_attempts').find().toArray();
      const unfinished = attempts.filter(({ state }) => !['connected', 'failed', 'expired'].includes(String(state)));
      expect(unfinished).toEqual([]);
      // Each completed attempt emitted one ADD event, and no other attempt did.
      const events = await db.collection('events').find().toArray();
      const added = events.flatMap((row) => row['events'] as { kind: string }[]).filter(({ kind }) => kind === 'ADD');
      expect(added).toHaveLength(attempts.filter(({ state }) => state === 'connected').length);
    });
  },
  TRIALS * 120_000,
);
