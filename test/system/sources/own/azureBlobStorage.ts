import { beforeEach, describe, expect, test } from '@jest/globals';

import type { DataSourceRecord } from '../../../../contract/files/records.js';
import { ACCOUNT, ACCOUNT_KEY } from '../../../emulators/azureBlobStorage.js';
import { type Catalogue, Customer } from '../../../support/sourceFixtures/catalogue.js';

export function defineAzureTests(catalogue: Catalogue): void {
  describe('the operations of AZURE_BLOB_STORAGE', () => {
    const customer = new Customer(catalogue, 'AZURE_BLOB_STORAGE');
    beforeEach(() => customer.resetAndCreateUser());

    const connect = (body: Record<string, unknown> = {}) =>
      customer.fixture.connect(customer.user, { sync_source_items: false, ...body });
    const sync = (ids: readonly Record<string, unknown>[], body: Record<string, unknown> = {}) =>
      customer.user.post('/integrations/azure_blob_storage/files', { ids, ...body });

    test('return the record of a connection without its credentials', async () => {
      const { status, body } = await connect({ data_source_tags: { region: 'north' } });
      expect({ status, body }).toMatchObject({
        status: 200,
        body: {
          data_source_external_id: `AZURE_BLOB_STORAGE|${ACCOUNT}`,
          sync_status: 'READY',
          last_sync_action: 'ADD',
          tags: { region: 'north' },
          data_source_metadata: { account_name: ACCOUNT },
        },
      });
      expect(Object.keys(body as object)).toHaveLength(20);
      expect(JSON.stringify(body)).not.toContain(ACCOUNT_KEY);
    });

    test.each(['evil.com/#', '127.0.0.1:8080', 'a@b', 'Harbour1', 'ab', ''])(
      'refuse an account called %j with 422',
      async (name) => {
        expect(await connect({ account_name: name })).toMatchObject({
          status: 422,
          body: { detail: [{ loc: ['body', 'account_name'] }] },
        });
      },
    );

    test('connect an account by /integrations/connect, and refuse an invalid account_name there with 422', async () => {
      const authentication = { source: 'AZURE_BLOB_STORAGE', account_name: ACCOUNT, account_key: ACCOUNT_KEY };
      expect(await customer.user.post('/integrations/connect', { authentication })).toMatchObject({
        status: 200,
        body: {
          data_source: { data_source_external_id: `AZURE_BLOB_STORAGE|${ACCOUNT}`, last_sync_action: 'ADD' },
          sync_url: null,
        },
      });
      const elsewhere = { authentication: { ...authentication, account_name: 'evil.com/#' } };
      expect(await customer.user.post('/integrations/connect', elsewhere)).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', 'authentication', 'account_name'] }] },
      });
    });

    test('sync blobs, folders and containers, and items by their id', async () => {
      await connect({ sync_source_items: true });
      const ids = [
        { container: 'atlas', id: 'sights/lighthouse.md' },
        { container: 'atlas', id: 'sights/inside/' },
        { container: 'boats', id: null },
        { container: '', id: 'crews/crews-1.md' },
        { container: 'eels', id: 'none' },
      ];
      const more = { chunk_size: 90, chunk_overlap: 5, tags: { a: 'b' }, request_id: 'azure picked' };
      expect(await sync(ids, more)).toMatchObject({ status: 200, body: { success: true } });
      const files = new Map((await customer.settledFiles(5)).map((file) => [file.external_file_id, file]));
      expect(Object.fromEntries([...files].map(([id, { sync_status: status }]) => [id, status]))).toEqual({
        'atlas/sights/lighthouse.md': 'READY',
        'atlas/sights/inside/keeper.md': 'READY',
        'boats/boats-1.md': 'READY',
        'crews/crews-1.md': 'READY',
        'eels/none': 'SYNC_ERROR',
      });
      expect(files.get('atlas/sights/lighthouse.md')).toMatchObject({
        name: 'lighthouse.md',
        external_url: expect.stringMatching(`/${ACCOUNT}/atlas/sights/lighthouse.md$`),
        chunk_size: 90,
        tags: { a: 'b' },
        request_id: 'azure picked',
        file_metadata: { type: 'FILE', container: 'atlas' },
      });
      await customer.listed();
      const { items } = await customer.items({ filters: { item_types: ['Container'] } });
      expect(items.map((item) => item.external_id)).toEqual(customer.content.containers);
    });

    test('need no data_source_id with one connection, and refuse an empty selection with 422', async () => {
      expect(await sync([{ container: 'boats' }])).toMatchObject({ status: 404 });
      const { id } = (await connect()).body as DataSourceRecord;
      for (const dataSourceId of [null, id])
        expect((await sync([{ container: 'boats' }], { data_source_id: dataSourceId })).status).toBe(200);
      expect(await sync([{ container: 'boats' }], { data_source_id: 2 ** 40 })).toMatchObject({ status: 404 });
      for (const emptySelection of [{}, { id: '', container: null }])
        expect(await sync([{ container: 'boats' }, emptySelection])).toMatchObject({
          status: 422,
          body: { detail: [{ loc: ['body', 'ids', 1] }] },
        });
    });
  });
}
