import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { DataSourceRecord, FileRecord } from '../../../../contract/files/records.js';
import type { AutoSyncResult } from '../../../../contract/runs/autoSync.js';
import { scheduleIds } from '../../../../contract/runs/workflowIds.js';
import { canAutoSync } from '../../../../contract/sources/connectedSources.js';
import { createTemporalClient } from '../../../../dispatch/client.js';
import { type ApiClient, apiClient, type Listed } from '../../../support/client.js';
import { testEngines } from '../../../support/engines.js';
import { runScheduledSync } from '../../../support/scheduledSyncs.js';
import type { Customer } from '../../../support/sourceFixtures/catalogue.js';
import { thoroughly } from '../../../support/thorough.js';

/** Tests what scheduled syncs change, and what they must not change. */
export function defineScheduledSyncTests(customer: Customer): void {
  const { type } = customer;
  describe('a scheduled sync', () => {
    let client: Client;
    beforeAll(() => {
      const { temporalAddress: address } = testEngines();
      client = createTemporalClient({ address, namespace: 'default' });
    });
    afterAll(() => client.connection.close());

    const enable = async (): Promise<void> => {
      const { service, customerId } = customer;
      const organization = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
      const config = { customer_ids: [customerId], auto_sync_enabled_sources: 'ALL' };
      expect((await organization.post('/update_users', config)).status).toBe(200);
    };
    const syncNow = async (): Promise<AutoSyncResult> =>
      runScheduledSync(client, customer.service.names, scheduleIds.source((await customer.source()).id));

    if (!canAutoSync(type)) {
      test('is off for this source', async () => {
        await customer.resetAndCreateUser();
        await customer.connect();
        await enable();
        expect(await syncNow()).toEqual({ outcome: 'off', parts: 0 });
      });
      return;
    }

    describe('of an account; each test continues from the previous one', () => {
      // So many files that the mass-deletion limit applies.
      const more = 12;
      let expectedFiles: FileRecord[];
      /**
       * Number of requests of a listing of items. `syncRequests` is the number for a scheduled sync, which also lists
       * the selection.
       */
      let listingRequests = 0;
      let syncRequests = 0;
      let organization: ApiClient;
      const stateOf = ({ id, sync_status, last_sync, request_id }: FileRecord) => ({
        id,
        sync_status,
        last_sync,
        request_id,
      });
      const contentRequests = () => customer.documents.map((one) => customer.fixture.contentRequests?.(one) ?? 0);
      /** Returns how often the content of each document is requested during `work`. */
      const contentRequestsOf = async (work: () => Promise<unknown>): Promise<number[]> => {
        const before = contentRequests();
        await work();
        return contentRequests().map((number, index) => number - (before[index] ?? 0));
      };
      let byListing: number[] = [];
      // Some listings request contents: to list the attachments of a ticket, for example, its text is requested.
      const beyondListing = (counts: readonly number[]) =>
        counts.filter((number, index) => number > (byListing[index] ?? 0));
      const expectFinishedSync = async (): Promise<void> =>
        expect(await syncNow()).toMatchObject({ outcome: 'finished' });
      const expectUnchanged = async (): Promise<void> => {
        const files = await customer.settledFiles(expectedFiles.length);
        expect(files.map(stateOf)).toEqual(expectedFiles.map(stateOf));
      };
      /** Returns for how many texts a vector was computed or reused. */
      const countEmbedded = async (): Promise<number> => {
        await customer.service.store.embeddingUsage.flush();
        const { embedding_usage: usage } = (
          await organization.get<{ embedding_usage: Record<string, { computed: number; reused: number }> }>(
            '/organization',
          )
        ).body;
        return Object.values(usage).reduce((sum, { computed, reused }) => sum + computed + reused, 0);
      };

      beforeAll(async () => {
        await customer.resetAndCreateUser();
        const { service, fixture, documents } = customer;
        organization = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
        customer.content = fixture.reset(more);
        await customer.connectWhole();
        expectedFiles = await customer.settledFiles(documents.length + more);
        await enable();
        const before = customer.fixture.requestCount();
        byListing = await contentRequestsOf(() => customer.listItems());
        listingRequests = customer.fixture.requestCount() - before;
      });

      test('twice without changes downloads no content and embeds nothing', async () => {
        const ready = await customer.countEvents('FILE_READY');
        const texts = await countEmbedded();
        for (let time = 0; time < 2; time += 1) {
          const before = customer.fixture.requestCount();
          const counts = await contentRequestsOf(expectFinishedSync);
          syncRequests = customer.fixture.requestCount() - before;
          await expectUnchanged();
          expect(beyondListing(counts)).toEqual([]);
        }
        expect(await customer.countEvents('FILE_READY')).toBe(ready);
        expect(await countEmbedded()).toBe(texts);
      });

      test('applies changes and deletions, and downloads no other content', async () => {
        const { fixture, content, documents } = customer;
        const ready = await customer.countEvents('FILE_READY');
        fixture.write(content.lighthouse, 'The lighthouse was moved in 1950.');
        const [deletedId = ''] = content.others;
        fixture.remove(deletedId);
        const counts = await contentRequestsOf(expectFinishedSync);
        expectedFiles = await customer.settledFiles(expectedFiles.length - 1);
        expect(expectedFiles.map((file) => file.external_file_id)).not.toContain(deletedId);
        expect(await customer.textOf(content.lighthouse)).toContain('1950');
        expect(beyondListing(counts.with(documents.indexOf(content.lighthouse), 0))).toEqual([]);
        expect(await customer.countEvents('FILE_READY')).toBe(ready + 1);
        expect(await customer.countEvents('FILE_DELETED')).toBe(1);
      });

      test('deletes nothing after a listing that fails halfway; the next complete listing deletes missing items', async () => {
        const { fixture, content } = customer;
        const [, deletedId = ''] = content.others;
        fixture.remove(deletedId);
        const refused = fixture.breakAfter(Math.floor(Math.min(listingRequests, syncRequests) / 2));
        await syncNow().catch(() => undefined);
        expect(refused()).toBeGreaterThan(0);
        await expectUnchanged();
        fixture.breakAfter(Infinity);
        await expectFinishedSync();
        expectedFiles = await customer.settledFiles(expectedFiles.length - 1);
        expect(expectedFiles.map((file) => file.external_file_id)).not.toContain(deletedId);
      });

      test('deletes nothing after a listing that shrinks by more than half', async () => {
        const { fixture, documents } = customer;
        const kept = new Set(documents);
        for (const { external_file_id: id } of expectedFiles) if (!kept.has(id)) fixture.remove(id);
        expect(more / expectedFiles.length).toBeGreaterThan(0.6);
        await expectFinishedSync();
        await expectUnchanged();
        expect((await customer.source()).data_source_metadata).toMatchObject({ deletions_held: more });
      });

      test('holds deletions that an operator can list, refuse and approve', async () => {
        const { id } = await customer.source();
        const held = await organization.get<Listed<DataSourceRecord>>('/data_sources/held_deletions?limit=1000');
        expect(held.body.results.map((one) => one.id)).toContain(id);
        const decide = (what: string) => organization.post(`/data_sources/${id}/held_deletions/${what}`, undefined);
        expect(await decide('refuse')).toMatchObject({ status: 200, body: { data_source_metadata: {} } });
        expect((await decide('approve')).status).toBe(409);
        // A full listing reports the items as missing again; a change feed may not.
        const { organization_id: organizationId, organization_user_id: userId } = await customer.source();
        const storedSource = await customer.service.store.dataSources.find({ organizationId, userId }, id);
        const hasChangeFeed = typeof storedSource?.changeToken === 'string';
        const again = (await customer.listItems()).data_source_metadata['deletions_held'];
        expect(hasChangeFeed ? [undefined, more] : [more]).toContain(again);
        expect(await customer.files()).toHaveLength(expectedFiles.length);
        expect((await decide('approve')).status).toBe(again === undefined ? 409 : 200);
        await customer.settledFiles(again === undefined ? expectedFiles.length : expectedFiles.length - more);
      });
    });

    thoroughly('deletes nothing after an empty listing', async () => {
      await customer.resetAndCreateUser();
      const { fixture, documents } = customer;
      const more = 20;
      customer.content = fixture.reset(more);
      await customer.connectWhole();
      const all = await customer.settledFiles(documents.length + more);
      await enable();
      for (const { external_file_id: id } of all) fixture.remove(id);
      expect(await syncNow()).toMatchObject({ outcome: 'finished' });
      expect(await customer.settledFiles(all.length)).toHaveLength(all.length);
      // Fewer than all files may be held: attachments of a ticket, for instance, are not counted separately.
      const held = Number((await customer.source()).data_source_metadata['deletions_held']);
      expect(held).toBeGreaterThan(more);
      expect(held).toBeLessThanOrEqual(all.length);
    });
  });
}
