import { beforeEach, describe, expect, test } from '@jest/globals';

import type { DataSourceRecord } from '../../../../contract/records.js';
import type { Customer } from '../../../support/sourceStands/catalogue.js';
import { thoroughly } from '../../../support/thorough.js';

/** More than a handful, and most of what there is. */
const MUCH = 12;

/** Listings that miss something, or do not come to an end. */
export function listingRows(customer: Customer): void {
  describe('a listing', () => {
    beforeEach(() => customer.begin());

    thoroughly('that misses too much deletes nothing until an operator approves it', async () => {
      const { stand, content, documents } = customer;
      const number = documents.length + 2 * MUCH;
      stand.reset(2 * MUCH);
      const { id } = await customer.connect({ sync_source_items: true });
      await customer.syncFiles(content.containers, { skip_embedding_generation: true });
      const made = await customer.settledFiles(number);
      const more = made.map((file) => file.external_file_id).filter((externalId) => !documents.includes(externalId));
      for (const externalId of more.slice(0, MUCH)) stand.remove(externalId);
      const held = await customer.listItems();
      expect(held).toMatchObject({ sync_status: 'READY', data_source_metadata: { deletions_held: MUCH } });
      expect(await customer.files()).toHaveLength(number);
      expect((await customer.items()).count).toBe(content.items + 2 * MUCH);
      expect(await customer.service.store.dataSources.approveDeletions(id)).toBe(true);
      expect((await customer.listItems()).data_source_metadata).not.toHaveProperty('deletions_held');
      expect(await customer.files()).toHaveLength(number - MUCH);
      expect((await customer.items()).count).toBe(content.items + MUCH);
      // Once, not for ever.
      for (const externalId of more.slice(MUCH)) stand.remove(externalId);
      expect((await customer.listItems()).data_source_metadata).toMatchObject({ deletions_held: MUCH });
      expect(await customer.files()).toHaveLength(number - MUCH);
    });

    test('that hangs is cancelled, and so is a sync of files', async () => {
      const { user, stand, content } = customer;
      const { id } = await customer.connect();
      const request = { data_source_id: id };
      stand.hold();
      const syncing = await user.post<DataSourceRecord>('/integrations/items/sync', request);
      expect(syncing.body.sync_status).toBe('QUEUED_FOR_SYNCING');
      await customer.sourceWhen((one) => one.sync_status === 'SYNCING');
      // A second request meets the listing that is under way.
      const second = await user.post<DataSourceRecord>('/integrations/items/sync', request);
      expect(second).toMatchObject({ status: 200, body: { sync_status: 'SYNCING' } });
      expect((await user.post('/integrations/items/sync/cancel', request)).status).toBe(200);
      expect(await customer.listed()).toMatchObject({ sync_status: 'READY', source_items_synced_at: null });
      await customer.idle();
      // Once more changes nothing.
      const more = await user.post('/integrations/items/sync/cancel', request);
      expect(more).toMatchObject({ status: 200, body: { sync_status: 'READY' } });
      stand.reset();
      await customer.syncFiles([content.branch]);
      const [file] = await customer.settledFiles(2);
      stand.hold();
      expect((await user.post('/resync_file', { file_id: file?.id })).status).toBe(200);
      await customer.fileWhen(file?.id ?? 0, (one) => one.sync_status === 'SYNCING');
      expect((await user.post('/cancel_sync', { file_id: file?.id })).status).toBe(200);
      expect((await user.settled(file?.id ?? 0)).sync_status).toBe('SYNC_ABORTED');
      await customer.idle();
      stand.reset();
      expect(await customer.listItems()).toMatchObject({ sync_status: 'READY' });
    });
  });
}
