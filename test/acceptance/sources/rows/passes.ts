import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { DataSourceRecord, FileRecord } from '../../../../contract/records.js';
import { type AutoSyncResult, scheduleIds } from '../../../../contract/orchestration.js';
import { canAutoSync } from '../../../../contract/sources.js';
import { createTemporalClient } from '../../../../dispatch/client.js';
import { apiClient, type Listed } from '../../../support/client.js';
import { testEngines } from '../../../support/engines.js';
import { runPass } from '../../../support/passes.js';
import type { Customer } from '../catalogue.js';

/** Passes of auto-sync: what they bring in, and what they leave as it is. */
export function passRows(customer: Customer): void {
  const { type } = customer;
  describe('a pass of auto-sync', () => {
    let client: Client;
    beforeAll(() => {
      const { temporalAddress: address } = testEngines();
      client = createTemporalClient({ address, namespace: 'default', taskQueue: '' });
    });
    afterAll(() => client.connection.close());
    beforeEach(() => customer.begin());

    const enable = async (): Promise<void> => {
      const { service, customerId } = customer;
      const organization = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
      const wishes = { customer_ids: [customerId], auto_sync_enabled_sources: 'ALL' };
      expect((await organization.post('/update_users', wishes)).status).toBe(200);
    };
    const pass = async (): Promise<AutoSyncResult> =>
      runPass(client, customer.service.taskQueue, scheduleIds.source((await customer.source()).id));

    if (!canAutoSync(type)) {
      test('is none of this source', async () => {
        await customer.connect();
        await enable();
        expect(await pass()).toEqual({ outcome: 'off', parts: 0 });
      });
      return;
    }

    test('fetches what has changed and nothing else, and lets go what is gone; where a listing fails, or misses much, nothing', async () => {
      const { stand, documents, content } = customer;
      // Enough that most of them vanishing is no small thing.
      const more = 20;
      const first = async (): Promise<FileRecord[]> => customer.settledFiles(documents.length + more);
      customer.content = stand.reset(more);
      await customer.connectWhole();
      const made = await first();
      await enable();
      const seen = ({ id, sync_status, last_sync, request_id }: FileRecord) => ({
        id,
        sync_status,
        last_sync,
        request_id,
      });
      const asked = () => documents.map((one) => stand.contentAsked?.(one) ?? 0);
      /** How often each content is asked for meanwhile. */
      const asksOf = async (work: () => Promise<unknown>): Promise<number[]> => {
        const before = asked();
        await work();
        return asked().map((number, index) => number - (before[index] ?? 0));
      };
      // What is attached to a ticket, say, is in what its text is in: that much a listing asks for.
      const byListing = await asksOf(() => customer.listItems());
      const beyondListing = (asks: readonly number[]) =>
        asks.filter((number, index) => number > (byListing[index] ?? 0));
      const ready = await customer.timesTold('FILE_READY');
      for (let time = 0; time < 2; time += 1) {
        const asks = await asksOf(async () => expect(await pass()).toMatchObject({ outcome: 'finished' }));
        expect((await first()).map(seen)).toEqual(made.map(seen));
        expect(beyondListing(asks)).toEqual([]);
      }
      expect(await customer.timesTold('FILE_READY')).toBe(ready);

      stand.write(content.lighthouse, 'The lighthouse was moved in 1950.');
      const [gone = ''] = content.others;
      stand.remove(gone);
      const changed = documents.indexOf(content.lighthouse);
      const meanwhile = await asksOf(async () => expect(await pass()).toMatchObject({ outcome: 'finished' }));
      const after = await customer.settledFiles(made.length - 1);
      expect(after.map((file) => file.external_file_id)).not.toContain(gone);
      expect(await customer.textOf(content.lighthouse)).toContain('1950');
      expect(beyondListing(meanwhile.with(changed, 0))).toEqual([]);
      expect((await customer.told()).filter((kind) => kind === 'FILE_READY')).toHaveLength(ready + 1);

      // Most of it is away at once: a fault of the source, more likely.
      const kept = new Set(documents);
      for (const { external_file_id: id } of after) if (!kept.has(id)) stand.remove(id);
      expect(await pass()).toMatchObject({ outcome: 'finished' });
      expect(await customer.settledFiles(after.length)).toHaveLength(after.length);
      expect((await customer.source()).data_source_metadata).toMatchObject({ deletions_held: more });
      expect((await customer.files()).map(seen)).toEqual(after.map(seen));
      const organization = apiClient(customer.service.url, { authorization: `Bearer ${customer.service.apiKey}` });
      const { id } = await customer.source();
      const held = await organization.get<Listed<DataSourceRecord>>('/data_sources/held_deletions?limit=1000');
      expect(held.body.results.map((one) => one.id)).toContain(id);
      const decide = (what: string) => organization.post(`/data_sources/${id}/held_deletions/${what}`, undefined);
      expect(await decide('refuse')).toMatchObject({ status: 200, body: { data_source_metadata: {} } });
      expect((await decide('approve')).status).toBe(409);
      // What is listed as a whole is missed once more; who tells what happens may not tell it again.
      const { organization_id: organizationId, organization_user_id: userId } = await customer.source();
      const known = await customer.service.store.dataSources.find({ organizationId, userId }, id);
      const isTold = typeof known?.changePoint === 'string';
      const again = (await customer.listItems()).data_source_metadata['deletions_held'];
      expect(isTold ? [undefined, more] : [more]).toContain(again);
      expect(await customer.files()).toHaveLength(after.length);
      expect((await decide('approve')).status).toBe(again === undefined ? 409 : 200);
      await customer.settledFiles(again === undefined ? after.length : after.length - more);
    });
  });
}
