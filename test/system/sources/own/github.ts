import { beforeAll, describe, expect, test } from '@jest/globals';

import type { DataSourceRecord, FileRecord } from '../../../../contract/files/records.js';
import type { Listed, TestUser } from '../../../support/client.js';
import { connectSource } from '../../../support/dataSources.js';
import { waitFor } from '../../../support/waitFor.js';
import type { Catalogue, Item } from '../../../support/sourceFixtures/catalogue.js';

export function defineGithubTests(catalogue: Catalogue): void {
  describe('the operations of GITHUB', () => {
    let user: TestUser;
    let id: number;

    const source = async (): Promise<DataSourceRecord> =>
      (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results[0]!;
    const itemIds = async (): Promise<string[]> => {
      const all = { filters: { root_files_only: false }, pagination: { limit: 1_000 } };
      const request = { data_source_id: id, order_by: 'id', ...all };
      const { body } = await user.post<{ items: Item[] }>('/integrations/items/list', request);
      return body.items.map((item) => item.external_id);
    };
    const listed = () => waitFor(source, (one) => one.sync_status === 'READY');

    beforeAll(async () => {
      catalogue.fixtures.GITHUB.reset();
      user = await catalogue.service.user('github');
      expect(await catalogue.fixtures.GITHUB.connect(user)).toMatchObject({ status: 200, body: { success: true } });
      ({ id } = await source());
    });

    test('show the username, and list nothing unless requested', async () => {
      expect(await source()).toMatchObject({
        sync_status: 'READY',
        source_items_synced_at: null,
        data_source_metadata: { username: 'ada' },
      });
      expect(await itemIds()).toEqual([]);
    });

    test('return its current repositories page by page', async () => {
      const page = async (query: string) => (await user.get(`/integrations/github/repos${query}`)).body;
      expect(await page('?per_page=1&page=2')).toEqual([
        { id: '701', name: 'ada/boats', url: 'https://github.com/ada/boats' },
      ]);
      expect(await page(`?per_page=500&page=3&data_source_id=${id}`)).toMatchObject([{ name: 'ada/eels' }]);
      expect(await page('?page=9')).toEqual([]);
      for (const query of ['?page=0', '?per_page=0', '?page=x'])
        expect((await user.get(`/integrations/github/repos${query}`)).status).toBe(422);
    });

    test('list repositories selected by id, name, full name or address, and keep those of earlier selections', async () => {
      const sync = (repos: unknown[], more = {}) => user.post('/integrations/github/sync_repos', { repos, ...more });
      expect(await sync(['ada/boats', '702'])).toMatchObject({ status: 200, body: { success: true } });
      expect(await listed()).toMatchObject({ source_items_synced_at: expect.any(String) });
      const first = ['ada/boats', 'ada/boats/boats.md', 'ada/crews', 'ada/crews/crews.md'];
      expect((await itemIds()).toSorted()).toEqual(first);
      await user.post('/integrations/files/sync', { data_source_id: id, ids: ['ada/boats/boats.md'] });
      const made = await waitFor(
        async () => (await user.post<Listed<FileRecord>>('/user_files_v2', {})).body.results,
        ([file]) => file?.sync_status === 'READY',
      );
      expect(made).toMatchObject([
        {
          name: 'boats.md',
          external_url: 'https://github.com/ada/boats/blob/release/1/boats.md',
          file_metadata: { type: 'FILE', repository: 'ada/boats', path: 'boats.md' },
        },
      ]);
      expect((await sync(['DOCKS', 'https://github.com/ada/eels'], { data_source_id: id })).status).toBe(200);
      await waitFor(itemIds, (ids) => ids.length === 8);
      await listed();
      expect((await user.post<Listed<FileRecord>>('/user_files_v2', {})).body.results).toHaveLength(1);
      for (const wrong of [['ada/nowhere'], ['ada/boats', ''], ['../user']])
        expect(await sync(wrong)).toMatchObject({ status: 400, body: { detail: expect.stringMatching(/repos/) } });
      for (const wrong of [[], Array.from({ length: 26 }, () => 'ada/boats'), [7]])
        expect((await sync(wrong)).status).toBe(422);
      expect(await itemIds()).toHaveLength(8);
    });

    test('refuse a selection of repositories while items are being listed', async () => {
      await listed();
      catalogue.fixtures.GITHUB.hold('/branches/');
      expect((await user.post('/integrations/items/sync', { data_source_id: id })).status).toBe(200);
      expect(await user.post('/integrations/github/sync_repos', { repos: ['ada/boats'] })).toMatchObject({
        status: 409,
        body: { detail: expect.stringMatching(/being listed/) },
      });
      expect((await user.post('/integrations/items/sync/cancel', { data_source_id: id })).status).toBe(200);
      catalogue.fixtures.GITHUB.reset();
      await listed();
    });

    test.each([
      ['a user other than that of the token', { username: 'grace' }],
      ['a token with line ends', { access_token: 'gh\r\nx-other: 1' }],
      ['a token with an emoji', { access_token: 'gh_😀' }],
    ])('answer %s with 400', async (_name, wrong) => {
      const { status, body } = await catalogue.fixtures.GITHUB.connect(user, wrong);
      expect({ status, body }).toEqual({ status: 400, body: { detail: expect.any(String) } });
    });

    test('use the only active account if no id is given; answer 404 without an account and 400 with several', async () => {
      const stranger = await catalogue.service.user('github stranger');
      expect((await stranger.get('/integrations/github/repos')).status).toBe(404);
      const owner = await source();
      const tenant = {
        organizationId: owner.organization_id,
        userId: owner.organization_user_id,
        customerId: 'github',
      };
      await connectSource(catalogue.service, tenant, { type: 'GITHUB', externalId: 'GITHUB|2' });
      for (const answer of [
        await user.get('/integrations/github/repos'),
        await user.post('/integrations/github/sync_repos', { repos: ['ada/boats'] }),
      ])
        expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringMatching(/data_source_id/) } });
      expect((await user.get(`/integrations/github/repos?data_source_id=${id}`)).status).toBe(200);
    });
  });
}
