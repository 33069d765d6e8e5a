import {
  EMBEDDING_MODEL_IDS,
  EMBEDDING_MODELS,
  type EmbeddingModelId,
} from '../../contract/vectors/embeddingModels.js';

/**
 * Parses `MODEL_ID=price` pairs, separated by commas. A price is per million tokens, in any currency.
 * @throws Error whose message follows the name of the setting: `takes prices such as …`
 */
export function readPrices(text: string): Partial<Record<EmbeddingModelId, number>> {
  const pairs = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [id = '', price = ''] = pair.split('=').map((part) => part.trim());
      if (!EMBEDDING_MODEL_IDS.some((modelId) => modelId === id) || !/^\d+(\.\d+)?$/.test(price))
        throw new Error('takes prices such as OPENAI=0.02, separated by commas');
      return [id, Number(price)];
    }),
  );
}

/**
 * Returns the prices by the names of the models' vector spaces, instead of by model id. If several ids have the same
 * space, the first one with a price counts, in the order of EMBEDDING_MODEL_IDS.
 */
export function pricesOfSpaces(prices: Partial<Readonly<Record<EmbeddingModelId, number>>>): Record<string, number> {
  const pairs = EMBEDDING_MODEL_IDS.flatMap((id): [string, number][] => {
    const price = prices[id];
    return price === undefined ? [] : [[EMBEDDING_MODELS[id].space, price]];
  });
  return Object.fromEntries(pairs.toReversed());
}
