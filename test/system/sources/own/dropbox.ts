import { beforeEach, describe, expect, test } from '@jest/globals';

import type { DropboxFixture } from '../../../support/sourceFixtures/dropbox.js';
import { type Catalogue, Customer } from '../../../support/sourceFixtures/catalogue.js';

export function defineDropboxTests(catalogue: Catalogue): void {
  describe('the specific behaviour of DROPBOX', () => {
    const customer = new Customer(catalogue, 'DROPBOX');
    beforeEach(() => customer.resetAndCreateUser());
    const dropbox = () => (customer.fixture as DropboxFixture).dropbox;

    test('moved items keep their files, and a deletion by path includes all descendants', async () => {
      const { items: emulated } = dropbox();
      await customer.connect({ sync_source_items: true });
      await customer.syncFiles(['id:sights', 'id:boats']);
      const before = new Map((await customer.settledFiles(3)).map((file) => [file.external_file_id, file.id]));
      dropbox().requests.length = 0;
      for (const [id, item] of emulated)
        if (item.path.startsWith('/Atlas/Sights'))
          emulated.set(id, { ...item, path: item.path.replace('/Atlas/Sights', '/Boats/Views') });
      for (const id of ['id:crews', 'id:in-crews']) emulated.delete(id);
      expect(await customer.listItems()).toMatchObject({ sync_status: 'READY' });
      // Only the changes and the moved items were requested.
      expect(dropbox().requests.filter((asked) => asked.startsWith('files/list_folder {"path":""'))).toEqual([]);
      const { items } = await customer.items();
      const parents = new Map(items.map((item) => [item.external_id, item.parent_external_id]));
      expect(parents.get('id:sights')).toBe('id:boats');
      expect(parents.get('id:lighthouse')).toBe('id:sights');
      expect([...parents.keys()]).not.toEqual(expect.arrayContaining(['id:crews']));
      expect([...parents.keys()]).not.toEqual(expect.arrayContaining(['id:in-crews']));
      expect(parents.size).toBe(customer.content.items - 2);
      const after = new Map((await customer.files()).map((file) => [file.external_file_id, file.id]));
      expect(after).toEqual(before);
    });

    test('shared and team folders are listed like others; inaccessible items become SYNC_ERROR', async () => {
      const { items: emulated, namespaces } = dropbox();
      emulated.set('id:shared', { path: '/Shared', shared: '84528192421' });
      emulated.set('id:plan', { path: '/Shared/plan.md', content: 'To sea.' });
      emulated.set('id:closed', { path: '/Atlas/Closed', isClosed: true });
      emulated.set('id:form', { path: '/Atlas/form.cform', exports: {} });
      Object.assign(namespaces, { home: '1001', root: '2002' });
      const { data_source_metadata: metadata } = await customer.connect({ sync_source_items: true });
      expect(metadata).toMatchObject({ team_name: 'Harbour', account_id: 'dbid:Ada' });
      const { items } = await customer.items({ filters: { external_ids: ['id:closed', 'id:form', 'id:shared'] } });
      expect(items.map((item) => [item.external_id, item.is_selectable])).toEqual(
        expect.arrayContaining([
          ['id:closed', false],
          ['id:form', false],
          ['id:shared', true],
        ]),
      );
      await customer.syncFiles(['id:shared', 'id:atlas', 'id:closed']);
      const syncedFiles = await customer.settledFiles(5);
      const fileWithId = (id: string) => syncedFiles.find((file) => file.external_file_id === id);
      expect(fileWithId('id:plan')).toMatchObject({
        sync_status: 'READY',
        file_metadata: { shared_folder_id: '84528192421' },
      });
      expect(fileWithId('id:form')?.sync_error_message).toMatch(/cannot export this type of document/);
      expect(fileWithId('id:closed')).toMatchObject({
        sync_status: 'SYNC_ERROR',
        sync_error_message: expect.stringMatching(/does not let the connected account see/),
      });
    });
  });
}
