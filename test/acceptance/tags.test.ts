import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { createTemporalClient } from '../../dispatch/client.js';
import { workflowIds } from '../../contract/orchestration.js';
import type { DataSourceRecord, FileRecord } from '../../contract/records.js';
import type { Tenant } from '../../store/users/accept.js';
import { startHeldSite } from '../emulators/heldSite.js';
import { type Site, startSampleSite } from '../emulators/site.js';
import { adoptFiles, connectSource, pointTags } from '../support/dataSources.js';
import { testEngines } from '../support/engines.js';
import { startService, type TestService } from '../support/service.js';
import type { TestUser } from '../support/client.js';
import { waitFor } from '../support/waitFor.js';

let service: TestService;
let site: Site;
let user: TestUser;
let owner: Tenant & { customerId: string };
let client: Client;
let parent: FileRecord;
let pages: FileRecord[];

const QUERY = 'words';
/** The files that a search filtered by a tag finds. */
const found = async (key: string, value: unknown): Promise<number[]> => {
  const documents = await user.search({ query: QUERY, k: 50, tags_v2: { AND: [{ key, value }] } });
  return [...new Set(documents.map((one) => one.file_id))].toSorted((a, b) => a - b);
};
const change = async (op: 'add' | 'remove', body: Record<string, unknown>): Promise<DataSourceRecord> => {
  const answer = await user.post<DataSourceRecord>(`/data_sources/tags/${op}`, body);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
};
/** Waits until no tag run of the data source is to come: the version that was copied is the latest. */
async function copied(id: number): Promise<void> {
  await waitFor(
    () => service.store.dataSources.find(owner, id),
    (source) => source !== null && source.tagsCopied === source.tagsVersion,
  );
}
/** Waits until the points of a file carry just these tags. */
async function pointsCarry(fileId: number, tags: readonly string[]): Promise<void> {
  await waitFor(
    () => pointTags(service, fileId),
    (seen) => isDeepStrictEqual(seen, [tags]),
  );
}

beforeAll(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' });
  client = createTemporalClient({ address: testEngines().temporalAddress, namespace: 'default' });
  site = await startSampleSite(3, 2);
  user = await service.user('tara');
  owner = await service.store.users.ensure(1, 'tara');
  parent = await user.settled((await user.scrape({ url: site.url('/sitemap.xml'), tags: { own: 'page' } })).id);
  pages = await user.children(parent.id);
});
afterAll(async () => {
  await service.close();
  await site.close();
  await client.connection.close();
});

describe('tags of a data source', () => {
  test('the record has them at once; a search finds its files after an add, and no more after a remove', async () => {
    const { _id } = await connectSource(service, owner, { tags: { first: 'tag' } });
    const [one, two] = pages.map(({ id }) => id) as [number, number, number];
    await adoptFiles(service, _id, [one, two]);
    expect(await found('team', 'red')).toEqual([]);

    const added = await change('add', { data_source_id: _id, tags: { team: ['red', 'blue'], level: 4, live: true } });
    expect(added.tags).toEqual({ first: 'tag', team: ['red', 'blue'], level: 4, live: true });
    expect(added.last_sync_action).toBe('ADD');
    await copied(_id);
    expect(await found('team', 'red')).toEqual([one, two]);
    expect(await found('level', 4)).toEqual([one, two]);
    expect(await found('own', 'page')).toEqual(pages.map(({ id }) => id).toSorted((a, b) => a - b));
    const all = ['first=tag', 'team=red', 'team=blue', 'level=4', 'live=true', 'own=page'];
    expect(await pointTags(service, one)).toEqual([all]);
    expect((await user.file(one)).tags).toEqual({ ...added.tags, own: 'page' });

    const removed = await change('remove', { data_source_id: _id, tags_to_remove: ['team', 'unknown'] });
    expect(removed.tags).toEqual({ first: 'tag', level: 4, live: true });
    await copied(_id);
    expect(await found('team', 'red')).toEqual([]);
    expect(await found('level', 4)).toEqual([one, two]);

    expect((await change('remove', { data_source_id: _id, remove_all_tags: true })).tags).toEqual({});
    await copied(_id);
    expect(await found('level', 4)).toEqual([]);
    expect(await pointTags(service, one)).toEqual([['own=page']]);
    // The third page is in no data source: nothing of this was about it.
    expect(await pointTags(service, pages[2]!.id)).toEqual([['own=page']]);
  });

  test('a key is replaced whole, the others stay; no tags change nothing, and start nothing', async () => {
    const { _id, updatedAt, tagsVersion } = await connectSource(service, owner, { tags: { a: ['x', 'y'], b: 1 } });
    const same = await change('add', { data_source_id: _id, tags: {} });
    expect(same).toMatchObject({ tags: { a: ['x', 'y'], b: 1 }, updated_at: updatedAt.toISOString() });
    expect((await service.store.dataSources.find(owner, _id))?.tagsVersion).toBe(tagsVersion);
    expect((await change('add', { data_source_id: _id, tags: { a: 'z' } })).tags).toEqual({ a: 'z', b: 1 });
    await copied(_id);
  });

  test('the run is one a source, and is found by the source\u2019s search attribute', async () => {
    const { _id } = await connectSource(service, owner);
    await change('add', { data_source_id: _id, tags: { seen: 'yes' } });
    await copied(_id);
    const handle = client.workflow.getHandle(service.names.idOf(workflowIds.updateTags(_id)));
    await handle.result();
    const { type, typedSearchAttributes } = await handle.describe();
    const dataSource = typedSearchAttributes.get(defineSearchAttributeKey('DataSourceId', 'KEYWORD'));
    expect({ type, dataSource }).toEqual({ type: 'updateTags', dataSource: String(_id) });
  });

  test('changes that come one upon the other are all there in the end, and the last of a key wins', async () => {
    const { _id } = await connectSource(service, owner);
    await adoptFiles(service, _id, [pages[0]!.id]);
    const numbers = Array.from({ length: 8 }, (_, number) => number);
    await Promise.all(numbers.map((n) => change('add', { data_source_id: _id, tags: { [`key${n}`]: n } })));
    const last = await change('add', { data_source_id: _id, tags: { key0: 'last' } });
    expect(last.tags).toEqual({ ...Object.fromEntries(numbers.map((n) => [`key${n}`, n])), key0: 'last' });
    await copied(_id);
    expect(await found('key7', 7)).toEqual([pages[0]!.id]);
    expect(await found('key0', 'last')).toEqual([pages[0]!.id]);
    expect(await found('key0', 0)).toEqual([]);
    await change('remove', { data_source_id: _id, remove_all_tags: true });
    await copied(_id);
  });

  test('a change during a run is not lost, and files that are being synced get the tags as well', async () => {
    const held = await startHeldSite(4);
    try {
      const { _id } = await connectSource(service, owner);
      const scrape = await user.scrape({ url: held.url('/sitemap.xml') });
      // Two pages answer, the others are held: some are done and some are being fetched when the tags come.
      const children = await waitFor(
        () => user.children(scrape.id),
        (files) => files.filter((file) => file.sync_status === 'READY').length === 2,
      );
      const ids = children.map(({ id }) => id).toSorted((a, b) => a - b);
      const syncing = children.find((file) => file.sync_status === 'SYNCING');
      expect(syncing).toBeDefined();
      await adoptFiles(service, _id, ids);
      await change('add', { data_source_id: _id, tags: { during: 'one' } });
      await change('add', { data_source_id: _id, tags: { during: 'two', more: 'yes' } });
      await copied(_id);
      held.release();
      await user.settled(scrape.id);
      expect(await found('during', 'two')).toEqual(ids);
      expect(await found('during', 'one')).toEqual([]);
      expect(await pointTags(service, syncing!.id)).toEqual([['during=two', 'more=yes']]);
    } finally {
      held.release();
      await held.close();
    }
  });

  test('a later sync of a file keeps the tags of its source', async () => {
    const { _id } = await connectSource(service, owner);
    const { id } = pages[1]!;
    await adoptFiles(service, _id, [id]);
    await change('add', { data_source_id: _id, tags: { stays: 'yes' } });
    await copied(_id);
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
  ])('tags that are %s are 422, and the record is unchanged', async (_what, tags) => {
    const { _id } = await connectSource(service, owner, { tags: { kept: 1 } });
    const before = await service.store.dataSources.find(owner, _id);
    const { status, body } = await user.post<{ detail: { loc: string[] }[] }>('/data_sources/tags/add', {
      data_source_id: _id,
      tags,
    });
    expect(status).toBe(422);
    expect(body.detail[0]?.loc.slice(0, 2)).toEqual(['body', 'tags']);
    expect(await service.store.dataSources.find(owner, _id)).toEqual(before);
  });

  test('an unknown data source is 404, another user\u2019s alike, which stays as it is', async () => {
    const stranger = await service.store.users.ensure(1, 'sam');
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

  test('are upserted, what is not text becomes text, and they reach the vectors', async () => {
    const { id } = pages[2]!;
    const tagged = await edit('create', id, { four: 4, yes: true, list: [1, 2], text: 'a=b', own: 'mine' });
    expect(tagged.tags).toEqual({ own: 'mine', four: '4', yes: 'true', list: ['1', '2'], text: 'a=b' });
    // A search asks the points, which have them a moment after the record.
    await pointsCarry(id, ['own=mine', 'four=4', 'yes=true', 'list=1', 'list=2', 'text=a=b']);
    expect(await found('four', 4)).toEqual([id]);
    const untagged = await edit('delete', id, ['four', 'list', 'unknown']);
    expect(untagged.tags).toEqual({ own: 'mine', yes: 'true', text: 'a=b' });
    await pointsCarry(id, ['own=mine', 'yes=true', 'text=a=b']);
    expect(await found('four', 4)).toEqual([]);
  });

  test('stay when the page is scraped again, with those of the new scrape upserted', async () => {
    const { id } = pages[2]!;
    await edit('create', id, { mine: 'kept', own: 'other' });
    await user.settled((await user.scrape({ url: site.url('/sitemap.xml'), tags: { own: 'again' } })).id);
    expect((await user.settled(id)).tags).toMatchObject({ mine: 'kept', own: 'again' });
    expect((await pointTags(service, id))[0]).toEqual(expect.arrayContaining(['mine=kept', 'own=again']));
  });

  test('a tag of the data source is not taken off a file, and an own one of the same key wins over it', async () => {
    const { _id } = await connectSource(service, owner);
    const { id } = pages[0]!;
    await adoptFiles(service, _id, [id]);
    await change('add', { data_source_id: _id, tags: { shared: 'source' } });
    await copied(_id);
    expect((await edit('delete', id, ['shared'])).tags).toMatchObject({ shared: 'source' });
    expect((await edit('create', id, { shared: 'file' })).tags).toMatchObject({ shared: 'file' });
    expect((await edit('delete', id, ['shared'])).tags).toMatchObject({ shared: 'source' });
  });

  test('keys with an equals sign are not taken for others', async () => {
    const { id } = pages[1]!;
    await edit('create', id, { 'a=b': 'c' });
    await waitFor(
      () => found('a=b', 'c'),
      (ids) => ids.length > 0,
    );
    expect(await found('a=b', 'c')).toEqual([id]);
    expect(await found('a', 'b=c')).toEqual([]);
  });

  test.each([
    ['create', []],
    ['create', { user_id: 'x' }],
    ['create', { deep: { er: 1 } }],
    ['delete', 'own'],
    ['delete', [1]],
  ] as const)('%s with %j is 422', async (op, tags) => {
    const body = { organization_user_file_id: pages[0]!.id, tags };
    expect((await user.post(`/${op}_user_file_tags`, body)).status).toBe(422);
  });

  test('of an unknown file is 404', async () => {
    expect((await user.post('/create_user_file_tags', { organization_user_file_id: 2 ** 40, tags: {} })).status).toBe(
      404,
    );
  });
});
