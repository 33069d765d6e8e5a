/**
 * Records emulated accounts: a recording contains no data of the account, and its replay gives the same results.
 * Sources outside of FAMILIES are recorded only in `npm run test:long`.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { Recording } from '../../../../cli/recording/fixture.js';
import { recordAccount } from '../../../../cli/recording/record.js';
import type { Targets } from '../../../../cli/recording/steps.js';
import { CONNECTORS } from '../../../../connectors/catalogue.js';
import { readSourceUrls } from '../../../../connectors/readSourceUrls.js';
import type { ConnectedSourceType } from '../../../../contract/sources/connectedSources.js';
import type { Egress } from '../../../../egress/types.js';
import { everyRow } from '../../../support/everyRow.js';
import { recordedOutcomes, replayOnLoopback } from '../../../support/replayServer.js';
import { CONNECTION_PARAMETERS, suppliedCredentials } from '../../../support/sourceFixtures/credentials.js';
import {
  CONTAINERS,
  KEEPER_SENTENCE,
  LIGHTHOUSE,
  type SourceFixture,
} from '../../../support/sourceFixtures/fixture.js';
import { SOURCE_FIXTURES } from '../../../support/sourceFixtures/index.js';
import { thoroughRows } from '../../../support/thorough.js';
import { loopbackEgress, NEVER } from '../../../connectors/account.js';
import { obtainGrant } from '../../../connectors/grants.js';

/**
 * At least one source of each family of APIs: JSON; XML with signed requests; mail; change feeds; queries in
 * parameters; times as ids; URL templates.
 */
const FAMILIES = ['GITBOOK', 'GITHUB', 'S3', 'GMAIL', 'ONEDRIVE', 'DROPBOX', 'SERVICENOW', 'SLACK', 'ZENDESK'] as const;
const SOURCES: readonly ConnectedSourceType[] = [
  ...FAMILIES,
  ...thoroughRows((Object.keys(CONNECTORS) as ConnectedSourceType[]).filter((one) => !FAMILIES.includes(one as never))),
];
const CHANGED = 'The lantern was replaced by Bertram.';
/** Words of names, texts, ids, hosts and addresses of the emulated accounts. */
const CANARIES = new Set(
  [LIGHTHOUSE, KEEPER_SENTENCE, CHANGED, ...CONTAINERS, 'harbour ada@harbour.example sights Ada Lee']
    .join(' ')
    .toLowerCase()
    .match(/\p{L}{3,}/gu)
    // Excludes words that also occur in terms of APIs, in prose or in pseudonymous hosts.
    ?.filter((word) => !['the', 'its', 'was', 'called', 'replaced', 'example', 'lit'].includes(word)),
);

let egress: Egress;
beforeAll(() => {
  egress = loopbackEgress();
});
afterAll(() => egress.close());

async function credentialsOf(source: ConnectedSourceType, { settings }: SourceFixture): Promise<unknown> {
  const supplied = suppliedCredentials[source];
  if (supplied) return supplied;
  const { grant } = await obtainGrant(source, settings, egress, CONNECTION_PARAMETERS[source] ?? {});
  return { accessToken: grant.accessToken, facts: grant.facts };
}

const wordsOf = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));

/** Returns the canaries and secrets in a recording. */
function leaksOf(recording: Recording, secrets: readonly string[]): string[] {
  const text = JSON.stringify(recording);
  const words = wordsOf(`${text} ${text.replaceAll(/(?:%[\dA-F]{2})+/g, ' ')}`);
  return [...[...CANARIES].filter((word) => words.has(word)), ...secrets.filter((secret) => text.includes(secret))];
}

test('records sources without a word of the account; a replay gives the same results', () =>
  everyRow(SOURCES, String, async (source) => {
    const fixture = await SOURCE_FIXTURES[source]();
    try {
      fixture.reset();
      const credentials = await credentialsOf(source, fixture);
      const targets: Targets[] = [];
      const recording = await recordAccount({
        ...{ source, credentials, egress, urls: readSourceUrls(fixture.settings), signal: NEVER },
        limits: { containers: 3, pages: 5, items: 2 },
        change(found) {
          targets.push(found);
          fixture.write(found.changed.externalId, CHANGED);
          fixture.remove(found.deleted.externalId);
          return Promise.resolve();
        },
      });
      expect(targets).toHaveLength(1);
      expect(recording).toMatchObject({ source, account: 'emulator', hasChanges: true });
      expect(leaksOf(recording, fixture.allSecrets?.() ?? [fixture.secret])).toEqual([]);
      const { outcomes, problems } = await replayOnLoopback(recording, egress);
      expect(problems).toEqual([]);
      expect(outcomes).toEqual(recordedOutcomes(recording));
      // Every source lists containers and reads items, so the comparison above is not one of empty results.
      const { list, read, changes } = Object.fromEntries(
        outcomes.map(({ name, outcome }) => [name, outcome]),
      ) as Record<string, never>;
      expect(JSON.stringify(list)).toContain('"externalId"');
      expect(read).toContainEqual({ of: expect.any(String), content: expect.objectContaining({ isEmpty: false }) });
      expect(changes).toHaveProperty('feed', CONNECTORS[source].changes ? expect.anything() : null);
    } finally {
      await fixture.close();
    }
  }));
