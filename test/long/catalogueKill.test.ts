import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { CONNECTED_SOURCES, type ConnectedSourceType } from '../../contract/sources/sources.js';
import { CLIENT_ID, CLIENT_SECRET } from '../emulators/oauthProvider.js';
import { MORE, playCatalogueRound } from '../support/catalogueRound.js';
import { type OwnService, startOwnService } from '../support/ownService.js';
import { seededChance } from '../support/seed.js';
import { SOURCE_STANDS } from '../support/sourceStands/index.js';
import type { SourceStand } from '../support/sourceStands/stand.js';

const ROUNDS = Number(process.env['TEST_KILLS'] ?? 3);
const SOURCES = Object.keys(SOURCE_STANDS) as (keyof typeof SOURCE_STANDS)[];
const stands = new Map<ConnectedSourceType, SourceStand>();
let service: OwnService;

beforeAll(async () => {
  for (const source of SOURCES) stands.set(source, await SOURCE_STANDS[source]());
  service = await startOwnService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    SOURCE_URLS: [...stands.values()].map(({ settings }) => settings).join(','),
    OAUTH_CLIENTS: SOURCES.filter((source) => CONNECTED_SOURCES[source].auth === 'oauth')
      .map((source) => `${source}=${CLIENT_ID}:${CLIENT_SECRET}`)
      .join(','),
  });
});
afterAll(async () => {
  await service.close();
  await Promise.all([...stands.values()].map((stand) => stand.close()));
});

describe.each(SOURCES)('a sync of %s whose worker is killed at random moments', (type) => {
  test(
    `stores what an uninterrupted sync stores, ${ROUNDS} times`,
    async () => {
      const random = seededChance(`kills of ${type}`);
      const stand = stands.get(type)!;
      const common = { service, type, stand, content: stand.reset(MORE) };
      const uninterrupted = await playCatalogueRound({
        ...common,
        customerId: `uninterrupted ${type}`,
        killsAfter: [],
      });
      expect(uninterrupted.inconsistencies).toEqual([]);
      let hits = 0;
      for (let number = 0; number < ROUNDS; number += 1) {
        const first = 1 + random.below(Math.floor(uninterrupted.asked / 2));
        const killsAfter = [first, first + 1 + random.below(uninterrupted.asked - first)];
        const round = await playCatalogueRound({ ...common, customerId: `killed ${number} ${type}`, killsAfter });
        expect(round.left).toEqual(uninterrupted.left);
        expect(round.inconsistencies).toEqual([]);
        hits += round.hits;
        process.stdout.write(
          `${type} killed after ${killsAfter.join()} of ${uninterrupted.asked}: ${round.hits} under way\n`,
        );
      }
      expect(hits).toBeGreaterThanOrEqual(ROUNDS);
    },
    ROUNDS * 120_000,
  );
});
