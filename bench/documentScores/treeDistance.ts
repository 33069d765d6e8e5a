/** A node of an ordered tree with its children. */
export interface TreeNode {
  /** Kind of the node. Replacing a node by one of another kind costs 1. */
  readonly kind: string;
  readonly text: string;
  readonly children: readonly TreeNode[];
}

/** The nodes of a tree in postorder, as Zhang and Shasha number them. */
interface NumberedTree {
  readonly nodes: readonly TreeNode[];
  /** For each node, the number of its leftmost leaf. */
  readonly leftmost: readonly number[];
  /** Numbers of the nodes that have a left sibling, and of the root. */
  readonly keyRoots: readonly number[];
}

/**
 * Returns the edit distance of two ordered trees. An insertion or deletion costs 1. A replacement costs the share of
 * the text that differs, or 1 if the kinds differ. Algorithm: K. Zhang and D. Shasha, SIAM Journal on Computing 18
 * (1989), https://doi.org/10.1137/0218082
 */
export function treeDistance(first: TreeNode, second: TreeNode): number {
  const [a, b] = [numbered(first), numbered(second)];
  const width = b.nodes.length;
  const distances = new Float64Array(a.nodes.length * width);
  for (const i of a.keyRoots) for (const j of b.keyRoots) fillForests(a, b, i, j, distances);
  return distances[a.nodes.length * width - 1] ?? 0;
}

/**
 * Returns 1 minus the distance relative to the larger tree: 1 for equal trees; negative if the distance exceeds the
 * size of the larger tree.
 */
export function treeSimilarity(first: TreeNode, second: TreeNode): number {
  return 1 - treeDistance(first, second) / Math.max(sizeOf(first), sizeOf(second));
}

function fillForests(a: NumberedTree, b: NumberedTree, i: number, j: number, distances: Float64Array): void {
  const [left, right] = [a.leftmost[i] ?? 0, b.leftmost[j] ?? 0];
  const rows = i - left + 2;
  const columns = j - right + 2;
  const forest = new Float64Array(rows * columns);
  const width = b.nodes.length;
  const at = (row: number, column: number): number => forest[row * columns + column] ?? 0;
  for (let row = 1; row < rows; row++) forest[row * columns] = row;
  for (let column = 1; column < columns; column++) forest[column] = column;
  for (let row = 1; row < rows; row++) {
    const x = left + row - 1;
    for (let column = 1; column < columns; column++) {
      const y = right + column - 1;
      const edit = Math.min(at(row - 1, column), at(row, column - 1)) + 1;
      const isTree = a.leftmost[x] === left && b.leftmost[y] === right;
      const change = isTree
        ? at(row - 1, column - 1) + changeCost(a.nodes[x], b.nodes[y])
        : at((a.leftmost[x] ?? 0) - left, (b.leftmost[y] ?? 0) - right) + (distances[x * width + y] ?? 0);
      const cost = Math.min(edit, change);
      forest[row * columns + column] = cost;
      if (isTree) distances[x * width + y] = cost;
    }
  }
}

function numbered(root: TreeNode): NumberedTree {
  const nodes: TreeNode[] = [];
  const leftmost: number[] = [];
  const visit = (node: TreeNode): number => {
    let first = -1;
    for (const child of node.children) {
      const leaf = visit(child);
      if (first === -1) first = leaf;
    }
    nodes.push(node);
    leftmost.push(first === -1 ? nodes.length - 1 : first);
    return leftmost.at(-1) ?? 0;
  };
  visit(root);
  const last = new Map(leftmost.map((leaf, nth) => [leaf, nth]));
  return { nodes, leftmost, keyRoots: [...last.values()].toSorted((a, b) => a - b) };
}

const sizeOf = ({ children }: TreeNode): number => children.reduce((sum, child) => sum + sizeOf(child), 1);

function changeCost(a: TreeNode | undefined, b: TreeNode | undefined): number {
  if (a === undefined || b === undefined || a.kind !== b.kind) return 1;
  return a.text === b.text ? 0 : 1 - indelSimilarity(a.text, b.text);
}

/**
 * Returns the similarity of two texts by the insertions and deletions of characters between them: 1 for equal texts, 0
 * for texts without a common character. Twice the longest common subsequence, relative to both lengths.
 */
export function indelSimilarity(a: string, b: string): number {
  const [x, y] = [[...a], [...b]];
  if (x.length + y.length === 0) return 1;
  return (2 * commonLength(x, y)) / (x.length + y.length);
}

/**
 * Returns the length of the longest common subsequence, 32 characters at a time. Algorithm: H. Hyyrö, "Bit-parallel
 * LCS-length computation revisited" (2004).
 */
function commonLength(a: readonly string[], b: readonly string[]): number {
  const words = Math.ceil(a.length / 32);
  const masks = new Map<string, Uint32Array>();
  for (const [nth, character] of a.entries()) {
    const mask = masks.get(character) ?? new Uint32Array(words);
    masks.set(character, mask);
    mask[nth >> 5] = ((mask[nth >> 5] ?? 0) | (1 << (nth & 31))) >>> 0;
  }
  const state = new Uint32Array(words).fill(0xffffffff);
  for (const character of b) {
    const mask = masks.get(character);
    if (mask === undefined) continue;
    let carry = 0;
    for (let word = 0; word < words; word++) {
      const value = state[word] ?? 0;
      const shared = (value & (mask[word] ?? 0)) >>> 0;
      const sum = value + shared + carry;
      carry = sum > 0xffffffff ? 1 : 0;
      state[word] = (sum | (value & ~(mask[word] ?? 0))) >>> 0;
    }
  }
  let length = 0;
  for (let nth = 0; nth < a.length; nth++) if ((((state[nth >> 5] ?? 0) >>> (nth & 31)) & 1) === 0) length += 1;
  return length;
}
