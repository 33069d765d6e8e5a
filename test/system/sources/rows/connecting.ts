import { beforeEach, describe, expect, test } from '@jest/globals';

import { supportsOption } from '../../../../contract/sources/sources.js';
import type { Listed } from '../../../support/client.js';
import type { Customer } from '../../../support/sourceFixtures/catalogue.js';
import { thoroughRows } from '../../../support/thorough.js';

/** Tests the effects of connecting an account, and of rejected or revoked credentials. */
export function defineConnectingTests(customer: Customer): void {
  describe('connecting', () => {
    beforeEach(() => customer.resetAndCreateUser());

    test.each([
      [true, false],
      [false, true],
      ...thoroughRows([
        [true, true],
        [false, false],
      ] as const),
    ] as const)(
      'sync_source_items %s and sync_files_on_connection %s have independent effects',
      async (lists, syncs) => {
        const { user, fixture, content, documents, type } = customer;
        const body = { sync_source_items: lists, sync_files_on_connection: syncs };
        expect((await fixture.connect(user, body)).status).toBe(200);
        const ready = await customer.listed();
        expect(ready.sync_status).toBe('READY');
        const honoured = syncs && supportsOption(type, 'sync_files_on_connection');
        if (honoured) await customer.settledFiles(documents.length);
        else expect(await customer.files()).toEqual([]);
        expect((await customer.items()).count).toBe(lists ? content.items : 0);
        expect(ready.source_items_synced_at === null).toBe(!lists);
        const after = await customer.sourceWhen(({ files_synced_at: at }) => (at !== null) === honoured);
        expect(after.last_sync_action).toBe('ADD');
        if (lists) return;
        await customer.listItems();
        expect((await customer.items()).count).toBe(content.items);
      },
    );

    test('refuses invalid credentials with 400 and a message, and stores nothing', async () => {
      const { user, fixture } = customer;
      const { status, body } = await fixture.connectWithInvalidCredentials(user);
      expect({ status, body }).toEqual({ status: 400, body: { detail: expect.stringMatching(/credentials/) } });
      expect((body as { detail: string }).detail).not.toMatch(/[<>]/);
      expect((await user.post<Listed<unknown>>('/user_data_sources', {})).body.results).toEqual([]);
    });

    test('can be repeated after the source has revoked the credentials', async () => {
      const { user, fixture, content, documents } = customer;
      const { id } = await customer.connect({ sync_source_items: true });
      fixture.revokeAccess();
      await customer.syncFiles(content.containers);
      const revoked = await customer.sourceWhen((one) => one.revoked_access);
      expect(revoked).toMatchObject({ token: null, last_sync_action: 'REVOKE' });
      expect(await customer.countEvents('REVOKE')).toBe(1);
      await customer.sourceWhen((one) => one.data_source_metadata['files_error'] !== undefined);
      for (const [path, body] of [
        ['/integrations/items/sync', {}],
        ['/integrations/files/sync', { ids: ['a'] }],
      ] as const)
        expect(await user.post(path, { data_source_id: id, ...body })).toMatchObject({
          status: 409,
          body: { detail: expect.stringMatching(/Connect it again/) },
        });
      fixture.reset();
      const again = await customer.connectWhole();
      expect(again).toMatchObject({ id, revoked_access: false, last_sync_action: 'ADD' });
      const made = await customer.settledFiles(documents.length);
      expect(made.map((file) => file.sync_status)).toEqual(made.map(() => 'READY'));
      await customer.sourceWhen((one) => one.data_source_metadata['files_error'] === undefined);
    });
  });
}
