/** Two published clients of the hosted service, of which the tests change only the base path. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as carbon from 'carbon-connect-js';
import { Carbon, CarbonError } from 'carbon-typescript-sdk';

import type { DataSourceRecord, FileRecord } from '../../../contract/files/records.js';
import { DRIVE_FOLDER, type GoogleDriveEmulator, startGoogleDrive } from '../../emulators/googleDrive.js';
import { feedOf } from '../../emulators/linkedSite.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../emulators/oauthProvider.js';
import { type Receiver, startReceiver } from '../../emulators/receiver.js';
import { type Site, startSampleSite } from '../../emulators/site.js';
import type { TestUser } from '../../support/client.js';
import { consentTo } from '../../support/consent.js';
import { watchIgnoredFields } from '../../support/ignoredFields.js';
import { startService, type TestService } from '../../support/service.js';
import { verified } from '../../support/signatures.js';
import { waitFor } from '../../support/waitFor.js';

let service: TestService;
let ignoredFields: () => readonly string[];
let drive: GoogleDriveEmulator;

beforeAll(async () => {
  drive = await startGoogleDrive({ sights: { name: 'Sights', mimeType: DRIVE_FOLDER } });
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    SOURCE_URLS: drive.settings,
    OAUTH_CLIENTS: `GOOGLE_DRIVE=${CLIENT_ID}:${CLIENT_SECRET}`,
  });
  ignoredFields = watchIgnoredFields(service.url);
});
afterAll(async () => {
  await service.close();
  await drive.close();
  // Published clients must send only fields that the service knows, so that a strict server would accept them too.
  expect(ignoredFields()).toEqual([]);
});

describe('carbon-typescript-sdk', () => {
  let site: Site;
  let receiver: Receiver;

  beforeAll(async () => {
    site = await startSampleSite(3, 1);
    site.pages.set('/pages/0.html', '<main><h1>Otters</h1><p>Otters juggle pebbles on the river bank.</p></main>');
    site.pages.set('/feed.xml', feedOf({ one: 'The lighthouse was lit in 1901.', two: 'The harbour was dredged.' }));
    receiver = await startReceiver();
  });
  afterAll(() => Promise.all([site.close(), receiver.close()]));

  const clientOf = (credentials: { apiKey?: string; customerId?: string; accessToken?: string }) =>
    new Carbon({ basePath: service.url, ...credentials });

  async function filesOf(client: Carbon, parentId: number) {
    const listed = await client.files.queryUserFiles({
      // The client marks parent_file_ids as deprecated, but the public API selects child files by it.
      // oxlint-disable-next-line typescript/no-deprecated
      filters: { parent_file_ids: [parentId] },
      order_by: 'name',
      order_dir: 'asc',
      pagination: { limit: 20, offset: 0 },
    });
    return listed.data;
  }

  async function settledFile(client: Carbon, id: number) {
    const file = await waitFor(
      async () => (await client.files.queryUserFiles({ filters: { ids: [id] } })).data.results[0],
      (record) => record !== undefined && !['QUEUED_FOR_SYNC', 'SYNCING'].includes(record.sync_status),
    );
    if (!file) throw new Error(`no file ${id}`);
    return file;
  }

  test('gets a token, scrapes a sitemap, lists, searches, tags, resyncs and deletes, with signed webhooks', async () => {
    const issuing = clientOf({ apiKey: service.apiKey, customerId: 'una' });
    const { data: webhook } = await issuing.webhooks.addUrl({ url: receiver.url });
    const { data: tokens } = await issuing.auth.getAccessToken();
    const client = clientOf({ accessToken: tokens.access_token });

    const { data: offered } = await client.utilities.processSitemap({ url: site.url('/sitemap.xml') });
    expect((offered as { urls: string[] }).urls).toHaveLength(3);

    const { data: accepted } = await client.utilities.scrapeSitemap({
      url: site.url('/sitemap.xml'),
      tags: { shelf: 'rivers' },
      chunk_size: 200,
    });
    const parent = accepted as { id: number; sync_status: string };
    expect(parent.sync_status).toBe('QUEUED_FOR_SYNC');
    expect((await settledFile(client, parent.id)).sync_status).toBe('READY');

    const { results: pages, count } = await filesOf(client, parent.id);
    expect(count).toBe(3);
    expect(pages.map((page) => [page.sync_status, page.source, page.chunk_size, page.tags])).toEqual(
      Array.from({ length: 3 }, () => ['READY', 'WEB_SCRAPE', 200, { shelf: 'rivers' }]),
    );
    const otters = pages.find((page) => page.external_url === site.url('/pages/0.html'));

    const { data: chunks } = await client.embeddings.list({
      filters: { ids: [otters?.id ?? 0] },
      include_vectors: true,
    });
    expect(chunks.results[0]?.source_content).toContain('juggle');
    expect(chunks.results[0]?.embedding?.length).toBeGreaterThan(0);

    const { data: answer } = await client.embeddings.getDocuments({
      query: 'Which animals play with stones?',
      k: 1,
      tags_v2: { AND: [{ key: 'shelf', value: 'rivers' }] },
    });
    expect(answer.documents[0]).toMatchObject({ file_id: otters?.id, content: expect.stringContaining('Otters') });

    const { data: tagged } = await client.files.createUserFileTags({
      organization_user_file_id: otters?.id ?? 0,
      tags: { animal: 'otter' },
    });
    expect(tagged.tags).toEqual({ shelf: 'rivers', animal: 'otter' });
    const searchTagged = async (animal: string) =>
      (
        await client.embeddings.getDocuments({
          query: 'stones',
          k: 3,
          tags_v2: { AND: [{ key: 'animal', value: animal }] },
        })
      ).data.documents;
    const [byTag, ...otherDocuments] = await waitFor(
      () => searchTagged('otter'),
      (documents) => documents.length > 0,
    );
    expect([byTag?.file_id, otherDocuments, await searchTagged('heron')]).toEqual([otters?.id, [], []]);

    site.pages.set('/pages/0.html', '<main><h1>Otters</h1><p>Otters now sleep all day long.</p></main>');
    const { data: queued } = await client.files.resync({ file_id: otters?.id ?? 0, chunk_size: 100 });
    expect([queued.sync_status, queued.chunk_size]).toEqual(['QUEUED_FOR_SYNC', 100]);
    expect((await settledFile(client, queued.id)).sync_status).toBe('READY');
    const { data: changedAnswer } = await client.embeddings.getDocuments({
      query: 'sleep',
      k: 1,
      file_ids: [queued.id],
    });
    expect(changedAnswer.documents[0]?.content).toContain('sleep all day');

    const deletedIds = [parent.id, ...pages.map((page) => page.id)];
    const { data: deleted } = await client.files.deleteV2({ filters: { ids: deletedIds }, send_webhook: true });
    expect(deleted).toEqual({ success: true });
    await waitFor(
      () => filesOf(client, parent.id),
      (list) => list.count === 0,
    );

    const delivered = await waitFor(
      () => receiver.accepted(),
      (acceptedEvents) => deletedIds.every((id) => acceptedEvents.includes(`FILE_DELETED ${id}`)),
    );
    const eventsOf = (id: number) =>
      delivered.filter((event) => event.endsWith(` ${id}`)).map((event) => event.split(' ')[0]);
    const synced = ['FILE_SYNCING', 'FILE_READY', 'WEBPAGE_READY'];
    expect(eventsOf(otters?.id ?? 0)).toEqual([...synced, ...synced, 'FILE_DELETED']);
    expect(eventsOf(pages.find(({ id }) => id !== otters?.id)?.id ?? 0)).toEqual([...synced, 'FILE_DELETED']);
    for (const delivery of receiver.received) {
      expect(verified(delivery, webhook.signing_key)).toEqual({ plain: true, compact: true, standard: true });
      expect(delivery.event.customer_id).toBe('una');
    }
  });

  test('uploads files as bytes, by URL, and as text', async () => {
    const client = clientOf({ apiKey: service.apiKey, customerId: 'una' });
    const options = { chunkSize: 120, chunkOverlap: 10, setPageAsBoundary: true, maxItemsPerChunk: 2 };
    const file = new File(['# Otters\n\nOtters juggle pebbles.'], 'otters.md', { type: 'text/markdown' });
    const { data: sent } = await client.files.upload({ file, ...options, skipEmbeddingGeneration: true });
    expect(sent).toMatchObject({
      name: 'otters.md',
      source: 'MD',
      sync_status: 'QUEUED_FOR_SYNC',
      chunk_size: 120,
      chunk_properties: { set_page_as_boundary: true, max_items_per_chunk: 2 },
    });
    const { data: bytes } = await client.files.upload({
      file: Buffer.from('Just bytes.'),
      skipEmbeddingGeneration: true,
    });
    const { data: fetched } = await client.files.uploadFromUrl({
      url: site.url('/pages/1.html'),
      skip_embedding_generation: true,
    });
    const { data: text } = await client.files.uploadText({ contents: 'Some words.', skip_embedding_generation: true });
    for (const { id } of [sent, bytes, fetched, text])
      expect((await settledFile(client, id)).sync_status).toBe('READY');
    const { data: chunks } = await client.embeddings.list({ filters: { ids: [sent.id] } });
    expect(chunks.results[0]?.source_content).toContain('juggle');
    const { data: uploadAnswer } = await client.embeddings.uploadChunksAndEmbeddings({
      embedding_model: 'OPENAI',
      chunks_only: true,
      overwrite_existing: true,
      chunks_and_embeddings: [
        { file_id: sent.id, chunks_and_embeddings: [{ chunk_number: 0, chunk: 'Given words.' }] },
      ],
    });
    expect(uploadAnswer).toEqual({ success: true });
  });

  test('lists, tags, finds and revokes a feed as a data source', async () => {
    const client = clientOf({ apiKey: service.apiKey, customerId: 'fred' });
    expect((await client.integrations.syncRssFeed({ url: site.url('/feed.xml') })).data).toEqual({ success: true });
    const { data: listed } = await client.dataSources.queryUserDataSources({ filters: { revoked_access: false } });
    const [source] = listed.results;
    expect([listed.count, source?.data_source_type, source?.tags]).toEqual([1, 'RSS_FEED', {}]);
    const { data: files } = await client.files.queryUserFiles({ filters: { root_files_only: true } });
    expect((await settledFile(client, files.results[0]?.id ?? 0)).sync_status).toBe('READY');

    const { data: tagged } = await client.dataSources.addTags({
      data_source_id: source?.id ?? 0,
      tags: { shelf: 'news' },
    });
    expect(tagged.tags).toEqual({ shelf: 'news' });
    const search = async () =>
      (
        await client.embeddings.getDocuments({
          query: 'When was the lighthouse lit?',
          k: 1,
          tags_v2: { AND: [{ key: 'shelf', value: 'news' }] },
        })
      ).data.documents;
    const [document] = await waitFor(search, (documents) => documents.length > 0);
    expect(document?.content).toContain('1901');

    expect((await client.dataSources.revokeAccessToken({ data_source_id: source?.id ?? 0 })).data).toEqual({
      success: true,
    });
    const { data: activeSources } = await client.dataSources.queryUserDataSources({
      filters: { revoked_access: false },
    });
    expect(activeSources.count).toBe(0);
  });

  test('the client can parse error responses', async () => {
    const fault = async (call: Promise<unknown>): Promise<CarbonError> => {
      const reason: unknown = await call.then(
        () => null,
        (error: unknown) => error,
      );
      expect(reason).toBeInstanceOf(CarbonError);
      return reason as CarbonError;
    };
    const client = clientOf({ apiKey: service.apiKey, customerId: 'una' });
    expect(await fault(client.files.resync({ file_id: 999_999_999 }))).toMatchObject({
      status: 404,
      responseBody: { detail: expect.any(String) },
    });
    expect(await fault(client.embeddings.getDocuments({ query: '', k: 0 }))).toMatchObject({
      status: 422,
      responseBody: {
        detail: [expect.objectContaining({ loc: ['body', 'query'] }), expect.objectContaining({ loc: ['body', 'k'] })],
      },
    });
    expect(await fault(clientOf({ accessToken: 'old' }).files.queryUserFiles({}))).toMatchObject({ status: 401 });
    // Without a key, the client sends no credentials to operations that require a key.
    expect(await fault(clientOf({ accessToken: 'any' }).users.list({}))).toMatchObject({ status: 401 });
  });
});

/** Environment of carbon-connect-js, the client of older front-ends. This suite sets its base URL to the service. */
const environment = 'LOCAL';

describe('carbon-connect-js', () => {
  let site: Site;
  let user: TestUser;
  let accessToken: string;

  beforeAll(async () => {
    site = await startSampleSite(2, 1);
    site.pages.set('/tides.txt', 'The tide comes in at noon.');
    carbon.BASE_URL[environment] = service.url;
    user = await service.user('jonas');
    const issued = await carbon.generateAccessToken({ apiKey: service.apiKey, customerId: 'jonas', environment });
    expect(issued).toMatchObject({ status: 200, error: null });
    accessToken = (issued.data as { access_token: string }).access_token;
  });
  afterAll(() => site.close());

  const credentials = () => ({ accessToken, environment }) as const;
  /** Returns a file id as the client's types declare it. The client sends ids unchanged. */
  const idOf = ({ id }: Pick<FileRecord, 'id'>) => id as unknown as string;

  test('reads health, settings and an empty list of accounts, and reports a wrong API key by its status', async () => {
    expect(await carbon.getCarbonHealth({ environment })).toEqual({ status: 200 });
    expect(await carbon.getWhiteLabelData(credentials())).toMatchObject({
      status: 200,
      data: { remove_branding: true },
    });
    expect(await carbon.getUserConnections(credentials())).toEqual({ status: 200, connections: [], error: null });
    const refused = await carbon.generateAccessToken({ apiKey: 'unknown', customerId: 'una', environment });
    expect(refused).toMatchObject({ status: 401, data: null });
  });

  test('connects, lists and revokes an account', async () => {
    const consent = await carbon.generateOauthurl({
      ...credentials(),
      integrationName: 'GOOGLE_DRIVE',
      tags: { from: 'js' },
    });
    expect(consent).toMatchObject({ status: 200, data: { integration: 'GOOGLE_DRIVE' } });
    await consentTo(consent.data?.oauth_url ?? '');
    const listed = await carbon.getUserDataSources({ ...credentials(), sourceType: 'GOOGLE_DRIVE' });
    expect(listed).toMatchObject({ status: 200, data: { count: 1 } });
    const [source] = (listed.data as { results: DataSourceRecord[] }).results;
    expect(source).toMatchObject({
      data_source_external_id: 'GOOGLE_DRIVE|ada@harbour.example',
      revoked_access: false,
    });
    expect(await carbon.getUserConnections(credentials())).toMatchObject({ connections: [{ id: source?.id }] });
    const revoked = await carbon.revokeAccessToDataSource({ ...credentials(), dataSourceId: source?.id ?? 0 });
    expect(revoked).toMatchObject({ status: 200, data: { success: true } });
    const remaining = await carbon.getUserDataSources({ ...credentials(), revokedAccess: false });
    expect(remaining).toMatchObject({ status: 200, data: { count: 0 } });
  });

  test('uploads, tags, finds, reads, resyncs and deletes a file', async () => {
    const files = [new File(['The lighthouse was lit in 1901.'], 'lighthouse.txt'), new File(['?'], 'what.xyz')];
    const sent = await carbon.uploadFiles({ ...credentials(), files });
    expect(sent).toMatchObject({ status: 200, data: { count: 1 }, error: { failedUploads: ['what.xyz'] } });
    const [uploaded] = sent.data.successfulUploads as [FileRecord];
    await user.settled(uploaded.id);
    const fileId = idOf(uploaded);
    const tagged = await carbon.updateTags({ ...credentials(), fileId, tags: { about: 'sights' } });
    expect(tagged).toMatchObject({ status: 200, data: { tags: { about: 'sights' } } });

    const filters = { tags: { about: 'sights' } };
    const listed = await carbon.getUserFiles({
      ...credentials(),
      filters,
      include_raw_file: true,
      include_parsed_file: true,
    });
    expect(listed).toMatchObject({
      status: 200,
      data: { count: 1, results: [{ id: uploaded.id, sync_status: 'READY' }] },
    });
    const raw = await carbon.getRawFilePresignedUrl({ ...credentials(), fileId });
    const parsed = await carbon.getParsedFilePresignedUrl({ ...credentials(), fileId });
    for (const { status, data } of [raw, parsed]) {
      expect(status).toBe(200);
      expect(await (await fetch(data?.presigned_url ?? '')).text()).toBe('The lighthouse was lit in 1901.');
    }
    const answered = await carbon.getEmbeddings({ ...credentials(), query: 'When was the lighthouse lit?' });
    expect(answered).toMatchObject({
      status: 200,
      data: { documents: [{ content: 'The lighthouse was lit in 1901.' }] },
    });
    const chunks = await carbon.getTextChunks({ ...credentials(), userFileId: uploaded.id });
    expect(chunks).toMatchObject({ status: 200, data: { results: [{ user_file_id: uploaded.id }] } });

    const untagged = await carbon.deleteTags({
      ...credentials(),
      organizationUserFileId: uploaded.id,
      tags: ['about'],
    });
    expect(untagged).toMatchObject({ status: 200, data: { tags: {} } });
    const resynced = await carbon.resyncFile({ ...credentials(), fileId, chunkSize: 300 });
    expect(resynced).toMatchObject({ status: 200, data: { id: uploaded.id, sync_status: 'QUEUED_FOR_SYNC' } });
    await user.settled(uploaded.id);
    expect(await carbon.deleteFile({ ...credentials(), fileId })).toMatchObject({ status: 200 });
  });

  test('creates files from a text and a URL, and deletes them together', async () => {
    const text = await carbon.uploadText({
      ...credentials(),
      contents: 'The ferry sails at seven.',
      fileName: 'ferry',
    });
    expect(text).toMatchObject({ status: 200 });
    const fetched = await carbon.uploadFileFromUrl({
      ...credentials(),
      url: site.url('/tides.txt'),
      fileName: 'tides.txt',
    });
    expect(fetched).toMatchObject({ status: 200 });
    const uploads = [text, fetched].map(({ data }) => data?.file as FileRecord);
    for (const { id } of uploads) expect((await user.settled(id)).sync_status).toBe('READY');
    expect(await carbon.deleteFiles({ ...credentials(), fileIds: uploads.map(idOf) })).toMatchObject({ status: 200 });
  });

  test('fetches a page without storing it, and scrapes pages by URL and by a sitemap', async () => {
    const sitemapUrl = site.url('/sitemap.xml');
    const urls = ['/pages/0.html', '/pages/1.html'].map((path) => site.url(path));
    expect(await carbon.processSitemapUrl({ ...credentials(), sitemapUrl })).toMatchObject({
      status: 200,
      data: { urls },
    });
    const page = await carbon.fetchUrls({ ...credentials(), url: urls[0]! });
    expect(page).toMatchObject({ status: 200, data: { html_content: expect.stringContaining('<') as unknown } });

    // A page belongs to only one scrape, and the sitemap scrape below includes the first page. So scrape the second here.
    const scraped = await carbon.submitScrapeRequest({ ...credentials(), urls: [urls[1]!] });
    expect(scraped).toMatchObject({ status: 200, data: { files: [{ external_url: urls[1] }] } });
    const sitemap = await carbon.submitSitemapScrapeRequest({ ...credentials(), url: sitemapUrl });
    // Front-ends show this file as a folder.
    expect(sitemap).toMatchObject({ status: 200, data: { file_metadata: { is_folder: true } } });
    const parents = [...((scraped.data?.files ?? []) as FileRecord[]), sitemap.data as unknown as FileRecord];
    for (const { id } of parents) expect((await user.settled(id)).sync_status).toBe('READY');
    // The client requests one page of a sitemap by default.
    expect(await user.children(parents[1]!.id)).toHaveLength(1);
  });

  test('returns an error for features without a configured provider', async () => {
    expect(await carbon.searchUrls({ ...credentials(), query: 'lighthouse' })).toMatchObject({
      status: 400,
      data: null,
    });
    const transcript = await carbon.fetchYoutubeTranscript({ ...credentials(), videoId: 'a' });
    expect(transcript).toMatchObject({ status: 400, data: null });
  });
});
