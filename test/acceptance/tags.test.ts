import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { createTemporalClient } from '../../dispatch/client.js';
import { workflowIds } from '../../contract/runs/workflowIds.js';
import type { DataSourceRecord, FileRecord } from '../../contract/files/records.js';
import type { Tenant } from '../../store/users/accept.js';
import { startHeldSite } from '../emulators/heldSite.js';
import { type Site, startSampleSite } from '../emulators/site.js';
import { adoptFiles, connectSource, pointTags } from '../support/dataSources.js';
import { testEngines } from '../support/engines.js';
import { type SharedService, sharedService } from '../support/sharedService.js';
import type { TestUser } from '../support/client.js';
import { thoroughly } from '../support/thorough.js';
import { waitFor } from '../support/waitFor.js';

let service: SharedService;
let site: Site;
let user: TestUser;
let owner: Tenant & { customerId: string };
let client: Client;
let parent: FileRecord;
let pages: FileRecord[];

const QUERY = 'words';
/** Returns the ids of the files that a search with a tag filter finds, ascending. */
const fileIdsByTag = async (key: string, value: unknown): Promise<number[]> => {
  const documents = await user.search({ query: QUERY, k: 50, tags_v2: { AND: [{ key, value }] } });
  return [...new Set(documents.map((document) => document.file_id))].toSorted((a, b) => a - b);
};
const change = async (op: 'add' | 'remove', body: Record<string, unknown>): Promise<DataSourceRecord> => {
  const answer = await user.post<DataSourceRecord>(`/data_sources/tags/${op}`, body);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
};
/** Waits until a run has copied the latest version of the data source's tags to its files. */
async function tagsCopied(id: number): Promise<void> {
  await waitFor(
    () => service.store.dataSources.find(owner, id),
    (source) => source !== null && source.tagsCopied === source.tagsVersion,
  );
}
/** Waits until the points of a file have exactly these tags. */
async function pointsHaveTags(fileId: number, tags: readonly string[]): Promise<void> {
  await waitFor(
    () => pointTags(service, fileId),
    (current) => isDeepStrictEqual(current, [tags]),
  );
}

beforeAll(async () => {
  service = await sharedService();
  client = createTemporalClient({ address: testEngines().temporalAddress, namespace: 'default' });
  site = await startSampleSite(3, 1);
  user = await service.user('tara');
  owner = await service.store.users.ensure(service.organizationId, 'tara');
  parent = await user.settled((await user.scrape({ url: site.url('/sitemap.xml'), tags: { own: 'page' } })).id);
  pages = await user.children(parent.id);
});
afterAll(async () => {
  await service.close();
  await site.close();
  await client.connection.close();
});

describe('tags of a data source', () => {
  test('are in the record after the request; a search finds its files after an add, and not after a remove', async () => {
    const { _id } = await connectSource(service, owner, { tags: { first: 'tag' } });
    const [firstId, secondId] = pages.map(({ id }) => id) as [number, number, number];
    await adoptFiles(service, _id, [firstId, secondId]);
    expect(await fileIdsByTag('team', 'red')).toEqual([]);

    const added = await change('add', { data_source_id: _id, tags: { team: ['red', 'blue'], level: 4, live: true } });
    expect(added.tags).toEqual({ first: 'tag', team: ['red', 'blue'], level: 4, live: true });
    expect(added.last_sync_action).toBe('ADD');
    await tagsCopied(_id);
    expect(await fileIdsByTag('team', 'red')).toEqual([firstId, secondId]);
    expect(await fileIdsByTag('level', 4)).toEqual([firstId, secondId]);
    expect(await fileIdsByTag('own', 'page')).toEqual(pages.map(({ id }) => id).toSorted((a, b) => a - b));
    const expectedTags = ['first=tag', 'team=red', 'team=blue', 'level=4', 'live=true', 'own=page'];
    expect(await pointTags(service, firstId)).toEqual([expectedTags]);
    expect((await user.file(firstId)).tags).toEqual({ ...added.tags, own: 'page' });

    const removed = await change('remove', { data_source_id: _id, tags_to_remove: ['team', 'unknown'] });
    expect(removed.tags).toEqual({ first: 'tag', level: 4, live: true });
    await tagsCopied(_id);
    expect(await fileIdsByTag('team', 'red')).toEqual([]);
    expect(await fileIdsByTag('level', 4)).toEqual([firstId, secondId]);

    expect((await change('remove', { data_source_id: _id, remove_all_tags: true })).tags).toEqual({});
    await tagsCopied(_id);
    expect(await fileIdsByTag('level', 4)).toEqual([]);
    expect(await pointTags(service, firstId)).toEqual([['own=page']]);
    // The third page belongs to no data source, and is unchanged.
    expect(await pointTags(service, pages[2]!.id)).toEqual([['own=page']]);
  });

  test('replace all values of a key and keep other keys; empty tags change nothing and start no run', async () => {
    const { _id, updatedAt, tagsVersion } = await connectSource(service, owner, { tags: { a: ['x', 'y'], b: 1 } });
    const unchanged = await change('add', { data_source_id: _id, tags: {} });
    expect(unchanged).toMatchObject({ tags: { a: ['x', 'y'], b: 1 }, updated_at: updatedAt.toISOString() });
    expect((await service.store.dataSources.find(owner, _id))?.tagsVersion).toBe(tagsVersion);
    expect((await change('add', { data_source_id: _id, tags: { a: 'z' } })).tags).toEqual({ a: 'z', b: 1 });
    await tagsCopied(_id);
  });

  test('are copied by one run per source, with the source as search attribute', async () => {
    const { _id } = await connectSource(service, owner);
    await change('add', { data_source_id: _id, tags: { current: 'yes' } });
    await tagsCopied(_id);
    const handle = client.workflow.getHandle(service.names.idOf(workflowIds.updateTags(_id)));
    await handle.result();
    const { type, typedSearchAttributes } = await handle.describe();
    const dataSource = typedSearchAttributes.get(defineSearchAttributeKey('DataSourceId', 'KEYWORD'));
    expect({ type, dataSource }).toEqual({ type: 'updateTags', dataSource: String(_id) });
  });

  test('keep all concurrent changes; for one key, the last change takes effect', async () => {
    const { _id } = await connectSource(service, owner);
    await adoptFiles(service, _id, [pages[0]!.id]);
    const numbers = Array.from({ length: 4 }, (_, number) => number);
    await Promise.all(numbers.map((n) => change('add', { data_source_id: _id, tags: { [`key${n}`]: n } })));
    const lastAnswer = await change('add', { data_source_id: _id, tags: { key0: 'last' } });
    expect(lastAnswer.tags).toEqual({ ...Object.fromEntries(numbers.map((n) => [`key${n}`, n])), key0: 'last' });
    await tagsCopied(_id);
    expect(await fileIdsByTag('key3', 3)).toEqual([pages[0]!.id]);
    expect(await fileIdsByTag('key0', 'last')).toEqual([pages[0]!.id]);
    expect(await fileIdsByTag('key0', 0)).toEqual([]);
    await change('remove', { data_source_id: _id, remove_all_tags: true });
    await tagsCopied(_id);
  });

  test('keep a change that is made while a run copies an earlier one, and reach files that are being synced', async () => {
    const heldSite = await startHeldSite(4);
    try {
      const { _id } = await connectSource(service, owner);
      const scrape = await user.scrape({ url: heldSite.url('/sitemap.xml') });
      // The site answers two requests and holds the others, so two files are ready and the others are being fetched.
      const children = await waitFor(
        () => user.children(scrape.id),
        (files) => files.filter((file) => file.sync_status === 'READY').length === 2,
      );
      const ids = children.map(({ id }) => id).toSorted((a, b) => a - b);
      const syncing = children.find((file) => file.sync_status === 'SYNCING');
      expect(syncing).toBeDefined();
      await adoptFiles(service, _id, ids);
      await change('add', { data_source_id: _id, tags: { team: 'support' } });
      await change('add', { data_source_id: _id, tags: { team: 'sales', region: 'north' } });
      await tagsCopied(_id);
      heldSite.release();
      await user.settled(scrape.id);
      expect(await fileIdsByTag('team', 'sales')).toEqual(ids);
      expect(await fileIdsByTag('team', 'support')).toEqual([]);
      expect(await pointTags(service, syncing!.id)).toEqual([['team=sales', 'region=north']]);
    } finally {
      heldSite.release();
      await heldSite.close();
    }
  });

  // The files of the test above are also synced after the change.
  thoroughly('stay after a later sync of a file', async () => {
    const { _id } = await connectSource(service, owner);
    const { id } = pages[1]!;
    await adoptFiles(service, _id, [id]);
    await change('add', { data_source_id: _id, tags: { stays: 'yes' } });
    await tagsCopied(_id);
    await user.post('/resync_file', { file_id: id, chunk_size: 90 });
    expect((await user.settled(id)).tags).toEqual({ own: 'page', stays: 'yes' });
    expect(await pointTags(service, id)).toEqual([['stays=yes', 'own=page']]);
  });

  test.each([
    ['a list', []],
    ['a text', 'team'],
    ['null', null],
    ['a number', 5],
    ['a nested object', { team: { red: true } }],
    ['a value that is null', { team: null }],
    ['a reserved key', { organization_id: 'x' }],
    ['a key that starts with $', { $set: 'x' }],
    ['a mixed list', { team: ['red', 1] }],
  ])('are refused with 422 if they are %s, and the record is unchanged', async (_what, tags) => {
    const { _id } = await connectSource(service, owner, { tags: { kept: 1 } });
    const recordBefore = await service.store.dataSources.find(owner, _id);
    const { status, body } = await user.post<{ detail: { loc: string[] }[] }>('/data_sources/tags/add', {
      data_source_id: _id,
      tags,
    });
    expect(status).toBe(422);
    expect(body.detail[0]?.loc.slice(0, 2)).toEqual(['body', 'tags']);
    expect(await service.store.dataSources.find(owner, _id)).toEqual(recordBefore);
  });

  test('cannot be changed for an unknown or foreign data source, which returns 404', async () => {
    const stranger = await service.store.users.ensure(service.organizationId, 'sam');
    const { _id } = await connectSource(service, stranger, { tags: { kept: 1 } });
    for (const [op, body] of [
      ['add', { tags: { a: 1 } }],
      ['remove', { remove_all_tags: true }],
    ] as const) {
      const foreign = await user.post(`/data_sources/tags/${op}`, { data_source_id: _id, ...body });
      const missing = await user.post(`/data_sources/tags/${op}`, { data_source_id: 2 ** 40, ...body });
      expect(foreign.status).toBe(404);
      expect(foreign.body).toEqual(missing.body);
    }
    expect((await service.store.dataSources.find(stranger, _id))?.tags).toEqual([{ key: 'kept', value: 1 }]);
  });
});

describe('tags of a file', () => {
  const edit = async (op: 'create' | 'delete', fileId: number, tags: unknown): Promise<FileRecord> => {
    const answer = await user.post<FileRecord>(`/${op}_user_file_tags`, { organization_user_file_id: fileId, tags });
    expect(answer).toMatchObject({ status: 200 });
    return answer.body;
  };

  test('are upserted, converted to text, and copied to the vectors', async () => {
    const { id } = pages[2]!;
    const tagged = await edit('create', id, { four: 4, yes: true, list: [1, 2], text: 'a=b', own: 'mine' });
    expect(tagged.tags).toEqual({ own: 'mine', four: '4', yes: 'true', list: ['1', '2'], text: 'a=b' });
    // A search reads the points, which get the tags shortly after the record.
    await pointsHaveTags(id, ['own=mine', 'four=4', 'yes=true', 'list=1', 'list=2', 'text=a=b']);
    expect(await fileIdsByTag('four', 4)).toEqual([id]);
    const untagged = await edit('delete', id, ['four', 'list', 'unknown']);
    expect(untagged.tags).toEqual({ own: 'mine', yes: 'true', text: 'a=b' });
    await pointsHaveTags(id, ['own=mine', 'yes=true', 'text=a=b']);
    expect(await fileIdsByTag('four', 4)).toEqual([]);
  });

  test('stay when the page is scraped again, and the tags of the new scrape are upserted', async () => {
    const { id } = pages[2]!;
    await edit('create', id, { mine: 'kept', own: 'other' });
    await user.settled((await user.scrape({ url: site.url('/sitemap.xml'), tags: { own: 'again' } })).id);
    expect((await user.settled(id)).tags).toMatchObject({ mine: 'kept', own: 'again' });
    expect((await pointTags(service, id))[0]).toEqual(expect.arrayContaining(['mine=kept', 'own=again']));
  });

  test('override tags of the data source with the same key, which cannot be removed from a file', async () => {
    const { _id } = await connectSource(service, owner);
    const { id } = pages[0]!;
    await adoptFiles(service, _id, [id]);
    await change('add', { data_source_id: _id, tags: { team: 'support' } });
    await tagsCopied(_id);
    expect((await edit('delete', id, ['team'])).tags).toMatchObject({ team: 'support' });
    expect((await edit('create', id, { team: 'sales' })).tags).toMatchObject({ team: 'sales' });
    expect((await edit('delete', id, ['team'])).tags).toMatchObject({ team: 'support' });
  });

  test('with an equals sign in the key match only that key', async () => {
    const { id } = pages[1]!;
    await edit('create', id, { 'a=b': 'c' });
    await waitFor(
      () => fileIdsByTag('a=b', 'c'),
      (ids) => ids.length > 0,
    );
    expect(await fileIdsByTag('a=b', 'c')).toEqual([id]);
    expect(await fileIdsByTag('a', 'b=c')).toEqual([]);
  });

  test.each([
    ['create', []],
    ['create', { user_id: 'x' }],
    ['create', { deep: { er: 1 } }],
    ['delete', 'own'],
    ['delete', [1]],
  ] as const)('are refused by the %s operation if they are %j', async (op, tags) => {
    const body = { organization_user_file_id: pages[0]!.id, tags };
    expect((await user.post(`/${op}_user_file_tags`, body)).status).toBe(422);
  });

  test('cannot be created for an unknown file, which returns 404', async () => {
    expect((await user.post('/create_user_file_tags', { organization_user_file_id: 2 ** 40, tags: {} })).status).toBe(
      404,
    );
  });
});
