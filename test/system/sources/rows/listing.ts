import { beforeEach, describe, expect, test } from '@jest/globals';

import type { DataSourceRecord } from '../../../../contract/files/records.js';
import type { Customer } from '../../../support/sourceFixtures/catalogue.js';
import { thoroughly } from '../../../support/thorough.js';

/** Number of missing items that exceeds the mass-deletion limit. */
const MISSING = 12;

/** Tests listings with missing items, and listings that wait for an answer forever. */
export function defineListingTests(customer: Customer): void {
  describe('a listing', () => {
    beforeEach(() => customer.resetAndCreateUser());

    thoroughly('with too many missing items deletes nothing until an operator approves', async () => {
      const { fixture, content, documents } = customer;
      const number = documents.length + 2 * MISSING;
      fixture.reset(2 * MISSING);
      const { id } = await customer.connect({ sync_source_items: true });
      await customer.syncFiles(content.containers, { skip_embedding_generation: true });
      const made = await customer.settledFiles(number);
      const addedIds = made
        .map((file) => file.external_file_id)
        .filter((externalId) => !documents.includes(externalId));
      for (const externalId of addedIds.slice(0, MISSING)) fixture.remove(externalId);
      const listed = await customer.listItems();
      expect(listed).toMatchObject({ sync_status: 'READY', data_source_metadata: { deletions_held: MISSING } });
      expect(await customer.files()).toHaveLength(number);
      expect((await customer.items()).count).toBe(content.items + 2 * MISSING);
      expect(await customer.service.store.dataSources.approveDeletions(id)).toBe(true);
      expect((await customer.listItems()).data_source_metadata).not.toHaveProperty('deletions_held');
      expect(await customer.files()).toHaveLength(number - MISSING);
      expect((await customer.items()).count).toBe(content.items + MISSING);
      // The approval applies once.
      for (const externalId of addedIds.slice(MISSING)) fixture.remove(externalId);
      expect((await customer.listItems()).data_source_metadata).toMatchObject({ deletions_held: MISSING });
      expect(await customer.files()).toHaveLength(number - MISSING);
    });

    test('that hangs can be cancelled, and so can a sync of files', async () => {
      const { user, fixture, content } = customer;
      const { id } = await customer.connect();
      const request = { data_source_id: id };
      fixture.hold();
      const syncing = await user.post<DataSourceRecord>('/integrations/items/sync', request);
      expect(syncing.body.sync_status).toBe('QUEUED_FOR_SYNCING');
      await customer.sourceWhen((one) => one.sync_status === 'SYNCING');
      // A second request joins the running listing.
      const second = await user.post<DataSourceRecord>('/integrations/items/sync', request);
      expect(second).toMatchObject({ status: 200, body: { sync_status: 'SYNCING' } });
      expect((await user.post('/integrations/items/sync/cancel', request)).status).toBe(200);
      expect(await customer.listed()).toMatchObject({ sync_status: 'READY', source_items_synced_at: null });
      await customer.waitUntilIdle();
      // A second cancel changes nothing.
      const secondCancel = await user.post('/integrations/items/sync/cancel', request);
      expect(secondCancel).toMatchObject({ status: 200, body: { sync_status: 'READY' } });
      fixture.reset();
      await customer.syncFiles([content.branch]);
      const [file] = await customer.settledFiles(2);
      fixture.hold();
      expect((await user.post('/resync_file', { file_id: file?.id })).status).toBe(200);
      await customer.fileWhen(file?.id ?? 0, (one) => one.sync_status === 'SYNCING');
      expect((await user.post('/cancel_sync', { file_id: file?.id })).status).toBe(200);
      expect((await user.settled(file?.id ?? 0)).sync_status).toBe('SYNC_ABORTED');
      await customer.waitUntilIdle();
      fixture.reset();
      expect(await customer.listItems()).toMatchObject({ sync_status: 'READY' });
    });
  });
}
