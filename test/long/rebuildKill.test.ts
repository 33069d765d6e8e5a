/**
 * Ends the command `vectors rebuild` while a deleted collection is rebuilt, and kills the worker, Qdrant and MongoDB.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { clearVectorCache } from '../support/storedState.js';
import { cli, watchCli } from '../support/cli.js';
import type { TestUser } from '../support/client.js';
import { type OwnService, startOwnService } from '../support/ownService.js';
import { waitFor } from '../support/waitFor.js';
import { qdrantOf } from '../support/storedPoints.js';

const FILES = 60;
const COLLECTION = 'killed-minilm-l6-v2-384';
let service: OwnService;
let user: TestUser;

beforeAll(async () => {
  service = await startOwnService({});
  user = await service.user('ruth');
  const sent = await Promise.all(
    Array.from({ length: FILES }, (_, file) => {
      const words = Array.from({ length: 200 }, (_unused, word) => `file ${file} says ${word * 7}`).join('. ');
      return user.send({ name: `${file}.txt`, content: words }, { chunk_size: 100, generate_sparse_vectors: true });
    }),
  );
  for (const { id } of sent) expect(await user.settled(id)).toMatchObject({ sync_status: 'READY' });
});
afterAll(() => service?.close());

const points = async (): Promise<number> => (await qdrantOf(service).count(COLLECTION, { exact: true })).count;
const hits = async () =>
  (await user.search({ query: 'what does file 7 say', k: 5 })).map((one) => ({
    ...{ file: one.file_id, chunk: one.chunk_index },
    score: expect.closeTo(one.score ?? 0, 3) as unknown,
  }));

test('vectors rebuild, interrupted repeatedly, restores the search results and rebuilds each file once', async () => {
  const before = await hits();
  const pointsBefore = await points();
  await qdrantOf(service).deleteCollection(COLLECTION);
  // Without stored vectors, all embeddings must be computed again.
  await clearVectorCache(service.env);

  const watched = watchCli(service.env, 'vectors', 'rebuild');
  const reached = (share: number): Promise<number> =>
    waitFor(
      () => points().catch(() => 0),
      (count) => count > pointsBefore * share,
    );
  await reached(0.02);
  await watched.stop();
  expect(await points()).toBeLessThan(pointsBefore);
  await service.kill('worker');
  await reached(0.2);
  await service.kill('qdrant', 500);
  await reached(0.4);
  await service.kill('worker');
  await service.kill('mongodb', 500);

  // The repeated command waits for the same run instead of starting a second one.
  const report = (await cli(service.env, 'vectors', 'rebuild', '--json')).json<Record<string, unknown>>();
  expect(report).toMatchObject({ done: true, runs: 1, rebuilt: FILES, failed: 0, skipped: {} });
  expect(await hits()).toEqual(before);
  await waitFor(points, (count) => count === pointsBefore);
  const { code, lines } = await cli(service.env, 'reconcile', '--full');
  expect([code, lines.at(-1)]).toEqual([0, 'No difference.']);
});
