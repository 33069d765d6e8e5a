import { expect, test } from '@jest/globals';

import { type Listing, listPage } from '../../activities/connected/listPage.js';
import type { OpenAccount } from '../../activities/connected/openAccount.js';
import { isListed, type SyncItemsProgress, WALK_ALL } from '../../contract/accounts/connections.js';
import { Fault } from '../../contract/failures.js';
import { folderItem } from '../support/folderItem.js';

// Files that a listing does not find are deleted only if each folder that it could not list is a known one.
test('counts the known folders that could not be listed over all pages of a listing', async () => {
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
