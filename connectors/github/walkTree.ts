import { type PageAt, shapeOf, listOf, pairOf, string, type Checked } from '../cursors.js';
import { Fault } from '../../contract/failures.js';
import type { SourceClient } from '../accountClient.js';
import { type EntryJson, itemOfEntry } from './adapter.js';
import { requireList } from '../faults.js';

/** Position in the listing of a tree. Trees are identified by path and SHA, so their contents never change. */
export const TREE_CURSOR = shapeOf({
  repository: string,
  url: string,
  branch: string,
  /** Each path with its SHA. */
  open: listOf(pairOf(string, string)),
});
type TreeCursor = Checked<typeof TREE_CURSOR>;

/**
 * Returns the next tree with all its contents. If GitHub truncates the recursive answer, the tree is listed without its
 * subtrees, which follow one by one.
 * @throws Fault access_denied if even that answer is truncated: the tree's contents are unknown
 */
export async function nextTree(client: SourceClient, cursor: TreeCursor): Promise<PageAt<TreeCursor>> {
  const { open, ...place } = cursor;
  const [first, ...rest] = open;
  if (first === undefined) return { items: [], next: null };
  const [path, sha] = first;
  const { owner, name } = ownerOf(place.repository);
  const treePath = ['repos', owner, name, 'git', 'trees', sha];
  const treeAt = async (query: Readonly<Record<string, string>>) => {
    const { tree, truncated } = await client.get(treePath, query);
    return { tree: requireList('GitHub', tree, 'the tree') as readonly EntryJson[], truncated: truncated === true };
  };
  let { tree, truncated } = await treeAt({ recursive: '1' });
  const remaining: (readonly [string, string])[] = [...rest];
  if (truncated) {
    ({ tree, truncated } = await treeAt({}));
    if (truncated)
      throw new Fault(
        'access_denied',
        'GitHub does not completely list a directory with so many entries. Split it, then sync again.',
      );
    const inside = tree.filter(({ type }) => type === 'tree');
    remaining.unshift(
      ...inside.map((entry) => [path === '' ? entry.path : `${path}/${entry.path}`, entry.sha] as const),
    );
  }
  return {
    items: tree.map((entry) => itemOfEntry({ ...place, path }, entry)),
    next: remaining.length === 0 ? null : { ...place, open: remaining },
  };
}

function ownerOf(repository: string): { owner: string; name: string } {
  const slash = repository.indexOf('/');
  return { owner: repository.slice(0, slash), name: repository.slice(slash + 1) };
}
