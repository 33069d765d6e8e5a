import { afterAll, beforeAll, expect, test } from '@jest/globals';
import * as carbon from 'carbon-connect-js';

import type { DataSourceRecord, FileRecord } from '../../contract/records.js';
import { DRIVE_FOLDER, type GoogleDriveEmulator, startGoogleDrive } from '../emulators/googleDrive.js';
import { CLIENT_ID, CLIENT_SECRET } from '../emulators/oauthProvider.js';
import { type Site, startSampleSite } from '../emulators/site.js';
import type { TestUser } from '../support/client.js';
import { consentTo } from '../support/consent.js';
import { startService, type TestService } from '../support/service.js';

/** The published client without a face of older front-ends, unchanged: only its table of environments names us. */
const environment = 'LOCAL';
let service: TestService;
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
  user = await service.user('una');
  const issued = await carbon.generateAccessToken({ apiKey: service.apiKey, customerId: 'una', environment });
  expect(issued).toMatchObject({ status: 200, error: null });
  accessToken = (issued.data as { access_token: string }).access_token;
});
afterAll(async () => {
  await service.close();
  await Promise.all([drive.close(), site.close()]);
});

const asking = () => ({ accessToken, environment }) as const;
/** Ids are text in its types, and whatever it was answered on the wire. */
const idOf = ({ id }: Pick<FileRecord, 'id'>) => id as unknown as string;

test('it starts: health, limits, no accounts; a wrong key is told by its status', async () => {
  expect(await carbon.getCarbonHealth({ environment })).toEqual({ status: 200 });
  expect(await carbon.getWhiteLabelData(asking())).toMatchObject({ status: 200, data: { remove_branding: true } });
  expect(await carbon.getUserConnections(asking())).toEqual({ status: 200, connections: [], error: null });
  const refused = await carbon.generateAccessToken({ apiKey: 'nobody', customerId: 'una', environment });
  expect(refused).toMatchObject({ status: 401, data: null });
});

test('an account is connected, listed and taken back', async () => {
  const given = await carbon.generateOauthurl({ ...asking(), integrationName: 'GOOGLE_DRIVE', tags: { from: 'js' } });
  expect(given).toMatchObject({ status: 200, data: { integration: 'GOOGLE_DRIVE' } });
  await consentTo(given.data?.oauth_url ?? '');
  const found = await carbon.getUserDataSources({ ...asking(), sourceType: 'GOOGLE_DRIVE' });
  expect(found).toMatchObject({ status: 200, data: { count: 1 } });
  const [source] = (found.data as { results: DataSourceRecord[] }).results;
  expect(source).toMatchObject({ data_source_external_id: 'GOOGLE_DRIVE|ada@harbour.example', revoked_access: false });
  expect(await carbon.getUserConnections(asking())).toMatchObject({ connections: [{ id: source?.id }] });
  const revoked = await carbon.revokeAccessToDataSource({ ...asking(), dataSourceId: source?.id ?? 0 });
  expect(revoked).toMatchObject({ status: 200, data: { success: true } });
  const left = await carbon.getUserDataSources({ ...asking(), revokedAccess: false });
  expect(left).toMatchObject({ status: 200, data: { count: 0 } });
});

test('a file is uploaded, tagged, found, read, synced again and deleted', async () => {
  const files = [new File(['The lighthouse was lit in 1901.'], 'lighthouse.txt'), new File(['?'], 'what.xyz')];
  const sent = await carbon.uploadFiles({ ...asking(), files });
  expect(sent).toMatchObject({ status: 200, data: { count: 1 }, error: { failedUploads: ['what.xyz'] } });
  const [uploaded] = sent.data.successfulUploads as [FileRecord];
  await user.settled(uploaded.id);
  const fileId = idOf(uploaded);
  const tagged = await carbon.updateTags({ ...asking(), fileId, tags: { about: 'sights' } });
  expect(tagged).toMatchObject({ status: 200, data: { tags: { about: 'sights' } } });

  const filters = { tags: { about: 'sights' } };
  const listed = await carbon.getUserFiles({ ...asking(), filters, include_raw_file: true, include_parsed_file: true });
  expect(listed).toMatchObject({
    status: 200,
    data: { count: 1, results: [{ id: uploaded.id, sync_status: 'READY' }] },
  });
  const raw = await carbon.getRawFilePresignedUrl({ ...asking(), fileId });
  const parsed = await carbon.getParsedFilePresignedUrl({ ...asking(), fileId });
  for (const { status, data } of [raw, parsed]) {
    expect(status).toBe(200);
    expect(await (await fetch(data?.presigned_url ?? '')).text()).toBe('The lighthouse was lit in 1901.');
  }
  const answered = await carbon.getEmbeddings({ ...asking(), query: 'When was the lighthouse lit?' });
  expect(answered).toMatchObject({
    status: 200,
    data: { documents: [{ content: 'The lighthouse was lit in 1901.' }] },
  });
  const chunks = await carbon.getTextChunks({ ...asking(), userFileId: uploaded.id });
  expect(chunks).toMatchObject({ status: 200, data: { results: [{ user_file_id: uploaded.id }] } });

  const untagged = await carbon.deleteTags({ ...asking(), organizationUserFileId: uploaded.id, tags: ['about'] });
  expect(untagged).toMatchObject({ status: 200, data: { tags: {} } });
  const again = await carbon.resyncFile({ ...asking(), fileId, chunkSize: 300 });
  expect(again).toMatchObject({ status: 200, data: { id: uploaded.id, sync_status: 'QUEUED_FOR_SYNC' } });
  await user.settled(uploaded.id);
  expect(await carbon.deleteFile({ ...asking(), fileId })).toMatchObject({ status: 200 });
});

test('text and an address become files, and are deleted together', async () => {
  const text = await carbon.uploadText({ ...asking(), contents: 'The ferry sails at seven.', fileName: 'ferry' });
  expect(text).toMatchObject({ status: 200 });
  const fetched = await carbon.uploadFileFromUrl({ ...asking(), url: site.url('/tides.txt'), fileName: 'tides.txt' });
  expect(fetched).toMatchObject({ status: 200 });
  const both = [text, fetched].map(({ data }) => data?.file as FileRecord);
  for (const { id } of both) expect((await user.settled(id)).sync_status).toBe('READY');
  expect(await carbon.deleteFiles({ ...asking(), fileIds: both.map(idOf) })).toMatchObject({ status: 200 });
});

test('pages are read live, scraped one by one and by a sitemap', async () => {
  const sitemapUrl = site.url('/sitemap.xml');
  const urls = ['/pages/0.html', '/pages/1.html'].map((path) => site.url(path));
  expect(await carbon.processSitemapUrl({ ...asking(), sitemapUrl })).toMatchObject({ status: 200, data: { urls } });
  const page = await carbon.fetchUrls({ ...asking(), url: urls[0]! });
  expect(page).toMatchObject({ status: 200, data: { html_content: expect.stringContaining('<') as unknown } });

  // Another page than the sitemap's first: it would be the one's or the other's.
  const scraped = await carbon.submitScrapeRequest({ ...asking(), urls: [urls[1]!] });
  expect(scraped).toMatchObject({ status: 200, data: { files: [{ external_url: urls[1] }] } });
  const sitemap = await carbon.submitSitemapScrapeRequest({ ...asking(), url: sitemapUrl });
  // Which front-ends take for something to open.
  expect(sitemap).toMatchObject({ status: 200, data: { file_metadata: { is_folder: true } } });
  const parents = [...((scraped.data?.files ?? []) as FileRecord[]), sitemap.data as unknown as FileRecord];
  for (const { id } of parents) expect((await user.settled(id)).sync_status).toBe('READY');
  // Of a sitemap it wants one page unless told otherwise.
  expect(await user.children(parents[1]!.id)).toHaveLength(1);
});

test('what no provider is configured for is an error in its words', async () => {
  expect(await carbon.searchUrls({ ...asking(), query: 'lighthouse' })).toMatchObject({ status: 400, data: null });
  const transcript = await carbon.fetchYoutubeTranscript({ ...asking(), videoId: 'a' });
  expect(transcript).toMatchObject({ status: 400, data: null });
});
