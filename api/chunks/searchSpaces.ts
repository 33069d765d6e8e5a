import { EMBEDDING_MODELS, type EmbeddingModelId } from '../../contract/vectors/embeddingModels.js';
import { callerSpace, isCallerSpace } from '../../contract/vectors/spaces.js';
import type { Tenant } from '../../store/users/accept.js';
import type { ApiDeps } from '../http/deps.js';
import { invalid } from '../http/errors.js';

/**
 * Returns the spaces in which a text query can be searched, among those of the caller's files of a model.
 * @param searchesKeywords whether the query also searches keywords; otherwise spaces of callers' own vectors are
 * excluded, since these vectors cannot be compared with a text
 */
export async function spacesForText(
  tenant: Tenant,
  model: EmbeddingModelId,
  searchesKeywords: boolean,
  { store }: Pick<ApiDeps, 'store'>,
): Promise<string[]> {
  const spaces = await store.files.spacesOf(tenant, model);
  return searchesKeywords ? spaces : spaces.filter((space) => !isCallerSpace(space));
}

/**
 * Returns the spaces whose dimensions match a given vector, including those of callers' vectors.
 * @throws HttpError 422 if no space matches; a caller without files may send the dimensions of the model's space
 */
export async function spacesForVector(
  tenant: Tenant,
  model: EmbeddingModelId,
  { length }: readonly number[],
  { store, embedder }: Pick<ApiDeps, 'store' | 'embedder'>,
): Promise<string[]> {
  const spaces = await store.files.spacesOf(tenant, model);
  const callerVectors = callerSpace(model, EMBEDDING_MODELS[model].dimensions);
  const dimensionsBySpace = new Map(
    [callerVectors, ...embedder.models().map(({ space }) => space)].map((space) => [space.name, space.dimensions]),
  );
  // For a space without a configured provider, use the dimensions of a file.
  const sizeOf = async (space: string) =>
    dimensionsBySpace.get(space) ?? (await store.files.dimensionsIn(tenant, model, space));
  const sizes = await Promise.all(spaces.map(sizeOf));
  const fitting = spaces.filter((_, index) => sizes[index] === length);
  if (fitting.length > 0) return fitting;
  const stored = sizes.filter((size) => size !== null);
  // A caller without files gets the same errors as one with files.
  const expected = stored.length > 0 ? stored : [embedder.spaceOf(model).dimensions];
  if (expected.includes(length)) return [];
  const lengths = [...new Set(expected)].toSorted((a, b) => a - b).join(' or ');
  throw invalid(
    ['body', 'query_vector'],
    `Must have ${lengths} numbers, like the stored vectors of ${model}`,
    'value_error',
  );
}

/**
 * Returns the most likely space if it can be searched before the spaces of the caller's files are known: with a query
 * vector of its dimensions, or one that the embedded model computes. Other providers receive the text only if files in
 * their space exist.
 */
export function likelySpace(
  model: EmbeddingModelId,
  vector: readonly number[] | null,
  { embedder }: Pick<ApiDeps, 'embedder'>,
): string | null {
  const configured = embedder.models().find((candidate) => candidate.model === model);
  if (!configured) return null;
  const { name, dimensions } = configured.space;
  return (vector ? vector.length === dimensions : configured.provider === null) ? name : null;
}
