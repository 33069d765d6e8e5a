/** Tests of the requests that `status` sends to the API: which files and users, in which order, and how many. */
import { afterAll, beforeEach, expect, test } from '@jest/globals';

import { runCli } from '../../cli/run.js';
import { closeAll, type Loopback, serve } from '../egress/loopback.js';

let api: Loopback;
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
      .writeHead(200, { 'content-type': 'application/json' })
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
