import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { CONNECTED_SOURCES, type ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import { CLIENT_ID, CLIENT_SECRET } from '../emulators/oauthProvider.js';
import { MORE, runCatalogueTrial } from '../support/catalogueTrial.js';
import { type OwnService, startOwnService } from '../support/ownService.js';
import { seededRandom } from '../support/seed.js';
import { SOURCE_FIXTURES } from '../support/sourceFixtures/index.js';
import type { SourceFixture } from '../support/sourceFixtures/fixture.js';

/** Trials per source; each one kills the worker twice. */
const TRIALS = Number(process.env['TEST_KILLS'] ?? 3);
const SOURCES = Object.keys(SOURCE_FIXTURES) as (keyof typeof SOURCE_FIXTURES)[];
const fixtures = new Map<ConnectedSourceType, SourceFixture>();
let service: OwnService;

beforeAll(async () => {
  for (const source of SOURCES) fixtures.set(source, await SOURCE_FIXTURES[source]());
  service = await startOwnService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    SOURCE_URLS: [...fixtures.values()].map(({ settings }) => settings).join(','),
    OAUTH_CLIENTS: SOURCES.filter((source) => CONNECTED_SOURCES[source].auth === 'oauth')
      .map((source) => `${source}=${CLIENT_ID}:${CLIENT_SECRET}`)
      .join(','),
  });
});
afterAll(async () => {
  await service.close();
  await Promise.all([...fixtures.values()].map((fixture) => fixture.close()));
});

describe.each(SOURCES)('a sync of %s whose worker is killed at random moments', (type) => {
  test(
    `stores the same as an uninterrupted sync, in each of ${TRIALS} trials`,
    async () => {
      const random = seededRandom(`kills of ${type}`);
      const fixture = fixtures.get(type)!;
      const common = { service, type, fixture, content: fixture.reset(MORE) };
      const uninterrupted = await runCatalogueTrial({
        ...common,
        customerId: `uninterrupted ${type}`,
        killsAfter: [],
      });
      expect(uninterrupted.inconsistencies).toEqual([]);
      let killsDuringSync = 0;
      for (let number = 0; number < TRIALS; number += 1) {
        const first = 1 + random.below(Math.floor(uninterrupted.requests / 2));
        const killsAfter = [first, first + 1 + random.below(uninterrupted.requests - first)];
        const trial = await runCatalogueTrial({ ...common, customerId: `killed ${number} ${type}`, killsAfter });
        expect(trial.stored).toEqual(uninterrupted.stored);
        expect(trial.inconsistencies).toEqual([]);
        killsDuringSync += trial.killsDuringSync;
        process.stdout.write(
          `${type} killed after ${killsAfter.join()} of ${uninterrupted.requests}: ${trial.killsDuringSync} during the sync\n`,
        );
      }
      expect(killsDuringSync).toBeGreaterThanOrEqual(TRIALS);
    },
    TRIALS * 120_000,
  );
});
