import bpe from 'gpt-tokenizer/bpeRanks/cl100k_base';

/**
 * Merges pre-tokens to cl100k tokens with gpt-tokenizer's table of ranks. Its own merge takes quadratic time and would
 * hang on a word of a megabyte. Here short pre-tokens are scanned and long ones use a heap, with the same result.
 *
 * A "byte string" holds one byte of UTF-8 in each character: ASCII text is its own byte string.
 */
const ranks = readRanks();

/**
 * Maximum size in bytes of pre-tokens that are merged by scanning all pairs, which is faster than a heap for few pairs.
 */
const SCAN_LIMIT = 96;
const NO_MERGE = Number.MAX_SAFE_INTEGER;

function readRanks(): ReadonlyMap<string, number> {
  const table = new Map<string, number>();
  bpe.forEach((token, rank) => {
    table.set(typeof token === 'string' ? toByteString(token) : String.fromCharCode(...token), rank);
  });
  return table;
}

/** Returns the UTF-8 bytes of a text as a byte string. */
export function toByteString(text: string): string {
  return isAscii(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** Returns the ends of the tokens of one pre-token, in bytes, ascending; the last is the length of the pre-token. */
export function mergeBytes(bytes: string): readonly number[] {
  if (ranks.has(bytes)) return [bytes.length];
  return bytes.length <= SCAN_LIMIT ? mergeByScan(bytes) : mergeByHeap(bytes);
}

export function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false;
  return true;
}

function rankOf(bytes: string, start: number, end: number): number {
  return ranks.get(bytes.slice(start, end)) ?? NO_MERGE;
}

function mergeByScan(bytes: string): number[] {
  // bounds[i]..bounds[i + 1] is a part; pairRanks[i] is the rank of that part joined with the next.
  const bounds: number[] = [];
  const pairRanks: number[] = [];
  for (let i = 0; i <= bytes.length; i++) bounds.push(i);
  for (let i = 0; i + 2 < bounds.length; i++) pairRanks.push(rankOf(bytes, i, i + 2));
  const rankAt = (i: number): number => rankOf(bytes, bounds[i] ?? 0, bounds[i + 2] ?? 0);
  for (;;) {
    let best = -1;
    let bestRank = NO_MERGE;
    for (let i = 0; i < pairRanks.length; i++) {
      const rank = pairRanks[i] ?? NO_MERGE;
      if (rank < bestRank) {
        bestRank = rank;
        best = i;
      }
    }
    if (best === -1) return bounds.slice(1);
    bounds.splice(best + 1, 1);
    pairRanks.splice(best, 1);
    if (best < pairRanks.length) pairRanks[best] = rankAt(best);
    if (best > 0) pairRanks[best - 1] = rankAt(best - 1);
  }
}

/**
 * Returns the same result as mergeByScan, faster for long pre-tokens: the parts are a linked list, and the candidate
 * pairs are in a heap ordered by rank, then position.
 */
function mergeByHeap(bytes: string): number[] {
  const length = bytes.length;
  const next = new Int32Array(length + 1);
  const previous = new Int32Array(length + 1);
  const alive = new Uint8Array(length + 1).fill(1);
  const heap = new PairHeap();
  for (let i = 0; i <= length; i++) {
    next[i] = i + 1;
    previous[i] = i - 1;
  }
  const endOf = (start: number): number => next[start] ?? length;
  const propose = (start: number): void => {
    const middle = endOf(start);
    if (middle >= length) return;
    const rank = rankOf(bytes, start, endOf(middle));
    if (rank !== NO_MERGE) heap.push(rank, start, endOf(middle));
  };
  for (let i = 0; i + 1 < length; i++) propose(i);
  while (heap.pop()) {
    const { start, end } = heap;
    const middle = endOf(start);
    // A candidate is outdated once one of its parts was merged elsewhere.
    if (alive[start] === 0 || middle >= length || endOf(middle) !== end) continue;
    alive[middle] = 0;
    next[start] = end;
    if (end <= length) previous[end] = start;
    propose(start);
    const before = previous[start] ?? -1;
    if (before >= 0) propose(before);
  }
  const ends: number[] = [];
  for (let start = 0; start < length; start = endOf(start)) ends.push(endOf(start));
  return ends;
}

/** A binary heap of (rank, start, end), lowest rank first, leftmost first among equals. pop() sets start and end. */
class PairHeap {
  start = 0;
  end = 0;
  readonly #keys: number[] = [];
  readonly #ends: number[] = [];

  push(rank: number, start: number, end: number): void {
    // Combine rank and start in one number: ranks are below 2^17 and starts below 2^32.
    const key = rank * 2 ** 32 + start;
    let at = this.#keys.length;
    this.#keys.push(key);
    this.#ends.push(end);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((this.#keys[parent] ?? 0) <= key) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#keys[at] = key;
    this.#ends[at] = end;
  }

  pop(): boolean {
    const top = this.#keys[0];
    const lastKey = this.#keys.pop();
    const lastEnd = this.#ends.pop();
    if (top === undefined || lastKey === undefined || lastEnd === undefined) return false;
    this.start = top % 2 ** 32;
    this.end = this.#ends[0] ?? lastEnd;
    if (this.#keys.length > 0) this.#sink(lastKey, lastEnd);
    return true;
  }

  #sink(key: number, end: number): void {
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#keys.length) break;
      const right = this.#keys[child + 1];
      if (right !== undefined && right < (this.#keys[child] ?? 0)) child++;
      if ((this.#keys[child] ?? 0) >= key) break;
      this.#move(child, at);
      at = child;
    }
    this.#keys[at] = key;
    this.#ends[at] = end;
  }

  #move(from: number, to: number): void {
    this.#keys[to] = this.#keys[from] ?? 0;
    this.#ends[to] = this.#ends[from] ?? 0;
  }
}
