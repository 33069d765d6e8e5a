import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { CONNECTED_SOURCES, type ConnectedSourceType } from '../../contract/sources.js';
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

describe.each(SOURCES)('the worker killed at random moments of a sync of %s', (type) => {
  test(
    `leaves what an undisturbed one leaves, ${ROUNDS} times`,
    async () => {
      const chance = seededChance(`kills of ${type}`);
      const stand = stands.get(type)!;
      const common = { service, type, stand, content: stand.reset(MORE) };
      const calm = await playCatalogueRound({ ...common, customerId: `calm ${type}`, killsAfter: [] });
      expect(calm.inconsistencies).toEqual([]);
      let hits = 0;
      for (let number = 0; number < ROUNDS; number += 1) {
        const first = 1 + chance.below(Math.floor(calm.asked / 2));
        const killsAfter = [first, first + 1 + chance.below(calm.asked - first)];
        const played = await playCatalogueRound({ ...common, customerId: `killed ${number} ${type}`, killsAfter });
        expect(played.left).toEqual(calm.left);
        expect(played.inconsistencies).toEqual([]);
        hits += played.hits;
        process.stdout.write(`${type} killed after ${killsAfter.join()} of ${calm.asked}: ${played.hits} under way\n`);
      }
      expect(hits).toBeGreaterThanOrEqual(ROUNDS);
    },
    ROUNDS * 120_000,
  );
});
