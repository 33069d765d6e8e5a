import { expect, test } from '@jest/globals';

import type { ItemPage } from '../../connectors/sourceItem.js';
import { folderWalk, nextFolderPage } from '../../connectors/folderWalk.js';
import { Fault } from '../../contract/failures.js';
import { folderItem } from '../support/folderItem.js';

async function walked(list: (folder: string, at: string | null) => Promise<ItemPage>) {
  const [ids, refused]: [string[], string[]] = [[], []];
  let pages = 0;
  for (let cursor: string | null = folderWalk('top', 'top'); cursor !== null;) {
    const page: ItemPage = await nextFolderPage(cursor, list);
    ids.push(...page.items.map(({ externalId }) => externalId));
    refused.push(...(page.refused ?? []));
    cursor = page.next;
    pages += 1;
  }
  return { ids, refused, pages };
}

test('stops at a folder that contains itself, 500 levels below the first, and reports it as refused', async () => {
  const { ids, refused } = await walked(async () => ({ items: [folderItem('again')], next: null }));
  expect(ids).toHaveLength(501);
  expect(refused).toEqual(['again']);
});

test('reads every page of nested folders, skips a deleted folder and reports one without access', async () => {
  const tree: Record<string, string[]> = { top: ['a', 'gone', 'b'], a: ['c'], b: ['closed'], c: [], closed: [] };
  const { ids, refused, pages } = await walked(async (folder, at) => {
    if (folder === 'gone') throw new Fault('not_found', 'none');
    if (folder === 'closed') throw new Fault('access_denied', 'no');
    const from = Number(at ?? 0);
    const all = tree[folder] ?? [];
    return { items: all.slice(from, from + 1).map(folderItem), next: from + 1 < all.length ? String(from + 1) : null };
  });
  expect(ids.toSorted()).toEqual(['a', 'b', 'c', 'closed', 'gone']);
  expect(refused).toEqual(['closed']);
  expect(pages).toBe(8);
});

test('ends the listing on any other error', async () => {
  await expect(walked(() => Promise.reject(new Fault('server_error', 'oh')))).rejects.toThrow('oh');
});

test('keeps what a page of a folder reports: refused containers, skipped entries, and that it is partial', async () => {
  const reported = {
    refused: ['closed'],
    skipped: [{ externalId: 'x', name: 'X', reason: 'Its type is not read.' }],
    isPartial: true,
  } as const;
  const page = await nextFolderPage(folderWalk('top', 'top'), async () => ({ items: [], next: null, ...reported }));
  expect(page).toEqual({ items: [], next: null, ...reported });
});
