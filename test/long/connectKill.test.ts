import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { DataSourceRecord } from '../../contract/records.js';
import { startGoogleDrive, type GoogleDriveEmulator } from '../emulators/googleDrive.js';
import { CLIENT_ID, CLIENT_SECRET } from '../emulators/oauthProvider.js';
import { readAtRest } from '../support/atRest.js';
import type { Listed, TestUser } from '../support/client.js';
import { answerConsent, openPage, type WalkedPage } from '../support/consent.js';
import { withDatabase } from '../support/dataSources.js';
import { type OwnService, startOwnService, VICTIMS } from '../support/ownService.js';
import { seededChance } from '../support/seed.js';
import { waitFor } from '../support/waitFor.js';

const ROUNDS = Number(process.env['TEST_KILLS'] ?? 10);
/** Who connect at the same time. */
const PEOPLE = 4;
/** Within so long after a round has begun, API and worker die, and one of the engines. */
const KILL_WITHIN_MS = 1_500;
/** So long codes are spent in each round, and not answered. */
const SLOW_MS = 1_200;
const ITEMS = ['My Drive', 'Shared with me', 'a.txt'];
/** How often somebody goes back to the application and connects once more. */
const TRIES = 5;
/** Qdrant has no part in it. */
const ENGINES = VICTIMS.filter((victim) => victim === 'temporal' || victim === 'mongodb');

const chance = seededChance('kills amid connections');
let drive: GoogleDriveEmulator;
let service: OwnService;

beforeAll(async () => {
  drive = await startGoogleDrive({ a: { name: 'a.txt', content: 'On anchors.' } });
  service = await startOwnService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    SOURCE_URLS: drive.settings,
    OAUTH_CLIENTS: `GOOGLE_DRIVE=${CLIENT_ID}:${CLIENT_SECRET}`,
    // Addresses that were made and never answered, because the API died, are over soon.
    CONSENT_LIFE_S: '90',
  });
}, 120_000);
afterAll(async () => {
  await service.close();
  await drive.close();
});

const sourcesOf = async (user: TestUser): Promise<DataSourceRecord[]> =>
  (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results;

/** As somebody does whose page does not load, or says that it takes long. */
const reload = (url: string): Promise<WalkedPage> =>
  waitFor(
    () => openPage(url).catch(() => ({ status: 0, url, html: '', headers: new Headers() })),
    ({ status }) => status !== 0 && status < 500 && status !== 202,
  );

/** Connects as people do: what fails and says so is begun once more. Answers how often it was. */
async function connect(user: TestUser): Promise<number> {
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const answer = await user.post<{ oauth_url: string }>('/integrations/oauth_url', {
      service: 'GOOGLE_DRIVE',
      connecting_new_account: true,
    });
    expect(answer).toMatchObject({ status: 200 });
    const page = await reload(await answerConsent(answer.body.oauth_url));
    if (page.status === 200) return tries;
    expect(page.html).toContain('connect once more');
  }
  throw new Error(`not connected after ${TRIES} tries`);
}

test(
  `whatever dies while people connect, each has one account in the end, ${ROUNDS} times`,
  async () => {
    const people: { customerId: string; user: TestUser; tries: number }[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const users = await Promise.all(
        Array.from({ length: PEOPLE }, async (_, index) => {
          const customerId = `person ${round}.${index}`;
          return { customerId, user: await service.user(customerId) };
        }),
      );
      const kills = [...chance.shuffle(['worker', 'api'] as const), chance.pick(ENGINES)].map((victim) => {
        return { victim, atMs: chance.below(KILL_WITHIN_MS) };
      });
      const killing = Promise.all(kills.map(({ victim, atMs }) => sleep(atMs).then(() => service.kill(victim))));
      const begun = Date.now();
      setTimeout(drive.oauth.holdReplies(), SLOW_MS);
      const connected = await Promise.all(users.map(async (one) => ({ ...one, tries: await connect(one.user) })));
      await killing;
      people.push(...connected);
      const how = kills.map(({ victim, atMs }) => `${victim} at ${atMs} ms`).join(', ');
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
    expect((await readAtRest(service.env)).findInconsistencies()).toEqual([]);
    await withDatabase(service, async (db) => {
      const attempts = await db.collection('connection_attempts').find().toArray();
      const open = attempts.filter(({ state }) => !['connected', 'failed', 'expired'].includes(String(state)));
      expect(open).toEqual([]);
      // Each that came to its end has told of it, once, and none that did not.
      const events = await db.collection('events').find().toArray();
      const added = events.flatMap((row) => row['events'] as { kind: string }[]).filter(({ kind }) => kind === 'ADD');
      expect(added).toHaveLength(attempts.filter(({ state }) => state === 'connected').length);
    });
  },
  ROUNDS * 120_000,
);
