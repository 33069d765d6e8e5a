import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { DataSourceRecord, FileRecord } from '../../../../contract/records.js';
import { type AutoSyncResult, scheduleIds } from '../../../../contract/orchestration.js';
import { canAutoSync } from '../../../../contract/sources.js';
import { createTemporalClient } from '../../../../dispatch/client.js';
import { type ApiClient, apiClient, type Listed } from '../../../support/client.js';
import { testEngines } from '../../../support/engines.js';
import { runPass } from '../../../support/passes.js';
import type { Customer } from '../../../support/sourceStands/catalogue.js';
import { thoroughly } from '../../../support/thorough.js';

/** Passes of auto-sync: what they bring in, and what they leave as it is. */
export function passRows(customer: Customer): void {
  const { type } = customer;
  describe('a pass of auto-sync', () => {
    let client: Client;
    beforeAll(() => {
      const { temporalAddress: address } = testEngines();
      client = createTemporalClient({ address, namespace: 'default' });
    });
    afterAll(() => client.connection.close());

    const enable = async (): Promise<void> => {
      const { service, customerId } = customer;
      const organization = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
      const wishes = { customer_ids: [customerId], auto_sync_enabled_sources: 'ALL' };
      expect((await organization.post('/update_users', wishes)).status).toBe(200);
    };
    const pass = async (): Promise<AutoSyncResult> =>
      runPass(client, customer.service.names, scheduleIds.source((await customer.source()).id));

    if (!canAutoSync(type)) {
      test('is none of this source', async () => {
        await customer.begin();
        await customer.connect();
        await enable();
        expect(await pass()).toEqual({ outcome: 'off', parts: 0 });
      });
      return;
    }

    describe('of an account, one after the other', () => {
      // Enough that most of them vanishing is no small thing.
      const more = 20;
      let all: FileRecord[];
      /** Requests of a listing of the account, and of a pass, which lists what was chosen too. */
      let listing = 0;
      let requests = 0;
      let organization: ApiClient;
      const seen = ({ id, sync_status, last_sync, request_id }: FileRecord) => ({
        id,
        sync_status,
        last_sync,
        request_id,
      });
      const asked = () => customer.documents.map((one) => customer.stand.contentAsked?.(one) ?? 0);
      /** How often each content is asked for meanwhile. */
      const asksOf = async (work: () => Promise<unknown>): Promise<number[]> => {
        const before = asked();
        await work();
        return asked().map((number, index) => number - (before[index] ?? 0));
      };
      let byListing: number[] = [];
      // What is attached to a ticket, say, is in what its text is in: that much a listing asks for.
      const beyondListing = (asks: readonly number[]) =>
        asks.filter((number, index) => number > (byListing[index] ?? 0));
      const finished = async (): Promise<void> => expect(await pass()).toMatchObject({ outcome: 'finished' });
      const expectAll = async (): Promise<void> => {
        const files = await customer.settledFiles(all.length);
        expect(files.map(seen)).toEqual(all.map(seen));
      };
      /** How many texts were embedded, or taken from before. */
      const embedded = async (): Promise<number> => {
        await customer.service.store.embeddingUsage.flush();
        const { embedding_usage: usage } = (
          await organization.get<{ embedding_usage: Record<string, { computed: number; reused: number }> }>(
            '/organization',
          )
        ).body;
        return Object.values(usage).reduce((sum, { computed, reused }) => sum + computed + reused, 0);
      };

      beforeAll(async () => {
        await customer.begin();
        const { service, stand, documents } = customer;
        organization = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
        customer.content = stand.reset(more);
        await customer.connectWhole();
        all = await customer.settledFiles(documents.length + more);
        await enable();
        const before = customer.stand.asked();
        byListing = await asksOf(() => customer.listItems());
        listing = customer.stand.asked() - before;
      });

      test('two passes with nothing changed download no content and embed nothing', async () => {
        const ready = await customer.timesTold('FILE_READY');
        const texts = await embedded();
        for (let time = 0; time < 2; time += 1) {
          const before = customer.stand.asked();
          const asks = await asksOf(finished);
          requests = customer.stand.asked() - before;
          await expectAll();
          expect(beyondListing(asks)).toEqual([]);
        }
        expect(await customer.timesTold('FILE_READY')).toBe(ready);
        expect(await embedded()).toBe(texts);
      });

      test('changes and deletions arrive, and nothing else is fetched', async () => {
        const { stand, content, documents } = customer;
        const ready = await customer.timesTold('FILE_READY');
        stand.write(content.lighthouse, 'The lighthouse was moved in 1950.');
        const [gone = ''] = content.others;
        stand.remove(gone);
        const meanwhile = await asksOf(finished);
        all = await customer.settledFiles(all.length - 1);
        expect(all.map((file) => file.external_file_id)).not.toContain(gone);
        expect(await customer.textOf(content.lighthouse)).toContain('1950');
        expect(beyondListing(meanwhile.with(documents.indexOf(content.lighthouse), 0))).toEqual([]);
        expect(await customer.timesTold('FILE_READY')).toBe(ready + 1);
        expect(await customer.timesTold('FILE_DELETED')).toBe(1);
      });

      test('a listing that fails half-way deletes nothing, and the next one does', async () => {
        const { stand, content } = customer;
        const [, gone = ''] = content.others;
        stand.remove(gone);
        const refused = stand.breakAfter(Math.floor(Math.min(listing, requests) / 2));
        await pass().catch(() => undefined);
        expect(refused()).toBeGreaterThan(0);
        await expectAll();
        stand.breakAfter(Infinity);
        await finished();
        all = await customer.settledFiles(all.length - 1);
        expect(all.map((file) => file.external_file_id)).not.toContain(gone);
      });

      test('a listing that shrinks by more than half deletes nothing', async () => {
        const { stand, documents } = customer;
        const kept = new Set(documents);
        for (const { external_file_id: id } of all) if (!kept.has(id)) stand.remove(id);
        expect(more / all.length).toBeGreaterThan(0.6);
        await finished();
        await expectAll();
        expect((await customer.source()).data_source_metadata).toMatchObject({ deletions_held: more });
      });

      test('what is held is listed, refused and approved', async () => {
        const { id } = await customer.source();
        const held = await organization.get<Listed<DataSourceRecord>>('/data_sources/held_deletions?limit=1000');
        expect(held.body.results.map((one) => one.id)).toContain(id);
        const decide = (what: string) => organization.post(`/data_sources/${id}/held_deletions/${what}`, undefined);
        expect(await decide('refuse')).toMatchObject({ status: 200, body: { data_source_metadata: {} } });
        expect((await decide('approve')).status).toBe(409);
        // What is listed as a whole is missed once more; who tells what happens may not tell it again.
        const { organization_id: organizationId, organization_user_id: userId } = await customer.source();
        const known = await customer.service.store.dataSources.find({ organizationId, userId }, id);
        const isTold = typeof known?.changeToken === 'string';
        const again = (await customer.listItems()).data_source_metadata['deletions_held'];
        expect(isTold ? [undefined, more] : [more]).toContain(again);
        expect(await customer.files()).toHaveLength(all.length);
        expect((await decide('approve')).status).toBe(again === undefined ? 409 : 200);
        await customer.settledFiles(again === undefined ? all.length : all.length - more);
      });
    });

    thoroughly('a listing that answers nothing deletes nothing', async () => {
      await customer.begin();
      const { stand, documents } = customer;
      const more = 20;
      customer.content = stand.reset(more);
      await customer.connectWhole();
      const all = await customer.settledFiles(documents.length + more);
      await enable();
      for (const { external_file_id: id } of all) stand.remove(id);
      expect(await pass()).toMatchObject({ outcome: 'finished' });
      expect(await customer.settledFiles(all.length)).toHaveLength(all.length);
      // What is attached to a ticket, say, is not listed by itself: it goes and stays with it.
      const held = Number((await customer.source()).data_source_metadata['deletions_held']);
      expect(held).toBeGreaterThan(more);
      expect(held).toBeLessThanOrEqual(all.length);
    });
  });
}
