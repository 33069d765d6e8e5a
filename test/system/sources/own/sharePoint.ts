import { beforeAll, describe, expect, test } from '@jest/globals';

import type { SitesPage } from '../../../../contract/sources/liveReads.js';
import type { DataSourceRecord, FileRecord } from '../../../../contract/files/records.js';
import { siteId } from '../../../emulators/graph/sites.js';
import type { Listed, TestUser } from '../../../support/client.js';
import { waitFor } from '../../../support/waitFor.js';
import type { MicrosoftFixture } from '../../../support/sourceFixtures/microsoft.js';
import type { Catalogue } from '../../../support/sourceFixtures/catalogue.js';

const PAGE = '3bf6b2b0-6a0c-4a3e-9b7e-1d4b9b0f7a11';

export function defineSharePointTests(catalogue: Catalogue): void {
  describe('the operations of SHAREPOINT', () => {
    let user: TestUser;
    let id: number;
    const { fixtures } = catalogue;
    const graph = () => (fixtures.SHAREPOINT as MicrosoftFixture).graph;
    const settledFiles = async (number: number): Promise<Map<string, FileRecord>> => {
      const { results } = await waitFor(
        async () => (await user.post<Listed<FileRecord>>('/user_files_v2', { pagination: { limit: 100 } })).body,
        ({ results: records }) =>
          records.length === number && records.every((file) => /^(READY|SYNC_ERROR)$/.test(file.sync_status)),
      );
      return new Map(results.map((file) => [file.external_file_id, file]));
    };

    beforeAll(async () => {
      fixtures.SHAREPOINT.reset();
      const { sites } = graph();
      sites.get('sites/Harbour')!.pages.set(PAGE, { title: 'Tides', parts: ['<p>High at noon.</p>'], version: 1 });
      for (const name of ['Marketing', 'Crew'])
        sites.set(`sites/${name}`, {
          id: siteId(sites.size),
          displayName: `Site ${name}`,
          drives: [],
          pages: new Map(),
        });
      user = await catalogue.service.user('sharepoint');
      graph().provider.requests.length = 0;
      expect((await fixtures.SHAREPOINT.connect(user, { sync_source_items: false })).status).toBe(200);
      ({ id } = (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results[0]!);
    });

    test('use the tenant and the site that the caller named', async () => {
      const requests = graph().provider.requests.map(({ kind, path }) => [kind, path]);
      expect(requests).toEqual([
        ['authorize', '/harbour.example/oauth2/v2.0/authorize'],
        ['consent', '/harbour.example/oauth2/v2.0/authorize'],
        ['token', '/harbour.example/oauth2/v2.0/token'],
      ]);
      expect(graph().requests.some((path) => /:\/sites\/Harbour\?/.test(path))).toBe(true);
      const { data_source_metadata: metadata } = (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {}))
        .body.results[0]!;
      expect(metadata).toMatchObject({ site_name: 'Harbour', site_host: 'harbour.sharepoint.com' });
    });

    test('use the common tenant and the root site if the caller names none', async () => {
      const other = await catalogue.service.user('sharepoint root');
      graph().provider.requests.length = 0;
      const body = { microsoft_tenant: null, sharepoint_site_name: '', sync_source_items: false };
      expect((await fixtures.SHAREPOINT.connect(other, body)).status).toBe(200);
      expect(graph().provider.requests[0]?.path).toBe('/common/oauth2/v2.0/authorize');
      const { results } = (await other.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body;
      expect(results).toMatchObject([{ data_source_external_id: 'SHAREPOINT|ada@harbour.example|harbour' }]);
    });

    test.each(['ONEDRIVE', 'OUTLOOK'] as const)('%s also uses the tenant that the caller named', async (type) => {
      const other = await catalogue.service.user(`tenant of ${type}`);
      const { graph: account } = fixtures[type] as MicrosoftFixture;
      for (const [tenant, expected] of [
        ['harbour.example', 'harbour.example'],
        [null, 'common'],
      ]) {
        account.provider.requests.length = 0;
        const body = { microsoft_tenant: tenant, sync_source_items: false };
        expect((await fixtures[type].connect(other, body)).status).toBe(200);
        const paths = account.provider.requests.map(({ kind, path }) => [kind, path]);
        expect(paths.at(0)).toEqual(['authorize', `/${expected}/oauth2/v2.0/authorize`]);
        expect(paths.at(-1)).toEqual(['token', `/${expected}/oauth2/v2.0/token`]);
      }
    });

    test('accept tokens that the caller provides for the tenant and the site in the request', async () => {
      const other = await catalogue.service.user('sharepoint handed over');
      const { accessToken, refreshToken } = graph().provider.grant();
      const connectWith = (more: Record<string, unknown>) =>
        other.post('/integrations/connect', {
          authentication: { source: 'SHAREPOINT', access_token: accessToken, refresh_token: refreshToken, ...more },
          sync_options: { sync_source_items: false },
        });
      expect(await connectWith({ tenant_name: 'harbour.example', site_name: 'Harbour' })).toMatchObject({
        status: 200,
        body: {
          data_source: { data_source_external_id: 'SHAREPOINT|ada@harbour.example|harbour/Harbour' },
          sync_url: expect.stringContaining('/connections/'),
        },
      });
      graph().provider.expireAll();
      graph().provider.requests.length = 0;
      expect((await other.get('/integrations/sharepoint/sites/list')).status).toBe(200);
      expect(graph().provider.requests[0]?.path).toBe('/harbour.example/oauth2/v2.0/token');
      for (const [field, value] of [
        ['tenant_name', 'evil.com/#'],
        ['tenant_name', '127.0.0.1:8080'],
        ['site_name', 'a@b'],
      ] as const)
        expect(await connectWith({ [field]: value })).toMatchObject({
          status: 422,
          body: { detail: [{ loc: ['body', 'authentication', field] }] },
        });
    });

    test('list sites page by page, each with the name that oauth_url accepts', async () => {
      const list = (query: string) => user.get<SitesPage>(`/integrations/sharepoint/sites/list${query}`);
      const first = await list('');
      expect(first).toMatchObject({
        status: 200,
        body: {
          sites: [
            { site_name: null, site_display_name: 'Root', site_url: 'https://harbour.sharepoint.com' },
            { site_name: 'Harbour', site_url: 'https://harbour.sharepoint.com/sites/Harbour' },
          ],
          next_cursor: expect.any(String),
        },
      });
      const cursor = encodeURIComponent(first.body.next_cursor ?? '');
      const second = await list(`?data_source_id=${id}&cursor=${cursor}`);
      expect(second.body.sites.map((site) => site.site_name)).toEqual(['Marketing', 'Crew']);
      expect(second.body.next_cursor).toBeNull();
      expect(await list('?cursor=made-up')).toMatchObject({
        status: 400,
        body: { detail: expect.stringMatching(/cursor/) },
      });
      expect((await list('?data_source_id=x')).status).toBe(422);
      const stranger = await catalogue.service.user('sharepoint stranger');
      expect((await stranger.get('/integrations/sharepoint/sites/list')).status).toBe(404);
      expect((await stranger.get(`/integrations/sharepoint/sites/list?data_source_id=${id}`)).status).toBe(404);
    });

    test('sync a file by library and id, or by id in the default library; a library; and all pages', async () => {
      graph().drives.put('b!atlas', 'first.md', { content: 'First.' });
      const ids = [
        { id: 'boats.md', root_id: 'b!boats' },
        { id: 'b!crews/crews.md', root_id: 'b!crews' },
        { id: 'b!docks', root_id: 'b!docks' },
        'first.md',
        'pages',
        'b!atlas/sights.Notes',
      ];
      expect((await user.post('/integrations/files/sync', { data_source_id: id, ids })).status).toBe(200);
      const files = await settledFiles(6);
      const ready = [...files].filter(([, file]) => file.sync_status === 'READY').map(([external]) => external);
      expect(ready.toSorted()).toEqual([
        'b!atlas/first.md',
        'b!boats/boats.md',
        'b!crews/crews.md',
        'b!docks/docks.md',
        `pages/${PAGE}`,
      ]);
      expect(files.get('b!atlas/sights.Notes')).toMatchObject({
        sync_status: 'SYNC_ERROR',
        sync_error_message: expect.stringMatching(/notebook/),
      });
      expect(files.get(`pages/${PAGE}`)).toMatchObject({
        name: 'Tides',
        file_metadata: { type: 'PAGE' },
        file_statistics: { file_format: 'HTML' },
      });
      const { results } = await user.chunks({ external_file_ids: [`pages/${PAGE}`] });
      expect(results.map((chunk) => chunk.source_content).join('\n')).toContain('High at noon.');
    });
  });
}
