/**
 * How many entries an LRUCache holds at most, as its options. Its own `max` reserves room for all of them when it is made:
 * 4 MB for 100,000 that have a life. Counted as sizes of one, they take room as they come.
 */
export const atMost = (entries: number): { readonly maxSize: number; readonly sizeCalculation: () => number } => ({
  maxSize: entries,
  sizeCalculation: () => 1,
});
