/** Embedding models and their providers. */
import Joi from 'joi';

import { readPrices } from '../../providers/embeddings/readPrices.js';
import { readDeployments } from '../../providers/embeddings/readProviders.js';
import { count, address, readBy, type Setting } from './rules.js';

export const EMBEDDINGS_SETTINGS = {
  EMBEDDING_THREADS: {
    schema: count(2),
    about:
      'Texts that the embedded model embeds at once in a worker; each takes a process with one core and about 150 MB.',
  },
  EMBEDDING_MODEL_PATH: {
    schema: Joi.string(),
    about: 'ONNX file of the embedded model. Unset: the one that npm start prepares.',
  },
  EMBEDDING_TOKENIZER_PATH: { schema: Joi.string(), about: 'tokenizer.json of the embedded model.' },
  OPENAI_API_KEY: {
    schema: Joi.string(),
    about:
      'Key of OpenAI. With it OPENAI and the OPENAI_ADA_ model ids are served by OpenAI, and texts are sent there; without, as with the other providers, by the embedded model.',
  },
  OPENAI_BASE_URL: {
    schema: address().default('https://api.openai.com/v1'),
    about: 'Address of OpenAI, or of a service that takes the same requests.',
  },
  AZURE_OPENAI_ENDPOINT: {
    schema: address(),
    about: 'Address of the Azure OpenAI resource, `https://NAME.openai.azure.com`. Serves the AZURE_ model ids.',
  },
  AZURE_OPENAI_API_KEY: { schema: Joi.string(), about: 'Key of the Azure OpenAI resource.' },
  AZURE_OPENAI_DEPLOYMENTS: {
    schema: Joi.string().custom(readBy(readDeployments)),
    about:
      'Name of the deployment of each model id, `AZURE_OPENAI=name,AZURE_ADA_LARGE_256=name`, by comma: of text-embedding-3-small for AZURE_OPENAI and the SMALL ids, of text-embedding-3-large for the LARGE ids. Ids that are not named are served by the embedded model.',
  },
  AZURE_OPENAI_API_VERSION: {
    schema: Joi.string()
      .pattern(/^[\w.-]+$/)
      .default('2024-10-21'),
    about: 'Version of the API of Azure OpenAI.',
  },
  COHERE_API_KEY: {
    schema: Joi.string(),
    about: 'Key of Cohere. Serves COHERE_MULTILINGUAL_V3, and COHERE_RERANK_MULTILINGUAL_V3.',
  },
  COHERE_BASE_URL: { schema: address().default('https://api.cohere.com/v2'), about: 'Address of Cohere.' },
  VERTEX_PROJECT: { schema: Joi.string(), about: 'Google Cloud project. Serves VERTEX_MULTIMODAL.' },
  VERTEX_LOCATION: {
    schema: Joi.string()
      .pattern(/^[a-z\d-]+$/)
      .default('us-central1'),
    about: 'Location of Vertex AI.',
  },
  VERTEX_CREDENTIALS: {
    schema: Joi.string(),
    about: 'Key of a service account that may use Vertex AI: the path of its JSON file, or the JSON itself.',
  },
  VERTEX_ACCESS_TOKEN: {
    schema: Joi.string(),
    about: 'An access token for Vertex AI instead of a key, used until it is refused. For trials: it lasts an hour.',
  },
  VERTEX_BASE_URL: { schema: address(), about: 'Address of Vertex AI with its version. Unset: that of the location.' },
  SOLAR_API_KEY: { schema: Joi.string(), about: 'Key of Upstage. Serves SOLAR_1_MINI.' },
  SOLAR_BASE_URL: { schema: address().default('https://api.upstage.ai/v1'), about: 'Address of Upstage.' },
  EMBEDDING_MIN_CONCURRENCY: {
    schema: count(1),
    about: 'Requests that a worker has under way with one key of a provider, however often it refuses with 429.',
  },
  EMBEDDING_MAX_CONCURRENCY: {
    schema: count(16),
    about: 'Requests that a worker has under way with one key at most. Between the two it finds out what is borne.',
  },
  EMBEDDING_TRIES: {
    schema: count(4),
    about: 'Times a request to a provider is sent before its files go back into the queue. 429 does not count.',
  },
  EMBEDDING_TIMEOUT_MS: { schema: count(60_000), about: 'Time a provider has for one request.' },
  EMBEDDING_PATIENCE_MS: {
    schema: count(120_000, 0),
    about:
      'How long texts wait in one try while a provider refuses with 429; then their files go back into the queue as RATE_LIMITED. A search waits 5 seconds.',
  },
  EMBEDDING_PRICES: {
    schema: Joi.string().custom(readBy(readPrices)),
    about:
      'Price of a million tokens of each model id, `OPENAI=0.02,COHERE_MULTILINGUAL_V3=0.1`, by comma: what POST /files/reembed, requests with dry_run and metrics reckon with. Ids that are not named have no price.',
  },
} as const satisfies Record<string, Setting>;
