import { expect, test } from '@jest/globals';

import { drySelection } from '../../api/integrations/drySelection.js';
import { Fault } from '../../contract/failures.js';

const NEVER = new AbortController().signal;
const item = (externalId: string) => ({ externalId, name: externalId, hasContent: true, isSelectable: true });

/** Returns the estimate of a selection of a folder with three files and of two of these files. */
async function estimate(
  maxFiles: number | null,
  incremental = false,
  listPage: (id: string, cursor: string | null) => Promise<object> = (id) => {
    const contents: Record<string, string[]> = { folder: ['a', 'b', 'c'], a: ['a'], c: ['c'] };
    return Promise.resolve({ items: contents[id]!.map(item), next: null });
  },
) {
  const listDescendants = listPage;
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
  const found = await drySelection(caller, source, selection as never, deadline, deps as never);
  return { files: found.files, skipped: found.skipped, ...(!found.complete && { complete: false }) };
}

test('a file that is selected directly and in its folder counts once, among the files or the skipped ones', async () => {
  expect(await estimate(null)).toEqual({ files: 3, skipped: {} });
  expect(await estimate(2)).toEqual({ files: 2, skipped: { over_limit: 1 } });
  expect(await estimate(null, true)).toEqual({ files: 2, skipped: { already_synced: 1 } });
});

test('every page of a selection is listed; items that the source refuses are skipped; a partial list is incomplete', async () => {
  const pages = (id: string, cursor: string | null) =>
    Promise.resolve({
      items: [item(`${id} ${cursor ?? 'first'}`)],
      next: id === 'folder' && cursor === null ? 'second' : null,
      ...(id === 'a' && { refused: ['x', 'y'] }),
    });
  expect(await estimate(null, false, pages)).toEqual({ files: 4, skipped: { not_found: 2 } });
  const partial = () => Promise.resolve({ items: [], next: null, isPartial: true });
  expect(await estimate(null, false, partial)).toEqual({ files: 0, skipped: {}, complete: false });
});

test('an estimate continues without a missing or forbidden item, and ends with any other failure of its source', async () => {
  const failing = (fault: Error) => (id: string) =>
    id === 'a' ? Promise.reject(fault) : Promise.resolve({ items: [item(id)], next: null });
  for (const kind of ['not_found', 'access_denied'] as const)
    expect(await estimate(null, false, failing(new Fault(kind, 'no')))).toEqual({
      files: 2,
      skipped: { not_found: 1 },
    });
  const limited = failing(new Fault('rate_limited', 'Busy.', { retryAfterMs: 1_500 }));
  await expect(estimate(null, false, limited)).rejects.toMatchObject({ status: 503, retryAfterSeconds: 2 });
  await expect(estimate(null, false, failing(new Fault('access_revoked', 'no')))).rejects.toMatchObject({
    status: 400,
  });
});
