import { afterAll, beforeAll, expect, test } from '@jest/globals';
import * as carbon from 'carbon-connect-js';

import type { DataSourceRecord, FileRecord } from '../../../contract/files/records.js';
import { DRIVE_FOLDER, type GoogleDriveEmulator, startGoogleDrive } from '../../emulators/googleDrive.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../emulators/oauthProvider.js';
import { type Site, startSampleSite } from '../../emulators/site.js';
import type { TestUser } from '../../support/client.js';
import { consentTo } from '../../support/consent.js';
import { watchIgnoredFields } from '../../support/ignoredFields.js';
import { startService, type TestService } from '../../support/service.js';

/** Environment of carbon-connect-js, the client of older front-ends. This suite sets its base URL to the service. */
const environment = 'LOCAL';
let service: TestService;
let ignoredFields: () => readonly string[];
let drive: GoogleDriveEmulator;
let site: Site;
let user: TestUser;
let accessToken: string;

beforeAll(async () => {
  drive = await startGoogleDrive({ sights: { name: 'Sights', mimeType: DRIVE_FOLDER } });
  site = await startSampleSite(2, 1);
  site.pages.set('/tides.txt', 'The tide comes in at noon.');
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    SOURCE_URLS: drive.settings,
    OAUTH_CLIENTS: `GOOGLE_DRIVE=${CLIENT_ID}:${CLIENT_SECRET}`,
  });
  carbon.BASE_URL[environment] = service.url;
  ignoredFields = watchIgnoredFields(service.url);
  user = await service.user('una');
  const issued = await carbon.generateAccessToken({ apiKey: service.apiKey, customerId: 'una', environment });
  expect(issued).toMatchObject({ status: 200, error: null });
  accessToken = (issued.data as { access_token: string }).access_token;
});
afterAll(async () => {
  await service.close();
  await Promise.all([drive.close(), site.close()]);
  // Published clients must send only fields that the service knows, so that a strict server would accept them too.
  expect(ignoredFields()).toEqual([]);
});

const credentials = () => ({ accessToken, environment }) as const;
/** Returns a file id as the client's types declare it. The client sends ids unchanged. */
const idOf = ({ id }: Pick<FileRecord, 'id'>) => id as unknown as string;

test('reads health, settings and an empty list of accounts, and reports a wrong API key by its status', async () => {
  expect(await carbon.getCarbonHealth({ environment })).toEqual({ status: 200 });
  expect(await carbon.getWhiteLabelData(credentials())).toMatchObject({ status: 200, data: { remove_branding: true } });
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
  expect(source).toMatchObject({ data_source_external_id: 'GOOGLE_DRIVE|ada@harbour.example', revoked_access: false });
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

  const untagged = await carbon.deleteTags({ ...credentials(), organizationUserFileId: uploaded.id, tags: ['about'] });
  expect(untagged).toMatchObject({ status: 200, data: { tags: {} } });
  const resynced = await carbon.resyncFile({ ...credentials(), fileId, chunkSize: 300 });
  expect(resynced).toMatchObject({ status: 200, data: { id: uploaded.id, sync_status: 'QUEUED_FOR_SYNC' } });
  await user.settled(uploaded.id);
  expect(await carbon.deleteFile({ ...credentials(), fileId })).toMatchObject({ status: 200 });
});

test('creates files from a text and a URL, and deletes them together', async () => {
  const text = await carbon.uploadText({ ...credentials(), contents: 'The ferry sails at seven.', fileName: 'ferry' });
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
  expect(await carbon.searchUrls({ ...credentials(), query: 'lighthouse' })).toMatchObject({ status: 400, data: null });
  const transcript = await carbon.fetchYoutubeTranscript({ ...credentials(), videoId: 'a' });
  expect(transcript).toMatchObject({ status: 400, data: null });
});
