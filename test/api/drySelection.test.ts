import { expect, test } from '@jest/globals';

import { drySelection } from '../../api/integrations/drySelection.js';

const NEVER = new AbortController().signal;
const item = (externalId: string) => ({ externalId, name: externalId, hasContent: true, isSelectable: true });

/** Returns the estimate of a selection of a folder with three files and of two of these files. */
async function estimate(maxFiles: number | null, incremental = false) {
  const contents: Record<string, string[]> = { folder: ['a', 'b', 'c'], a: ['a'], c: ['c'] };
  const listDescendants = (id: string) => Promise.resolve({ items: contents[id]!.map(item), next: null });
  const syncedCopies = (_source: object, ids: string[]) =>
    Promise.resolve(new Map(ids.filter((id) => id === 'a').map((id) => [id, {}])));
  const deps = {
    connectors: { account: () => ({ listDescendants }) },
    embedder: { spaceOf: () => ({ name: 'space' }) },
    samples: { item: () => Promise.resolve({ bytes: 1, tokens: 1, texts: ['t'] }) },
    settings: { dryRun: { samplePages: 10 }, embeddingPrices: {} },
    store: {
      accountCredentials: () => null,
      items: { syncedCopies },
      limits: { get: () => Promise.resolve({ max_files_per_upload: maxFiles }) },
      runRates: { rateOf: () => Promise.resolve(null) },
      vectorCache: { countCached: () => Promise.resolve(0) },
    },
  };
  const selection = { externalIds: ['folder', 'a', 'c'], tags: {}, ingest: {}, incremental };
  const deadline = { discovery: NEVER, total: NEVER };
  const caller = { organizationId: 1 } as never;
  const source = { _id: 5, type: 'BOX' } as never;
  const { files, skipped } = await drySelection(caller, source, selection as never, deadline, deps as never);
  return { files, skipped };
}

test('an item that several selections contain counts once, whether it is selected or skipped', async () => {
  expect(await estimate(null)).toEqual({ files: 3, skipped: {} });
  expect(await estimate(2)).toEqual({ files: 2, skipped: { over_limit: 1 } });
  expect(await estimate(null, true)).toEqual({ files: 2, skipped: { already_synced: 1 } });
});
