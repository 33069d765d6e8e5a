import { Fault } from '../../contract/failures.js';
import type { RerankModel } from '../../contract/vectors/rerankers.js';
import type { Egress } from '../../egress/types.js';
import { exchange } from './exchange.js';
import { cohere } from './providers/cohere.js';
import { jina } from './providers/jina.js';
import { pongo } from './providers/pongo.js';
import type { Rerankers, RerankService, RerankSettings } from './types.js';

/** One line per model. */
const MODELS: Readonly<Record<RerankModel, { service: RerankService; settings: keyof RerankSettings['services'] }>> = {
  COHERE_RERANK_MULTILINGUAL_V3: { service: cohere, settings: 'cohere' },
  JINA_RERANKER_MULTILINGUAL_V2: { service: jina, settings: 'jina' },
  PONGO_RERANKER: { service: pongo, settings: 'pongo' },
};

/**
 * Creates the rerankers of all models in MODELS. The settings contain the API key and the base URL of each service.
 * `choose` throws a Fault not_configured for a model whose service has no API key.
 */
export function createRerankers({ services, timeoutMs }: RerankSettings, egress: Pick<Egress, 'request'>): Rerankers {
  return {
    choose(model) {
      const { service, settings } = MODELS[model];
      const { apiKey, baseUrl } = services[settings];
      if (apiKey === null)
        throw new Fault(
          'not_configured',
          `${model} is not configured: the setting ${service.keySetting} is missing. Set it, or search without rerank.`,
        );
      return {
        rerank: (query, texts, count, signal) =>
          texts.length === 0
            ? Promise.resolve([])
            : exchange({ service, settings: { baseUrl, apiKey }, egress, timeoutMs, query, texts, count, signal }),
      };
    },
  };
}
