import { readFile } from 'node:fs/promises';

import { PICTURE_MODEL, type VectorSpace } from '../../../contract/vectors/embeddingModels.js';
import { Fault } from '../../../contract/failures.js';
import type { DocumentFormat } from '../../../contract/files/fileFormats.js';
import type { ProcessedDocument } from '../../../documents/types.js';
import type { FairnessKey } from '../../../providers/embeddings/fairQueue.js';
import type { FileDoc } from '../../../store/models/files.js';
import { contentStep } from './contentStep.js';
import type { ActivityDeps, OpenedOriginal } from '../../deps.js';
import { PICTURES } from './recognizedPages.js';

/** Maximum size of a picture in bytes: no model accepts larger ones, and a picture is read into memory completely. */
const MAX_BYTES = 20_000_000;

/** Returns the vector space for a picture; null for other formats, with OCR, or if no model takes pictures. */
export function pictureSpace(
  { options }: FileDoc,
  format: string,
  { embeddings }: Pick<ActivityDeps, 'embeddings'>,
): VectorSpace | null {
  if (options.useOcr === true || !PICTURES.includes(format)) return null;
  const served = embeddings.models().find(({ model, takesImages }) => model === PICTURE_MODEL && takesImages);
  return served?.space ?? null;
}

/** Returns a picture as a document with one empty chunk. */
export function pictureDocument({ format, mimeType }: OpenedOriginal): ProcessedDocument {
  const cuts = [{ start: 0, end: 0, tokens: 0 }];
  return { text: '', prefix: '', cuts, numTokens: 0, format: format as DocumentFormat, mimeType, metadata: {} };
}

/** Returns an array with the vector of a picture. @throws Fault too_large, or the provider's Fault */
export async function embedPicture(
  owner: FairnessKey,
  space: VectorSpace,
  { bytes, path, size }: OpenedOriginal,
  deps: ActivityDeps,
  signal: AbortSignal,
): Promise<Float32Array[]> {
  if (size > MAX_BYTES) {
    throw new Fault(
      'too_large',
      `The picture has ${size.toLocaleString('en-US')} bytes; pictures of up to ${MAX_BYTES.toLocaleString('en-US')} can be embedded. Scale it down, or upload it with use_ocr to read its text.`,
    );
  }
  const picture = path === null ? bytes : await readFile(path);
  const vectors = await contentStep('embedded', signal, deps, () =>
    deps.embeddings.embedImages(space.name, [picture], signal, owner),
  );
  deps.store.embeddingUsage.count(owner.organizationId, space.name, { computed: 1 });
  deps.metrics.embedded({ space: space.name, purpose: 'image', outcome: 'computed', texts: 1 });
  return vectors;
}
