import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { startService, type TestService } from '../support/service.js';

let service: TestService;
beforeAll(async () => {
  service = await startService({ LOG_LEVEL: 'silent', TEMPORAL_ADDRESS: '127.0.0.1:1' }, { worker: false });
});
afterAll(() => service.close());

test('a step that comes late does not put the parent of an ended run into motion again', async () => {
  const user = await service.user('lena');
  const { id, organization_id, organization_user_id } = await user.scrape({ url: 'http://site.example/sitemap.xml' });
  const [parent] = await service.store.files.byIds(
    { organizationId: organization_id, userId: organization_user_id ?? 0 },
    [id],
  );
  const runId = parent?.runId ?? 0;
  expect(await service.store.files.moveContainer(runId, id, { status: 'SYNCING' })).toBe(true);
  expect(await service.store.files.abortOpen(runId, 'cancelled', 'cancelled')).toBe(1);
  expect(await service.store.files.moveContainer(runId, id, { status: 'SYNCING' })).toBe(false);
  expect(await user.file(id)).toMatchObject({ sync_status: 'SYNC_ABORTED' });
});
