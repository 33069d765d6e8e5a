import { changeFeed, count, eitherOf, shapeOf, listOf, number, recordOf, string, type Checked } from '../cursors.js';
import { Fault } from '../../contract/failures.js';
import type { GrantClient, SourceClient } from '../accountClient.js';
import type { Change } from '../sourceItem.js';
import { isKey, isTrashed, itemId, itemOfJson, readCollection } from './adapter.js';
import { listAll, listPage, ownerOf } from './api.js';
import { incompleteAnswer } from '../faults.js';
import { asObject, asTrimmed } from '../json.js';

const MAX_GROUPS = 10_000;
const MAX_CHANGED = 20_000;

/** Versions of the libraries; every change of a library increases its version. */
const versions = recordOf(number);

/** Position of a scan, which reads the changes of all libraries. */
const scanPosition = shapeOf({
  /** Versions that the last sync reached. */
  known: versions,
  /** Versions that will be stored at the end of the scan. */
  reached: versions,
  /** Libraries still to be read. */
  open: listOf(string),
  start: count,
});
type Scan = Checked<typeof scanPosition>;
const CHANGE_TOKEN = eitherOf(shapeOf({ at: versions }), scanPosition);

const pathOf = (library: string): string[] => library.split('/');

/** Returns the ids of the libraries that a key has access to. */
async function librariesOf(client: GrantClient): Promise<readonly string[]> {
  const owner = await ownerOf(client);
  const groups = await listAll(client, ['users', owner.id, 'groups'], {}, MAX_GROUPS);
  const ownLibraries = owner.hasLibrary ? [`users/${owner.id}`] : [];
  return [...ownLibraries, ...groups.map((json) => `groups/${String(json['id'])}`)];
}

const versionOf = async (client: SourceClient, library: string): Promise<number> =>
  (await listPage(client, [...pathOf(library), 'items'], { limit: '1' }, 0)).version;

/** Returns the deletions in a library since a version, and its new or changed collections. */
async function deletionsAndCollections(
  client: SourceClient,
  library: string,
  since: string,
): Promise<readonly Change[]> {
  const deletions = await client.get([...pathOf(library), 'deleted'], { since });
  const keysOf = (name: string): string[] => {
    if (!Array.isArray(deletions[name])) throw incompleteAnswer('Zotero', `the ${name} that were deleted`);
    return deletions[name].map(asTrimmed).filter(isKey);
  };
  // Items of a deleted collection still exist elsewhere, and their new place is not reported.
  if (keysOf('collections').length > 0)
    throw new Fault('stale_cursor', 'Zotero has deleted a collection, but not its items. Everything is listed again.');
  const collections = await listAll(client, [...pathOf(library), 'collections'], { since }, MAX_CHANGED);
  return [
    ...collections.flatMap((json) => {
      const item = readCollection(json, library)?.item;
      return item ? [{ item }] : [];
    }),
    ...keysOf('items').map((key) => ({ gone: itemId(library, key) })),
  ];
}

/** The change feed: Zotero returns the changes of a library after a version number. */
export const zoteroChanges = changeFeed(CHANGE_TOKEN, {
  async now(client) {
    const at: Record<string, number> = {};
    for (const library of await librariesOf(client)) at[library] = await versionOf(client, library);
    return { at };
  },

  async since(client, cursor) {
    const missing: Change[] = [];
    let scan: Scan;
    if ('at' in cursor) {
      const libraries = await librariesOf(client);
      // The contents of a new library were never listed.
      if (libraries.some((library) => cursor.at[library] === undefined))
        throw new Fault('stale_cursor', 'Zotero has a library that was never listed. Everything is listed again.');
      missing.push(
        ...Object.keys(cursor.at).flatMap((library) => (libraries.includes(library) ? [] : [{ gone: library }])),
      );
      scan = { known: cursor.at, reached: {}, open: libraries, start: 0 };
    } else scan = cursor;
    const [library, ...rest] = scan.open;
    if (library === undefined) return { changes: missing, next: { at: scan.reached }, more: false };
    const since = String(scan.known[library] ?? 0);
    // Items in the trash are included: they count as deleted.
    const query = { since, includeTrashed: '1', sort: 'dateAdded', direction: 'asc' };
    const page = await listPage(client, [...pathOf(library), 'items'], query, scan.start);
    const items = page.values.flatMap((json): Change[] => {
      const key = asTrimmed(json['key']);
      if (isTrashed(json) && isKey(key)) return [{ gone: itemId(library, key) }];
      const item = itemOfJson(asObject(json), library);
      return item === null ? [] : [{ item }];
    });
    // Later changes have a higher version than that of the first page. If the library changed between two pages, a
    // deletion may have moved items to pages that were already read, so the next sync reads all its changes again.
    const first = scan.reached[library] ?? page.version;
    const reached = { ...scan.reached, [library]: first === page.version ? first : (scan.known[library] ?? 0) };
    if (page.next !== null) {
      const next: Scan = { ...scan, reached, start: page.next };
      return { changes: [...missing, ...items], next: next, more: true };
    }
    const changes = [...missing, ...(await deletionsAndCollections(client, library, since)), ...items];
    const next = rest.length === 0 ? { at: reached } : { ...scan, reached, open: rest, start: 0 };
    return { changes, next: next, more: rest.length > 0 };
  },
});
