import { beforeEach, describe, expect, test } from '@jest/globals';

import type { FileRecord } from '../../../../contract/files/records.js';
import { supportsOption } from '../../../../contract/sources/sources.js';
import { waitFor } from '../../../support/waitFor.js';
import { type Customer, expectSparse } from '../../../support/sourceFixtures/catalogue.js';
import { thoroughly } from '../../../support/thorough.js';

/** Tests syncs of selected files, and faults during a sync. */
export function defineSyncingTests(customer: Customer): void {
  const { type } = customer;
  describe('a sync of files', () => {
    beforeEach(() => customer.resetAndCreateUser());

    test('creates files for the selection and its descendants with the options of the request, and emits UPDATE', async () => {
      const { content } = customer;
      const before = await customer.connect();
      await customer.syncFiles([content.branch], {
        tags: { a: 'b' },
        request_id: `picked of ${type}`,
        chunk_size: 90,
        chunk_overlap: 5,
        max_items_per_chunk: 7,
        set_page_as_boundary: true,
        prepend_filename_to_chunks: true,
        generate_sparse_vectors: true,
        use_ocr: true,
        parse_pdf_tables_with_ocr: true,
        file_sync_config: { split_rows: true, generate_chunks_only: true, include_speaker_labels: true },
      });
      const made = await customer.settledFiles(2);
      for (const file of made)
        expect(file).toMatchObject({
          sync_status: 'READY',
          request_id: `picked of ${type}`,
          tags: { a: 'b' },
          chunk_size: 90,
          chunk_overlap: 5,
          generate_sparse_vectors: true,
          chunk_properties: {
            set_page_as_boundary: true,
            prepend_filename_to_chunks: true,
            max_items_per_chunk: 7,
          },
          // Chunks without vectors.
          file_statistics: { num_embeddings: 0 },
        });
      const storedFiles = await customer.service.store.files.byIds(
        { organizationId: before.organization_id, userId: before.organization_user_id },
        made.map(({ id }) => id),
      );
      for (const { options } of storedFiles)
        expect(options).toMatchObject({
          splitRows: true,
          generateChunksOnly: true,
          includeSpeakerLabels: true,
          useOcr: true,
          parsePdfTablesWithOcr: true,
        });
      const ids = made.map((file) => file.external_file_id).toSorted();
      expect(ids).toEqual([content.keeper, content.lighthouse].toSorted());
      const after = await customer.source();
      expect(after.last_sync_action).toBe('UPDATE');
      expect(after.last_synced_at > before.last_synced_at).toBe(true);
      expect(await customer.countEvents('UPDATE')).toBe(1);
      const options = {
        chunk_size: 80,
        request_id: `again of ${type}`,
        generate_sparse_vectors: true,
      };
      await customer.syncFiles([content.keeper], options);
      const isAgain = (file: FileRecord) => file.request_id === options.request_id && file.sync_status === 'READY';
      const again = await waitFor(
        () => customer.files(),
        (records) => records.some(isAgain),
      );
      await expectSparse(customer.service, customer.user, again.find(isAgain)?.id ?? 0);
    });

    thoroughly('incremental: skips files synced before with the same options, if the source supports it', async () => {
      const { fixture, content } = customer;
      const honoured = supportsOption(type, 'incremental_sync');
      await customer.connect();
      /** Syncs the folder of the lighthouse. Returns the text of the lighthouse. */
      const textAfter = async (more: Record<string, unknown> = {}): Promise<string> => {
        const times = await customer.countEvents('ALL_FILES_PROCESSED');
        await customer.syncFiles([content.branch], more);
        await waitFor(
          () => customer.countEvents('ALL_FILES_PROCESSED'),
          (now) => now > times,
        );
        return customer.textOf(content.lighthouse);
      };
      expect(await textAfter()).toContain('1901');
      const requests = new Map((await customer.files()).map((file) => [file.external_file_id, file.request_id]));
      expect(requests.size).toBe(2);
      fixture.write(content.lighthouse, 'The lighthouse was moved in 1950.');
      const incremental = await textAfter({ incremental_sync: true });
      expect(incremental).toContain(honoured ? '1901' : '1950');
      const skipped = await customer.countUnchangedSkips();
      expect(skipped > 0).toBe(honoured);
      const kept = (await customer.files()).filter((file) => requests.get(file.external_file_id) === file.request_id);
      expect(kept).toHaveLength(honoured ? 2 : 0);
      expect(await textAfter({ incremental_sync: true, chunk_size: 90 })).toContain('1950');
      fixture.write(content.lighthouse, 'The lighthouse was moved in 1970.');
      expect(await textAfter({ incremental_sync: false, chunk_size: 90 })).toContain('1970');
      expect(await customer.countUnchangedSkips()).toBe(skipped);
    });

    test('with a missing or inaccessible item fails that item alone, with the reason', async () => {
      const { fixture, content } = customer;
      await customer.connect();
      fixture.breakItem(content.keeper, 403);
      await customer.syncFiles([content.containers[0]!, 'nowhere', content.others[0]!, content.others[0]!]);
      const made = await customer.settledFiles(4);
      const fileWithId = (externalId: string) => made.find((file) => file.external_file_id === externalId);
      expect(fileWithId(content.lighthouse)?.sync_status).toBe('READY');
      expect(fileWithId(content.others[0]!)?.sync_status).toBe('READY');
      expect(fileWithId(content.keeper)).toMatchObject({
        sync_status: 'SYNC_ERROR',
        sync_error_message: expect.stringMatching(/does not let the connected account see/),
      });
      expect(fileWithId('nowhere')).toMatchObject({
        sync_status: 'SYNC_ERROR',
        sync_error_message: expect.stringMatching(/no such item/),
      });
    });

    thoroughly('waits out many 429 answers, and syncs everything', async () => {
      const { fixture, content, documents } = customer;
      // Connected before the rate limit, because connecting does not wait for its end but asks the user to try again.
      await customer.connect({ sync_files_on_connection: true });
      fixture.limit(60);
      expect(await customer.listItems()).toMatchObject({ sync_status: 'READY' });
      await customer.syncRest();
      const made = await customer.settledFiles(documents.length);
      expect(new Set(made.map((file) => file.sync_status))).toEqual(new Set(['READY']));
      expect((await customer.items()).count).toBe(content.items);
    });

    test('waits as RATE_LIMITED when the source sets a long limit, and continues by itself', async () => {
      const { user, fixture, content } = customer;
      await customer.connect();
      await customer.syncFiles([content.keeper]);
      const [file] = await customer.settledFiles(1);
      const id = file?.id ?? 0;
      fixture.limit(1, 3);
      expect((await user.post('/resync_file', { file_id: id })).status).toBe(200);
      const limited = await customer.fileWhen(id, (one) => one.sync_status === 'RATE_LIMITED');
      const [until = ''] = /(?<=continues automatically at )\S+(?=\.$)/.exec(limited.sync_error_message ?? '') ?? [];
      expect(Date.parse(until)).toBeGreaterThan(Date.now());
      expect(await customer.countEvents('RATE_LIMIT_ERROR')).toBe(1);
      expect(await user.settled(id)).toMatchObject({ sync_status: 'READY', sync_error_message: null });
      expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(until));
    });

    test('leaves no file in progress when the credentials are revoked during the sync', async () => {
      const { fixture, content, documents } = customer;
      fixture.reset(8);
      await customer.connect();
      fixture.breakItem(content.keeper, 401);
      await customer.syncFiles(content.containers);
      const source = await customer.sourceWhen((one) => one.revoked_access);
      expect(source).toMatchObject({ last_sync_action: 'REVOKE' });
      const made = await customer.settledFiles(documents.length + 8);
      const keeper = made.find((file) => file.external_file_id === content.keeper);
      expect(keeper?.sync_status).toMatch(/SYNC_(ERROR|ABORTED)/);
      await waitFor(
        () => customer.countEvents('ALL_FILES_PROCESSED'),
        (times) => times > 0,
      );
      expect(await customer.countEvents('REVOKE')).toBe(1);
    });
  });
}
