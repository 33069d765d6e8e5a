/**
 * Version of the sparse vector algorithm. Increase it whenever the same text would result in another vector: the next
 * sync of a file then computes the sparse vectors of all its chunks again.
 */
export const SPARSE_VERSION = 3;

/** Weights of terms. Indices are unique hashes of the terms, in no order. Both lists have the same length. */
export interface SparseVector {
  readonly indices: readonly number[];
  readonly values: readonly number[];
}
