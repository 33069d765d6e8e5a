import { beforeEach, describe, expect, test } from '@jest/globals';

import { TOKEN, USERNAME } from '../../../emulators/guru.js';
import type { GuruFixture } from '../../../support/sourceFixtures/guru.js';
import { type Catalogue, Customer } from '../../../support/sourceFixtures/catalogue.js';

export function defineGuruTests(catalogue: Catalogue): void {
  describe('the operation of GURU', () => {
    const customer = new Customer(catalogue, 'GURU');
    const emulator = () => (catalogue.fixtures.GURU as GuruFixture).emulator;
    beforeEach(() => customer.resetAndCreateUser());

    test('lists cards inside and outside of folders, without archived ones', async () => {
      const { cards, folders } = emulator();
      folders.set('empty', { title: 'Empty', parent: 'people' });
      cards.set('old', { title: 'Old', html: '<p>no</p>', collection: 'atlas', folder: 'people', archived: true });
      cards.set('loose', { title: 'Tides & winds', html: '<h2>High</h2><p>Noon.</p>', collection: 'atlas' });
      await customer.connect({ sync_source_items: true });
      const { items } = await customer.items({ filters: { item_types: ['FOLDER', 'CARD'] } });
      const parents = new Map(items.map((item) => [item.external_id, item.parent_external_id]));
      expect(parents.get('folder:sights')).toBe('collection:atlas');
      expect(parents.get('folder:people')).toBe('folder:sights');
      expect(parents.get('folder:empty')).toBe('folder:people');
      expect(parents.get('keeper')).toBe('folder:people');
      expect(parents.get('loose')).toBe('collection:atlas');
      expect(parents.has('old')).toBe(false);
      await customer.syncFiles(['collection:atlas', 'old', 'folder:none', 'keeper']);
      const syncedFiles = await customer.settledFiles(5);
      expect(syncedFiles.map((file) => `${file.external_file_id} ${file.sync_status}`).toSorted()).toEqual([
        'folder:none SYNC_ERROR',
        'keeper READY',
        'lighthouse READY',
        'loose READY',
        'old SYNC_ERROR',
      ]);
      expect(syncedFiles.find((file) => file.external_file_id === 'loose')).toMatchObject({
        name: 'Tides & winds',
        external_url: 'https://app.getguru.com/card/loose/slug',
        file_statistics: { file_format: 'GURU' },
        file_metadata: { type: 'CARD', collection_id: 'atlas', verification_state: 'TRUSTED' },
      });
      expect(await customer.textOf('loose')).toMatch(/Tides & winds[\s\S]*High\s+Noon\.$/);
    });

    test('connects an account through /integrations/connect', async () => {
      const authentication = { source: 'GURU', username: USERNAME, access_token: TOKEN };
      expect(await customer.user.post('/integrations/connect', { authentication })).toMatchObject({
        status: 200,
        body: {
          data_source: { data_source_external_id: `GURU|${USERNAME.toLowerCase()}`, data_source_type: 'GURU' },
          sync_url: null,
        },
      });
      expect((await customer.source()).data_source_metadata).toMatchObject({ team_name: 'Harbour', team_id: 'team-1' });
    });

    test.each([
      [{ access_token: undefined }, 'access_token'],
      [{ username: undefined }, 'username'],
      [{ username: ['x'] }, 'username'],
      [{ embedding_model: 'NONE' }, 'embedding_model'],
    ])('refuses %j with 422 naming the field', async (wrong, field) => {
      expect(await customer.fixture.connect(customer.user, wrong)).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', field] }] },
      });
    });

    test('answers 400 to a credential with characters that headers do not allow', async () => {
      for (const wrong of [{ access_token: 'a\r\nb: c' }, { username: 'ü\n' }])
        expect((await customer.fixture.connect(customer.user, wrong)).status).toBe(400);
    });
  });
}
