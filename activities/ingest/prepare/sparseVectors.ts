import { SPARSE_VERSION } from '../../../contract/vectors/sparseVectors.js';
import type { ProcessedDocument } from '../../../documents/types.js';
import type { FileDoc } from '../../../store/models/files.js';
import type { ActivityDeps } from '../../deps.js';
import type { PreparedFile } from './preparedFile.js';

/**
 * Returns a function that computes the sparse vectors of a document, if its file requests them. They are computed while
 * points are written, so that those of a long document are never in memory together.
 */
export function sparseVectorsOf(
  { options }: Pick<FileDoc, 'options'>,
  { prefix, text, cuts }: ProcessedDocument,
  { encodeSparse }: Pick<ActivityDeps, 'encodeSparse'>,
): Pick<PreparedFile, 'sparseOf'> {
  if (!options.generateSparseVectors) return {};
  return {
    sparseOf(chunkIndex) {
      const cut = cuts[chunkIndex];
      return cut ? encodeSparse(prefix + text.slice(cut.start, cut.end)) : null;
    },
  };
}

/** Properties of sparse vectors that the result of a sync depends on, in addition to the options. */
export const sparseFingerprint = ({ options }: Pick<FileDoc, 'options'>): readonly string[] =>
  options.generateSparseVectors ? [`sparse ${SPARSE_VERSION}`] : [];
