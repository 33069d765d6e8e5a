import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { OAUTH_SOURCES } from '../../contract/accounts/whiteLabel.js';
import { type ApiClient, apiClient, type Listed } from '../support/client.js';
import { startService, type TestService } from '../support/service.js';
import { connectMongo } from '../support/mongo.js';

interface WhiteLabel {
  id: number;
  data_source_type: string;
  credentials: Record<string, unknown>;
  created_at: string;
  updated_at: string;
}

const SECRET = 'hush-canary';
const ORGANIZATION = 1;
let service: TestService;
let organization: ApiClient;
let otherOrganization: ApiClient;

const clientOf = (key: string): ApiClient => apiClient(service.url, { authorization: `Bearer ${key}` });
const client = (data_source_type: string, credentials: Record<string, unknown> = {}) => ({
  data_source_type,
  credentials: { client_id: `${data_source_type}-id`, redirect_uri: 'https://example.com/back', ...credentials },
});
const create = async (body: unknown): Promise<WhiteLabel[]> => {
  const answer = await organization.post<WhiteLabel[]>('/white_label/create', body);
  expect(answer.status).toBe(200);
  return answer.body;
};
const list = async (body: Record<string, unknown> = {}, caller = organization): Promise<Listed<WhiteLabel>> =>
  (await caller.post<Listed<WhiteLabel>>('/white_label/list', body)).body;

beforeAll(async () => {
  service = await startService({ REDIRECT_URI_SCHEMES: 'com.example.app' }, { worker: false });
  organization = clientOf(service.apiKey);
  otherOrganization = clientOf((await service.store.organizations.create('other')).apiKey);
});
afterAll(async () => {
  await service.close();
});

test('stores a client, and returns only whether its secrets are set', async () => {
  const [created, ...others] = await create([client('GOOGLE_DRIVE', { client_secret: SECRET, api_key: null })]);
  expect(others).toEqual([]);
  expect(created).toEqual({
    id: expect.any(Number) as unknown,
    data_source_type: 'GOOGLE_DRIVE',
    credentials: {
      client_id: 'GOOGLE_DRIVE-id',
      redirect_uri: 'https://example.com/back',
      has_client_secret: true,
      has_api_key: false,
    },
    created_at: expect.any(String) as unknown,
    updated_at: expect.any(String) as unknown,
  });
  const listed = await list();
  expect(listed).toEqual({ results: [created], count: 1 });
});

const REDIRECT =
  'Give an address without #: http(s) without credentials, or with a scheme in the setting REDIRECT_URI_SCHEMES';
test.each([
  'javascript:alert(1)',
  ' javascript:alert(1)',
  'java\nscript:alert(1)',
  'data:text/html,x',
  'vbscript:x',
  'file:///etc/passwd',
  'blob:https://example.com/x',
  '*',
  '/back',
  '//example.com/back',
  'https://*.example.com:x/',
  'https://user:word@example.com/back',
  'https://example.com/back#token',
  'https://example.com/back#',
  'other.app:/back',
])('each operation refuses the redirect_uri %j', async (redirect_uri) => {
  for (const body of [
    client('DROPBOX', { redirect_uri }),
    client('ONEDRIVE', { file_picker_redirect_uri: redirect_uri }),
  ])
    for (const [path, sent] of [
      ['/white_label/create', [body]],
      ['/white_label/update', body],
    ] as const) {
      const answer = await organization.post<{ detail: { loc: string[]; msg: string }[] }>(path, sent);
      expect([path, answer.status]).toEqual([path, 422]);
      const [fault] = answer.body.detail;
      expect(fault?.loc.at(-1)).toMatch(/redirect_uri$/);
      expect(fault?.msg).toContain(REDIRECT);
    }
});

test.each([
  'http://localhost:3000/back',
  'https://example.com/back?x=1',
  'com.example.app:/back',
  'COM.example.app://back',
])('accepts the redirect_uri %s', async (redirect_uri) => {
  await create([client('DROPBOX', { redirect_uri })]);
  const { results } = await list({ filters: { data_source_type: ['DROPBOX'] } });
  expect(results[0]?.credentials['redirect_uri']).toBe(redirect_uri);
  await organization.post('/white_label/delete', { ids: results.map(({ id }) => id) });
});

test('stores secrets encrypted, and decrypts them for a connection', async () => {
  const connection = await connectMongo(service.env['MONGODB_URI'] ?? '');
  const rows = await connection.collection('white_labels').find().toArray();
  await connection.close();
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).not.toContain(SECRET);
  expect(JSON.stringify(rows)).not.toContain(Buffer.from(SECRET).toString('base64').slice(0, 12));
  expect(await service.store.whiteLabels.credentials(ORGANIZATION, 'GOOGLE_DRIVE')).toMatchObject({
    client_secret: SECRET,
  });
});

test('a second create of a type replaces the first, including secrets', async () => {
  const before = (await list()).results[0];
  const [created] = await create([client('GOOGLE_DRIVE', { client_id: 'newer', api_key: SECRET })]);
  expect(created?.id).toBe(before?.id);
  expect(created?.credentials).toMatchObject({ client_id: 'newer', has_client_secret: false, has_api_key: true });
  expect((await list()).count).toBe(1);
});

test('accepts clients of all OAuth sources in one array', async () => {
  const created = await create(OAUTH_SOURCES.map((source) => client(source, { client_secret: SECRET })));
  expect(created.map((one) => one.data_source_type)).toEqual([...OAUTH_SOURCES]);
  expect((await list()).count).toBe(OAUTH_SOURCES.length);
});

test('stores no client if one element is invalid', async () => {
  const before = await list({ pagination: { limit: 100 } });
  const answer = await organization.post<{ detail: { loc: unknown }[] }>('/white_label/create', [
    client('BOX', { client_id: 'changed' }),
    { data_source_type: 'NOTION', credentials: { client_id: 'x' } },
  ]);
  expect({ status: answer.status, loc: answer.body.detail[0]?.loc }).toEqual({
    status: 422,
    loc: ['body', 1, 'credentials', 'redirect_uri'],
  });
  expect(await list({ pagination: { limit: 100 } })).toEqual(before);
});

test.each([
  ['an object', client('BOX'), ['body']],
  ['a type without OAuth', [client('PDF')], ['body', 0, 'data_source_type']],
  ['a type in lower case', [client('google_drive')], ['body', 0, 'data_source_type']],
  ['no credentials', [{ data_source_type: 'GOOGLE_DRIVE' }], ['body', 0, 'credentials']],
  ['an empty client_id', [client('GOOGLE_DRIVE', { client_id: '' })], ['body', 0, 'credentials', 'client_id']],
  ['null for a required field', [client('BOX', { redirect_uri: null })], ['body', 0, 'credentials', 'redirect_uri']],
])('answers %s with 422', async (_what, body, loc) => {
  const answer = await organization.post<{ detail: { loc: unknown }[] }>('/white_label/create', body);
  expect({ status: answer.status, loc: answer.body.detail[0]?.loc }).toEqual({ status: 422, loc });
});

test('an update changes the given fields and keeps the secrets', async () => {
  const answer = await organization.post<WhiteLabel>(
    '/white_label/update',
    client('ONEDRIVE', { client_id: 'newer', file_picker_client_id: 'picker' }),
  );
  expect(answer.status).toBe(200);
  expect(answer.body.credentials).toMatchObject({
    client_id: 'newer',
    file_picker_client_id: 'picker',
    has_client_secret: true,
  });
  expect(await service.store.whiteLabels.credentials(ORGANIZATION, 'ONEDRIVE')).toMatchObject({
    client_id: 'newer',
    client_secret: SECRET,
  });
});

test('a list can be ordered, filtered by type and id, and paged', async () => {
  const types = async (body: Record<string, unknown>) => (await list(body)).results.map((one) => one.data_source_type);
  const sorted = [...OAUTH_SOURCES].toSorted();
  const page = { limit: 100 };
  expect(await types({ order_by: 'data_source_type', pagination: page })).toEqual(sorted);
  expect(await types({ order_by: 'data_source_type', order_dir: 'desc', pagination: { limit: 2, offset: 1 } })).toEqual(
    sorted.toReversed().slice(1, 3),
  );
  expect((await types({}))[0]).toBe('GOOGLE_DRIVE');
  expect(await types({ filters: { data_source_type: ['BOX', 'SLACK'] }, order_by: 'data_source_type' })).toEqual([
    'BOX',
    'SLACK',
  ]);
  const box = (await list({ filters: { data_source_type: ['BOX'], ids: null } })).results[0];
  expect(await list({ filters: { ids: [box?.id] } })).toEqual({ results: [box], count: 1 });
});

test('returns the sources with a client to front-ends', async () => {
  const user = await service.user('ursula');
  const { body } = await user.get<{ integrations: object }>('/auth/v1/white_labeling');
  expect(Object.keys(body.integrations).sort()).toEqual([...OAUTH_SOURCES].toSorted());
});

test('another organization cannot see, change or delete clients', async () => {
  const ownClients = await list({ pagination: { limit: 100 } });
  expect(await list({}, otherOrganization)).toEqual({ results: [], count: 0 });
  expect((await otherOrganization.post('/white_label/update', client('BOX'))).status).toBe(404);
  const deleted = await otherOrganization.post('/white_label/delete', { ids: ownClients.results.map((one) => one.id) });
  expect(deleted).toMatchObject({ status: 200, body: { success: true } });
  expect(await list({ pagination: { limit: 100 } })).toEqual(ownClients);
  expect(await service.store.whiteLabels.credentials(2, 'BOX')).toBeNull();
});

test('deleted clients are not listed and cannot be updated', async () => {
  const [box] = (await list({ filters: { data_source_type: ['BOX'] } })).results;
  expect((await organization.post('/white_label/delete', { ids: [box?.id] })).body).toEqual({ success: true });
  expect((await list({ filters: { data_source_type: ['BOX'] } })).count).toBe(0);
  expect((await organization.post('/white_label/update', client('BOX'))).status).toBe(404);
});
