/** Returns the index of the last element that is at most `value` in an ascending array; 0 when all are larger. */
export function sortedIndex(
  ascending: { readonly length: number; readonly [index: number]: number },
  value: number,
): number {
  let low = 0;
  let high = ascending.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((ascending[middle] ?? 0) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * Returns the index of the first element that is larger than `value` in an ascending array; its length if there is
 * none.
 */
export function firstAbove(ascending: readonly number[], value: number): number {
  const at = sortedIndex(ascending, value);
  return at < ascending.length && (ascending[at] ?? 0) <= value ? at + 1 : at;
}
