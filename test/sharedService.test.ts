import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { RunDoc } from '../store/models/runs.js';
import { withDatabase } from './support/mongo.js';
import { type SharedService, sharedService } from './support/sharedService.js';

let first: SharedService;
let second: SharedService;
beforeAll(async () => {
  first = await sharedService({ worker: false });
  second = await sharedService({ worker: false });
});
afterAll(() => first.close());

test('suites share an API, and have organizations, users and ids of their own', async () => {
  expect(second.url).toBe(first.url);
  expect([second.organizationId, second.firstId]).not.toEqual([first.organizationId, first.firstId]);
  for (const { organizationId, user } of [first, second])
    expect((await (await user('ada')).get('/whoami')).body).toMatchObject({ organization_id: organizationId });
});

test('wrong counts of a run fail the suite of its organization, and no other', async () => {
  const { organizationId, firstId } = second;
  const tally = { discovered: 2, ok: 1, failed: 0, skipped: 0, aborted: 0, pending: 0, bytes: 0, tokens: 0, reused: 0 };
  const run = { _id: firstId, organizationId, userId: 1, kind: 'scrapeSitemap', workflowId: 'w', counts: {}, tally };
  await withDatabase(second, (connection) =>
    connection.collection<RunDoc>('runs').insertOne({ ...run, finishedAt: new Date(), outcome: 'finished' } as never),
  );
  await expect(second.close()).rejects.toThrow(`run ${firstId} (scrapeSitemap, finished): the counts do not add up`);
  await first.close();
});
