import { beforeAll, describe, expect, test } from '@jest/globals';

import { EXTENSIONS } from '../../../../api/extensions.js';
import type { DataSourceRecord, FileRecord } from '../../../../contract/files/records.js';
import { supportsOption } from '../../../../contract/sources/sources.js';
import { CONNECTED_SOURCES } from '../../../../contract/sources/connectedSources.js';
import { pointTags } from '../../../support/dataSources.js';
import { waitFor } from '../../../support/waitFor.js';
import { KEEPER_SENTENCE, LIGHTHOUSE } from '../../../support/sourceFixtures/fixture.js';
import type { Customer, Item } from '../../../support/sourceFixtures/catalogue.js';

/** The fields of a data source's record. The record has all of them as soon as the account is connected. */
const RECORD_KEYS = [
  ...['created_at', 'data_source_external_id', 'data_source_metadata', 'data_source_type', 'enable_auto_sync'],
  ...['files_synced_at', 'id', 'last_sync_action', 'last_synced_at', 'organization_id'],
  ...['organization_supplied_user_id', 'organization_user_id', 'revoked_access', 'source_items_synced_at'],
  ...['sync_status', 'tags', 'token', 'updated_at', ...Object.keys(EXTENSIONS.records)],
].toSorted();

/**
 * Tests one account with all its items, from connecting it to revoking its access. Each test continues from the
 * previous one.
 * @param isThorough whether to run all tests; otherwise only the listing, the search, the reasons for skipped items and
 * the encryption of the secret are tested
 */
export function defineWholeAccountTests(customer: Customer, isThorough: boolean): void {
  const { type } = customer;
  const options = { tags: { team: 'docs' }, request_id: `whole ${type}`, chunk_size: 200, chunk_overlap: 10 };

  describe('an account with all its items', () => {
    let firstRecord: DataSourceRecord;
    let made: FileRecord[];
    let all: Item[];
    const generations = async () => {
      const { organization_id: organizationId, organization_user_id: userId } = firstRecord;
      const ids = made.map(({ id }) => id);
      const files = await customer.service.store.files.byIds({ organizationId, userId }, ids);
      return new Map(files.map((file) => [file.externalFileId, file.generation]));
    };

    beforeAll(() => customer.resetAndCreateUser());

    test('is connected and listed in full, over several pages of the source', async () => {
      const { fixture, content } = customer;
      const body = { sync_source_items: true, data_source_tags: { region: 'north', kept: 'yes' }, ...options };
      const answer = await fixture.connect(customer.user, body);
      expect(answer).toMatchObject({ status: 200, body: fixture.connected ?? { success: true } });
      firstRecord = await customer.source();
      expect(firstRecord).toMatchObject({
        data_source_external_id: fixture.externalId,
        data_source_type: type,
        token: {},
        last_sync_action: 'ADD',
        last_synced_at: expect.any(String),
        revoked_access: false,
        tags: { region: 'north', kept: 'yes' },
      });
      expect(['QUEUED_FOR_SYNCING', 'SYNCING', 'READY']).toContain(firstRecord.sync_status);
      expect(Object.keys(firstRecord).toSorted()).toEqual(RECORD_KEYS);
      const listed = await customer.listed();
      expect(listed).toMatchObject({ sync_status: 'READY', source_items_synced_at: expect.any(String) });
      expect(fixture.pagesListed()).toBeGreaterThanOrEqual(3);
      // sync_files_on_connection is true by default, but most sources ignore it.
      if (!supportsOption(type, 'sync_files_on_connection')) expect(await customer.selections()).toBe(0);

      const answered = await customer.items();
      all = answered.items;
      expect(answered.count).toBe(content.items);
      expect(all).toHaveLength(content.items);
      const roots = await customer.items({ filters: { root_files_only: true } });
      expect(roots.items.map((item) => item.external_id).toSorted()).toEqual([...content.containers].toSorted());
      // From the top level, every item is reached through items that front ends can expand.
      const seen = [...content.containers];
      const unlisted = [...content.containers];
      for (let parent = unlisted.pop(); parent !== undefined; parent = unlisted.pop())
        for (const item of all.filter((one) => one.parent_external_id === parent)) {
          seen.push(item.external_id);
          if (item.is_expandable) unlisted.push(item.external_id);
        }
      expect(seen.toSorted()).toEqual(all.map((item) => item.external_id).toSorted());
    });

    if (isThorough)
      test('is listed page by page, and folder by folder', async () => {
        const { content } = customer;
        const paged: Item[] = [];
        for (let offset = 0; offset < content.items; offset += 4)
          paged.push(...(await customer.items({ pagination: { limit: 4, offset } })).items);
        expect(paged).toEqual(all);
        // Without filters, the items of the top level are returned, as front ends expect.
        const roots = await customer.items({ filters: { root_files_only: true } });
        expect(await customer.items({ filters: undefined })).toEqual(roots);
        const seen: string[] = [];
        const unlisted = [...content.containers];
        for (let parent = unlisted.pop(); parent !== undefined; parent = unlisted.pop()) {
          const below = (await customer.items({ parent_id: parent })).items;
          for (const item of below) {
            expect(item.parent_external_id).toBe(parent);
            seen.push(item.external_id);
            if (item.is_expandable) unlisted.push(item.external_id);
          }
        }
        expect([...seen, ...content.containers].toSorted()).toEqual(all.map((item) => item.external_id).toSorted());
      });

    test('has searchable content', async () => {
      const { content, documents } = customer;
      await customer.syncRest(options);
      made = await customer.settledFiles(documents.length);
      for (const file of made)
        expect(file).toMatchObject({
          source: type,
          sync_status: 'READY',
          organization_user_data_source_id: firstRecord.id,
          request_id: options.request_id,
          chunk_size: 200,
          chunk_overlap: 10,
          tags: { region: 'north', team: 'docs' },
          file_statistics: { file_format: content.format ?? type },
        });
      expect(made.map((file) => file.external_file_id).toSorted()).toEqual(documents.toSorted());
      expect(await customer.textOf(content.lighthouse)).toContain(LIGHTHOUSE);
      expect(await customer.textOf(content.keeper)).toContain(KEEPER_SENTENCE);
      const hits = await customer.user.search({ query: 'When was the lighthouse lit?', k: 1 });
      expect(hits[0]?.content).toContain(LIGHTHOUSE);
      const linked = (await customer.items({ filters: { external_ids: [content.keeper] } })).items;
      expect(linked.map((item) => item.organization_user_file_to_sync_id)).toEqual([
        made.find((file) => file.external_file_id === content.keeper)?.id,
      ]);
      await customer.sourceWhen(({ files_synced_at: at }) => at !== null);
      await waitFor(
        () => customer.countEvents('ALL_FILES_PROCESSED'),
        (times) => times > 0,
      );
      for (const kind of ['ADD', 'DATA_SOURCE_READY', 'ALL_UPLOADED_FILES_QUEUED', 'ALL_FILES_PROCESSED'])
        expect({ kind, times: await customer.countEvents(kind) }).toEqual({ kind, times: 1 });
      expect(customer.fixture.maxConcurrent()).toBeLessThanOrEqual(CONNECTED_SOURCES[type].requestsAtOnce);
    });

    test('reports the reason for every item that does not become a file', async () => {
      const skipped = await customer.skippedItems();
      const files = new Set(made.map((file) => file.external_file_id));
      const unread = all.filter((item) => !item.is_selectable && !files.has(item.external_id));
      expect(skipped.map(({ id }) => id)).toEqual(expect.arrayContaining(unread.map((item) => item.external_id)));
      // Each item is reported once, with a sentence as the reason. No item that is a file is reported.
      expect(new Set(skipped.map(({ id }) => id)).size).toBe(skipped.length);
      for (const { id, reason } of skipped)
        expect({ isFile: files.has(id), reason }).toEqual({
          isFile: false,
          reason: expect.stringMatching(/^[A-Z].*[.]$/),
        });
    });

    if (isThorough)
      test('lists its items by each filter and in each order', async () => {
        const lighthouse = all.find((item) => item.external_id === customer.content.lighthouse)!;
        const ids = async (body: Record<string, unknown>) => (await customer.items(body)).items.map((item) => item.id);
        for (const filters of [
          { ids: [lighthouse.id] },
          { external_ids: [lighthouse.external_id] },
          { name: 'IGHTHOUS', item_types: [lighthouse.item_type] },
        ])
          expect(await ids({ filters })).toEqual([lighthouse.id]);
        expect(await ids({ filters: { ids: [lighthouse.id], file_formats: ['PDF'] } })).toEqual([]);
        const byName = all.map(({ name, id }) => ({ name, id }));
        expect(byName).toEqual(byName.toSorted((a, b) => (a.name === b.name ? a.id - b.id : a.name < b.name ? -1 : 1)));
        const sorted = all.map(({ id }) => id).toSorted((a, b) => a - b);
        expect(await ids({ order_by: 'id' })).toEqual(sorted);
        expect(await ids({ order_by: 'id', order_dir: 'desc' })).toEqual(sorted.toReversed());
        const after = { order_by: 'id', pagination: { limit: 3, starting_id: sorted[2] } };
        expect(await ids(after)).toEqual(sorted.slice(3, 6));
        const folders = (await customer.items({ order_by: 'directories_first' })).items.map(
          (item) => item.is_expandable,
        );
        expect(folders).toEqual(folders.toSorted((a, b) => Number(b) - Number(a)));
      });

    test('stores its secret encrypted for its own record: no other record can decrypt it', async () => {
      const { dataSources } = customer.service.store;
      const { organization_id: organizationId, organization_user_id: userId, id } = firstRecord;
      const storedSource = (await dataSources.find({ organizationId, userId }, id))!;
      expect(dataSources.credentialsOf(storedSource)).toContain(customer.fixture.secret);
      for (const elsewhere of [{ _id: id + 1 }, { organizationId: organizationId + 1 }])
        expect(() => dataSources.credentialsOf({ ...storedSource, ...elsewhere })).toThrow();
    });

    if (isThorough)
      test('applies a change at the source, and does not rewrite unchanged files', async () => {
        const { content } = customer;
        const second = `second of ${type}`;
        const contentRequests = () =>
          [content.lighthouse, ...content.others].map(
            (externalId) => customer.fixture.contentRequests?.(externalId) ?? 0,
          );
        const before = contentRequests();
        const generationsBefore = await generations();
        customer.fixture.write(content.lighthouse, 'The lighthouse was moved in 1950.');
        await customer.syncFiles(content.containers, { ...options, request_id: second });
        await waitFor(
          () => customer.files(),
          (records) => records.every((file) => file.request_id === second && file.sync_status === 'READY'),
        );
        expect(await customer.textOf(content.lighthouse)).toContain('1950');
        expect(await customer.textOf(content.lighthouse)).not.toContain('1901');
        const generationsAfter = await generations();
        // Generations are compared per file, because the first sync may have needed two attempts for a file.
        expect(generationsAfter.get(content.lighthouse)).toBeGreaterThan(
          generationsBefore.get(content.lighthouse) ?? 0,
        );
        expect(generationsAfter.get(content.keeper)).toBe(generationsBefore.get(content.keeper));
        // The listing contains versions, so the content of unchanged files is not requested.
        if (customer.fixture.contentRequests)
          expect(contentRequests()).toEqual(before.map((number, index) => (index === 0 ? number + 1 : number)));
      });

    if (isThorough)
      test('skips files that are already synced if the source supports incremental_sync', async () => {
        const { content } = customer;
        const isHonoured = supportsOption(type, 'incremental_sync');
        /** Waits until all runs have ended. Returns the id of the request that synced each file last. */
        const requests = async (): Promise<Map<string, string | null>> => {
          await customer.selectionsDone();
          return new Map((await customer.files()).map((file) => [file.external_file_id, file.request_id ?? null]));
        };
        const before = await requests();
        const [third, fourth, fifth] = [`third of ${type}`, `fourth of ${type}`, `fifth of ${type}`];
        const again = { ...options, request_id: third, incremental_sync: true, sync_files_on_connection: true };
        const syncsOnConnection = supportsOption(type, 'sync_files_on_connection');
        await customer.connect(again);
        const connected = await requests();
        expect([...connected.values()]).toEqual(
          [...before.values()].map((request) => (syncsOnConnection && !isHonoured ? third : request)),
        );
        // The options of the connection apply to later selections too.
        const selected = { ...options, request_id: fourth };
        await customer.syncFiles([content.lighthouse], selected);
        const requestBefore = connected.get(content.lighthouse);
        expect((await requests()).get(content.lighthouse)).toBe(isHonoured ? requestBefore : fourth);
        await customer.syncFiles([content.lighthouse], { ...options, request_id: fifth, incremental_sync: false });
        expect((await requests()).get(content.lighthouse)).toBe(fifth);
      });

    if (isThorough)
      test('keeps its record when it is connected again; its tags, also tags added later, apply to files and points', async () => {
        const again = await customer.connect({ data_source_tags: { region: 'south' } });
        const { id } = firstRecord;
        expect(again).toMatchObject({ id, tags: { region: 'south', kept: 'yes' }, last_sync_action: 'ADD' });
        const { body } = await customer.user.post<DataSourceRecord>('/data_sources/tags/add', {
          data_source_id: id,
          tags: { project: ['red', 'blue'] },
        });
        expect(body.tags).toEqual({ region: 'south', kept: 'yes', project: ['red', 'blue'] });
        const tagsV2 = {
          AND: [
            { key: 'project', value: 'blue' },
            { key: 'region', value: 'south' },
          ],
        };
        await waitFor(
          () => customer.files({ tags_v2: tagsV2 }),
          (records) => records.length === made.length,
        );
        const hits = await waitFor(
          () => customer.user.search({ query: 'When was the lighthouse moved?', k: 1, tags_v2: tagsV2 }),
          (results) => results.length === 1,
        );
        expect(hits[0]?.content).toContain('1950');
        expect((await pointTags(customer.service, hits[0]!.file_id)).flat()).toEqual(
          expect.arrayContaining(['project=blue', 'project=red', 'region=south', 'kept=yes']),
        );
      });

    if (isThorough)
      test('deletes files that were deleted at the source', async () => {
        const { content } = customer;
        customer.fixture.remove(content.keeper);
        expect(await customer.listItems()).toMatchObject({ sync_status: 'READY' });
        const remaining = (await customer.files()).map((file) => file.external_file_id);
        expect(remaining.toSorted()).toEqual(customer.documents.filter((id) => id !== content.keeper).toSorted());
        expect((await customer.items()).items.map((item) => item.external_id)).not.toContain(content.keeper);
        const found = await customer.user.search({ query: KEEPER_SENTENCE, k: 10 });
        expect(found.map((hit) => hit.content).join('\n')).not.toContain(KEEPER_SENTENCE);
      });

    if (isThorough)
      test('is inaccessible at once when its access is revoked; synced files are kept', async () => {
        const { user, content } = customer;
        expect((await user.post('/revoke_access_token', { data_source_id: firstRecord.id })).body).toEqual({
          success: true,
        });
        const source = await customer.source();
        expect(source).toMatchObject({ revoked_access: true, token: null, last_sync_action: 'REVOKE' });
        const { id = 0 } = made.find((file) => file.external_file_id === content.lighthouse) ?? {};
        expect((await user.post('/resync_file', { file_id: id })).status).toBe(200);
        expect(await user.settled(id)).toMatchObject({
          sync_status: 'SYNC_ERROR',
          sync_error_message: expect.stringMatching(/no access to the data source/),
        });
        expect(await customer.textOf(content.lighthouse)).toContain('1950');
      });
  });
}
