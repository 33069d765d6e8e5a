import { expect, test } from '@jest/globals';

import type { ActivityDeps } from '../../activities/deps.js';
import { prepareSpace } from '../../activities/runs/prepareSpace.js';
import type { Run } from '../../store/models/runs.js';
import { DEFAULT_INGEST_OPTIONS, type IngestOptions } from '../../contract/files/ingestOptions.js';

const SPACE = { name: 'a-space', dimensions: 3 };

/**
 * Returns the models and collections that are prepared for a run.
 * @param ingest options of the run; null: its request has none
 * @param parent `lastSync`: when the run's file was last synced; `fileId` null: the run has no file
 */
async function preparedFor(
  ingest: Partial<IngestOptions> | null,
  { lastSync = null, fileId = 7 }: { lastSync?: Date | null; fileId?: number | null } = {},
): Promise<string[]> {
  const prepared: string[] = [];
  const deps = {
    embeddings: { spaceOf: () => SPACE, prepare: (space: string) => prepared.push(`model of ${space}`) },
    store: {
      files: { byIds: () => Promise.resolve([{ _id: 7, lastSync }]) },
      vectors: { prepare: ({ name }: typeof SPACE) => prepared.push(`collection of ${name}`) },
    },
  } as unknown as Pick<ActivityDeps, 'store' | 'embeddings'>;
  const work =
    ingest === null
      ? { kind: 'resyncFile', request: {} }
      : { kind: 'webScrape', request: { ingest: { ...DEFAULT_INGEST_OPTIONS, ...ingest } } };
  await prepareSpace({ ...work, organizationId: 1, userId: 1, fileId } as Run, deps);
  return prepared;
}

test('prepares model and collection for the first run of a scrape that embeds', async () => {
  expect(await preparedFor({})).toEqual(['model of a-space', 'collection of a-space']);
});

test.each([
  ['generates chunks only', { generateChunksOnly: true }, {}],
  ['skips file processing', { skipFileProcessing: true }, {}],
  ['was synced before, so it may find no changes', {}, { lastSync: new Date() }],
  ['has no file', {}, { fileId: null }],
  ['has no ingest options', null, {}],
] as const)('prepares nothing for a run that %s', async (_why, ingest, parent) => {
  expect(await preparedFor(ingest, parent)).toEqual([]);
});
