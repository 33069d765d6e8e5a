import type { EmbeddingModelId, VectorSpace } from '../../contract/vectors/embeddingModels.js';
import { Fault } from '../../contract/failures.js';
import type { ReembedRequest } from '../../contract/runs/reembed.js';
import { isCallerSpace } from '../../contract/vectors/spaces.js';
import type { FileDoc } from '../../store/models/files.js';
import type { ActivityDeps } from '../deps.js';
import { pictureSpace } from '../ingest/prepare/pictures.js';

/** The target of a re-embedding: model, vector space, and origin of the vectors. */
export interface VectorTarget {
  readonly model: EmbeddingModelId;
  readonly space: VectorSpace;
  readonly from: 'chunks' | 'given vectors' | 'picture';
}

/**
 * Returns the target for a file. A request without a model keeps the file's model and vector space.
 * @throws Fault if no configured provider serves the space of the file
 */
export function targetOf(
  file: FileDoc,
  { model }: Pick<ReembedRequest, 'model'>,
  { embeddings }: Pick<ActivityDeps, 'embeddings'>,
): VectorTarget {
  if (model !== null) return { model, space: embeddings.spaceOf(model), from: 'chunks' };
  const { vectorSpace, dimensions, options, hasText } = file;
  const ownModel = { model: options.embeddingModel };
  if (vectorSpace !== null && isCallerSpace(vectorSpace))
    return { ...ownModel, space: { name: vectorSpace, dimensions: dimensions ?? 0 }, from: 'given vectors' };
  const target: VectorTarget = hasText
    ? { ...ownModel, space: embeddings.spaceOf(ownModel.model), from: 'chunks' }
    : {
        ...ownModel,
        space: pictureSpace(file, file.statistics?.fileFormat ?? '', { embeddings }) ?? NONE,
        from: 'picture',
      };
  if (target.space.name !== vectorSpace)
    throw new Fault(
      'not_configured',
      `The vectors of the file are in the space ${vectorSpace}, which no configured provider serves. Configure the provider of this space and run \`npm run cli -- vectors rebuild\` again, or embed the file with another model: POST /files/reembed.`,
    );
  return target;
}

const NONE: VectorSpace = { name: '', dimensions: 0 };

/** Groups files that are embedded together: same model, same space, same origin. */
export function byTarget<T>(
  items: readonly T[],
  targetOfItem: (item: T) => VectorTarget,
): { readonly target: VectorTarget; readonly items: T[] }[] {
  const groups = new Map<string, { target: VectorTarget; items: T[] }>();
  for (const item of items) {
    const target = targetOfItem(item);
    const key = `${target.model} ${target.space.name} ${target.from}`;
    const group = groups.get(key);
    if (group) group.items.push(item);
    else groups.set(key, { target, items: [item] });
  }
  return [...groups.values()];
}
