import { expect, test } from '@jest/globals';

import type { ActivityDeps } from '../../activities/deps.js';
import { prepareSpace } from '../../activities/runs/prepareSpace.js';
import type { Run } from '../../store/runs/model.js';
import { DEFAULT_INGEST_OPTIONS, type IngestOptions } from '../../contract/ingestOptions.js';

const SPACE = { name: 'a-space', dimensions: 3 };

/** What is prepared for a run with these options, whose parent was last synced then; `fileId` null: it has none. */
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
      : { kind: 'syncSource', request: { ingest: { ...DEFAULT_INGEST_OPTIONS, ...ingest } } };
  await prepareSpace({ ...work, organizationId: 1, userId: 1, fileId } as Run, deps);
  return prepared;
}

test('the first run of a scrape that embeds has model and collection made ready', async () => {
  expect(await preparedFor({})).toEqual(['model of a-space', 'collection of a-space']);
});

test.each([
  ['makes chunks only', { generateChunksOnly: true }, {}],
  ['only keeps records', { skipFileProcessing: true }, {}],
  ['was done before, and may find nothing changed', {}, { lastSync: new Date() }],
  ['has no file of its own', {}, { fileId: null }],
  ['does not say how its files are made', null, {}],
] as const)('nothing is made ready for a run that %s', async (_why, ingest, parent) => {
  expect(await preparedFor(ingest, parent)).toEqual([]);
});
