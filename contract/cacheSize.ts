/**
 * Returns LRUCache options for a maximum number of entries. LRUCache allocates memory for all `max` entries up front (4
 * MB for 100,000 entries with a TTL); with entries of size 1 and `maxSize`, memory grows with the entries.
 */
export const atMost = (entries: number): { readonly maxSize: number; readonly sizeCalculation: () => number } => ({
  maxSize: entries,
  sizeCalculation: () => 1,
});
