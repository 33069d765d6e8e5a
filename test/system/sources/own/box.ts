import { beforeEach, describe, expect, test } from '@jest/globals';

import type { BoxFixture } from '../../../support/sourceFixtures/box.js';
import { type Catalogue, Customer } from '../../../support/sourceFixtures/catalogue.js';

export function defineBoxTests(catalogue: Catalogue): void {
  describe('the specific behaviour of BOX', () => {
    const customer = new Customer(catalogue, 'BOX');
    beforeEach(() => customer.resetAndCreateUser());
    const emulated = () => (customer.fixture as BoxFixture).box.items;

    test('links and inaccessible folders become SYNC_ERROR with the reason', async () => {
      emulated().set('web_link:7', { name: 'Harbour', url: 'https://harbour.example/', parent: '10' });
      emulated().set('folder:13', { name: 'Closed', parent: '10', isClosed: true });
      const { data_source_metadata: metadata } = await customer.connect({ sync_source_items: true });
      expect(metadata).toMatchObject({ items_refused: 1, email: 'ada@harbour.example' });
      const { items } = await customer.items({ filters: { item_types: ['LINK'] } });
      expect(items).toMatchObject([{ external_id: 'web_link:7', is_selectable: false, is_expandable: false }]);
      await customer.syncFiles(['folder:10']);
      const syncedFiles = await customer.settledFiles(4);
      const fileWithId = (id: string) => syncedFiles.find((file) => file.external_file_id === id);
      expect(fileWithId(customer.content.lighthouse)).toMatchObject({
        sync_status: 'READY',
        file_metadata: { type: 'FILE' },
      });
      expect(fileWithId('web_link:7')).toMatchObject({
        sync_status: 'SYNC_ERROR',
        sync_error_message: expect.stringMatching(/Scrape the page/),
      });
      expect(fileWithId('folder:13')).toMatchObject({
        sync_status: 'SYNC_ERROR',
        sync_error_message: expect.stringMatching(/does not let the connected account see/),
      });
    });

    test('an inaccessible folder neither delays deletions nor causes a full listing, and is listed once it is accessible', async () => {
      const { box } = customer.fixture as BoxFixture;
      emulated().set('folder:13', { name: 'Closed', parent: '10', isClosed: true });
      await customer.connect({ sync_source_items: true });
      await customer.syncFiles([customer.content.keeper]);
      await customer.settledFiles(1);
      customer.fixture.remove(customer.content.keeper);
      box.requests.length = 0;
      expect((await customer.listItems()).data_source_metadata).toMatchObject({ items_refused: 1 });
      expect(await customer.files()).toEqual([]);
      expect(box.requests.filter((path) => path.includes('/folders/0/items'))).toEqual([]);
      emulated().set('folder:13', { name: 'Opened', parent: '10' });
      emulated().set('131', { name: 'found.md', content: 'Found.', parent: '13' });
      expect((await customer.listItems()).data_source_metadata).not.toHaveProperty('items_refused');
      expect((await customer.items()).items.map((item) => item.external_id)).toContain('131');
    });

    test('the second refresh uses the refresh token that the first one returned', async () => {
      const { oauth } = (customer.fixture as BoxFixture).box;
      await customer.connect();
      oauth.requests.length = 0;
      for (let times = 0; times < 2; times += 1) {
        oauth.expireAll();
        expect(await customer.listItems()).toMatchObject({ sync_status: 'READY', revoked_access: false });
      }
      const tokens = oauth.requests.map(({ outcome, parameters }) => [outcome, parameters['refresh_token']]);
      expect(tokens.map(([outcome]) => outcome)).toEqual(['granted', 'granted']);
      expect(new Set(tokens.map(([, token]) => token)).size).toBe(2);
    });
  });
}
