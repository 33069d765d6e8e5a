import { EMBEDDING_MODEL_IDS, EMBEDDING_MODELS, type EmbeddingModelId } from '../../contract/embeddingModels.js';

/** Reads `MODEL_ID=price`, several by comma. @throws Error naming what can't be read */
export function readPrices(text: string): Partial<Record<EmbeddingModelId, number>> {
  const pairs = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [id = '', price = ''] = pair.split('=').map((part) => part.trim());
      if (!EMBEDDING_MODEL_IDS.some((known) => known === id) || !/^\d+(\.\d+)?$/.test(price))
        throw new Error('takes OPENAI=0.02, COHERE_MULTILINGUAL_V3=0.1 and the like, by comma');
      return [id, Number(price)];
    }),
  );
}

/** The same by the vector space that a model's provider fills: of ids that mean one model, the first that has a price. */
export function pricesOfSpaces(prices: Partial<Readonly<Record<EmbeddingModelId, number>>>): Record<string, number> {
  const known = EMBEDDING_MODEL_IDS.flatMap((id): [string, number][] => {
    const price = prices[id];
    return price === undefined ? [] : [[EMBEDDING_MODELS[id].space, price]];
  });
  return Object.fromEntries(known.toReversed());
}
