/**
 * How a file is processed: its model, its vector space, and a hash by which a later sync recognises the same
 * processing.
 */
import { createHash } from 'node:crypto';

import { type EmbeddingModelId, PICTURE_MODEL, type VectorSpace } from '../../../contract/vectors/embeddingModels.js';
import { wantsVectors } from '../../../contract/files/ingestOptions.js';
import type { FileDoc } from '../../../store/models/files.js';
import type { ActivityDeps, OcrLimits, OpenedOriginal } from '../../deps.js';
import { pictureSpace } from './pictures.js';
import { ocrReading } from './recognizedPages.js';
import { sparseFingerprint } from './sparseVectors.js';

/** Version of the processing. Increase it when the same bytes give different text, chunks or vectors. */
export const PIPELINE_VERSION = 4;

/** Returns a hash of all inputs that determine the result of a sync, except the content itself. */
function processingOf(
  file: FileDoc,
  model: EmbeddingModelId,
  space: Pick<VectorSpace, 'name'> | null,
  ocr: OcrLimits,
): string {
  const { sourceOptions, tagPairs, parentId } = file;
  const options = { ...file.options, embeddingModel: model };
  const prefix = options.prependFilenameToChunks ? file.name : null;
  const parts = [PIPELINE_VERSION, options, sourceOptions, tagPairs, parentId, prefix, space?.name ?? null];
  if (options.useOcr === true) parts.push(ocrReading(file, ocr));
  if (space !== null) parts.push(...sparseFingerprint(file));
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/**
 * Returns the processing hash of a file whose vectors are replaced by those of another model; null if the next sync
 * must process the file again anyway.
 */
export function processingWithModel(
  file: FileDoc,
  model: EmbeddingModelId,
  space: VectorSpace,
  ocr: OcrLimits,
): string | null {
  const currentSpace = file.vectorSpace === null ? null : { name: file.vectorSpace };
  const isCurrent = file.processedAs === processingOf(file, file.options.embeddingModel, currentSpace, ocr);
  return isCurrent ? processingOf(file, model, space, ocr) : null;
}

/** The processing steps that a file needs. */
export interface Processing {
  readonly model: EmbeddingModelId;
  /** The space of its vectors; null: the file gets no vectors. */
  readonly space: VectorSpace | null;
  /** The space, if the file is embedded as a picture; else null. */
  readonly asPicture: VectorSpace | null;
  readonly processedAs: string;
  /** Whether the last sync processed the stored copy as this one would: then unchanged content needs no work. */
  readonly hasSameProcessing: boolean;
}

/**
 * Returns how a file is processed. @param upload its uploaded content; null for a file whose content is fetched from its
 * source
 */
export function processingFor(
  file: FileDoc,
  upload: OpenedOriginal | null,
  deps: Pick<ActivityDeps, 'embeddings' | 'settings'>,
): Processing {
  const asPicture = upload && wantsVectors(file.options) ? pictureSpace(file, upload.format, deps) : null;
  const model = asPicture ? PICTURE_MODEL : file.options.embeddingModel;
  const space = asPicture ?? (wantsVectors(file.options) ? deps.embeddings.spaceOf(model) : null);
  const processedAs = processingOf(file, model, space, deps.settings.ocr);
  return {
    model,
    space,
    asPicture,
    processedAs,
    hasSameProcessing: file.generation > 0 && file.processedAs === processedAs,
  };
}
