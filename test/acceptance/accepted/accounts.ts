import { describe, expect, test } from '@jest/globals';

import type { DataSourceRecord, FileRecord } from '../../../contract/files/records.js';
import type { SourceType } from '../../../contract/sources/sources.js';
import type { DataSourceDoc } from '../../../store/models/dataSources.js';
import type { Listed } from '../../support/client.js';
import { connectSource, revokeSource } from '../../support/dataSources.js';
import { everyRow } from '../../support/everyRow.js';
import {
  database,
  key,
  ok,
  otherKey,
  refusal,
  service,
  createUser,
  type StoredUser,
  reserveIds,
} from './idleService.js';

const connect = async ({ owner }: StoredUser, type: SourceType, name = 'a'): Promise<number> =>
  (await connectSource(service, owner, { type, externalId: `${type}|${name}` }))._id;
const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const LABEL = { key: 'label', value: 'inbox' };
const sourceOf = (id: number) => database.collection<DataSourceDoc>('dataSources').findOne({ _id: id });

/** Defines the tests of requests about connected accounts: the records that they store, and the answers of lists. */
export function testAccounts(): void {
  describe('items of an account', () => {
    test('are read from the source by one run at a time, which can be cancelled', async () => {
      const who = await createUser();
      const { user, runs } = who;
      const id = await connect(who, 'BOX');
      const list = () => user.post<DataSourceRecord>('/integrations/items/sync', { data_source_id: id });
      const answer = ok(await list());
      expect(answer).toMatchObject({ sync_status: 'QUEUED_FOR_SYNCING' });
      expect(ok(await list()).id).toBe(id);
      const [run, ...otherRuns] = await runs();
      expect(otherRuns).toEqual([]);
      expect(run).toMatchObject({
        ...{ kind: 'syncItems', workflowId: `sync-items:${id}`, dataSourceId: id, fileId: null, request: {} },
      });
      expect(await sourceOf(id)).toMatchObject({ itemsRunId: run!._id });
      const stop = () => user.post<DataSourceRecord>('/integrations/items/sync/cancel', { data_source_id: id });
      expect(ok(await stop()).sync_status).toBe('READY');
      expect(ok(await stop()).sync_status).toBe('READY');
      expect(await sourceOf(id)).toMatchObject({ itemsRunId: null, sourceItemsSyncedAt: null });
      ok(await list());
      expect(await runs()).toHaveLength(2);
    });

    test('are not read, and no run is created, for a feed, a revoked account, or another user', async () => {
      const [who, stranger] = [await createUser(), await createUser()];
      const [box, feed] = [await connect(who, 'BOX'), await connect(who, 'RSS_FEED')];
      const list = (id: number, { user } = who) => user.post('/integrations/items/sync', { data_source_id: id });
      expect(await list(box, stranger)).toMatchObject(refusal(404));
      expect(await list(feed)).toMatchObject(refusal(400));
      await revokeSource(service, who.owner, box);
      expect(await list(box)).toMatchObject(refusal(409));
      expect(await who.runs()).toEqual([]);
    });

    test('are returned by filter, in the requested order', async () => {
      const who = await createUser();
      const id = await connect(who, 'CONFLUENCE');
      const firstId = reserveIds(5);
      const at = new Date();
      const item = (index: number, externalId: string, parentExternalId: string | null, fields: object = {}) => ({
        ...{ _id: firstId + index, ...who.owner, dataSourceId: id, source: 'CONFLUENCE', externalId, parentExternalId },
        ...{ rootExternalId: null, name: `item ${externalId}`, itemType: 'PAGE', externalUrl: null, fileFormat: null },
        ...{ isSelectable: true, isExpandable: false, listedBy: 1, syncedAt: at, createdAt: at, updatedAt: at },
        ...fields,
      });
      await database
        .collection('items')
        .insertMany([
          item(0, 'd', null, { isExpandable: true, itemType: 'SPACE' }),
          item(1, 'b', 'd'),
          item(2, 'c', 'd', { fileFormat: 'PDF', itemType: 'FILE' }),
          item(3, 'a', null),
          item(4, 'e', 'b'),
        ] as never[]);
      const [fileId] = await who.seed({
        fields: { externalFileId: 'b', source: 'CONFLUENCE', dataSourceId: id, accountId: id },
      });
      interface Items {
        readonly items: { readonly external_id: string; readonly organization_user_file_to_sync_id: number | null }[];
        readonly count: number;
      }
      const items = async (body: object): Promise<[string, number]> => {
        const listed = ok(await who.user.post<Items>('/integrations/items/list', { data_source_id: id, ...body }));
        return [listed.items.map((listedItem) => listedItem.external_id).join(''), listed.count];
      };
      await everyRow(
        [
          // Front-ends show an account as a folder tree, so a request without a filter lists the top level.
          [{}, 'ad', 2],
          [{ parent_id: '' }, 'ad', 2],
          [{ filters: { name: '', ids: [], file_formats: [] } }, 'ad', 2],
          [{ parent_id: 'd' }, 'bc', 2],
          [{ filters: { root_files_only: true } }, 'ad', 2],
          [{ filters: { root_files_only: false } }, 'abcde', 5],
          [{ filters: { external_ids: ['e', 'b'] } }, 'be', 2],
          [{ filters: { ids: [firstId + 2] } }, 'c', 1],
          [{ filters: { name: 'ITEM B' } }, 'b', 1],
          [{ filters: { file_formats: ['PDF'] } }, 'c', 1],
          [{ filters: { item_types: ['SPACE', 'FILE'] } }, 'cd', 2],
          [{ parent_id: 'd', filters: { file_formats: ['PDF'] } }, 'c', 1],
          [{ order_dir: 'desc' }, 'da', 2],
          [{ order_by: 'directories_first' }, 'da', 2],
          [{ filters: { name: 'item' }, pagination: { limit: 2, offset: 1 } }, 'bc', 5],
          [{ filters: { name: 'item' }, order_by: 'id' }, 'dbcae', 5],
        ] as [object, string, number][],
        ([body]) => JSON.stringify(body),
        async ([body, expectedIds, count]) => expect(await items(body)).toEqual([expectedIds, count]),
      );
      const below = { data_source_id: id, parent_id: 'd' };
      const { items: rows } = ok(await who.user.post<Items>('/integrations/items/list', below));
      expect(rows.map((row) => row.organization_user_file_to_sync_id)).toEqual([fileId, null]);
      const tree = async (body: object) =>
        ok(await who.user.post<{ data: unknown }>('/integrations/confluence/list', { data_source_id: id, ...body }))
          .data;
      expect(await tree({})).toEqual([
        { id: 'a', name: 'item a', has_children: false, is_synced: false },
        { id: 'd', name: 'item d', has_children: true, is_synced: false },
      ]);
      expect(await tree({ parent_id: 'd' })).toEqual([
        { id: 'b', name: 'item b', has_children: true, is_synced: true },
        { id: 'c', name: 'item c', has_children: false, is_synced: false },
      ]);
      const box = await connect(who, 'BOX');
      expect(await who.user.post('/integrations/confluence/list', { data_source_id: box })).toMatchObject(refusal(404));
    });
  });

  describe('selection', () => {
    /** Returns the only run of a user, with its selection as text. */
    const onlyRun = async ({ runs }: StoredUser) => {
      const [run] = await runs();
      const { walk } = run!.progress as { walk: unknown };
      return { ...run!, selection: JSON.stringify(walk) };
    };

    test('creates a run with all requested options, and an UPDATE event', async () => {
      const who = await createUser();
      const id = await connect(who, 'ONEDRIVE');
      const body = {
        ...{
          data_source_id: id,
          ids: ['folder-1', { id: 'file-2', root_id: 'drive-3' }],
          tags: { team: 'support' },
          chunk_size: 300,
        },
        ...{ use_ocr: true, incremental_sync: true, request_id: 'handbook-2026', max_tokens: 50_000 },
      };
      expect(ok(await who.user.post('/integrations/files/sync', body))).toEqual({ success: true });
      const run = await onlyRun(who);
      expect(run).toMatchObject({
        ...{
          kind: 'syncSource',
          workflowId: `sync-source:${run._id}`,
          dataSourceId: id,
          requestId: 'handbook-2026',
          maxTokens: 50_000,
        },
        request: { tags: { team: 'support' }, incremental: true, ingest: { chunkSize: 300, useOcr: true } },
      });
      for (const selectedId of ['folder-1', 'file-2', 'drive-3']) expect(run.selection).toContain(selectedId);
      expect(await who.events()).toEqual([`ADD ${id}`, `UPDATE ${id}`]);
      expect(await sourceOf(id)).toMatchObject({ lastSyncAction: 'UPDATE' });
    });

    test('by the sync of one source uses the account in data_source_id, else the only one with access', async () => {
      const who = await createUser();
      const [firstAccount, secondAccount] = [await connect(who, 'SLACK'), await connect(who, 'SLACK', 'b')];
      const box = await connect(who, 'BOX');
      const sync = (id?: number) =>
        who.user.post('/integrations/slack/sync', {
          ...{ filters: { conversation_id: 'C0123ABCD' } },
          ...(id !== undefined && { data_source_id: id }),
        });
      expect(await sync()).toMatchObject(refusal(400));
      expect(await sync(box)).toMatchObject(refusal(404));
      await revokeSource(service, who.owner, firstAccount);
      expect(await sync(firstAccount)).toMatchObject(refusal(409));
      ok(await sync());
      expect(await onlyRun(who)).toMatchObject({
        dataSourceId: secondAccount,
        selection: expect.stringContaining('C0123ABCD'),
      });
      const { user } = await createUser();
      expect(await user.post('/integrations/slack/sync', { filters: { conversation_id: 'C0123ABCD' } })).toMatchObject(
        refusal(404),
      );
    });

    test('is accepted if its ids and filters are valid, and otherwise refused without a run', () =>
      everyRow(
        [
          ['S3', '/integrations/s3/files', { ids: [{ bucket: 'b' }] }, ['b']],
          ['S3', '/integrations/s3/files', { ids: [{ bucket: 'manuals', prefix: 'public/' }] }, ['manuals', 'public/']],
          ['S3', '/integrations/s3/files', { ids: [{ bucket: 'b', id: 'k' }] }, ['b', 'k']],
          ['S3', '/integrations/s3/files', { ids: [{ id: 'whole' }] }, ['whole']],
          ['S3', '/integrations/s3/files', { ids: [{ id: 'k', prefix: 'p' }] }, null],
          ['S3', '/integrations/s3/files', { ids: [{ bucket: '', prefix: 'p' }] }, null],
          ['AZURE_BLOB_STORAGE', '/integrations/azure_blob_storage/files', { ids: [{ container: 'c' }] }, ['c']],
          [
            'AZURE_BLOB_STORAGE',
            '/integrations/azure_blob_storage/files',
            { ids: [{ container: 'manuals', id: 'public/pump.pdf' }] },
            ['manuals', 'public/pump.pdf'],
          ],
          ['AZURE_BLOB_STORAGE', '/integrations/azure_blob_storage/files', { ids: [{ id: 'k' }] }, ['k']],
          ['AZURE_BLOB_STORAGE', '/integrations/azure_blob_storage/files', { ids: [{ id: '' }] }, null],
          ['GITBOOK', '/integrations/gitbook/sync', { space_ids: ['handbook', 'faq'] }, ['handbook', 'faq']],
          ['GITBOOK', '/integrations/gitbook/sync', { space_ids: Array.from({ length: 21 }, String) }, null],
          ['CONFLUENCE', '/integrations/confluence/sync', { ids: ['p'] }, ['p']],
          ['GMAIL', '/integrations/gmail/sync', { filters: LABEL }, [base64(LABEL)]],
          ['GMAIL', '/integrations/gmail/sync', { filters: { key: 'nothing', value: 'inbox' } }, null],
          [
            'SLACK',
            '/integrations/slack/sync',
            { filters: { conversation_id: 'C0123ABCD', after: '2026/01/02' } },
            ['C0123ABCD', '1767312000'],
          ],
          ['SLACK', '/integrations/slack/sync', { filters: { conversation_id: 'C1', after: 'yesterday' } }, null],
          ['SLACK', '/integrations/slack/sync', { filters: { conversation_id: 'no id' } }, null],
        ] as [SourceType, string, object, string[] | null][],
        ([, path, body]) => `${path} ${JSON.stringify(body)}`,
        async ([type, path, body, selectedIds]) => {
          const who = await createUser();
          const id = await connect(who, type);
          const answer = await who.user.post(path, { data_source_id: id, ...body });
          if (selectedIds === null) {
            expect(answer).toMatchObject(refusal(422));
            expect(await who.runs()).toEqual([]);
            return;
          }
          ok(answer);
          const run = await onlyRun(who);
          expect(run).toMatchObject({ kind: 'syncSource', dataSourceId: id });
          for (const part of selectedIds) expect(run.selection).toContain(part);
        },
      ));
  });

  test('a revocation aborts waiting files and expires quarantined files; a second one changes nothing', async () => {
    const who = await createUser();
    const id = await connect(who, 'BOX');
    const states = ['QUEUED_FOR_SYNC', 'DELAYED', 'SYNCING', 'READY'] as const;
    await who.seed(...states.map((syncStatus) => ({ fields: { syncStatus, dataSourceId: id } })), {
      fields: { syncStatus: 'QUEUED_FOR_SYNC' },
    });
    const keptUntil = new Date(Date.now() + 3_600_000);
    const row = { ...who.owner, dataSourceId: id, parentId: null, state: 'kept', missedBy: 1, runId: 1, copy: null };
    const [inside, outside] = [reserveIds(1), reserveIds(1)];
    await database.collection('quarantined_files').insertMany([
      { ...row, _id: inside, quarantinedAt: new Date(), keptUntil, file: {} },
      { ...row, _id: outside, dataSourceId: id + 1, quarantinedAt: new Date(), keptUntil, file: {} },
    ] as never[]);
    const revoke = ({ user } = who) => user.post('/revoke_access_token', { data_source_id: id });
    expect(await revoke(await createUser())).toMatchObject(refusal(404));
    expect((await sourceOf(id))?.revokedAccess).toBe(false);
    for (let call = 0; call < 2; call += 1) expect(ok(await revoke())).toEqual({ success: true });
    expect(await sourceOf(id)).toMatchObject({
      revokedAccess: true,
      sealedCredentials: null,
      lastSyncAction: 'REVOKE',
    });
    expect((await who.files()).map(({ syncStatus }) => syncStatus)).toEqual([
      ...['SYNC_ABORTED', 'SYNC_ABORTED', 'SYNCING', 'READY', 'QUEUED_FOR_SYNC'],
    ]);
    const events = await who.events();
    expect(events.filter((event) => event === `REVOKE ${id}`)).toHaveLength(1);
    const until = async (of: number) =>
      (await database.collection('quarantined_files').findOne({ _id: of as never }))!['keptUntil'] as Date;
    expect((await until(inside)).getTime()).toBeLessThanOrEqual(Date.now());
    expect(await until(outside)).toEqual(keptUntil);
    await database.collection('quarantined_files').deleteMany({ userId: who.owner.userId });
  });

  test('held deletions of a data source are listed, and approved or refused', async () => {
    const who = await createUser();
    const ids = [await connect(who, 'BOX'), await connect(who, 'NOTION'), await connect(who, 'GURU')];
    const sources = database.collection<DataSourceDoc>('dataSources');
    await sources.updateMany({ _id: { $in: ids.slice(0, 2) } }, { $set: { 'metadata.deletions_held': 12 } });
    const listHeld = async (query = '', client = key) => {
      const { results, count } = ok(await client.get<Listed<{ id: number }>>(`/data_sources/held_deletions${query}`));
      return [results.map(({ id }) => id), count];
    };
    expect(await listHeld()).toEqual([ids.slice(0, 2), 2]);
    expect(await listHeld('?limit=1&offset=1')).toEqual([[ids[1]], 2]);
    expect(await listHeld('', otherKey)).toEqual([[], 0]);
    const decide = (id: number, decision: string, client = key) =>
      client.post<DataSourceRecord>(`/data_sources/${id}/held_deletions/${decision}`, {});
    for (const how of ['approve', 'refuse']) {
      expect(await decide(ids[0]!, how, otherKey)).toMatchObject(refusal(404));
      expect(await decide(ids[2]!, how)).toMatchObject(refusal(409));
    }
    expect(await who.runs()).toEqual([]);
    expect(ok(await decide(ids[0]!, 'approve')).sync_status).toBe('QUEUED_FOR_SYNCING');
    expect(await sourceOf(ids[0]!)).toMatchObject({ deletionsApproved: true });
    expect(await who.runs()).toMatchObject([
      { kind: 'syncItems', dataSourceId: ids[0], customerId: who.owner.customerId },
    ]);
    expect(ok(await decide(ids[1]!, 'refuse')).data_source_metadata).toEqual({});
    expect(await sourceOf(ids[1]!)).toMatchObject({ deletionsApproved: false });
    expect(await who.runs()).toHaveLength(1);
    await sources.updateOne({ _id: ids[0]! }, { $set: { revokedAccess: true, 'metadata.deletions_held': 1 } });
    expect(await decide(ids[0]!, 'approve')).toMatchObject(refusal(409));
    await sources.updateMany({ _id: { $in: ids } }, { $unset: { 'metadata.deletions_held': 1 } });
  });

  test('held deletions of a scrape are listed, and approved or refused', async () => {
    const who = await createUser();
    const container = { isContainer: true, syncStatus: 'READY' } as const;
    const [first, second, page, plain] = await who.seed(
      { fields: { ...container, fileMetadata: { deletions_held: 3 } } },
      { fields: { ...container, fileMetadata: { deletions_held: 4 } } },
      { fields: { fileMetadata: { deletions_held: 5 } } },
      { fields: container },
    );
    const listHeld = async (query = '', client = key) => {
      const { results, count } = ok(await client.get<Listed<{ id: number }>>(`/files/held_deletions${query}`));
      return [results.map(({ id }) => id), count];
    };
    expect(await listHeld()).toEqual([[first, second], 2]);
    expect(await listHeld('?limit=1&offset=1')).toEqual([[second], 2]);
    expect(await listHeld('', otherKey)).toEqual([[], 0]);
    const decide = (id: number, how: string, client = key) =>
      client.post<FileRecord>(`/files/${id}/held_deletions/${how}`, {});
    for (const how of ['approve', 'refuse']) {
      expect(await decide(first!, how, otherKey)).toMatchObject(refusal(404));
      expect(await decide(page!, how)).toMatchObject(refusal(404));
      expect(await decide(plain!, how)).toMatchObject(refusal(409));
    }
    expect(ok(await decide(first!, 'approve')).file_metadata).toEqual({ deletions_held: 3 });
    expect(ok(await decide(second!, 'refuse')).file_metadata).toEqual({});
    expect((await who.files()).map(({ deletionsApproved }) => deletionsApproved)).toEqual([
      true,
      false,
      undefined,
      undefined,
    ]);
    await database.collection('files').deleteMany({ userId: who.owner.userId });
  });
}
