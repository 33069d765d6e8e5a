import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { FileRecord } from '../../contract/files/records.js';
import { operations } from '../../api/routes.js';
import type { DataSourceDoc } from '../../store/models/dataSources.js';
import { type Site, startSampleSite } from '../emulators/site.js';
import { adoptFiles, connectSource } from '../support/dataSources.js';
import { type SharedService, sharedService } from '../support/sharedService.js';
import type { TestUser } from '../support/client.js';

const CANARY = 'xylophone-canary';
let service: SharedService;
let site: Site;
let owner: TestUser;
let parent: FileRecord;
let children: FileRecord[];
let source: DataSourceDoc;
/** Users without access to the content: one of the same organization; one of another, with the same customer id. */
let strangers: Record<string, TestUser>;
/** Id of a run of the owner. */
let reembedding: number;

beforeAll(async () => {
  service = await sharedService();
  site = await startSampleSite(2, 1);
  site.pages.set('/pages/0.html', `<main><h1>${CANARY}</h1><p>The ${CANARY} sings at midnight.</p></main>`);
  const otherOrganization = await service.store.organizations.create('other');
  owner = await service.user('olga');
  strangers = {
    'another user of the organization': await service.user('otto'),
    'the same name in another organization': await service.user('olga', otherOrganization.apiKey),
  };
  parent = await owner.settled((await owner.scrape({ url: site.url('/sitemap.xml'), tags: { secret: CANARY } })).id);
  const account = await service.store.users.ensure(service.organizationId, 'olga');
  source = await connectSource(service, account, {
    externalId: `BOX|${CANARY}`,
    type: 'BOX',
    tags: { secret: CANARY },
  });
  await adoptFiles(
    service,
    source._id,
    (await owner.children(parent.id)).map(({ id }) => id),
  );
  children = await owner.children(parent.id);
  const { body } = await owner.post<{ id: number }>('/files/reembed', {
    filters: { ids: [2 ** 40] },
    embedding_model: 'SOLAR_1_MINI',
  });
  reembedding = body.id;
});
afterAll(async () => {
  await service.close();
  await site.close();
});

/** Requests to each read operation, by path. For the owner, each finds the owner's content. */
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
    { organization_user_data_source_id: [source._id] },
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
    '/user_files_v2': filters.map((filter) => ({ filters: filter })),
    '/user_files': filters.map((filter) => ({ filters: filter })),
    '/user_data_sources': [
      {},
      { filters: { ids: [source._id] } },
      { filters: { tags: { AND: [{ key: 'secret', value: CANARY }] } } },
      { filters: { source: 'BOX', revoked_access: false } },
    ],
    '/user_webpages': [{}, { filters: { ids } }],
    '/list_chunks_and_embeddings': filters.map((filter) => ({ filters: filter, include_vectors: true })),
    '/embeddings': [
      { query: CANARY, k: 10 },
      { query: CANARY, k: 10, file_ids: ids },
      { query: CANARY, k: 10, parent_file_ids: [parent.id], high_accuracy: true },
    ],
  };
};

test('the owner finds the content by each request', async () => {
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

type Call = (user: TestUser, id: number) => Promise<{ status: number; body: unknown }>;

/** Operations on one file. */
const OF_A_FILE: Record<string, Call> = {
  '/resync_file': (user, id) => user.post('/resync_file', { file_id: id }),
  '/cancel_sync': (user, id) => user.post('/cancel_sync', { file_id: id }),
  '/text_chunks': (user, id) => user.post('/text_chunks', { filters: { user_file_id: id } }),
  '/raw_file/{file_id}': (user, id) => user.get(`/raw_file/${id}`),
  '/parsed_file/{file_id}': (user, id) => user.get(`/parsed_file/${id}`),
  '/deletefile/{file_id}': (user, id) => user.delete(`/deletefile/${id}`),
  '/create_user_file_tags': (user, id) =>
    user.post('/create_user_file_tags', { organization_user_file_id: id, tags: { stolen: 'yes' } }),
  '/upload_text': (user, id) => user.post('/upload_text', { contents: 'stolen text', overwrite_file_id: id }),
  '/upload_chunks_and_embeddings': (user, id) =>
    user.post('/upload_chunks_and_embeddings', {
      embedding_model: 'OPENAI',
      chunks_only: true,
      overwrite_existing: true,
      chunks_and_embeddings: [{ file_id: id, chunks_and_embeddings: [{ chunk_number: 0, chunk: 'stolen' }] }],
    }),
  '/delete_user_file_tags': (user, id) =>
    user.post('/delete_user_file_tags', { organization_user_file_id: id, tags: ['secret'] }),
};
/** Operations on one data source. */
const OF_A_DATA_SOURCE: Record<string, Call> = {
  '/data_sources/tags/add': (user, id) =>
    user.post('/data_sources/tags/add', { data_source_id: id, tags: { stolen: 'yes' } }),
  '/data_sources/tags/remove': (user, id) =>
    user.post('/data_sources/tags/remove', { data_source_id: id, remove_all_tags: true }),
  '/integrations/gitbook/spaces': (user, id) => user.get(`/integrations/gitbook/spaces?data_source_id=${id}`),
  '/integrations/gitbook/sync': (user, id) =>
    user.post('/integrations/gitbook/sync', { data_source_id: id, space_ids: ['a'] }),
  '/integrations/github/repos': (user, id) => user.get(`/integrations/github/repos?data_source_id=${id}`),
  '/integrations/github/sync_repos': (user, id) =>
    user.post('/integrations/github/sync_repos', { data_source_id: id, repos: ['a'] }),
  '/integrations/s3/files': (user, id) =>
    user.post('/integrations/s3/files', { data_source_id: id, ids: [{ bucket: 'a' }] }),
  '/integrations/azure_blob_storage/files': (user, id) =>
    user.post('/integrations/azure_blob_storage/files', { data_source_id: id, ids: [{ container: 'a' }] }),
  '/integrations/oauth_url': (user, id) =>
    user.post('/integrations/oauth_url', { service: 'GOOGLE_DRIVE', data_source_id: id }),
  '/integrations/gmail/sync': (user, id) =>
    user.post('/integrations/gmail/sync', { data_source_id: id, filters: { key: 'label', value: 'a' } }),
  '/integrations/gmail/user_labels': (user, id) => user.get(`/integrations/gmail/user_labels?data_source_id=${id}`),
  '/integrations/outlook/sync': (user, id) =>
    user.post('/integrations/outlook/sync', { data_source_id: id, filters: { key: 'category', value: 'a' } }),
  '/integrations/outlook/user_folders': (user, id) =>
    user.get(`/integrations/outlook/user_folders?data_source_id=${id}`),
  '/integrations/outlook/user_categories': (user, id) =>
    user.get(`/integrations/outlook/user_categories?data_source_id=${id}`),
  '/integrations/sharepoint/sites/list': (user, id) =>
    user.get(`/integrations/sharepoint/sites/list?data_source_id=${id}`),
  '/integrations/confluence/list': (user, id) => user.post('/integrations/confluence/list', { data_source_id: id }),
  '/integrations/confluence/sync': (user, id) =>
    user.post('/integrations/confluence/sync', { data_source_id: id, ids: ['a'] }),
  '/integrations/slack/conversations': (user, id) => user.get(`/integrations/slack/conversations?data_source_id=${id}`),
  '/integrations/slack/sync': (user, id) =>
    user.post('/integrations/slack/sync', { data_source_id: id, filters: { conversation_id: 'C1' } }),
  ...Object.fromEntries(
    ['accounts', 'leads', 'contacts', 'opportunities'].flatMap((kind): [string, Call][] => {
      const path = `/integrations/data/crm/${kind}`;
      return [
        [path, (user, id) => user.post(path, { data_source_id: id })],
        [`${path}/{id}`, (user, id) => user.get(`${path}/${'0'.repeat(15)}?data_source_id=${id}`)],
      ];
    }),
  ),
  ...Object.fromEntries(
    ['issues', 'pull_requests', 'pull_requests/comments', 'pull_requests/commits', 'pull_requests/files'].map(
      (kind): [string, Call] => {
        const path = `/integrations/data/github/${kind}`;
        return [path, (user, id) => user.post(path, { data_source_id: id, repository: 'ada/atlas', pull_number: 1 })];
      },
    ),
  ),
  '/integrations/data/github/issues/{issue_number}': (user, id) =>
    user.get(`/integrations/data/github/issues/1?data_source_id=${id}&repository=ada/atlas`),
  '/integrations/data/github/pull_requests/{pull_number}': (user, id) =>
    user.get(`/integrations/data/github/pull_requests/1?data_source_id=${id}&repository=ada/atlas`),
  '/integrations/items/list': (user, id) => user.post('/integrations/items/list', { data_source_id: id }),
  '/integrations/items/sync': (user, id) => user.post('/integrations/items/sync', { data_source_id: id }),
  '/integrations/items/sync/cancel': (user, id) => user.post('/integrations/items/sync/cancel', { data_source_id: id }),
  '/integrations/files/sync': (user, id) => user.post('/integrations/files/sync', { data_source_id: id, ids: ['a'] }),
  '/revoke_access_token': (user, id) => user.post('/revoke_access_token', { data_source_id: id }),
  '/data_sources/{data_source_id}/diagnosis': (user, id) => user.get(`/data_sources/${id}/diagnosis`),
};
/** Operations on one run. */
const OF_A_RUN: Record<string, Call> = {
  '/files/reembed/{reembed_id}': (user, id) => user.get(`/files/reembed/${id}`),
  '/sync_runs/{sync_run_id}/resume': (user, id) => user.post(`/sync_runs/${id}/resume`, { max_tokens: null }),
  '/files/reembed/{reembed_id}/cancel': (user, id) => user.post(`/files/reembed/${id}/cancel`, {}),
};
/** Operations on one sync run. */
const OF_A_SYNC_RUN: Record<string, Call> = {
  '/sync_runs/{sync_run_id}': (user, id) => user.get(`/sync_runs/${id}`),
  // For a run of another user, the answer is JSON; no stream begins.
  '/sync_runs/{sync_run_id}/events': (user, id) => user.get(`/sync_runs/${id}/events`),
  '/sync_runs/{sync_run_id}/items': (user, id) => user.get(`/sync_runs/${id}/items`),
  '/sync_runs/{sync_run_id}/retry': (user, id) => user.post(`/sync_runs/${id}/retry`, {}),
};
/** Operations that delete or change matching files, and operations without an id or a filter. */
const DELETING = ['/delete_files_v2', '/delete_files'];
const CHANGING = ['/files/reembed', '/modify_cold_storage_parameters', '/move_to_hot_storage'];
const WITHOUT_ID = [
  // eventStreams.test.ts tests that users receive only their own events.
  '/events/stream',
  '/auth/v1/white_labeling',
  '/integrations/',
  '/modify_user_configuration',
  '/process_sitemap',
  '/web_scrape',
  '/fetch_urls',
  '/fetch_webpage',
  '/fetch_youtube_transcript',
  '/integrations/azure_blob_storage',
  '/integrations/connect',
  '/integrations/document360',
  '/integrations/freshdesk',
  '/integrations/gitbook',
  '/integrations/github',
  '/integrations/guru',
  '/integrations/rss_feed',
  '/integrations/s3',
  '/scrape_sitemap',
  '/search_urls',
  '/upload_file_from_url',
  '/uploadfile',
  '/whoami',
];

test('the tables cover every operation for users', () => {
  const paths = operations.filter(({ auth }) => ['user', 'reader', 'either'].includes(auth)).map(({ path }) => path);
  const coveredPaths = [
    attempts(),
    OF_A_FILE,
    OF_A_DATA_SOURCE,
    OF_A_RUN,
    OF_A_SYNC_RUN,
    { '/sync_runs': null },
  ].flatMap((table) => Object.keys(table));
  expect([...coveredPaths, ...DELETING, ...CHANGING, ...WITHOUT_ID].sort()).toEqual([...paths].sort());
});

/** Answers to requests with ids that do not exist, which are the same for all users, by path. */
const answersToMissing = new Map<string, { body: unknown }>();

describe.each(['another user of the organization', 'the same name in another organization'])('%s', (stranger) => {
  test('finds no content of the owner by any operation', async () => {
    for (const [path, bodies] of Object.entries(attempts())) {
      for (const body of bodies) {
        const { status, body: answer } = await strangers[stranger]!.post<
          { results?: unknown[]; documents?: unknown[]; count?: number } | unknown[]
        >(path, body);
        const listed = Array.isArray(answer) ? { results: answer } : answer;
        const rows = listed.results ?? ('documents' in listed ? listed.documents : undefined);
        const count = 'count' in listed ? listed.count : 0;
        expect({ path, body, status, rows, count }).toEqual({
          path,
          body,
          status: 200,
          rows: [],
          count: 0,
        });
      }
    }
  });

  test('changes nothing, and gets the same answer for a foreign id as for a missing one', async () => {
    const sourceBefore = await service.store.dataSources.find(source, source._id);
    for (const [calls, id] of [
      [OF_A_FILE, children[0]?.id ?? 0],
      [OF_A_DATA_SOURCE, source._id],
      [OF_A_RUN, reembedding],
      [OF_A_SYNC_RUN, reembedding],
    ] as const) {
      for (const [path, call] of Object.entries(calls)) {
        const foreign = await call(strangers[stranger]!, id);
        const missing = answersToMissing.get(path) ?? (await call(strangers[stranger]!, 2 ** 40));
        answersToMissing.set(path, missing);
        expect({ path, status: foreign.status, body: foreign.body }).toEqual({ path, status: 404, body: missing.body });
      }
    }
    for (const query of ['', `?file_id=${children[0]?.id}`, `?data_source_id=${source._id}`, '?customer_ids=olga'])
      expect((await strangers[stranger]!.get(`/sync_runs${query}`)).body).toEqual({ results: [], count: 0 });
    expect((await strangers[stranger]!.get('/integrations/')).body).toEqual({ active_integrations: [] });
    const filters = { ids: [parent.id, ...children.map((child) => child.id)] };
    expect((await strangers[stranger]!.post('/delete_files_v2', { filters })).body).toEqual({ success: true });
    const older = { file_ids: filters.ids, delete_child_files: true };
    expect((await strangers[stranger]!.post('/delete_files', older)).body).toEqual({ success: true });
    const bodies: Record<string, Record<string, unknown>> = {
      '/files/reembed': { embedding_model: 'SOLAR_1_MINI' },
      '/modify_cold_storage_parameters': { enable_cold_storage: true, hot_storage_time_to_live: 1 },
    };
    for (const path of CHANGING) {
      const { status, body } = await strangers[stranger]!.post(path, { filters, ...bodies[path] });
      expect({ path, status }).toEqual({ path, status: 200 });
      if (path === '/files/reembed') expect(body).toMatchObject({ files: 0, chunks: 0, tokens: 0 });
    }
    // A delete is a run, so wait long enough for a wrong delete to have an effect.
    await sleep(1_500);
    expect(await service.store.dataSources.find(source, source._id)).toEqual(sourceBefore);
    expect(await owner.file(parent.id)).toEqual(parent);
    expect(await owner.children(parent.id)).toEqual(children);
    expect((await owner.search({ query: CANARY, k: 1 }))[0]?.content).toContain(CANARY);
  });

  test('finds no data of the owner in its own user record', async () => {
    const { status, body } = await strangers[stranger]!.get('/whoami');
    expect(status).toBe(200);
    expect(body).toMatchObject({ num_files_synced: 0, unique_file_tags: [], aggregate_num_files_by_source: {} });
  });

  test('gets its own records for the same site, without changes to those of the owner', async () => {
    const ownScrape = await strangers[stranger]!.scrape({ url: site.url('/sitemap.xml'), store_file_only: true });
    expect(ownScrape.id).not.toBe(parent.id);
    await strangers[stranger]!.settled(ownScrape.id);
    expect(await owner.file(parent.id)).toEqual(parent);
    expect(await owner.children(parent.id)).toEqual(children);
    expect((await owner.search({ query: CANARY, k: 1 }))[0]?.content).toContain(CANARY);
  });
});
