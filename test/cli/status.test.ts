/** Tests of the requests that `status` sends to the API: which files and users, in which order, and how many. */
import { afterAll, beforeEach, expect, test } from '@jest/globals';

import { runCli } from '../../cli/run.js';
import { closeAll, type Loopback, serve } from '../egress/loopback.js';

let api: Loopback;
let statusOfReady = 200;
const FILE = { id: 5, sync_status: 'SYNCING', name: 'a.xml', file_metadata: { pages_total: 9 } };
const answers: Record<string, unknown> = {
  '/ready': { checks: { mongodb: { ok: true, latency_ms: 1 } } },
  '/list_users': { users: [{ organization_supplied_user_id: 'ada' }], count: 1 },
  '/user_files_v2': { results: [FILE], count: 2 },
  '/list_chunks_and_embeddings': { count: 4 },
};
beforeEach(async () => {
  api = await serve((request, response) =>
    response
      .writeHead(request.url === '/ready' ? statusOfReady : 200, { 'content-type': 'application/json' })
      .end(JSON.stringify(answers[request.url ?? ''] ?? {})),
  );
});
afterAll(closeAll);

async function call(...args: string[]) {
  const lines: string[] = [];
  const code = await runCli([...args, '--url', api.origin], {
    env: { API_KEY: 'a-key-of-the-deployment' },
    isInteractive: false,
    out: (line) => void lines.push(line),
    err: (text) => void lines.push(text),
    waitForEnter: () => Promise.resolve(),
    stopped: new AbortController().signal,
  });
  const requests = api.requests
    .filter(({ body }) => body !== '')
    .map(({ url, headers, body }) => ({ url, customer: headers['customer-id'], ...(JSON.parse(body) as object) }));
  return { code, lines, requests };
}
const LATEST = { order_by: 'updated_at', order_dir: 'desc' };
const WAITING = expect.arrayContaining(['QUEUED_FOR_SYNC', 'SYNCING']);
const READY = ['READY', 'READY_TO_SYNC'];
const FAILED = ['SYNC_ERROR', 'SYNC_ABORTED'];
const files = (filters: object, fields: object = { pagination: { limit: 1 } }) => ({
  ...{ url: '/user_files_v2', customer: 'ada', filters },
  ...fields,
});

test('requests the newest users, and the five latest failures and scrapes of each', async () => {
  const { code, lines, requests } = await call('status');
  expect(code).toBe(0);
  const newest = { order_by: 'created_at', order_dir: 'desc', include_count: true };
  expect(requests[0]).toEqual({ url: '/list_users', customer: undefined, ...newest, pagination: { limit: 10 } });
  const latest = { ...LATEST, pagination: { limit: 5 } };
  const below = { parent_file_ids: [5] };
  const expectedRequests = [
    files({ sync_statuses: READY }),
    files({ sync_statuses: WAITING }),
    files({ sync_statuses: FAILED }, latest),
    files({ sync_statuses: WAITING, root_files_only: true, include_containers: true }, latest),
    files({ ...below, sync_statuses: READY }),
    files({ ...below, sync_statuses: FAILED }),
    files(below),
  ];
  expect(requests).toHaveLength(1 + expectedRequests.length);
  for (const request of expectedRequests) expect(requests).toContainEqual(request);
  expect(lines[1]).toBe('ada: 2 ready, 2 in progress, 2 failed');
  // 2 ready and 2 failed of the 9 known pages of the site.
  expect(lines[2]).toContain(' 4/9 · 2 failed · SYNCING · file 5 · a.xml');
});

test('requests the number of users in the options, or the user in the options', async () => {
  const { requests } = await call('status', '--users', '3');
  expect(requests[0]).toMatchObject({ url: '/list_users', pagination: { limit: 3 } });
  api.requests.length = 0;
  const ofNamedUser = await call('status', '--customer', 'bob');
  expect(ofNamedUser.requests[0]).toMatchObject({ url: '/list_users', filters: { customer_ids: ['bob'] } });
  expect(new Set(ofNamedUser.requests.slice(1).map(({ customer }) => customer))).toEqual(new Set([undefined, 'bob']));
});

test.each([
  ['17', { ids: [17] }],
  ['17b', { name: '17b' }],
  ['1234567890123456', { name: '1234567890123456' }],
])('requests the twenty latest files by id or name for --find %s, with containers', async (wanted, filter) => {
  const { requests } = await call('status', '--customer', 'ada', '--find', wanted);
  const filters = { include_containers: true, ...filter };
  expect(requests.filter(({ url }) => url === '/user_files_v2')).toEqual([
    files(filters, { ...LATEST, pagination: { limit: 20 } }),
  ]);
  expect(requests.at(-1)).toMatchObject({ url: '/list_chunks_and_embeddings', filters: { ids: [5] } });
});

const READY_FILE = {
  ...{ id: 5, sync_status: 'READY', sync_error_message: null, name: 'a.xml', source: 'SITEMAP', request_id: 'r' },
  ...{ embedding_storage_status: 'HOT_STORAGE', skip_embedding_generation: false, last_sync: null },
  ...{ embedding_properties: { OPENAI: {} }, file_metadata: {} },
};
const SERVED = { embedding_properties: { OPENAI: { served_by: 'openai-small' } } };
const SEARCHABLE = '  Searchable with the model OPENAI: 4 chunks in the vector space openai-small.';

test.each<[string, object, string[]]>([
  ['searchable', SERVED, [SEARCHABLE]],
  ['without vectors', {}, ['  It has no vectors: only its text is stored.']],
  [
    'that groups pages',
    { file_metadata: { pages_total: 9 } },
    ['  It only groups its 9 pages. Searches find the pages.'],
  ],
  [
    'without requested vectors',
    { skip_embedding_generation: true },
    ['  It was uploaded with skip_embedding_generation, so it has no vectors.'],
  ],
  [
    'in cold storage',
    { ...SERVED, embedding_storage_status: 'COLD_STORAGE' },
    ['  Its vectors are in COLD_STORAGE. Move them with POST /move_to_hot_storage.'],
  ],
  [
    'on its way to cold storage',
    { ...SERVED, embedding_storage_status: 'HOT_TO_COLD' },
    ['  Its vectors are being moved to COLD_STORAGE (HOT_TO_COLD). Searches find it until then.', SEARCHABLE],
  ],
  [
    'on its way back',
    { ...SERVED, embedding_storage_status: 'COLD_TO_HOT' },
    ['  Its vectors are being moved to HOT_STORAGE (COLD_TO_HOT). Searches find it after that.'],
  ],
  ['that failed', { sync_status: 'SYNC_ERROR', sync_error_message: 'The page is empty.' }, ['  The page is empty.']],
])('prints why searches find or miss a file, without a repeated line: %s', async (_name, fields, expectedLines) => {
  answers['/user_files_v2'] = { results: [{ ...READY_FILE, ...fields }], count: 1 };
  const { lines } = await call('status', '--customer', 'ada', '--find', 'a.xml');
  expect(lines.slice(1, -1)).toEqual(expectedLines);
});

test.each([
  [['--users', '1'], true],
  [[], true],
  [['--customer', 'ada', '--customer', 'bob'], false],
  [['--customer', 'ada'], false],
])('status %j: tells how to show more users only if --users has an effect: %j', async (options, isShown) => {
  answers['/list_users'] = { users: [{ organization_supplied_user_id: 'ada' }], count: 20 };
  const { lines } = await call('status', ...options);
  const hint = '20 users in total. Show more with --users, or one with --customer.';
  expect(lines.includes(hint)).toBe(isShown);
});

const CHECKS = { mongodb: { ok: true, latency_ms: 1 }, qdrant: { ok: true, latency_ms: 2 } };

test.each<[number, object, string]>([
  [200, { checks: CHECKS }, 'ready: mongodb 1 ms, qdrant 2 ms'],
  [
    200,
    { status: 'degraded', reasons: ['The disk is full.', 'A key expires.'], checks: CHECKS },
    'degraded: The disk is full. A key expires. (mongodb 1 ms, qdrant 2 ms)',
  ],
  [503, { status: 'degraded', detail: 'Qdrant does not answer' }, 'not ready: Qdrant does not answer'],
  [503, {}, 'not ready: 503'],
])(
  'shows first whether the service is ready, and exits with 1 if it is not: %s %j',
  async (status, body, expectedLine) => {
    const ready = answers['/ready'];
    [statusOfReady, answers['/ready']] = [status, body];
    try {
      const { code, lines } = await call('status');
      expect([lines[0], code]).toEqual([expectedLine, expectedLine.startsWith('ready') ? 0 : 1]);
    } finally {
      [statusOfReady, answers['/ready']] = [200, ready];
    }
  },
);

test('shows the failures of each user with their messages', async () => {
  const failed = { ...READY_FILE, id: 8, sync_status: 'SYNC_ERROR', sync_error_message: 'The page is empty.' };
  answers['/user_files_v2'] = { results: [failed], count: 1 };
  expect((await call('status')).lines).toContain('  SYNC_ERROR · file 8 · a.xml · The page is empty.');
});

test('prints with --json the users and their work, or the files found and the number of their chunks', async () => {
  answers['/list_users'] = { users: [{ organization_supplied_user_id: 'ada' }], count: 20 };
  answers['/user_files_v2'] = { results: [READY_FILE], count: 1 };
  const users = await call('status', '--json');
  expect(JSON.parse(users.lines.join(''))).toMatchObject({ users: 20, work: [{ customer_id: 'ada', ready: 1 }] });
  const found = await call('status', '--customer', 'ada', '--find', '5', '--json');
  expect(JSON.parse(found.lines.join(''))).toEqual([{ ...READY_FILE, chunks: 4 }]);
});

test('reports that a user has no file with an id or name', async () => {
  answers['/user_files_v2'] = { results: [], count: 0 };
  const { code, lines } = await call('status', '--customer', 'ada', '--find', 'b.xml');
  expect([code, lines.join('')]).toEqual([1, expect.stringContaining('User ada has no file whose id is b.xml')]);
});
