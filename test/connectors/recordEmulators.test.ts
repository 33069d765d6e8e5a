/** Records the emulator of every source, and checks what the recording contains. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { recordAccount } from '../../cli/recording/record.js';
import type { Targets } from '../../cli/recording/steps.js';
import { CONNECTORS } from '../../connectors/catalogue.js';
import { readSourceUrls } from '../../connectors/readSourceUrls.js';
import type { ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import type { Egress } from '../../egress/types.js';
import { everyRow } from '../support/everyRow.js';
import type { SourceFixture } from '../support/sourceFixtures/fixture.js';
import { SOURCE_FIXTURES } from '../support/sourceFixtures/index.js';
import { FACTS, suppliedCredentials } from '../support/sourceFixtures/credentials.js';
import { loopbackEgress, NEVER } from './account.js';
import { obtainGrant } from './grants.js';

const SOURCES = (Object.keys(CONNECTORS) as ConnectedSourceType[]).filter(
  (source) => !process.env['ONLY'] || process.env['ONLY'].split(',').includes(source),
);
let egress: Egress;
beforeAll(() => {
  egress = loopbackEgress();
});
afterAll(() => egress.close());

async function credentialsOf(source: ConnectedSourceType, { settings }: SourceFixture): Promise<unknown> {
  const supplied = suppliedCredentials[source];
  if (supplied) return supplied;
  const { grant } = await obtainGrant(source, settings, egress, FACTS[source] ?? {});
  return { accessToken: grant.accessToken, facts: grant.facts };
}

test('records every source', () =>
  everyRow(SOURCES, String, async (source) => {
    const fixture = await SOURCE_FIXTURES[source]();
    try {
      fixture.reset();
      const credentials = await credentialsOf(source, fixture);
      const recording = await recordAccount({
        source,
        urls: readSourceUrls(fixture.settings),
        credentials,
        egress,
        limits: { containers: 3, pages: 5, items: 3 },
        change({ changed, deleted }: Targets) {
          fixture.write(changed.externalId, 'Changed.');
          fixture.remove(deleted.externalId);
          return Promise.resolve();
        },
        signal: NEVER,
      });
      if (process.env['SHOW']) console.log(JSON.stringify(recording, null, 1));
      expect(recording.steps).toHaveLength(5);
    } finally {
      await fixture.close();
    }
  }));
