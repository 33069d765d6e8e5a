import { readFile } from 'node:fs/promises';

import { PICTURE_MODEL, type VectorSpace } from '../../../contract/embeddingModels.js';
import { Fault } from '../../../contract/failures.js';
import type { DocumentFormat } from '../../../contract/fileFormats.js';
import type { ProcessedDocument } from '../../../documents/types.js';
import type { Party } from '../../../providers/embeddings/fairQueue.js';
import type { FileDoc } from '../../../store/files/model.js';
import { contentStep } from './contentStep.js';
import type { ActivityDeps, OpenedOriginal } from '../../deps.js';
import { PICTURES } from './recognizedPages.js';

/** No model takes larger pictures; they are in memory as a whole. */
const MAX_BYTES = 20_000_000;

/** The space in which a picture that is not to be read is embedded as what it shows; null where no model takes pictures. */
export function pictureSpace(
  { options }: FileDoc,
  format: string,
  { embeddings }: Pick<ActivityDeps, 'embeddings'>,
): VectorSpace | null {
  if (options.useOcr === true || !PICTURES.includes(format)) return null;
  const served = embeddings.models().find(({ model, takesImages }) => model === PICTURE_MODEL && takesImages);
  return served?.space ?? null;
}

/** A picture as a document of one chunk that has no words. */
export function pictureDocument({ format, mimeType }: OpenedOriginal): ProcessedDocument {
  const cuts = [{ start: 0, end: 0, tokens: 0 }];
  return { text: '', prefix: '', cuts, numTokens: 0, format: format as DocumentFormat, mimeType, metadata: {} };
}

/** The vector of a picture, the only one. @throws Fault too_large, or why it can't be embedded */
export async function embedPicture(
  owner: Party,
  space: VectorSpace,
  { bytes, path, size }: OpenedOriginal,
  deps: ActivityDeps,
  signal: AbortSignal,
): Promise<Float32Array[]> {
  if (size > MAX_BYTES) {
    throw new Fault(
      'too_large',
      `The picture has ${size.toLocaleString('en-US')} bytes; pictures of up to ${MAX_BYTES.toLocaleString('en-US')} are embedded. Scale it down, or send it with use_ocr to have text in it read.`,
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
