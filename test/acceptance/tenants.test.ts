import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { FileRecord } from '../../contract/records.js';
import { builtOperations } from '../../api/routes.js';
import { type Site, startSampleSite } from '../emulators/site.js';
import { startService, type TestService } from '../support/service.js';
import type { TestUser } from '../support/client.js';

const CANARY = 'xylophone-canary';
let service: TestService;
let site: Site;
let owner: TestUser;
let parent: FileRecord;
let children: FileRecord[];
/** Everybody who must see nothing: a user of the same organization, and the same customer id of another one. */
let strangers: Record<string, TestUser>;

beforeAll(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' });
  site = await startSampleSite(2, 1);
  site.pages.set('/pages/0.html', `<main><h1>${CANARY}</h1><p>The ${CANARY} sings at midnight.</p></main>`);
  const other = await service.store.organizations.create('other');
  owner = await service.user('olga');
  strangers = {
    'another user of the organization': await service.user('otto'),
    'the same name in another organization': await service.user('olga', other.apiKey),
  };
  parent = await owner.settled((await owner.scrape({ url: site.url('/sitemap.xml'), tags: { secret: CANARY } })).id);
  children = await owner.children(parent.id);
}, 120_000);
afterAll(async () => {
  await service.close();
  await site.close();
});

/** Requests of each operation that reads, made to find the owner's content if anything could. */
const attempts = (): Record<string, Record<string, unknown>[]> => {
  const ids = [parent.id, ...children.map((child) => child.id)];
  const filters: Record<string, unknown>[] = [
    {},
    { ids },
    { parent_file_ids: [parent.id] },
    { parent_file_ids: [parent.id], include_all_children: true },
    { external_file_ids: children.map((child) => child.external_file_id) },
    { request_ids: [parent.request_id] },
    { name: 'pages' },
    { tags: { secret: CANARY } },
    {
      tags_v2: {
        OR: [
          { key: 'secret', value: CANARY },
          { key: 'nothing', value: 'x', negate: true },
        ],
      },
    },
  ];
  return {
    '/user_files_v2': filters.map((one) => ({ filters: one })),
    '/list_chunks_and_embeddings': filters.map((one) => ({ filters: one, include_vectors: true })),
    '/embeddings': [
      { query: CANARY, k: 10 },
      { query: CANARY, k: 10, file_ids: ids },
      { query: CANARY, k: 10, parent_file_ids: [parent.id], high_accuracy: true },
    ],
  };
};

test('the owner sees it, so the attempts can succeed', async () => {
  for (const [path, bodies] of Object.entries(attempts())) {
    for (const body of bodies) {
      const { status, body: answer } = await owner.post(path, body);
      expect({ path, body, status }).toEqual({ path, body, status: 200 });
      expect({ path, body, found: /xylophone|pages\/0/.test(JSON.stringify(answer)) }).toEqual({
        path,
        body,
        found: true,
      });
    }
  }
});

/** Operations that change what they name, and those that name nothing of anybody. */
const CHANGING = ['/resync_file', '/cancel_sync', '/delete_files_v2'];
const NAMELESS = [
  '/auth/v1/white_labeling',
  '/modify_user_configuration',
  '/process_sitemap',
  '/scrape_sitemap',
  '/whoami',
];

test('every operation for users is covered', () => {
  const paths = builtOperations.filter(({ auth }) => auth === 'user').map(({ path }) => path);
  expect([...Object.keys(attempts()), ...CHANGING, ...NAMELESS].sort()).toEqual([...paths].sort());
});

describe.each(['another user of the organization', 'the same name in another organization'])('%s', (who) => {
  test('finds nothing by any operation', async () => {
    for (const [path, bodies] of Object.entries(attempts())) {
      for (const body of bodies) {
        const { status, body: answer } = await strangers[who]!.post<{
          results?: unknown[];
          documents?: unknown[];
          count?: number;
        }>(path, body);
        expect({ path, body, status, rows: answer.results ?? answer.documents, count: answer.count ?? 0 }).toEqual({
          path,
          body,
          status: 200,
          rows: [],
          count: 0,
        });
      }
    }
  });

  test('changes nothing: a foreign id answers exactly like a missing one', async () => {
    for (const path of ['/resync_file', '/cancel_sync']) {
      const foreign = await strangers[who]!.post(path, { file_id: children[0]?.id });
      const missing = await strangers[who]!.post(path, { file_id: 2 ** 40 });
      expect(foreign.status).toBe(404);
      expect(foreign.body).toEqual(missing.body);
    }
    const filters = { ids: [parent.id, ...children.map((child) => child.id)] };
    expect((await strangers[who]!.post('/delete_files_v2', { filters })).body).toEqual({ success: true });
    // The delete is a run of its own: give it the time that the owner's would need.
    await sleep(1_500);
    expect(await owner.file(parent.id)).toEqual(parent);
    expect(await owner.children(parent.id)).toEqual(children);
    expect((await owner.search({ query: CANARY, k: 1 }))[0]?.content).toContain(CANARY);
  });

  test('sees nothing of the owner in its own record', async () => {
    const { status, body } = await strangers[who]!.get('/whoami');
    expect(status).toBe(200);
    expect(body).toMatchObject({ num_files_synced: 0, unique_file_tags: [], aggregate_num_files_by_source: {} });
  });

  test('scraping the same site makes records of its own and changes none of the owner\u2019s', async () => {
    const own = await strangers[who]!.scrape({ url: site.url('/sitemap.xml'), store_file_only: true });
    expect(own.id).not.toBe(parent.id);
    await strangers[who]!.settled(own.id);
    expect(await owner.file(parent.id)).toEqual(parent);
    expect(await owner.children(parent.id)).toEqual(children);
    expect((await owner.search({ query: CANARY, k: 1 }))[0]?.content).toContain(CANARY);
  });
});
