import { beforeAll, describe, expect, test } from '@jest/globals';

import type { DataSourceRecord, FileRecord } from '../../../../contract/files/records.js';
import { TOKEN } from '../../../emulators/gitbook.js';
import type { Listed, TestUser } from '../../../support/client.js';
import { connectSource } from '../../../support/dataSources.js';
import { waitFor } from '../../../support/waitFor.js';
import type { FixtureContent } from '../../../support/sourceFixtures/fixture.js';
import { type Catalogue, expectSparse } from '../../../support/sourceFixtures/catalogue.js';

export function defineGitbookTests(catalogue: Catalogue): void {
  describe('the operations of GITBOOK', () => {
    let user: TestUser;
    let dataSource: DataSourceRecord;
    let content: FixtureContent;

    beforeAll(async () => {
      content = catalogue.fixtures.GITBOOK.reset();
      user = await catalogue.service.user('gitbook');
      const withoutSync = { sync_source_items: false, sync_files_on_connection: false };
      expect((await catalogue.fixtures.GITBOOK.connect(user, withoutSync)).status).toBe(200);
      dataSource = (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results[0]!;
    });

    test('list its current spaces, over all pages', async () => {
      const { status, body } = await user.get<{ results: { id: string; name: string; url: string | null }[] }>(
        `/integrations/gitbook/spaces?data_source_id=${dataSource.id}`,
      );
      expect(status).toBe(200);
      expect(body.results.map(({ id }) => id)).toEqual(content.containers);
      expect(body.results[0]).toEqual({ id: 'atlas', name: 'Space atlas', url: 'https://app.gitbook.com/s/atlas' });
    });

    test('sync selected spaces, and report a missing one', async () => {
      const request = {
        data_source_id: dataSource.id,
        space_ids: ['boats', 'gone'],
        tags: { from: 'spaces' },
        generate_sparse_vectors: true,
      };
      expect(await user.post('/integrations/gitbook/sync', request)).toMatchObject({
        status: 200,
        body: { success: true },
      });
      const { results } = await waitFor(
        async () => (await user.post<Listed<FileRecord>>('/user_files_v2', { order_by: 'name' })).body,
        ({ results: records }) =>
          records.length === 2 && records.every((file) => /^(READY|SYNC_ERROR)$/.test(file.sync_status)),
      );
      expect(results).toMatchObject([
        { external_file_id: 'boats/boats-1', name: 'About boats', sync_status: 'READY', tags: { from: 'spaces' } },
        { external_file_id: 'gone', sync_status: 'SYNC_ERROR' },
      ]);
      expect(results[0]).toMatchObject({
        external_url: 'https://app.gitbook.com/s/boats/boats-1',
        file_metadata: { type: 'PAGE', space_id: 'boats' },
      });
      await expectSparse(catalogue.service, user, results[0]?.id ?? 0);
    });

    test('apply the options of a connection to the pages of a space synced later', async () => {
      const otherUser = await catalogue.service.user('gitbook asked');
      const connected = await otherUser.post('/integrations/connect', {
        authentication: { source: 'GITBOOK', organization_name: 'harbour-org', access_token: TOKEN },
        sync_options: {
          ...{ sync_source_items: false, sync_files_on_connection: false, chunk_size: 99, max_items_per_chunk: 7 },
          ...{ tags: { asked: 'red' }, request_id: 'asked', file_sync_config: { skip_file_processing: true } },
        },
      });
      expect(connected).toMatchObject({ status: 200, body: { sync_url: null } });
      const { id } = (connected.body as { data_source: DataSourceRecord }).data_source;
      const sync = (more: object = {}) =>
        otherUser.post('/integrations/gitbook/sync', { data_source_id: id, space_ids: ['boats'], ...more });
      const fileWhen = (holds: (file: FileRecord) => boolean) =>
        waitFor(
          async () => (await otherUser.post<Listed<FileRecord>>('/user_files_v2', {})).body.results,
          ([file]) => file?.sync_status === 'READY_TO_SYNC' && holds(file),
        );
      expect((await sync()).status).toBe(200);
      const options = { chunk_size: 99, chunk_properties: { max_items_per_chunk: 7 } };
      expect(await fileWhen(() => true)).toMatchObject([{ ...options, tags: { asked: 'red' }, request_id: 'asked' }]);
      expect((await sync({ chunk_size: 55, request_id: 'own' })).status).toBe(200);
      expect(await fileWhen((file) => file.request_id === 'own')).toMatchObject([{ ...options, chunk_size: 55 }]);
      // Another user's data source is not accessible.
      expect((await sync({ data_source_id: dataSource.id })).status).toBe(404);
    });

    test.each([
      ['more than twenty spaces', { space_ids: Array.from({ length: 21 }, (_, index) => `space-${index}`) }, 422],
      ['a missing data source', { data_source_id: 2 ** 40 }, 404],
    ])('refuse %s', async (_name, wrong, status) => {
      const request = { data_source_id: dataSource.id, space_ids: ['boats'], ...wrong };
      expect((await user.post('/integrations/gitbook/sync', request)).status).toBe(status);
    });

    test('answer 404 for a WEB_SCRAPE data source; it lists no items, and syncs of it answer 400', async () => {
      const owner = { organizationId: dataSource.organization_id, userId: dataSource.organization_user_id };
      const site = await connectSource(
        catalogue.service,
        { ...owner, customerId: 'gitbook' },
        { type: 'WEB_SCRAPE', externalId: 'WEB_SCRAPE|a' },
      );
      const id = site._id;
      const answers = await Promise.all([
        user.post('/integrations/gitbook/sync', { data_source_id: id, space_ids: [] }),
        user.get(`/integrations/gitbook/spaces?data_source_id=${id}`),
        user.post('/integrations/items/list', { data_source_id: id }),
        user.post('/integrations/items/sync', { data_source_id: id }),
        user.post('/integrations/files/sync', { data_source_id: id, ids: [] }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 200, 400, 400]);
      expect(answers[2]?.body).toEqual({ items: [], count: 0 });
    });

    test('answer a revoked credential with 400 and the reason, never 401', async () => {
      catalogue.fixtures.GITBOOK.revokeAccess();
      const refused = await user.get(`/integrations/gitbook/spaces?data_source_id=${dataSource.id}`);
      expect(refused).toMatchObject({ status: 400, body: { detail: expect.stringMatching(/credentials/) } });
      catalogue.fixtures.GITBOOK.reset();
    });

    test.each([
      ['an organization that the token cannot access', { organization: 'another' }],
      ['an organization that would change the path', { organization: '..' }],
      ['an organization that is a path', { organization: 'harbour-org/spaces' }],
      ['a token with characters that headers do not allow', { access_token: 'gb\r\nx-other: 1' }],
      ['a token with an emoji', { access_token: 'gb_😀' }],
    ])('answer %s with 400', async (_name, wrong) => {
      const { status, body } = await catalogue.fixtures.GITBOOK.connect(user, wrong);
      expect({ status, body }).toEqual({ status: 400, body: { detail: expect.any(String) } });
    });
  });
}
