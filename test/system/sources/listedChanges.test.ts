/** Totals are cached until the updatedAt of a file changes, so every change that a list can show must update it. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { FileDoc } from '../../../store/models/files.js';
import { sitemapOf, type Site, startSampleSite } from '../../emulators/site.js';
import { withDatabase } from '../../support/mongo.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';

/** Fields that filters and totals use. */
const LISTED: readonly (keyof FileDoc)[] = [
  ...(['source', 'name', 'tags', 'tagPairs', 'externalFileId', 'externalUrl', 'syncStatus', 'parentId'] as const),
  ...(['dataSourceId', 'options', 'requestId', 'uploadId', 'fileTypeAtSource', 'lastSync', 'isContainer'] as const),
  ...(['syncErrorMessage', 'numChunks', 'generation', 'statistics', 'vectorSpace'] as const),
];

let service: TestService;
let site: Site;
beforeAll(async () => {
  [service, site] = await Promise.all([startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' }), startSampleSite(4)]);
  site.pages.set('/sitemap.xml', sitemapOf(site.origin, ['/pages/0.html', '/pages/1.html', '/missing.html']));
});
afterAll(async () => {
  await service.close();
  await site.close();
});

test('updates updated_at with every change of a file that a list can show', async () => {
  const user = await service.user('wanda');
  let isComplete = false;
  const changes: { readonly fields: string[]; readonly moved: boolean }[] = [];
  await withDatabase(service, async (connection) => {
    const stream = connection.collection<FileDoc>('files').watch();
    stream.on('change', (change) => {
      if (change.operationType !== 'update') return;
      const { updatedFields = {}, removedFields = [] } = change.updateDescription;
      isComplete ||= 'lastOfTheTest' in updatedFields;
      const fields = [...Object.keys(updatedFields), ...(removedFields as string[])].map((path) => path.split('.')[0]);
      changes.push({
        fields: LISTED.filter((field) => fields.includes(field)),
        moved: fields.includes('updatedAt'),
      });
    });
    const parent = await user.settled((await user.scrape({ url: site.url('/sitemap.xml') })).id);
    const [page] = (await user.children(parent.id)).filter(({ sync_status }) => sync_status === 'READY');
    const id = page?.id ?? 0;
    const tags = { organization_user_file_id: id, tags: { team: 'red' } };
    expect(await user.post('/create_user_file_tags', tags)).toMatchObject({ status: 200 });
    expect(await user.post('/resync_file', { file_id: id })).toMatchObject({ status: 200 });
    await user.settled(id);
    await user.settled((await user.scrape({ url: site.url('/sitemap.xml'), tags: { again: 'yes' } })).id);
    const keepRecord = { filters: { ids: [id] }, preserve_file_record: true };
    expect(await user.post('/delete_files_v2', keepRecord)).toMatchObject({ status: 200 });
    await waitFor(
      () => user.file(id),
      (file) => file.file_contents_deleted,
    );
    // The stream is delayed: when it has delivered this change, it has delivered all.
    await connection.collection('files').updateOne({ _id: id as never }, { $set: { lastOfTheTest: true } });
    await waitFor(() => isComplete, Boolean);
    await stream.close();
  });
  const listed = changes.filter(({ fields }) => fields.length > 0);
  expect(listed.length).toBeGreaterThan(10);
  expect(listed.filter(({ moved }) => !moved)).toEqual([]);
  const seen = new Set(listed.flatMap(({ fields }) => fields));
  for (const field of ['syncStatus', 'lastSync', 'numChunks', 'tagPairs', 'generation', 'syncErrorMessage'] as const)
    expect(seen).toContain(field);
});
