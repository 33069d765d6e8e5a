/** Raised whenever the same text would give another sparse vector: files are made anew at their next sync then. */
export const SPARSE_VERSION = 1;

/** A weight for each of some terms; indices are hashes of the terms, each once, in no order. Both lists are of one length. */
export interface SparseVector {
  readonly indices: readonly number[];
  readonly values: readonly number[];
}
