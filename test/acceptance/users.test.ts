import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { type ApiClient, apiClient, type TestUser } from '../support/client.js';
import { type SharedService, sharedService } from '../support/sharedService.js';
import { type Site, startSampleSite } from '../emulators/site.js';

interface UserRecord {
  id: number;
  organization_supplied_user_id: string;
  created_at: string;
  updated_at: string;
  custom_limits: Record<string, number>;
  auto_sync_enabled_sources: string[];
}
interface UserList {
  users: UserRecord[];
  count: number | null;
}

const KEYS = [
  'auto_sync_enabled_sources',
  'created_at',
  'custom_limits',
  'deleted_at',
  'enabled_features',
  'id',
  'organization_id',
  'organization_supplied_user_id',
  'updated_at',
];
const NAMES = ['ada', 'bob', 'cleo', 'dan'];

let service: SharedService;
let site: Site;
let organization: ApiClient;
let otherOrganization: ApiClient;
const users: TestUser[] = [];

const clientOf = (key: string): ApiClient => apiClient(service.url, { authorization: `Bearer ${key}` });
const list = async (body: Record<string, unknown> = {}): Promise<UserList> => {
  const answer = await organization.post<UserList>('/list_users', body);
  expect(answer.status).toBe(200);
  return answer.body;
};
const listNames = async (body: Record<string, unknown>): Promise<string[]> =>
  (await list(body)).users.map((user) => user.organization_supplied_user_id);
const record = async (name: string): Promise<UserRecord> => {
  const [user] = (await list({ filters: { customer_ids: [name] } })).users;
  if (!user) throw new Error(`no user ${name}`);
  return user;
};

beforeAll(async () => {
  service = await sharedService({ name: 'first' });
  site = await startSampleSite(3, 1);
  organization = clientOf(service.apiKey);
  const stranger = await service.store.organizations.create('other');
  otherOrganization = clientOf(stranger.apiKey);
  await service.user('ada', stranger.apiKey);
  for (const name of NAMES) users.push(await service.user(name));
});
afterAll(async () => {
  await service.close();
  await site.close();
});

describe('/list_users', () => {
  test('returns the nine keys of a user, with null only where the public API allows it', async () => {
    const [user] = (await list()).users;
    expect(Object.keys(user ?? {}).sort()).toEqual(KEYS);
    expect(user).toMatchObject({
      deleted_at: null,
      enabled_features: {},
      custom_limits: {},
      auto_sync_enabled_sources: [],
    });
  });

  test('lists the newest first by default, and only users of the organization', async () => {
    expect(await listNames({})).toEqual(NAMES.toReversed());
    expect(await listNames({ order_by: 'created_at', order_dir: 'asc' })).toEqual(NAMES);
  });

  test('orders by the last change with updated_at', async () => {
    expect((await users[1]!.post('/modify_user_configuration', sparse(false))).status).toBe(200);
    expect((await listNames({ order_by: 'updated_at' }))[0]).toBe('bob');
    expect((await listNames({ order_by: 'updated_at', order_dir: 'asc' })).at(-1)).toBe('bob');
  });

  test('counts before paging, only on request', async () => {
    expect((await list()).count).toBeNull();
    expect((await list({ include_count: false })).count).toBeNull();
    expect((await list({ include_count: true, pagination: { limit: 1 } })).count).toBe(NAMES.length);
  });

  test('pages by limit, offset and starting_id', async () => {
    const allUsers = (await list({ order_dir: 'asc' })).users;
    expect(await listNames({ order_dir: 'asc', pagination: { limit: 2, offset: 1 } })).toEqual(['bob', 'cleo']);
    expect(await listNames({ order_dir: 'asc', pagination: { starting_id: allUsers[1]?.id } })).toEqual([
      'cleo',
      'dan',
    ]);
  });

  test('filters by customer_ids and carbon_user_ids; empty lists and null match all users', async () => {
    const { id } = await record('cleo');
    expect(await listNames({ filters: { customer_ids: ['dan', 'ada', 'unknown'] } })).toEqual(['dan', 'ada']);
    expect(await listNames({ filters: { carbon_user_ids: [id] } })).toEqual(['cleo']);
    expect(await listNames({ filters: { carbon_user_ids: [id], customer_ids: ['dan'] } })).toEqual([]);
    expect(await listNames({ filters: { carbon_user_ids: [id] }, pagination: { starting_id: id } })).toEqual([]);
    expect(await listNames({ filters: { customer_ids: [], carbon_user_ids: null } })).toHaveLength(NAMES.length);
  });

  test.each([
    [{ include_count: null }, ['body', 'include_count']],
    [{ order_by: 'name' }, ['body', 'order_by']],
    [{ order_dir: 'DESC' }, ['body', 'order_dir']],
    [{ filters: { carbon_user_ids: ['1'] } }, ['body', 'filters', 'carbon_user_ids', 0]],
    [{ pagination: { limit: 0 } }, ['body', 'pagination', 'limit']],
  ])('answers %j with 422', async (body, loc) => {
    const answer = await organization.post<{ detail: { loc: unknown }[] }>('/list_users', body);
    expect({ status: answer.status, loc: answer.body.detail[0]?.loc }).toEqual({ status: 422, loc });
  });
});

const sparse = (enabled: boolean) => ({ configuration_key_name: 'sparse_vectors', value: { enabled } });

describe('/user and /whoami', () => {
  test('return the same record, with sums over synced files', async () => {
    const [ada] = users;
    const parent = await ada!.settled((await ada!.scrape({ url: site.url('/sitemap.xml'), tags: { a: [1, 2] } })).id);
    const pages = await ada!.children(parent.id);
    const sum = (figure: 'file_size' | 'num_characters' | 'num_tokens' | 'num_embeddings') =>
      pages.reduce((total, page) => total + (page.file_statistics?.[figure] ?? Number.NaN), 0);
    const me = await ada!.get('/whoami');
    expect(me.status).toBe(200);
    expect(me.body).toMatchObject({
      ...(await record('ada')),
      num_files_synced: 3,
      num_characters_synced: sum('num_characters'),
      num_tokens_synced: sum('num_tokens'),
      aggregate_file_size: { WEB_SCRAPE: sum('file_size') },
      aggregate_num_characters: { WEB_SCRAPE: sum('num_characters') },
      aggregate_num_tokens: { WEB_SCRAPE: sum('num_tokens') },
      aggregate_num_embeddings: { WEB_SCRAPE: sum('num_embeddings') },
      aggregate_num_files_by_source: { WEB_SCRAPE: 3 },
      aggregate_num_files_by_file_format: { HTML: 3 },
      unique_file_tags: [{ a: [1, 2] }],
      connector_settings: {},
    });
    expect((await organization.post('/user', { customer_id: 'ada' })).body).toEqual(me.body);
    expect((await otherOrganization.post('/user', { customer_id: 'ada' })).body).toMatchObject({ num_files_synced: 0 });
  });

  test('return the same 404 for an unknown and a foreign customer id', async () => {
    const [missing, foreign] = [
      await organization.post('/user', { customer_id: 'unknown' }),
      await otherOrganization.post('/user', { customer_id: 'bob' }),
    ];
    expect(missing.status).toBe(404);
    expect(foreign).toMatchObject({ status: 404, body: missing.body });
  });
});

describe('/update_users', () => {
  test('sets limits and sources of several users; null or no value changes nothing, [] removes all sources', async () => {
    const set = (body: Record<string, unknown>) =>
      organization.post('/update_users', { customer_ids: ['bob', 'cleo'], ...body });
    expect((await set({ max_files: 5, auto_sync_interval: 6, auto_sync_enabled_sources: ['NOTION'] })).body).toEqual({
      success: true,
    });
    expect((await set({ max_files: null, max_characters: -1, auto_sync_enabled_sources: null })).status).toBe(200);
    for (const name of ['bob', 'cleo'])
      expect(await record(name)).toMatchObject({
        custom_limits: { max_files: 5, auto_sync_interval: 6, max_characters: -1 },
        auto_sync_enabled_sources: ['NOTION'],
      });
    expect(await record('dan')).toMatchObject({ custom_limits: {}, auto_sync_enabled_sources: [] });
    await set({ auto_sync_enabled_sources: [] });
    expect((await record('bob')).auto_sync_enabled_sources).toEqual([]);
  });

  test('replaces ALL by every source with auto-sync', async () => {
    await organization.post('/update_users', { customer_ids: ['dan'], auto_sync_enabled_sources: 'ALL' });
    const { auto_sync_enabled_sources: sources } = await record('dan');
    expect(sources).toEqual(expect.arrayContaining(['NOTION', 'GOOGLE_DRIVE', 'WEB_SCRAPE']));
    expect(sources).not.toContain('ALL');
    expect(sources).not.toContain('PDF');
  });

  test('changes no user if one name is unknown', async () => {
    const recordBefore = await record('cleo');
    const answer = await organization.post('/update_users', { customer_ids: ['cleo', 'unknown'], max_files: 1 });
    expect(answer.status).toBe(404);
    expect(await record('cleo')).toEqual(recordBefore);
  });

  test.each([
    [{ max_files: 1 }, ['body', 'customer_ids']],
    [{ customer_ids: Array.from({ length: 101 }, String) }, ['body', 'customer_ids']],
    [{ customer_ids: ['bob'], max_characters: -2 }, ['body', 'max_characters']],
    [{ customer_ids: ['bob'], auto_sync_interval: 7 }, ['body', 'auto_sync_interval']],
    [{ customer_ids: ['bob'], auto_sync_enabled_sources: 'all' }, ['body', 'auto_sync_enabled_sources']],
    [{ customer_ids: ['bob'], auto_sync_enabled_sources: ['ALL'] }, ['body', 'auto_sync_enabled_sources', 0]],
  ])('answers %j with 422', async (body, loc) => {
    const answer = await organization.post<{ detail: { loc: unknown }[] }>('/update_users', body);
    expect({ status: answer.status, loc: answer.body.detail[0]?.loc }).toEqual({ status: 422, loc });
  });
});

describe('/modify_user_configuration', () => {
  test('switches a feature of the caller only', async () => {
    expect((await users[2]!.post('/modify_user_configuration', sparse(true))).body).toEqual({ success: true });
    expect(await record('cleo')).toMatchObject({ enabled_features: { sparse_vectors: { enabled: true } } });
    await users[2]!.post('/modify_user_configuration', sparse(false));
    expect(await record('cleo')).toMatchObject({ enabled_features: { sparse_vectors: { enabled: false } } });
    expect(await record('dan')).toMatchObject({ enabled_features: {} });
  });
  test.each([
    [{ configuration_key_name: 'other', value: { enabled: true } }, ['body', 'configuration_key_name']],
    [{ configuration_key_name: 'sparse_vectors', value: { enabled: 'yes' } }, ['body', 'value']],
    [{ configuration_key_name: 'sparse_vectors', value: null }, ['body', 'value']],
  ])('answers %j with 422', async (body, loc) => {
    const answer = await users[0]!.post<{ detail: { loc: unknown }[] }>('/modify_user_configuration', body);
    expect({ status: answer.status, loc: answer.body.detail[0]?.loc }).toEqual({ status: 422, loc });
  });
});

describe('organization', () => {
  test('has the settings of its users and connectors', async () => {
    const organizationBefore = (await organization.get<Record<string, unknown>>('/organization')).body;
    expect(organizationBefore).toMatchObject({
      id: service.organizationId,
      name: 'first',
      global_user_config: {},
      connector_settings: {},
    });
    const update = (body: Record<string, unknown>) => organization.post('/organization/update', body);
    expect((await update({ global_user_config: { max_files: 9, auto_sync_enabled_sources: ['BOX'] } })).body).toEqual({
      success: true,
    });
    await update({ global_user_config: { max_characters: 3 }, data_source_configs: null });
    await update({ data_source_configs: { DEFAULT: { allowed_file_formats: ['PDF'] }, BOX: {} } });
    expect((await organization.get('/organization')).body).toMatchObject({
      global_user_config: { max_files: 9, max_characters: 3, auto_sync_enabled_sources: ['BOX'] },
      connector_settings: { DEFAULT: { allowed_file_formats: ['PDF'] }, BOX: { allowed_file_formats: [] } },
    });
    expect((await otherOrganization.get('/organization')).body).toMatchObject({
      name: 'other',
      connector_settings: {},
    });
    expect((await users[3]!.get('/whoami')).body).toMatchObject({
      connector_settings: { BOX: { allowed_file_formats: [] } },
    });
  });

  test('refuses a connector setting of an unknown source with 422, without changes', async () => {
    const organizationBefore = (await organization.get('/organization')).body;
    const answer = await organization.post<{ detail: { loc: unknown }[] }>('/organization/update', {
      global_user_config: { max_files: 1 },
      data_source_configs: { BOXX: {} },
    });
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0]?.loc).toEqual(['body', 'data_source_configs', 'BOXX']);
    expect((await organization.get('/organization')).body).toEqual(organizationBefore);
  });

  test('returns the effective limits of a user: those of the user, or else those of the organization', async () => {
    await organization.post('/update_users', { customer_ids: ['ada'], max_files: -1, max_characters_per_file: 7 });
    expect((await users[0]!.get('/auth/v1/white_labeling')).body).toEqual({
      remove_branding: true,
      integrations: {},
      custom_limits: { max_characters: 3, max_characters_per_file: 7, file_size_limit: 1_000_000_000 },
      connector_settings: expect.objectContaining({ BOX: { allowed_file_formats: [] } }) as unknown,
    });
  });
});
