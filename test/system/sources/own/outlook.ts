import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { DataSourceRecord, FileRecord } from '../../../../contract/files/records.js';
import type { EmulatedMessage } from '../../../emulators/graph/mail.js';
import type { Listed, TestUser } from '../../../support/client.js';
import { waitFor } from '../../../support/waitFor.js';
import type { MicrosoftFixture } from '../../../support/sourceFixtures/microsoft.js';
import type { Catalogue } from '../../../support/sourceFixtures/catalogue.js';

export function defineOutlookTests(catalogue: Catalogue): void {
  describe('the operations of OUTLOOK', () => {
    let user: TestUser;
    let id: number;
    const { fixtures } = catalogue;
    const getMailbox = () => (fixtures.OUTLOOK as MicrosoftFixture).graph.mailbox;
    const addMessage = (message: string, folder: string, fields: Partial<EmulatedMessage> = {}): void =>
      getMailbox().put(message, {
        folder,
        subject: `About ${message}`,
        text: `Text of ${message}.`,
        received: '2026-01-07T09:00:00Z',
        ...fields,
      });
    const sync = (body: Record<string, unknown>) => user.post('/integrations/outlook/sync', body);
    /** Waits until the user has this number of files, all READY or SYNC_ERROR. Returns them by external id. */
    const settledFiles = async (number: number): Promise<Map<string, FileRecord>> => {
      const { results } = await waitFor(
        async () => (await user.post<Listed<FileRecord>>('/user_files_v2', { pagination: { limit: 100 } })).body,
        ({ results: records }) =>
          records.length === number && records.every((file) => /^(READY|SYNC_ERROR)$/.test(file.sync_status)),
      );
      return new Map(results.map((file) => [file.external_file_id, file]));
    };
    let customers = 0;

    beforeAll(() => void fixtures.OUTLOOK.reset());
    beforeEach(async () => {
      const mailbox = getMailbox();
      mailbox.clear();
      mailbox.folders.set('INBOX', { name: 'Posteingang', parent: null, wellKnown: 'inbox' });
      mailbox.folders.set('WORK', { name: 'Work', parent: null });
      mailbox.folders.set('PLANS', { name: 'Plans', parent: 'WORK' });
      mailbox.folders.set('MORE', { name: 'Plans', parent: 'INBOX' });
      mailbox.categories.push({ id: 'c1', displayName: 'Tides', color: 'preset3' });
      addMessage('a', 'INBOX', { received: '2026-01-06T09:00:00Z', categories: ['Tides'] });
      addMessage('b', 'INBOX', { flagged: true, from: 'grace@harbour.example', to: ['ada@harbour.example'] });
      addMessage('c', 'WORK', {
        attachments: { plan: { name: 'plan.md', content: '# The plan\n\nHigh tide at noon.' } },
      });
      customers += 1;
      user = await catalogue.service.user(`outlook ${customers}`);
      expect((await fixtures.OUTLOOK.connect(user, { sync_source_items: false })).status).toBe(200);
      ({ id } = (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results[0]!);
    });

    test('list its current folders and categories', async () => {
      for (const query of ['', `?data_source_id=${id}`]) {
        expect(await user.get(`/integrations/outlook/user_folders${query}`)).toMatchObject({
          status: 200,
          body: {
            results: [
              { id: 'INBOX', name: 'Posteingang', parent_id: null, total_messages: 2 },
              { id: 'WORK', name: 'Work', parent_id: null, total_messages: 1 },
              { id: 'MORE', name: 'Plans', parent_id: 'INBOX', total_messages: 0 },
              { id: 'PLANS', name: 'Plans', parent_id: 'WORK', total_messages: 0 },
            ],
          },
        });
        expect((await user.get(`/integrations/outlook/user_categories${query}`)).body).toEqual({
          results: [{ id: 'c1', name: 'Tides', color: 'preset3' }],
        });
      }
      const stranger = await catalogue.service.user('outlook stranger');
      for (const path of ['user_folders', 'user_categories']) {
        expect((await stranger.get(`/integrations/outlook/${path}`)).status).toBe(404);
        expect((await stranger.get(`/integrations/outlook/${path}?data_source_id=${id}`)).status).toBe(404);
        expect((await user.get(`/integrations/outlook/${path}?data_source_id=x`)).status).toBe(422);
      }
      expect((await stranger.post('/integrations/outlook/sync', { filters: {} })).status).toBe(404);
    });

    test('sync mails of the inbox if the request names no folder, each with sender and recipients', async () => {
      const options = { tags: { from: 'mail' }, request_id: 'mails', chunk_size: 90, chunk_overlap: 5 };
      expect(await sync({ filters: { key: 'is', value: 'flagged' }, ...options })).toMatchObject({
        status: 200,
        body: { success: true },
      });
      const files = await settledFiles(1);
      expect(files.get('b')).toMatchObject({
        source: 'OUTLOOK',
        name: 'About b',
        sync_status: 'READY',
        external_url: 'https://outlook.example/b',
        chunk_size: 90,
        request_id: 'mails',
        tags: { from: 'mail' },
        file_statistics: { file_format: 'OUTLOOK' },
        file_metadata: {
          is_message: true,
          from: 'grace <grace@harbour.example>',
          to: ['ada <ada@harbour.example>'],
          parent_external_file_id: 'INBOX',
        },
      });
      const { results } = await user.chunks({ external_file_ids: ['b'] });
      expect(results.map((chunk) => chunk.source_content).join('\n')).toContain('Text of b.');
      // A second query that finds the mail keeps the same file.
      await sync({
        filters: {
          OR: [
            { key: 'after', value: '2026/01/07' },
            { key: 'category', value: 'Tides' },
          ],
        },
      });
      expect([...(await settledFiles(2)).keys()].toSorted()).toEqual(['a', 'b']);
    });

    test.each([
      ['skipped by default', {}, ['c']],
      ['synced on request', { sync_attachments: true }, ['c', 'c/plan']],
      ['synced on request of file_sync_config', { file_sync_config: { sync_attachments: true } }, ['c', 'c/plan']],
    ])('attachments are %s', async (_name, options, ids) => {
      expect((await sync({ folder: 'work', filters: {}, data_source_id: id, ...options })).status).toBe(200);
      const files = await settledFiles(ids.length);
      expect([...files.keys()].toSorted()).toEqual(ids);
      for (const file of files.values()) expect(file.sync_status).toBe('READY');
      if (ids.length > 1) {
        const { results } = await user.chunks({ external_file_ids: ['c/plan'] });
        expect(results.map((chunk) => chunk.source_content).join('\n')).toContain('High tide at noon.');
        // A later listing does not treat the attachment as deleted.
        await user.post('/integrations/items/sync', { data_source_id: id });
        await waitFor(
          async () => (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results[0]!,
          (source) => source.source_items_synced_at !== null && source.sync_status === 'READY',
        );
        expect([...(await settledFiles(2)).keys()].toSorted()).toEqual(ids);
      }
    });

    test.each([
      ['become no files by default', {}, ['c']],
      [
        'become files if file_sync_config of the call requests it',
        { file_sync_config: { sync_attachments: true } },
        ['c', 'c/plan'],
      ],
    ])('attachments in a selected folder %s', async (_name, options, ids) => {
      const request = { data_source_id: id, ids: ['folder:WORK'], ...options };
      expect((await user.post('/integrations/files/sync', request)).status).toBe(200);
      expect([...(await settledFiles(ids.length)).keys()].toSorted()).toEqual(ids);
    });

    test('refuse a missing or ambiguous folder with 400; a path resolves the ambiguity', async () => {
      expect(await sync({ folder: 'Nowhere', filters: {} })).toMatchObject({
        status: 400,
        body: { detail: expect.stringMatching(/user_folders/) },
      });
      expect(await sync({ folder: 'Plans', filters: {} })).toMatchObject({
        status: 400,
        body: { detail: expect.stringMatching(/Several/) },
      });
      for (const folder of ['Work/Plans', 'PLANS', '', null])
        expect((await sync({ folder, filters: {} })).status).toBe(200);
    });

    test.each([
      ['no filters', {}, ['body', 'filters']],
      ['filters that are a list', { filters: [] }, ['body', 'filters']],
      ['an unknown key', { filters: { key: 'subject', value: 'x' } }, ['body', 'filters', 'key']],
      [
        'an invalid date inside',
        {
          filters: {
            AND: [
              { key: 'is', value: 'read' },
              { key: 'after', value: 'now' },
            ],
          },
        },
        ['body', 'filters', 'AND', 1, 'value'],
      ],
      ['a folder that is not text', { filters: {}, folder: 7 }, ['body', 'folder']],
      ['an invalid flag', { filters: {}, sync_attachments: 'maybe' }, ['body', 'sync_attachments']],
      [
        'a filter that is too long to store',
        { filters: { OR: Array.from({ length: 9 }, () => ({ key: 'from', value: 'x'.repeat(300) })) } },
        ['body', 'filters'],
      ],
    ])('refuse %s with 422 naming the field', async (_name, body, loc) => {
      expect(await sync(body)).toMatchObject({ status: 422, body: { detail: [{ loc }] } });
    });
  });
}
