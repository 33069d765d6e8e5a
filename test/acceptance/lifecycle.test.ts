import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { createTemporalClient } from '../../dispatch/client.js';
import type { FileRecord } from '../../contract/files/records.js';
import { type HeldSite, startHeldSite } from '../emulators/heldSite.js';
import { samplePage, type Site, sitemapOf, startSampleSite, startSite } from '../emulators/site.js';
import { testEngines } from '../support/engines.js';
import { recordCall } from '../support/recordedCalls.js';
import { startService } from '../support/service.js';
import { type SharedService, sharedService } from '../support/sharedService.js';
import { thoroughly } from '../support/thorough.js';
import { waitFor } from '../support/waitFor.js';
import type { Listed, TestUser } from '../support/client.js';

let service: SharedService;
let user: TestUser;
const sites: Site[] = [];

async function site<Kind extends Site>(starting: Promise<Kind>): Promise<Kind> {
  const started = await starting;
  sites.push(started);
  return started;
}
const texts = async (id: number): Promise<string[]> =>
  (await user.chunks({ ids: [id] })).results.map((chunk) => chunk.source_content);
const tenant = (file: FileRecord) => ({ organizationId: file.organization_id, userId: file.organization_user_id ?? 0 });

const childrenWhen = (parentId: number, holds: (files: readonly FileRecord[]) => boolean): Promise<FileRecord[]> =>
  waitFor(() => user.children(parentId), holds);
const twoReady = (files: readonly FileRecord[]): boolean =>
  files.filter(({ sync_status }) => sync_status === 'READY').length >= 2;

const heldSite = (count: number): Promise<HeldSite> => site(startHeldSite(count));

beforeAll(async () => {
  service = await sharedService();
  user = await service.user('lena');
});
afterAll(async () => {
  await service.close();
  await Promise.all(sites.map((startedSite) => startedSite.close()));
});

describe('unchanged pages', () => {
  test('are neither rewritten nor embedded again if their ETag or their bytes are the same', async () => {
    const pages = await site(startSite());
    const pageWithEtag = { headers: { etag: '"one"' }, body: samplePage(1, 2) };
    let conditionalRequests = 0;
    pages.pages.set('/tagged.html', (request, response) => {
      const isUnchanged = request.headers['if-none-match'] === '"one"';
      if (isUnchanged) conditionalRequests += 1;
      response
        .writeHead(isUnchanged ? 304 : 200, { 'content-type': 'text/html', ...pageWithEtag.headers })
        .end(isUnchanged ? '' : pageWithEtag.body);
    });
    pages.pages.set('/plain.html', samplePage(2, 2));
    pages.pages.set('/sitemap.xml', sitemapOf(pages.origin, ['/tagged.html', '/plain.html']));
    const url = pages.url('/sitemap.xml');
    const parent = await user.settled((await user.scrape({ url })).id);
    const childrenBefore = await user.children(parent.id);
    const storedBefore = await service.store.files.byIds(
      tenant(parent),
      childrenBefore.map((file) => file.id),
    );

    await user.settled((await user.scrape({ url })).id);
    const storedAfter = await service.store.files.byIds(
      tenant(parent),
      childrenBefore.map((file) => file.id),
    );
    expect(conditionalRequests).toBe(1);
    expect(storedAfter.map((file) => file.generation)).toEqual(storedBefore.map((file) => file.generation));
    expect(storedAfter.every((file) => file.syncStatus === 'READY')).toBe(true);
    expect(
      storedAfter.every(
        (file, index) => (file.lastSync?.getTime() ?? 0) > (storedBefore[index]?.lastSync?.getTime() ?? 0),
      ),
    ).toBe(true);

    // Other options change the result, so the page is requested without If-None-Match.
    await user.settled((await user.scrape({ url, chunk_size: 60 })).id);
    const rewritten = await service.store.files.byIds(
      tenant(parent),
      childrenBefore.map((file) => file.id),
    );
    expect(rewritten.every((file, index) => file.generation > (storedBefore[index]?.generation ?? 0))).toBe(true);
    expect(conditionalRequests).toBe(1);
  });
});

describe('pages of one site', () => {
  let page: FileRecord;
  let pages: Site;
  beforeAll(async () => {
    pages = await site(startSampleSite(2, 2));
    const parent = await user.settled(
      (
        await user.scrape({
          url: pages.url('/sitemap.xml'),
          skip_embedding_generation: true,
          chunk_size: 200,
          chunk_overlap: 5,
        })
      ).id,
    );
    [page] = (await user.children(parent.id)) as [FileRecord];
  });

  describe('POST /resync_file', () => {
    const resync = (body: Record<string, unknown>) => user.post<FileRecord & { detail: unknown }>('/resync_file', body);

    test('returns the queued record, and keeps the stored chunk_size and chunk_overlap if the request omits them or has null', async () => {
      const { status, body } = await resync({ file_id: page.id, chunk_size: null });
      expect(status).toBe(200);
      expect(body).toMatchObject({ id: page.id, sync_status: 'QUEUED_FOR_SYNC', chunk_size: 200, chunk_overlap: 5 });
      expect(await user.settled(page.id)).toMatchObject({ sync_status: 'READY', chunk_size: 200 });
    });

    test('starts a workflow with search attributes for the file, the organization and the user', async () => {
      const settings = { address: testEngines().temporalAddress, namespace: 'default' };
      const client = createTemporalClient(settings);
      const { typedSearchAttributes } = await client.workflow
        .getHandle(service.names.idOf(`resync:${page.id}`))
        .describe();
      const attributes = typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]);
      expect(Object.fromEntries(attributes)).toMatchObject({
        FileId: String(page.id),
        OrganizationId: String(service.organizationId),
        UserId: String(page.organization_user_id),
      });
      await client.connection.close();
    });

    test('replaces the stored chunk_size, chunk_overlap and chunks, and creates missing vectors with force_embedding_generation', async () => {
      const search = () => user.search({ query: 'anything', k: 1, file_ids: [page.id] });
      expect(await search()).toEqual([]);
      const textsBefore = await texts(page.id);
      await resync({ file_id: page.id, chunk_size: 50, chunk_overlap: 0, force_embedding_generation: true });
      expect(await user.settled(page.id)).toMatchObject({
        ...{ chunk_size: 50, chunk_overlap: 0, skip_embedding_generation: false },
      });
      expect(await search()).toHaveLength(1);
      expect((await texts(page.id)).length).toBeGreaterThan(textsBefore.length);
    });

    test('with skip_file_processing ends in READY_TO_SYNC and fetches nothing; a resync without it syncs', async () => {
      pages.requests.length = 0;
      await resync({ file_id: page.id, skip_file_processing: true });
      expect(await user.settled(page.id)).toMatchObject({ sync_status: 'READY_TO_SYNC' });
      expect(pages.requests).toEqual([]);
      await resync({ file_id: page.id });
      expect(await user.settled(page.id)).toMatchObject({ sync_status: 'READY' });
    });

    test('repeats the scrape of a parent', async () => {
      pages.requests.length = 0;
      const { body } = await resync({ file_id: page.parent_id });
      expect(body).toMatchObject({ id: page.parent_id, sync_status: 'QUEUED_FOR_SYNC' });
      await user.settled(page.parent_id ?? 0);
      expect(pages.requests.filter((path) => path.startsWith('/pages/'))).toHaveLength(2);
    });

    test('answers 422 for an overlap that is not below the new chunk size, and 404 for an unknown file', async () => {
      expect((await resync({ file_id: page.id, chunk_size: 10, chunk_overlap: 10 })).status).toBe(422);
      expect((await resync({ file_id: 2 ** 40 })).status).toBe(404);
      expect((await resync({})).status).toBe(422);
    });

    test('answers 409 for a file being synced', async () => {
      const held = await heldSite(6);
      const parent = await user.scrape({ url: held.url('/sitemap.xml') });
      const syncingFile = await waitFor(
        async () =>
          // The first two pages are answered at once, so they can be READY before the next request.
          (await user.children(parent.id)).find(
            ({ sync_status, external_url }) => sync_status === 'SYNCING' && !/\/[01]\.html$/.test(external_url ?? ''),
          ),
        (file) => file !== undefined,
      );
      const { status, body } = await resync({ file_id: syncingFile?.id });
      expect(status).toBe(409);
      expect(body.detail).toMatch(/being synced/);
      held.release();
      await user.settled(parent.id);
    });
  });

  describe('presigned URLs', () => {
    let listed: FileRecord;
    beforeAll(async () => {
      const body = {
        filters: { ids: [page.id] },
        include_raw_file: true,
        include_parsed_text_file: true,
        include_additional_files: true,
      };
      [listed] = (await user.post<Listed<FileRecord>>('/user_files_v2', body)).body.results as [FileRecord];
    });

    test('open the raw and the parsed content without a credential', async () => {
      const raw = await fetch(listed.presigned_url ?? '');
      expect(raw.status).toBe(200);
      expect(await raw.text()).toBe(samplePage(0, 2));
      const path = (listed.presigned_url ?? '').replace(service.url, '');
      recordCall({ method: 'GET', path, response: undefined, baseUrl: service.url });
      // Foreign content must not run on our origin.
      expect(raw.headers.get('content-disposition')).toBe('attachment');
      expect(raw.headers.get('content-security-policy')).toContain('sandbox');
      expect(await (await fetch(listed.parsed_text_url ?? '')).text()).toContain('# Page 0 on orchards');
      expect(listed.additional_presigned_urls).toEqual({});
    });

    test('do not open when altered or expired', async () => {
      const url = new URL(listed.presigned_url ?? '');
      for (const change of [
        ['expires', '9999999999'],
        ['signature', 'AAAA'],
        ['key', 'other'],
      ] as const) {
        const altered = new URL(url);
        altered.searchParams.set(change[0], change[1]);
        expect((await fetch(altered)).status).toBe(403);
      }
      expect((await fetch(url.href.replace(/\d+\.raw/, '999.raw'))).status).toBe(403);
      const body = { filters: { ids: [listed.id] }, include_raw_file: true, presigned_url_expiry_time_seconds: 1 };
      const [shortLived] = (await user.post<Listed<FileRecord>>('/user_files_v2', body)).body.results;
      await sleep(2_100);
      expect((await fetch(shortLived?.presigned_url ?? '')).status).toBe(403);
    });
  });
});

describe('POST /delete_files_v2', () => {
  test('answers 400 without a filter', async () => {
    for (const filters of [undefined, {}, { ids: [] }, { root_files_only: false }, { tags: {} }]) {
      const { status, body } = await user.post<{ detail: string }>('/delete_files_v2', filters ? { filters } : {});
      expect({ filters, status, detail: body.detail }).toEqual({
        filters,
        status: 400,
        detail: 'name at least one filter',
      });
    }
  });

  test('deletes only the records, chunks, points and contents of the files in the filter, or keeps their records', async () => {
    const pages = await site(startSampleSite(4, 1));
    const parent = await user.settled((await user.scrape({ url: pages.url('/sitemap.xml') })).id);
    const [first, second, ...otherPages] = (await user.children(parent.id)) as [
      FileRecord,
      FileRecord,
      ...FileRecord[],
    ];
    const deletedIds = [first.id, second.id];
    expect(await service.store.contents.countOf(tenant(first), deletedIds)).toBe(2);
    expect((await user.post('/delete_files_v2', { filters: { ids: deletedIds } })).body).toEqual({ success: true });
    await childrenWhen(parent.id, (files) => files.length === 2);
    expect(await service.store.chunks.countOf(tenant(first), deletedIds)).toBe(0);
    expect(await service.store.vectors.countOf(tenant(first), deletedIds)).toBe(0);
    expect(await service.store.contents.countOf(tenant(first), deletedIds)).toBe(0);
    const remaining = await user.children(parent.id);
    expect(remaining.map((file) => file.id)).toEqual(otherPages.map((file) => file.id));
    expect((await user.chunks({ parent_file_ids: [parent.id] })).count).toBeGreaterThan(0);

    // With preserve_file_record, the record is kept and can be synced again.
    const [page] = otherPages as [FileRecord, ...FileRecord[]];
    await user.post('/delete_files_v2', { filters: { ids: [page.id] }, preserve_file_record: true });
    await waitFor(
      () => user.file(page.id),
      (file) => file.file_contents_deleted,
    );
    expect(await user.file(page.id)).toMatchObject({ sync_status: 'READY_TO_SYNC', file_statistics: null });
    expect(await texts(page.id)).toEqual([]);
    await user.post('/resync_file', { file_id: page.id });
    expect(await user.settled(page.id)).toMatchObject({ sync_status: 'READY', file_contents_deleted: false });
    expect(await texts(page.id)).not.toEqual([]);
  });
});

describe('early end of a run', () => {
  test('by cancellation keeps finished files and aborts the rest, without waiting for a page', async () => {
    // The site answers two of eight requests and holds six. CONNECTIONS_PER_HOST is 8, so the held requests do not
    // keep the service from sending the others.
    const held = await heldSite(8);
    const parent = await user.scrape({ url: held.url('/sitemap.xml') });
    await childrenWhen(parent.id, twoReady);
    const startedAt = Date.now();
    expect((await user.post('/cancel_sync', { file_id: parent.id })).status).toBe(200);
    expect(await user.settled(parent.id)).toMatchObject({ sync_status: 'SYNC_ABORTED' });
    // If the cancellation waited for a held page, it would take at least HEADERS_TIMEOUT_MS.
    expect(Date.now() - startedAt).toBeLessThan(20_000);
    held.release();
    const statuses = (await user.children(parent.id)).map((file) => file.sync_status);
    expect(statuses.filter((status) => status === 'READY')).toHaveLength(2);
    expect(statuses.filter((status) => status === 'SYNC_ABORTED')).toHaveLength(6);
    expect((await user.post('/cancel_sync', { file_id: parent.id })).status).toBe(409);
  });

  // test/dispatch/decisions.test.ts tests the cancellation of runs in the outbox.
  thoroughly('by cancellation while the run waits in the outbox sets SYNC_ABORTED', async () => {
    const idle = await startService(
      { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', LOG_LEVEL: 'silent', TEMPORAL_ADDRESS: '127.0.0.1:1' },
      { worker: false },
    );
    const userOfIdle = await idle.user('lena');
    const pages = await site(startSampleSite(1, 1));
    const parent = await userOfIdle.scrape({ url: pages.url('/sitemap.xml') });
    expect((await userOfIdle.post('/cancel_sync', { file_id: parent.id })).status).toBe(200);
    expect(await userOfIdle.file(parent.id)).toMatchObject({ sync_status: 'SYNC_ABORTED' });
    await idle.close();
  });
});

describe('GET /process_sitemap', () => {
  test('lists the pages of a sitemap, and fetches none', async () => {
    const pages = await site(startSampleSite(3, 1));
    const { status, body } = await user.get<{ urls: string[] }>(
      `/process_sitemap?url=${encodeURIComponent(pages.url('/sitemap.xml'))}`,
    );
    expect(status).toBe(200);
    expect(body.urls).toEqual([0, 1, 2].map((number) => pages.url(`/pages/${number}.html`)));
    expect(pages.requests).toEqual(['/sitemap.xml']);
  });

  test('answers 400 for a missing sitemap, and 422 for a missing or forbidden URL', async () => {
    const pages = await site(startSite());
    const missing = await user.get<{ detail: string }>(
      `/process_sitemap?url=${encodeURIComponent(pages.url('/sitemap.xml'))}`,
    );
    expect(missing.status).toBe(400);
    expect(missing.body.detail).toContain('404');
    expect((await user.get('/process_sitemap')).status).toBe(422);
    expect((await user.get('/process_sitemap?url=file:///etc/passwd')).status).toBe(422);
    expect((await user.get(`/process_sitemap?url=${encodeURIComponent('http://169.254.169.254/')}`)).status).toBe(422);
  });
});
