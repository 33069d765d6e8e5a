import { beforeEach, describe, expect, test } from '@jest/globals';

import type { Document360Fixture } from '../../../support/sourceFixtures/document360.js';
import { type Catalogue, Customer } from '../../../support/sourceFixtures/catalogue.js';

export function defineDocument360Tests(catalogue: Catalogue): void {
  describe('the operation of DOCUMENT360', () => {
    const customer = new Customer(catalogue, 'DOCUMENT360');
    const emulator = () => (catalogue.fixtures.DOCUMENT360 as Document360Fixture).emulator;
    beforeEach(() => customer.resetAndCreateUser());

    test('stores published articles in the default language as files, and lists drafts and hidden articles', async () => {
      const { workspaces } = emulator();
      workspaces.set('boats', {
        name: 'Boats',
        language: 'de',
        categories: {
          open: {
            name: 'Open',
            articles: {
              html: { title: 'Rudder & sail', html: '<h2>Parts</h2><p>Two.</p>' },
              md: { title: 'Keel', html: '', markdown: '## Depth\n\nThree.' },
              draft: { title: 'Draft', html: '<p>no</p>', published: 0 },
              hidden: { title: 'Hidden', html: '<p>no</p>', hidden: true },
            },
          },
          shut: {
            name: 'Shut',
            hidden: true,
            categories: { inner: { name: 'Inner', articles: { within: { title: 'Within', html: '<p>no</p>' } } } },
          },
        },
      });
      await customer.connect({ sync_source_items: true });
      const { items } = await customer.items({ filters: { item_types: ['ARTICLE'] } });
      const selectable = new Map(items.map((item) => [item.external_id, item.is_selectable]));
      for (const [id, isSelectable] of [
        ['html', true],
        ['md', true],
        ['draft', false],
        ['hidden', false],
        ['within', false],
      ] as const)
        expect([id, selectable.get(`boats/article:${id}`)]).toEqual([id, isSelectable]);
      await customer.syncFiles(['boats', 'boats/article:nothing'], {
        file_sync_config: { generate_chunks_only: true },
      });
      const syncedFiles = await customer.settledFiles(3);
      expect(syncedFiles.map((file) => [file.name, file.sync_status])).toEqual([
        ['Keel', 'READY'],
        ['Rudder & sail', 'READY'],
        ['boats/article:nothing', 'SYNC_ERROR'],
      ]);
      expect(await customer.textOf('boats/article:html')).toMatch(/Rudder & sail[\s\S]*Parts\s+Two\.$/);
      expect(await customer.textOf('boats/article:md')).toMatch(/Keel[\s\S]*Depth\s+Three\.$/);
      expect(emulator().requests).toContain(
        '/v2/Articles/html/de?isPublished=true&isForDisplay=true&appendSASToken=false',
      );
    });

    test.each([
      [{ access_token: undefined }, 'access_token'],
      [{ account_email: undefined }, 'account_email'],
      [{ account_email: 7 }, 'account_email'],
      [{ chunk_size: 10, chunk_overlap: 10 }, 'chunk_overlap'],
    ])('refuses %j with 422 naming the field', async (wrong, field) => {
      expect(await customer.fixture.connect(customer.user, wrong)).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', field] }] },
      });
    });

    test('refuses a token that headers do not allow, and reports a project without workspaces', async () => {
      for (const token of ['a\r\nb: c', 'ü'])
        expect((await customer.fixture.connect(customer.user, { access_token: token })).status).toBe(400);
      emulator().workspaces.clear();
      expect(await customer.fixture.connect(customer.user)).toMatchObject({
        status: 400,
        body: { detail: expect.stringMatching(/no workspace/) },
      });
    });

    test('creates one data source per project, also for projects with the same e-mail address', async () => {
      await customer.connect();
      const again = await customer.connect({ account_email: 'ada@HARBOUR.example' });
      expect(again.last_sync_action).toBe('ADD');
      emulator().workspaces.delete('atlas');
      expect((await customer.fixture.connect(customer.user)).status).toBe(200);
      const { results } = (
        await customer.user.post<{ results: { data_source_external_id: string }[] }>('/user_data_sources', {})
      ).body;
      expect(results.map((one) => one.data_source_external_id).toSorted()).toEqual([
        'DOCUMENT360|ada@harbour.example|atlas',
        'DOCUMENT360|ada@harbour.example|boats',
      ]);
    });
  });
}
