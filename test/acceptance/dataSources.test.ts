import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { DataSourceRecord } from '../../contract/files/records.js';
import type { Tenant } from '../../store/users/accept.js';
import { apiClient, type ApiClient, type Listed, type TestUser } from '../support/client.js';
import { adoptFiles, connectSource, revokeSource } from '../support/dataSources.js';
import { type SharedService, sharedService } from '../support/sharedService.js';

let service: SharedService;
let user: TestUser;
let key: ApiClient;
let owner: Tenant & { customerId: string };
let otherUser: Tenant & { customerId: string };

beforeAll(async () => {
  service = await sharedService({ worker: false });
  user = await service.user('dora');
  key = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
  const { organizationId, store } = service;
  [owner, otherUser] = [
    await store.users.ensure(organizationId, 'dora'),
    await store.users.ensure(organizationId, 'otto'),
  ];
});
afterAll(async () => service.close());

const listed = async (
  body: Record<string, unknown>,
  { path = '/user_data_sources', client = user as ApiClient } = {},
): Promise<Listed<DataSourceRecord>> => {
  const answer = await client.post<Listed<DataSourceRecord>>(path, body);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
};
const byNumber = (a: number, b: number): number => a - b;
const ids = async (body: Record<string, unknown>, from = {}): Promise<number[]> =>
  (await listed(body, from)).results.map(({ id }) => id);

describe('lists of data sources', () => {
  let drive: number;
  let slack: number;
  let notion: number;
  let foreign: number;

  beforeAll(async () => {
    const make = async (account: typeof owner, connection: Parameters<typeof connectSource>[2]) =>
      (await connectSource(service, account, connection))._id;
    drive = await make(owner, { externalId: 'GOOGLE_DRIVE|a@b.c', tags: { team: 'red', size: 4 } });
    slack = await make(owner, { type: 'SLACK', externalId: 'SLACK|a', tags: { team: ['blue', 'red'] } });
    notion = await make(owner, { type: 'NOTION', externalId: 'NOTION|a' });
    foreign = await make(otherUser, { externalId: 'GOOGLE_DRIVE|a@b.c', tags: { team: 'red' } });
    await revokeSource(service, owner, notion);
  });

  test('a record has the keys of the contract and those of api/extensions.ts, and shows only that credentials exist', async () => {
    const { results } = await listed({ filters: { ids: [drive] } });
    expect(results).toEqual([
      {
        id: drive,
        ...{ workflow_id: null, workflow_url: null },
        data_source_external_id: 'GOOGLE_DRIVE|a@b.c',
        data_source_type: 'GOOGLE_DRIVE',
        token: {},
        sync_status: 'READY',
        source_items_synced_at: null,
        organization_user_id: owner.userId,
        organization_id: service.organizationId,
        organization_supplied_user_id: 'dora',
        revoked_access: false,
        last_synced_at: expect.stringMatching(/^\d{4}-.*Z$/),
        last_sync_action: 'ADD',
        enable_auto_sync: null,
        created_at: expect.stringMatching(/^\d{4}-.*Z$/),
        updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
        files_synced_at: null,
        data_source_metadata: {},
        tags: { team: 'red', size: 4 },
      },
    ]);
  });

  test('an end user sees only their data sources, an organization those of all its users', async () => {
    expect(await listed({})).toMatchObject({ count: 3 });
    expect((await ids({})).toSorted(byNumber)).toEqual([drive, slack, notion].toSorted(byNumber));
    const ofOrganization = { path: '/data_sources', client: key };
    expect((await ids({}, ofOrganization)).toSorted(byNumber)).toEqual(
      [drive, slack, notion, foreign].toSorted(byNumber),
    );
    const stranger = await service.store.organizations.create('stranger');
    const elsewhere = apiClient(service.url, { authorization: `Bearer ${stranger.apiKey}` });
    expect(await listed({}, { path: '/data_sources', client: elsewhere })).toEqual({ results: [], count: 0 });
  });

  const FILTERS: readonly (readonly [string, () => Record<string, unknown>, () => number[]])[] = [
    ['source', () => ({ source: 'SLACK' }), () => [slack]],
    ['ids', () => ({ ids: [slack, notion, foreign] }), () => [slack, notion]],
    ['no ids mean all', () => ({ ids: [] }), () => [drive, slack, notion]],
    ['revoked_access true', () => ({ revoked_access: true }), () => [notion]],
    ['revoked_access false', () => ({ revoked_access: false }), () => [drive, slack]],
    ['nulls', () => ({ source: null, ids: null, revoked_access: null, tags: null }), () => [drive, slack, notion]],
    ['tags {}', () => ({ tags: {} }), () => [drive, slack, notion]],
    ['a tag', () => ({ tags: { AND: [{ key: 'team', value: 'red' }] } }), () => [drive, slack]],
    ['a number', () => ({ tags: { OR: [{ key: 'size', value: 4 }] } }), () => [drive]],
    ['a list', () => ({ tags: { OR: [{ key: 'team', value: ['blue', 'green'] }] } }), () => [slack]],
    ['negate', () => ({ tags: { AND: [{ key: 'team', value: 'red', negate: true }] } }), () => [notion]],
    [
      'a tree',
      () => ({
        tags: {
          OR: [
            { AND: [{ key: 'team', value: 'red' }, { OR: [{ key: 'team', value: 'blue' }] }] },
            { key: 'size', value: 4 },
          ],
        },
      }),
      () => [drive, slack],
    ],
    ['an OR of nothing', () => ({ tags: { OR: [] } }), () => [drive, slack, notion]],
    ['an AND of nothing', () => ({ tags: { AND: [] } }), () => [drive, slack, notion]],
  ];
  test.each(FILTERS)('filter %s', async (_name, filters, expected) => {
    const { results, count } = await listed({ filters: filters() });
    expect({ ids: results.map(({ id }) => id).toSorted(byNumber), count }).toEqual({
      ids: expected().toSorted(byNumber),
      count: expected().length,
    });
  });

  test.each([
    ['an unknown type', { source: 'FLOPPY' }, ['filters', 'source']],
    ['four levels', { tags: { AND: [{ OR: [{ AND: [{ OR: [] }] }] }] } }, ['filters', 'tags']],
    ['AND together with OR', { tags: { AND: [], OR: [] } }, ['filters', 'tags']],
  ])('refuses %s with its path', async (_name, filters, loc) => {
    const { status, body } = await user.post<{ detail: { loc: unknown[] }[] }>('/user_data_sources', { filters });
    expect(status).toBe(422);
    expect(body.detail[0]?.loc.slice(0, 3)).toEqual(['body', ...loc]);
  });

  test('orders by ascending updated_at by default, and counts before paging', async () => {
    expect(await ids({})).toEqual([drive, slack, notion]);
    expect(await ids({ order_dir: 'desc' })).toEqual([notion, slack, drive]);
    expect(await ids({ order_by: 'created_at', order_dir: 'desc' })).toEqual([notion, slack, drive]);
    expect(await listed({ pagination: { limit: 1, offset: 1 } })).toMatchObject({ results: [{ id: slack }], count: 3 });
    expect(await ids({ pagination: { starting_id: drive } })).toEqual([slack, notion]);
  });

  test('GET /integrations/ lists connected accounts for older front-ends', async () => {
    const { status, body } = await user.get<{ active_integrations: DataSourceRecord[] }>('/integrations/');
    expect(status).toBe(200);
    expect(body.active_integrations.map(({ id }) => id)).toEqual([drive, slack]);
  });
});

describe('connection', () => {
  test('of the same account reuses its data source, upserts its tags and restores access', async () => {
    const account = { externalId: 'GOOGLE_DRIVE|same@b.c' };
    const connected = await connectSource(service, owner, { ...account, tags: { a: 1, b: 2 } });
    await revokeSource(service, owner, connected._id);
    const reconnected = await connectSource(service, owner, { ...account, tags: { b: [3], c: true } });
    const [record] = (await listed({ filters: { ids: [connected._id] } })).results;
    expect(reconnected._id).toBe(connected._id);
    expect(record).toMatchObject({
      revoked_access: false,
      last_sync_action: 'ADD',
      token: {},
      tags: { a: 1, b: [3], c: true },
    });
    expect(reconnected.tagsVersion).toBe(connected.tagsVersion + 1);
  });

  test('of an account that an older version stored under another id reuses that record and its ids', async () => {
    const [former, current] = ['SHAREPOINT|a@b.c|x/marketing', 'SHAREPOINT|a@b.c|x/Marketing'];
    const stored = await connectSource(service, owner, { type: 'SHAREPOINT', externalId: former });
    const account = { type: 'SHAREPOINT', externalId: current, formerExternalId: former } as const;
    const renewed = await connectSource(service, owner, account);
    expect([renewed._id, renewed.externalId]).toEqual([stored._id, former]);
    const other = await connectSource(service, otherUser, account);
    expect(other).toMatchObject({ externalId: current });
    expect(other).not.toHaveProperty('formerExternalId');
  });

  test('twice concurrently creates one data source', async () => {
    const account = { externalId: 'GOOGLE_DRIVE|twice@b.c' };
    const connections = await Promise.all([
      connectSource(service, owner, account),
      connectSource(service, owner, account),
    ]);
    expect(new Set(connections.map(({ _id }) => _id)).size).toBe(1);
  });

  test('of the same account by another user creates another data source', async () => {
    const account = { externalId: 'GOOGLE_DRIVE|shared@b.c' };
    const [ofOwner, ofOther] = [
      await connectSource(service, owner, account),
      await connectSource(service, otherUser, account),
    ];
    expect(ofOwner._id).not.toBe(ofOther._id);
  });
});

describe('events of a data source', () => {
  test('are ADD at each connection and REVOKE once, and none for a transaction that is rolled back', async () => {
    const { events, transaction, dataSources } = service.store;
    const account = { externalId: 'GOOGLE_DRIVE|events@b.c' };
    const { _id } = await connectSource(service, owner, account);
    for (let call = 0; call < 2; call += 1) await user.post('/revoke_access_token', { data_source_id: _id });
    await connectSource(service, owner, account);
    // A rolled-back change writes no event.
    const undone = transaction(async (session) => {
      await dataSources.revoke(owner, _id, session);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    await events.number();
    const written = (await events.after(owner.organizationId, 0, 10_000)).filter(
      ({ objectId }) => objectId === String(_id),
    );
    expect(written.map(({ kind, customerId, info }) => [kind, customerId, info])).toEqual(
      ['ADD', 'REVOKE', 'ADD'].map((kind) => [kind, 'dora', null]),
    );
  });
});

describe('revocation', () => {
  test('deletes the credentials and updates the record; a second one changes nothing', async () => {
    const { _id, lastSyncedAt } = await connectSource(service, owner, { type: 'BOX', tags: { kept: 'yes' } });
    expect((await user.post('/revoke_access_token', { data_source_id: _id })).body).toEqual({ success: true });
    const [revoked] = (await listed({ filters: { ids: [_id] } })).results;
    expect(revoked).toMatchObject({
      revoked_access: true,
      last_sync_action: 'REVOKE',
      token: null,
      tags: { kept: 'yes' },
    });
    expect(Date.parse(revoked?.last_synced_at ?? '')).toBeGreaterThan(lastSyncedAt.getTime());
    expect((await service.store.dataSources.find(owner, _id))?.sealedCredentials).toBeNull();
    expect(await user.post('/revoke_access_token', { data_source_id: _id })).toMatchObject({ status: 200 });
    expect((await listed({ filters: { ids: [_id] } })).results).toEqual([revoked]);
  });

  test('aborts waiting files of the data source with a message; files outside it stay queued', async () => {
    const { _id } = await connectSource(service, owner, { type: 'DROPBOX' });
    const waiting = await user.scrape({ url: 'http://127.0.0.1:9/waiting.xml' });
    const elsewhere = await user.scrape({ url: 'http://127.0.0.1:9/elsewhere.xml' });
    await adoptFiles(service, _id, [waiting.id]);
    await user.post('/revoke_access_token', { data_source_id: _id });
    expect(await user.file(waiting.id)).toMatchObject({
      sync_status: 'SYNC_ABORTED',
      sync_error_message: expect.stringContaining('revoked'),
    });
    expect(await user.file(elsewhere.id)).toMatchObject({ sync_status: 'QUEUED_FOR_SYNC' });
  });

  test('of an unknown or foreign data source is 404', async () => {
    const { _id } = await connectSource(service, otherUser);
    const foreign = await user.post('/revoke_access_token', { data_source_id: _id });
    expect(foreign.status).toBe(404);
    expect(foreign.body).toEqual((await user.post('/revoke_access_token', { data_source_id: 2 ** 40 })).body);
    expect((await service.store.dataSources.find(otherUser, _id))?.revokedAccess).toBe(false);
  });
});
