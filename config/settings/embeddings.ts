/** Embedding models and their providers. */
import Joi from 'joi';

import { readPrices } from '../../providers/embeddings/readPrices.js';
import { readDeployments } from '../../providers/embeddings/readProviders.js';
import { count, address, readBy, type Setting } from './rules.js';

export const EMBEDDINGS_SETTINGS = {
  EMBEDDING_THREADS: {
    schema: count(2),
    about: 'Processes per worker for the embedded model. Each uses one core and about 150 MB.',
  },
  EMBEDDING_MODEL_PATH: {
    schema: Joi.string(),
    about: 'ONNX file of the embedded model. Default: the one that npm start prepares.',
  },
  EMBEDDING_TOKENIZER_PATH: { schema: Joi.string(), about: 'tokenizer.json of the embedded model.' },
  OPENAI_API_KEY: {
    schema: Joi.string(),
    about:
      'API key of OpenAI. If set, OpenAI serves OPENAI and the OPENAI_ADA_ model ids, and receives the texts. If not set, the embedded model serves them; the same applies to the other providers.',
  },
  OPENAI_BASE_URL: {
    schema: address().default('https://api.openai.com/v1'),
    about: 'URL of OpenAI, or of a service with the same API.',
  },
  AZURE_OPENAI_ENDPOINT: {
    schema: address(),
    about: 'URL of the Azure OpenAI resource, `https://NAME.openai.azure.com`. Serves the AZURE_ model ids.',
  },
  AZURE_OPENAI_API_KEY: { schema: Joi.string(), about: 'Key of the Azure OpenAI resource.' },
  AZURE_OPENAI_DEPLOYMENTS: {
    schema: Joi.string().custom(readBy(readDeployments)),
    about:
      'Name of the deployment of each model id, `AZURE_OPENAI=name,AZURE_ADA_LARGE_256=name`, separated by commas: of text-embedding-3-small for AZURE_OPENAI and the SMALL ids, of text-embedding-3-large for the LARGE ids. Ids that are not named are served by the embedded model.',
  },
  AZURE_OPENAI_API_VERSION: {
    schema: Joi.string()
      .pattern(/^[\w.-]+$/)
      .default('2024-10-21'),
    about: 'API version of Azure OpenAI.',
  },
  COHERE_API_KEY: {
    schema: Joi.string(),
    about: 'API key of Cohere. Serves COHERE_MULTILINGUAL_V3, and COHERE_RERANK_MULTILINGUAL_V3.',
  },
  COHERE_BASE_URL: { schema: address().default('https://api.cohere.com/v2'), about: 'URL of Cohere.' },
  VERTEX_PROJECT: { schema: Joi.string(), about: 'Google Cloud project. Serves VERTEX_MULTIMODAL.' },
  VERTEX_LOCATION: {
    schema: Joi.string()
      .pattern(/^[a-z\d-]+$/)
      .default('us-central1'),
    about: 'Location of Vertex AI.',
  },
  VERTEX_CREDENTIALS: {
    schema: Joi.string(),
    about: 'Key of a service account with access to Vertex AI: the path of its JSON file, or the JSON itself.',
  },
  VERTEX_ACCESS_TOKEN: {
    schema: Joi.string(),
    about: 'Access token for Vertex AI instead of a key, for trials. It is valid for an hour.',
  },
  VERTEX_BASE_URL: { schema: address(), about: 'URL of Vertex AI with its version. Default: the URL of the location.' },
  SOLAR_API_KEY: { schema: Joi.string(), about: 'API key of Upstage. Serves SOLAR_1_MINI.' },
  SOLAR_BASE_URL: { schema: address().default('https://api.upstage.ai/v1'), about: 'URL of Upstage.' },
  EMBEDDING_MIN_CONCURRENCY: {
    schema: count(1),
    about: 'Minimum number of concurrent requests per worker and provider key, even after many 429 responses.',
  },
  EMBEDDING_MAX_CONCURRENCY: {
    schema: count(16),
    about:
      'Maximum number of concurrent requests per worker and provider key. The worker adapts between minimum and maximum.',
  },
  EMBEDDING_TRIES: {
    schema: count(4),
    about: 'Attempts per request to a provider before its files return to the queue. Responses with 429 do not count.',
  },
  EMBEDDING_TIMEOUT_MS: { schema: count(60_000), about: 'Time limit for one request to a provider.' },
  EMBEDDING_PATIENCE_MS: {
    schema: count(120_000, 0),
    about:
      'Maximum time that texts wait in one attempt while a provider responds with 429. Then their files return to the queue as RATE_LIMITED. A search waits 5 seconds.',
  },
  EMBEDDING_PRICES: {
    schema: Joi.string().custom(readBy(readPrices)),
    about:
      'Price per million tokens by model id, in any currency: `OPENAI=0.02,COHERE_MULTILINGUAL_V3=0.1`, separated by commas. The metrics, POST /files/reembed and requests with `dry_run` report costs with these prices. Other ids have no price.',
  },
} as const satisfies Record<string, Setting>;
