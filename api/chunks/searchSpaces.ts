import { EMBEDDING_MODELS, type EmbeddingModelId } from '../../contract/embeddingModels.js';
import { givenSpace, isGivenSpace } from '../../contract/uploads.js';
import type { Tenant } from '../../store/users/accept.js';
import type { ApiDeps } from '../deps.js';
import { invalid } from '../http/errors.js';

/** The spaces in which the caller's files of a model lie. Vectors that callers made are compared with no text. */
export async function spacesForText(
  tenant: Tenant,
  model: EmbeddingModelId,
  byWords: boolean,
  { store }: Pick<ApiDeps, 'store'>,
): Promise<string[]> {
  const spaces = await store.files.spacesOf(tenant, model);
  return byWords ? spaces : spaces.filter((space) => !isGivenSpace(space));
}

/**
 * Those of them whose vectors have as many numbers as a given one, vectors that callers made included.
 * @throws HttpError 422 where there are others, and none that fits
 */
export async function spacesForVector(
  tenant: Tenant,
  model: EmbeddingModelId,
  { length }: readonly number[],
  { store, embedder }: Pick<ApiDeps, 'store' | 'embedder'>,
): Promise<string[]> {
  const spaces = await store.files.spacesOf(tenant, model);
  const given = givenSpace(model, EMBEDDING_MODELS[model].dimensions);
  const known = new Map(
    [given, ...embedder.models().map(({ space }) => space)].map((one) => [one.name, one.dimensions]),
  );
  // Of a space that nothing serves any more, a file in it tells.
  const sizeOf = async (space: string) => known.get(space) ?? (await store.files.dimensionsIn(tenant, model, space));
  const sizes = await Promise.all(spaces.map(sizeOf));
  const fitting = spaces.filter((_, index) => sizes[index] === length);
  if (fitting.length > 0) return fitting;
  const there = sizes.filter((size) => size !== null);
  // Who has no files hears what they would have.
  const wanted = there.length > 0 ? there : [embedder.spaceOf(model).dimensions];
  if (wanted.includes(length)) return [];
  const either = [...new Set(wanted)].toSorted((a, b) => a - b).join(' or ');
  throw invalid(
    ['body', 'query_vector'],
    `Must have ${either} numbers, as the vectors of ${model} have here`,
    'value_error',
  );
}

/**
 * The space in which the caller's files of a model mostly lie, where it can be searched before anybody knows: with a
 * vector of its size, or with one that the embedded model makes. Others get a text only where there are files to be found.
 */
export function likelySpace(
  model: EmbeddingModelId,
  vector: readonly number[] | null,
  { embedder }: Pick<ApiDeps, 'embedder'>,
): string | null {
  const served = embedder.models().find((one) => one.model === model);
  if (!served) return null;
  const { name, dimensions } = served.space;
  return (vector ? vector.length === dimensions : served.provider === null) ? name : null;
}
