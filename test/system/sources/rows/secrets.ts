import { beforeAll, describe, expect, test } from '@jest/globals';

import { CONNECTION_CLIENTS, CALLBACK_PATHS, CONNECTION_FIELDS } from '../../../../contract/accounts/oauth.js';
import { CONNECTED_SOURCES, isConnectedSource } from '../../../../contract/sources/connectedSources.js';
import { OAUTH_SOURCES } from '../../../../contract/accounts/whiteLabel.js';
import { CLIENT_ID } from '../../../emulators/oauthProvider.js';
import { readPoints } from '../../../support/storedState.js';
import { apiClient } from '../../../support/client.js';
import { consentTo } from '../../../support/consent.js';
import { filesOf, historiesOf, rowsOf, shapesOf } from '../../../support/keptTexts.js';
import { serviceNowCredentials } from '../../../support/sourceFixtures/serviceNow.js';
import { type Catalogue, SOURCES } from '../../../support/sourceFixtures/catalogue.js';

/**
 * Creates an organization with its own OAuth clients, which all providers reject: each connection fails only after the
 * service has read their secrets. Returns these secrets.
 */
async function failWithOwnClients({ service }: Catalogue): Promise<string[]> {
  const { apiKey: key } = await service.store.organizations.create('with clients of its own');
  const owner = apiClient(service.url, { authorization: `Bearer ${key}` });
  const user = await service.user('unlucky', key);
  const sources = OAUTH_SOURCES.filter(
    (source) => isConnectedSource(source) && CONNECTED_SOURCES[source].auth === 'oauth',
  );
  const secretOf = (source: string): string => `planted secret/of+${source}`;
  const labels = sources.map((source) => ({
    data_source_type: source,
    credentials: {
      client_id: CLIENT_ID,
      client_secret: secretOf(source),
      redirect_uri: `${service.url}/integrations/${CALLBACK_PATHS[source]}`,
    },
  }));
  expect((await owner.post('/white_label/create', labels)).status).toBe(200);
  const pages = await Promise.all(
    sources.map(async (source) => {
      const needed = (CONNECTION_FIELDS[source] ?? []).filter(({ isRequired }) => isRequired === true);
      const requiredFields = Object.fromEntries(needed.map(({ field }) => [field, 'harbour']));
      const ownClient = CONNECTION_CLIENTS[source];
      const clientOfConnection = { ...serviceNowCredentials(service.url), client_secret: secretOf(source) };
      const request = {
        service: source,
        ...requiredFields,
        ...(ownClient ? { [ownClient.field]: clientOfConnection } : {}),
      };
      const answer = await user.post<{ oauth_url: string }>('/integrations/oauth_url', request);
      // With OAuth 1.0a, the service requests a token from the provider before it returns an address.
      if (isConnectedSource(source) && 'request' in CONNECTED_SOURCES[source].urls) return answer;
      expect(answer).toMatchObject({ status: 200 });
      return consentTo(answer.body.oauth_url);
    }),
  );
  expect(pages.map(({ status }) => status)).toEqual(sources.map(() => 400));
  return sources.map(secretOf);
}

/** A text so large that it is stored in file storage. */
const LONG = 'The lantern stays lit. '.repeat(20_000);

/**
 * Tests that no secret of the suite's users is stored, logged or returned in plain text. Runs after all other tests.
 */
export function defineSecretTests(catalogue: Catalogue): void {
  describe('the secrets of its users', () => {
    const textsByPlace = new Map<string, readonly string[]>();
    let ownClients: readonly string[] = [];
    const allSecrets = () => [
      ...SOURCES.flatMap((type) => catalogue.fixtures[type].allSecrets?.() ?? [catalogue.fixtures[type].secret]),
      ...ownClients,
    ];

    beforeAll(async () => {
      ownClients = await failWithOwnClients(catalogue);
      const user = await catalogue.service.user('of a long text');
      const { body } = await user.upload({ name: 'lantern.txt', content: LONG.slice(0, 290_000) });
      await user.settled(body.id);
      textsByPlace.set('rows of MongoDB', await rowsOf(catalogue.service));
      textsByPlace.set('histories of Temporal', await historiesOf(catalogue.service));
      textsByPlace.set('lines of the log', catalogue.recorded.log);
      textsByPlace.set('answers and pages', catalogue.recorded.answers);
      textsByPlace.set(
        'points of Qdrant',
        (await readPoints(catalogue.service.env)).map(({ payload }) => JSON.stringify(payload)),
      );
      textsByPlace.set('stored files', await filesOf(catalogue.service));
    });

    // Texts that are certainly present must be found, which proves that the place was really read.
    test.each([
      ['rows of MongoDB', ['dataSourceId']],
      ['histories of Temporal', ['syncItems']],
      ['lines of the log', ['listing of items ended', 'account not connected']],
      ['answers and pages', ['data_source_external_id', 'was not connected']],
      ['points of Qdrant', ['file_id']],
      ['stored files', ['The lantern stays lit.']],
    ])('are missing from the %s, which contain %j', (place, existing) => {
      const texts = textsByPlace.get(place) ?? [];
      const whole = texts.join('\n');
      for (const text of existing) expect({ text, isFound: whole.includes(text) }).toEqual({ text, isFound: true });
      expect(allSecrets().length).toBeGreaterThanOrEqual(2 * SOURCES.length);
      // shapesOf returns a secret in plain text and encoded. To save time, each shape is searched in the joined texts
      // first. Only shapes found there are searched in each text, to report the texts.
      const found = allSecrets()
        .flatMap((secret) => shapesOf(secret))
        .filter((shape) => whole.includes(shape));
      for (const shape of found)
        expect(texts.filter((text) => text.includes(shape)).map((text) => text.slice(0, 500))).toEqual([]);
    });
  });
}
