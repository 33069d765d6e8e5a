import { beforeEach, describe, expect, test } from '@jest/globals';

import type { FileRecord } from '../../../../contract/files/records.js';
import { notionId, WORKSPACE } from '../../../emulators/notionObjects.js';
import { option } from '../../../emulators/notionBlocks.js';
import { waitFor } from '../../../support/waitFor.js';
import type { NotionFixture } from '../../../support/sourceFixtures/notion.js';
import { type Catalogue, Customer } from '../../../support/sourceFixtures/catalogue.js';

const ROWS = notionId(50);
const DATABASE = `database:${ROWS}`;
const row = (number: number): string => `row:${notionId(number)}`;

export function defineNotionTests(catalogue: Catalogue): void {
  describe('the operations of NOTION', () => {
    const customer = new Customer(catalogue, 'NOTION');
    const emulator = () => (catalogue.fixtures.NOTION as NotionFixture).emulator;

    beforeEach(async () => {
      await customer.resetAndCreateUser();
      const { pages, databases, oauth } = emulator();
      databases.set(ROWS, { title: 'Tides', container: notionId(60) });
      for (const [number, state] of [
        [51, 'High'],
        [52, 'Low'],
      ] as const)
        pages.set(notionId(number), {
          title: `Tide ${number}`,
          parent: { database: ROWS },
          columns: { State: { id: 'st', type: 'select', select: option(state) } },
          blocks: [{ type: 'heading_2', text: 'Measured' }],
        });
      oauth.requests.length = 0;
    });

    test('request consent without scopes and with owner=user; the client authenticates by a header', async () => {
      await customer.connect({ scopes: ['read:everything'] });
      const [authorize, , token] = emulator().oauth.requests;
      expect(authorize?.parameters).toMatchObject({ owner: 'user', response_type: 'code' });
      for (const absent of ['scope', 'code_challenge']) expect(authorize?.parameters).not.toHaveProperty(absent);
      // The client authenticates by a header, not in the body.
      expect(Object.keys(token?.parameters ?? {}).toSorted()).toEqual(['code', 'grant_type', 'redirect_uri']);
      expect((await customer.source()).data_source_metadata).toMatchObject({
        workspace_id: WORKSPACE,
        workspace_name: 'Harbour',
      });
    });

    test('store rows as NOTION_DATABASE files, and update the same files in later syncs', async () => {
      await customer.connect({ sync_source_items: true });
      const { items } = await customer.items({ filters: { item_types: ['TABLE'] } });
      expect(items).toMatchObject([{ external_id: DATABASE, name: 'Tides', is_expandable: true }]);
      await customer.syncFiles([DATABASE], { request_id: 'rows' });
      const syncedFiles = await customer.settledFiles(2);
      expect(syncedFiles).toMatchObject([
        { name: 'Tide 51', external_file_id: row(51), source: 'NOTION_DATABASE', sync_status: 'READY' },
        { name: 'Tide 52', external_file_id: row(52), source: 'NOTION_DATABASE', sync_status: 'READY' },
      ]);
      expect(await customer.textOf(row(51))).toMatch(/Tide 51\s+State: High\s+Measured/);
      expect(await customer.files({ source: 'NOTION_DATABASE' })).toHaveLength(2);
      expect(await customer.files({ source: 'NOTION' })).toHaveLength(0);
      const linked = (await customer.items({ parent_id: DATABASE })).items;
      expect(linked.map((item) => item.organization_user_file_to_sync_id)).toEqual(syncedFiles.map(({ id }) => id));
      // With incremental_sync, unchanged rows are skipped, as unchanged pages are.
      const skipped = await customer.countEvents('FILES_SKIPPED');
      await customer.syncFiles([DATABASE], { request_id: 'again', incremental_sync: true });
      await waitFor(
        () => customer.countEvents('FILES_SKIPPED'),
        (times) => times > skipped,
      );
      // A resync reads a changed row again. The next listing deletes the file of a row that is in the trash of Notion.
      const { pages } = emulator();
      pages.get(notionId(51))!.blocks = [{ type: 'paragraph', text: 'Springs.' }];
      pages.get(notionId(51))!.edited = 5;
      pages.get(notionId(52))!.trashed = true;
      const [first] = syncedFiles;
      expect((await customer.user.post('/resync_file', { file_id: first?.id })).status).toBe(200);
      await waitFor(
        () => customer.textOf(row(51)),
        (text) => text.includes('Springs.'),
      );
      expect(await customer.listItems()).toMatchObject({ sync_status: 'READY' });
      expect((await customer.files()).map((file) => file.external_file_id)).toEqual([row(51)]);
    });

    test('sync sub-pages with a page, at any depth', async () => {
      await customer.connect();
      emulator().pages.set(notionId(70), { title: 'Lamp', parent: { page: customer.content.keeper } });
      await customer.syncFiles([customer.content.lighthouse]);
      const syncedFiles = await customer.settledFiles(3);
      expect(syncedFiles.map((file) => file.name ?? '').toSorted()).toEqual(['Keeper', 'Lamp', 'Lighthouse']);
    });

    test('store text in the parsed_text_format of the last sync: with markup, or by default without', async () => {
      await customer.connect();
      const textAs = async (format: string | null, request: string): Promise<[string, FileRecord]> => {
        const config = format === null ? {} : { file_sync_config: { parsed_text_format: format } };
        await customer.syncFiles([row(51)], { request_id: request, ...config });
        const [file] = await waitFor(
          () => customer.files(),
          ([one]) => one?.request_id === request && one.sync_status === 'READY',
        );
        return [await customer.textOf(row(51)), file!];
      };
      const [plain, first] = await textAs(null, 'a');
      expect(plain).not.toMatch(/[#*]/);
      expect(first.file_statistics).toMatchObject({ file_format: 'NOTION', mime_type: 'text/plain' });
      const [marked, second] = await textAs('MARKDOWN', 'b');
      expect(marked).toMatch(/# Tide 51\s+- \*\*State\*\*: High\s+## Measured/);
      expect(second.file_statistics).toMatchObject({ mime_type: 'text/markdown' });
      const [again] = await textAs('PLAIN_TEXT', 'c');
      expect(again).toBe(plain);
      const { id } = await customer.source();
      const wrong = { data_source_id: id, ids: [], file_sync_config: { parsed_text_format: 'HTML' } };
      expect(await customer.user.post('/integrations/files/sync', wrong)).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', 'file_sync_config', 'parsed_text_format'] }] },
      });
    });

    test('delete nothing after an incomplete listing', async () => {
      await customer.connect({ sync_source_items: true });
      await customer.syncFiles([customer.content.keeper]);
      await customer.settledFiles(1);
      emulator().search.isIncomplete = true;
      emulator().pages.get(customer.content.keeper)!.trashed = true;
      const listed = await customer.listItems();
      expect(listed.data_source_metadata['items_refused']).toEqual(expect.any(Number));
      expect(await customer.files()).toHaveLength(1);
      emulator().search.isIncomplete = false;
      await customer.listItems();
      expect(await customer.files()).toEqual([]);
    });

    test('accept a token with its workspace in /integrations/connect, but not with another workspace', async () => {
      const { accessToken } = emulator().oauth.grant();
      const connect = (workspace: string) =>
        customer.user.post('/integrations/connect', {
          authentication: { source: 'NOTION', access_token: accessToken, workspace_id: workspace },
          sync_options: { sync_source_items: false },
        });
      expect(await connect(notionId(1))).toMatchObject({
        status: 400,
        body: { detail: expect.stringMatching(/workspace_id/) },
      });
      expect(await connect(WORKSPACE.replaceAll('-', ''))).toMatchObject({
        status: 200,
        body: { data_source: { data_source_type: 'NOTION' } },
      });
    });
  });
}
