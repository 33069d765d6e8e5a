import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { DataSourceRecord, FileRecord } from '../../../../contract/files/records.js';
import type { EmulatedMail } from '../../../emulators/gmail.js';
import type { Listed, TestUser } from '../../../support/client.js';
import { connectSource } from '../../../support/dataSources.js';
import { everyRow } from '../../../support/everyRow.js';
import { waitFor } from '../../../support/waitFor.js';
import type { GmailFixture } from '../../../support/sourceFixtures/gmail.js';
import type { Catalogue } from '../../../support/sourceFixtures/catalogue.js';

const NOTES = { name: 'notes.md', type: 'text/markdown', content: '# Notes\n\nOtters juggle pebbles.' };
/** Filters that are refused, each with the path that the error names. */
const WRONG_FILTERS: readonly (readonly [name: string, filters: unknown, path: readonly (string | number)[]])[] = [
  ['an unknown key', { key: 'subject', value: 'x' }, ['key']],
  [
    'an invalid date',
    {
      AND: [
        { key: 'is', value: 'unread' },
        { key: 'after', value: '2024/02/30' },
      ],
    },
    ['AND', 1, 'value'],
  ],
  ['an empty group', { OR: [] }, ['OR']],
];
/** Requests that are refused. */
const WRONG_REQUESTS: readonly (readonly [name: string, body: Record<string, unknown>])[] = [
  ['no filters', { filters: undefined }],
  ['filters that are not an object', { filters: [] }],
  ['an invalid option', { filters: {}, sync_attachments: 'yes please' }],
];
const isSettled = (file: FileRecord): boolean => /^(READY|SYNC_ERROR)$/.test(file.sync_status);

export function defineGmailTests(catalogue: Catalogue): void {
  describe('the operations of GMAIL', () => {
    let user: TestUser;
    let fixture: GmailFixture;
    let dataSource: DataSourceRecord;
    let customers = 0;

    const files = async (): Promise<FileRecord[]> =>
      (await user.post<Listed<FileRecord>>('/user_files_v2', { pagination: { limit: 100 }, order_by: 'name' })).body
        .results;
    /** Waits for this number of files, all settled, and returns them. */
    const settled = (number: number) =>
      waitFor(files, (records) => records.length === number && records.every(isSettled));
    const sync = (filters: unknown, more: Record<string, unknown> = {}) =>
      user.post('/integrations/gmail/sync', { filters, skip_embedding_generation: true, ...more });
    const source = async (): Promise<DataSourceRecord> =>
      (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results[0]!;

    beforeAll(() => {
      fixture = catalogue.fixtures.GMAIL as GmailFixture;
    });
    beforeEach(async () => {
      fixture.reset();
      customers += 1;
      user = await catalogue.service.user(`gmail ${customers}`);
      expect(await fixture.connect(user, { sync_source_items: false })).toMatchObject({ status: 200 });
      dataSource = await source();
    });
    const addMail = (id: string, mail: EmulatedMail): void => {
      fixture.mails[id] = mail;
    };

    test('sync nothing before a selection, and list their current labels', async () => {
      expect(dataSource).toMatchObject({
        data_source_external_id: 'GMAIL|ada@harbour.example',
        data_source_metadata: { email: 'ada@harbour.example' },
        source_items_synced_at: null,
      });
      expect(await files()).toEqual([]);
      const { status, body } = await user.get<{ results: { id: string; name: string; type: string }[] }>(
        `/integrations/gmail/user_labels?data_source_id=${dataSource.id}`,
      );
      expect(status).toBe(200);
      expect(body.results).toContainEqual({ id: 'Label_atlas', name: 'atlas', type: 'user' });
      expect(body.results).toContainEqual({ id: 'INBOX', name: 'INBOX', type: 'system' });
      expect((await user.get('/integrations/gmail/user_labels')).body).toEqual(body);
    });

    test('sync messages that match the filters, with their senders and recipients as tags', async () => {
      addMail('trip', {
        labels: ['INBOX', 'STARRED'],
        subject: 'A trip',
        at: '2024-01-08T09:00:00Z',
        cc: 'eve@harbour.example',
      });
      addMail('old', { labels: ['INBOX', 'STARRED'], at: '2023-12-31T09:00:00Z' });
      addMail('answer', {
        labels: ['SENT'],
        thread: 'trip',
        subject: 'Re: A trip',
        at: '2024-01-09T09:00:00Z',
        from: 'ben@harbour.example',
      });
      const filters = {
        AND: [
          { key: 'after', value: '2024/01/07' },
          { key: 'before', value: '2024/01/31' },
          {
            OR: [
              { key: 'is', value: 'starred' },
              { key: 'in', value: 'sent' },
            ],
          },
        ],
      };
      const more = { tags: { sender: 'mine', a: 'b' }, request_id: 'picked', chunk_size: 90, chunk_overlap: 5 };
      expect(await sync(filters, more)).toMatchObject({ status: 200, body: { success: true } });
      const syncedFiles = await settled(2);
      expect(syncedFiles).toMatchObject([
        {
          name: 'A trip',
          external_file_id: 'trip',
          external_url: 'https://mail.google.com/mail/#all/trip',
          source: 'GMAIL',
          sync_status: 'READY',
          // Tags of the caller take precedence over those of the source.
          tags: { sender: 'mine', recipient: ['ben@harbour.example'], cc: ['eve@harbour.example'], a: 'b' },
          source_created_at: '2024-01-08T09:00:00.000Z',
          request_id: 'picked',
          chunk_size: 90,
          file_statistics: { file_format: 'GMAIL', mime_type: 'message/rfc822' },
          file_metadata: {
            is_message: true,
            start_of_thread: true,
            title: 'A trip',
            from: 'Ada <ada@harbour.example>',
          },
        },
        {
          name: 'Re: A trip',
          file_metadata: { start_of_thread: false, root_external_file_id: 'trip', parent_external_file_id: 'trip' },
        },
      ]);
      const { results } = await user.chunks({ external_file_ids: ['trip'] });
      expect(results.map((chunk) => chunk.source_content).join('')).toContain('On trip.');
      expect(await source()).toMatchObject({ last_sync_action: 'UPDATE' });
      // A second query that finds the message keeps the same file.
      expect((await sync({ key: 'from', value: 'ada@harbour.example' }, { request_id: 'again' })).status).toBe(200);
      const again = await waitFor(
        files,
        (records) => records.some((file) => file.request_id === 'again') && records.every(isSettled),
      );
      expect(again.find((file) => file.external_file_id === 'trip')?.id).toBe(syncedFiles[0]?.id);
    });

    test('store attachments as child files of the message on request, and delete them with it', async () => {
      addMail('post', { labels: ['INBOX'], subject: 'Post', attachments: [NOTES] });
      const filters = { key: 'has', value: 'attachment' };
      await sync(filters, { request_id: 'without' });
      const [alone] = await settled(1);
      expect(alone).toMatchObject({ external_file_id: 'post', sync_status: 'READY' });
      // Another chunk size, since otherwise nothing would be processed again.
      for (const option of [
        { sync_attachments: true },
        { file_sync_config: { sync_attachments: true }, chunk_size: 90 },
      ]) {
        await sync(filters, { ...option, request_id: JSON.stringify(option) });
        const both = await waitFor(
          files,
          (records) =>
            records.length === 2 &&
            records.every((file) => isSettled(file) && file.request_id === JSON.stringify(option)),
        );
        expect(both).toMatchObject([
          { id: alone?.id, name: 'Post' },
          { name: 'notes.md', parent_id: alone?.id, source: 'MD', sync_status: 'READY' },
        ]);
      }
      const notes = (await files())[1]?.id ?? 0;
      expect((await user.chunks({ ids: [notes] })).results[0]?.source_content).toContain('Otters juggle');
      fixture.remove('post');
      await user.post('/integrations/items/sync', { data_source_id: dataSource.id });
      expect(await waitFor(files, (records) => records.length === 0)).toEqual([]);
    });

    test('refuse each wrong filter, with its path, and each wrong option with 422', async () => {
      await everyRow(
        WRONG_FILTERS,
        ([name]) => name,
        async ([_name, filters, path]) =>
          expect(await sync(filters)).toMatchObject({
            status: 422,
            body: { detail: [{ loc: ['body', 'filters', ...path], msg: expect.any(String), type: 'value_error' }] },
          }),
      );
      await everyRow(
        WRONG_REQUESTS,
        ([name]) => name,
        async ([_name, body]) => expect((await user.post('/integrations/gmail/sync', body)).status).toBe(422),
      );
    });

    test('need data_source_id if several accounts exist; answer 404 if no GMAIL account matches', async () => {
      const { organization_id: organizationId, organization_user_id: userId, id } = dataSource;
      const tenant = { organizationId, userId, customerId: `gmail ${customers}` };
      const box = await connectSource(catalogue.service, tenant, { type: 'BOX', externalId: 'BOX|a' });
      expect((await sync({}, { data_source_id: box._id })).status).toBe(404);
      expect((await sync({}, { data_source_id: 2 ** 40 })).status).toBe(404);
      await connectSource(catalogue.service, tenant, { type: 'GMAIL', externalId: 'GMAIL|b@harbour.example' });
      const several = { status: 400, body: { detail: expect.stringMatching(/data_source_id/) } };
      expect(await sync({})).toMatchObject(several);
      expect(await user.get('/integrations/gmail/user_labels')).toMatchObject(several);
      expect((await sync({ key: 'in', value: 'sent' }, { data_source_id: id })).status).toBe(200);
      const stranger = await catalogue.service.user('gmail stranger');
      expect((await stranger.get('/integrations/gmail/user_labels')).status).toBe(404);
      const foreign = `/integrations/gmail/user_labels?data_source_id=${id}`;
      expect((await stranger.get(foreign)).status).toBe(404);
    });
  });
}
