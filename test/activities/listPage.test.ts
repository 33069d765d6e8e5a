import { expect, test } from '@jest/globals';

import { type Listing, listPage } from '../../activities/connected/listPage.js';
import type { OpenAccount } from '../../activities/connected/openAccount.js';
import { isListed, type SyncItemsProgress, WALK_ALL } from '../../contract/accounts/connections.js';
import { Fault } from '../../contract/failures.js';
import { folderItem } from '../support/folderItem.js';

// A known folder is stored as an item. A listing deletes the files that it does not find only if each folder that it
// could not list is known.
test('sums over all pages the folders that could not be listed, and the known ones among them', async () => {
  const account = {
    sourceOf: () => 'BOX',
    listRoots: async () => ({ items: ['closed', 'open', 'unknown', 'alsoClosed'].map(folderItem), next: null }),
    listDescendants: async (folder: string) => {
      if (folder !== 'open') throw new Fault('access_denied', 'no access');
      return { items: [], next: null };
    },
  };
  const items = {
    upsert: async () => new Set(),
    markClosed: async (_source: unknown, _runId: number, ids: readonly string[]) =>
      new Set(ids.filter((id) => id !== 'unknown')),
  };
  const listing = { runId: 7, items } as unknown as Listing;
  let progress: SyncItemsProgress = { walk: WALK_ALL, listed: 0 };
  for (let page = 0; page < 20 && !isListed(progress); page += 1)
    progress = await listPage(
      { source: {}, account } as unknown as OpenAccount,
      progress,
      listing,
      new AbortController().signal,
    );
  expect(isListed(progress)).toBe(true);
  expect(progress.walk).toMatchObject({ refused: 3, closed: 2 });
});

test.each([
  [
    'as inaccessible, after the last page was stored',
    1_000,
    ['unlisted roots', 'closed 1000'],
    { refused: 1, closed: 1 },
  ],
  ['not at all if there are too many', 1_001, ['unlisted roots'], { refused: 1, closed: 0 }],
])('marks known root items that a partial list omits %s', async (_what, omitted, calls, walk) => {
  const done: string[] = [];
  const account = {
    sourceOf: () => 'BOX',
    listRoots: async (cursor: string | null) =>
      cursor === null ? { items: [], next: '2', isPartial: true } : { items: [], next: null },
  };
  const items = {
    upsert: async () => {
      done.push('upsert');
      return new Set();
    },
    listUnlistedRoots: async (_source: unknown, _runId: number, limit: number) => {
      done.push('unlisted roots');
      return Array.from({ length: Math.min(limit, omitted) }, (_, nth) => `root ${nth}`);
    },
    markClosed: async (_source: unknown, _runId: number, ids: readonly string[]) => {
      if (ids.length > 0) done.push(`closed ${ids.length}`);
      return new Set(ids);
    },
  };
  const listing = { runId: 7, items } as unknown as Listing;
  const open = { source: {}, account } as unknown as OpenAccount;
  let progress: SyncItemsProgress = { walk: WALK_ALL, listed: 0, nextChangeToken: null };
  for (let page = 0; page < 20 && !isListed(progress); page += 1)
    progress = await listPage(open, progress, listing, new AbortController().signal);
  expect(done).toEqual(['upsert', 'upsert', ...calls]);
  expect(progress.walk).toMatchObject(walk);
});
