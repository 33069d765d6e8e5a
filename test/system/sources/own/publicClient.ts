/** Tests the published client of Carbon's hosted service, unchanged except for its base path. */
import { describe, expect, test } from '@jest/globals';
import { Carbon } from 'carbon-typescript-sdk';

import { consentTo } from '../../../support/consent.js';
import { waitFor } from '../../../support/waitFor.js';
import { ACCESS_KEY, ACCESS_KEY_SECRET } from '../../../emulators/s3Source.js';
import { KEEPER_SENTENCE, LIGHTHOUSE } from '../../../support/sourceFixtures/fixture.js';
import type { ConnectedSourceType } from '../../../../contract/sources/connectedSources.js';
import type { Catalogue } from '../../../support/sourceFixtures/catalogue.js';

/** Page size of item lists. */
const PAGE = 3;
const LIST_ONLY = { sync_files_on_connection: false, sync_source_items: true };

async function connectByConsent(
  client: Carbon,
  request: Parameters<Carbon['integrations']['getOauthUrl']>[0],
): Promise<void> {
  const { data } = await client.integrations.getOauthUrl({ ...LIST_ONLY, connecting_new_account: true, ...request });
  expect((await consentTo(data.oauth_url)).status).toBe(200);
}

/** Connects an account of each source type. */
const CONNECT = {
  // File storage with a change feed.
  GOOGLE_DRIVE: (client) => connectByConsent(client, { service: 'GOOGLE_DRIVE' }),
  // Nested pages.
  NOTION: (client) => connectByConsent(client, { service: 'NOTION' }),
  // A helpdesk at its own host.
  ZENDESK: (client) => connectByConsent(client, { service: 'ZENDESK', zendesk_subdomain: 'harbour' }),
  // An account with several sites: the spaces of one site.
  CONFLUENCE: (client) => connectByConsent(client, { service: 'CONFLUENCE' }),
  // Objects of buckets; a key pair signs the requests.
  S3: async (client) => {
    await client.integrations.createAwsIamUser({
      access_key: ACCESS_KEY,
      access_key_secret: ACCESS_KEY_SECRET,
      sync_source_items: true,
    });
  },
} as const satisfies Partial<Record<ConnectedSourceType, (client: Carbon) => Promise<void>>>;

type Kind = keyof typeof CONNECT;
const KINDS = Object.keys(CONNECT) as Kind[];
/** A source type that is connected by consent, and one with an operation of its own. */
export const SOME_KINDS: readonly Kind[] = ['GOOGLE_DRIVE', 'S3'];

/** Returns all items below a parent, page by page; null: the top level. */
async function listChildren(client: Carbon, dataSourceId: number, parent: string | null) {
  const found = [];
  for (let offset = 0; ; offset += PAGE) {
    const { data } = await client.integrations.listDataSourceItems({
      data_source_id: dataSourceId,
      ...(parent === null ? { filters: { root_files_only: true } } : { parent_id: parent }),
      pagination: { limit: PAGE, offset },
    });
    found.push(...data.items);
    if (found.length >= data.count) return found;
  }
}

/** Tests source types, from connecting an account to finding a passage. */
export function definePublicClientTests(catalogue: Catalogue, kinds: readonly Kind[] = KINDS): void {
  describe('the published client', () => {
    test.each(kinds)('%s: connects, lists down to a folder, syncs it, and finds the passage', async (type) => {
      const fixture = catalogue.fixtures[type];
      const content = fixture.reset();
      const issuing = new Carbon({
        basePath: catalogue.service.url,
        apiKey: catalogue.service.apiKey,
        customerId: `una ${type}`,
      });
      const { data: tokens } = await issuing.auth.getAccessToken();
      const client = new Carbon({ basePath: catalogue.service.url, accessToken: tokens.access_token });

      await CONNECT[type](client);
      const source = await waitFor(
        async () => (await client.dataSources.queryUserDataSources({})).data.results[0],
        (one) => Boolean(one?.source_items_synced_at) && one?.sync_status === 'READY',
      );
      expect(source).toMatchObject({ data_source_type: type, data_source_external_id: fixture.externalId });
      const { id = 0 } = source ?? {};

      const unlisted: (string | null)[] = [null];
      const seen = new Map<string, boolean | null>();
      while (unlisted.length > 0 && !seen.has(content.branch))
        for (const item of await listChildren(client, id, unlisted.shift() ?? null)) {
          seen.set(item.external_id, item.is_selectable);
          if (item.is_expandable) unlisted.push(item.external_id);
        }
      expect(seen.get(content.branch)).toBe(true);

      const sync = await client.integrations.syncFiles({
        data_source_id: id,
        ids: [content.branch],
        tags: { shelf: type },
      });
      expect(sync.data).toEqual({ success: true });
      const files = await waitFor(
        async () =>
          (await client.files.queryUserFiles({ filters: { organization_user_data_source_id: [id] } })).data.results,
        (records) => records.length === 2 && records.every((file) => file.sync_status === 'READY'),
      );
      const idOf = (externalId: string) => files.find((file) => file.external_file_id === externalId)?.id;

      for (const [query, externalId, passage] of [
        ['When was the lighthouse lit?', content.lighthouse, LIGHTHOUSE],
        ['What was the name of its keeper?', content.keeper, KEEPER_SENTENCE],
      ] as const) {
        const { data } = await client.embeddings.getDocuments({
          query,
          k: 1,
          tags_v2: { AND: [{ key: 'shelf', value: type }] },
        });
        expect(data.documents).toMatchObject([
          { file_id: idOf(externalId), content: expect.stringContaining(passage) },
        ]);
      }
    });
  });
}
