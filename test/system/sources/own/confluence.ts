import { beforeEach, describe, expect, test } from '@jest/globals';

import { waitFor } from '../../../support/waitFor.js';
import type { ConfluenceFixture } from '../../../support/sourceFixtures/confluence.js';
import { type Catalogue, Customer, expectSparse } from '../../../support/sourceFixtures/catalogue.js';

interface Listed {
  readonly data: readonly { id: string; name: string; has_children: boolean; is_synced: boolean }[];
}

const MARINA = 'cloud-marina';

/** Adds further sites to that of the catalogue. */
function addSites({ sites }: ConfluenceFixture['emulator']): void {
  sites.set(MARINA, {
    subdomain: 'marina',
    scopes: ['read:page:confluence'],
    spaces: new Map([['900', 'Berths']]),
    contents: new Map(),
  });
  // Atlassian lists the site `harbour` a second time, for Jira.
  sites.set('jira-harbour', {
    subdomain: 'harbour',
    scopes: ['read:jira-work'],
    spaces: new Map(),
    contents: new Map(),
  });
}

/** Tests the selection of a site by an account with access to several. */
export function defineConfluenceAddressTests(catalogue: Catalogue): void {
  describe('the confluence_subdomain of CONFLUENCE', () => {
    const customer = new Customer(catalogue, 'CONFLUENCE');
    const emulator = () => (catalogue.fixtures.CONFLUENCE as ConfluenceFixture).emulator;
    /** Returns the cloud ids of the sites that were called. */
    const siteRequests = (): string[] => [
      ...new Set(emulator().requests.flatMap((path) => /^\/ex\/confluence\/([^/]+)\//.exec(path)?.[1] ?? [])),
    ];

    beforeEach(async () => {
      await customer.resetAndCreateUser();
      addSites(emulator());
      emulator().oauth.requests.length = 0;
    });

    test('selects the site to call', async () => {
      await customer.connect({ confluence_subdomain: 'marina', sync_source_items: true });
      expect(siteRequests()).toEqual([MARINA]);
      expect((await customer.source()).data_source_external_id).toBe(`CONFLUENCE|ada@harbour.example|${MARINA}/marina`);
      expect((await customer.items()).items.map(({ name }) => name)).toEqual(['Berths']);
      emulator().requests.length = 0;
      expect((await customer.fixture.connect(customer.user, { confluence_subdomain: 'HARBOUR' })).status).toBe(200);
      await waitFor(siteRequests, (asked) => asked.length > 0);
      expect(siteRequests()).toEqual(['cloud-harbour']);
      const [authorize, , token] = emulator().oauth.requests;
      expect(authorize?.parameters).toMatchObject({
        audience: 'api.atlassian.com',
        prompt: 'consent',
        scope: expect.stringContaining('offline_access'),
      });
      expect(authorize?.parameters).not.toHaveProperty('code_challenge');
      expect(token?.parameters).toMatchObject({ grant_type: 'authorization_code' });
    });
  });
}

export function defineConfluenceTests(catalogue: Catalogue): void {
  describe('the operations of CONFLUENCE', () => {
    const customer = new Customer(catalogue, 'CONFLUENCE');
    const emulator = () => (catalogue.fixtures.CONFLUENCE as ConfluenceFixture).emulator;
    const list = (body: Record<string, unknown>) => customer.user.post<Listed>('/integrations/confluence/list', body);
    const sync = (body: Record<string, unknown>) => customer.user.post('/integrations/confluence/sync', body);
    beforeEach(async () => {
      await customer.resetAndCreateUser();
      addSites(emulator());
    });

    test('refuse an inaccessible site, and a request that names no site if the account has several', async () => {
      for (const [subdomain, reason] of [
        ['elsewhere', /no access to the Confluence site/],
        [null, /Name one in confluence_subdomain/],
      ] as const) {
        const answer = await customer.fixture.connect(customer.user, { confluence_subdomain: subdomain });
        expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringMatching(reason) } });
      }
      emulator().sites.delete(MARINA);
      await customer.connect({ confluence_subdomain: null });
      expect((await customer.source()).data_source_metadata).toMatchObject({
        site_url: 'https://harbour.atlassian.net',
        account_id: 'acc-ada',
      });
    });

    test('list the items of the last listing, one level at a time', async () => {
      const { id } = await customer.connect({ sync_source_items: true });
      await customer.syncFiles([customer.content.keeper]);
      await customer.settledFiles(1);
      const spaces = await list({ data_source_id: id });
      expect(spaces).toMatchObject({ status: 200 });
      expect(spaces.body.data.map(({ id: space }) => space)).toEqual(customer.content.containers);
      expect(spaces.body.data[0]).toEqual({
        id: 'space:101',
        name: 'Space atlas',
        has_children: true,
        is_synced: false,
      });
      expect((await list({ data_source_id: id, parent_id: null })).body).toEqual(spaces.body);
      const below = async (parent: string) => (await list({ data_source_id: id, parent_id: parent })).body.data;
      expect(await below('space:101')).toEqual([
        { id: '2001', name: 'Lighthouse', has_children: true, is_synced: false },
      ]);
      expect(await below('2001')).toEqual([
        { id: 'folder:2002', name: 'People', has_children: true, is_synced: false },
      ]);
      expect(await below('folder:2002')).toEqual([
        { id: '2003', name: 'Keeper', has_children: false, is_synced: true },
      ]);
      expect(await below('nowhere')).toEqual([]);
      expect((await list({})).status).toBe(422);
      expect((await list({ data_source_id: id, parent_id: 7 })).status).toBe(422);
      expect((await list({ data_source_id: 2 ** 40 })).status).toBe(404);
    });

    test('sync pages with their descendants, parsed from their storage format', async () => {
      const { id } = await customer.connect();
      emulator().sites.get('cloud-harbour')!.contents.set('5001', {
        kind: 'blogpost',
        space: '102',
        title: 'Tides',
        storage:
          '<ac:task-list><ac:task><ac:task-status>complete</ac:task-status><ac:task-body>Measure</ac:task-body></ac:task></ac:task-list>',
      });
      const options = { request_id: 'pages', chunk_size: 90, tags: { from: 'wiki' }, generate_sparse_vectors: true };
      const ids = [{ id: '2001', root_id: 'space:101' }, 'blog:5001', 'space:103'];
      expect(await sync({ data_source_id: id, ids, ...options })).toMatchObject({
        status: 200,
        body: { success: true },
      });
      const files = await customer.settledFiles(4);
      expect(files.map((file) => [file.external_file_id, file.sync_status])).toEqual(
        expect.arrayContaining([
          ['2001', 'READY'],
          ['2003', 'READY'],
          ['3002', 'READY'],
          ['blog:5001', 'READY'],
        ]),
      );
      const keeper = files.find((file) => file.external_file_id === '2003');
      expect(keeper).toMatchObject({
        name: 'Keeper',
        request_id: 'pages',
        chunk_size: 90,
        tags: { from: 'wiki' },
        external_url: 'https://harbour.atlassian.net/wiki/spaces/101/pages/2003',
        file_statistics: { file_format: 'CONFLUENCE', mime_type: 'text/html' },
        file_metadata: { type: 'PAGE', space_id: '101', parent_external_file_id: '2002', version: 1 },
      });
      expect(await customer.textOf('blog:5001')).toContain('[x] Measure');
      await expectSparse(customer.service, customer.user, keeper?.id ?? 0);
      expect((await sync({ data_source_id: id })).status).toBe(422);
      expect((await sync({ data_source_id: id, ids: [7] })).status).toBe(422);
      expect((await sync({ data_source_id: 2 ** 40, ids: [] })).status).toBe(404);
    });

    test.each([true, false])('honour sync_files_on_connection %s', async (syncs) => {
      expect((await customer.fixture.connect(customer.user, { sync_files_on_connection: syncs })).status).toBe(200);
      expect(await customer.listed()).toMatchObject({ sync_status: 'READY' });
      expect((await customer.items()).count).toBe(customer.content.items);
      expect(await customer.settledFiles(syncs ? customer.documents.length : 0)).toHaveLength(
        syncs ? customer.documents.length : 0,
      );
    });
  });
}
