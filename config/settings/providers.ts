/** Rerankers, lookups and transcription. */
import Joi from 'joi';

import { TRANSCRIPTION_SERVICES } from '../../contract/files/uploads.js';
import { count, address, type Setting } from './rules.js';

export const PROVIDERS_SETTINGS = {
  JINA_API_KEY: { schema: Joi.string(), about: 'API key of Jina. Serves JINA_RERANKER_MULTILINGUAL_V2.' },
  JINA_BASE_URL: {
    schema: address().default('https://api.jina.ai/v1'),
    about: 'URL of Jina, or of a server with the same rerank API.',
  },
  PONGO_API_KEY: { schema: Joi.string(), about: 'API key of Pongo. Serves PONGO_RERANKER.' },
  PONGO_BASE_URL: { schema: address().default('https://api.joinpongo.com/api/v1'), about: 'URL of Pongo.' },
  RERANK_TIMEOUT_MS: { schema: count(10_000), about: 'Time limit for reranking one search; the caller waits.' },
  BRAVE_SEARCH_API_KEY: {
    schema: Joi.string(),
    about: 'API key of Brave Search. If set, /search_urls uses it.',
  },
  BRAVE_SEARCH_BASE_URL: {
    schema: address().default('https://api.search.brave.com/res/v1'),
    about: 'URL of the Brave Search API.',
  },
  SEARXNG_BASE_URL: {
    schema: address(),
    about:
      'URL of your own SearXNG, which /search_urls uses if BRAVE_SEARCH_API_KEY is not set. Its settings.yml must list `json` in search.formats. A server in a private network must be listed in ALLOWED_PRIVATE_HOSTS.',
  },
  SUPADATA_API_KEY: {
    schema: Joi.string(),
    about: 'API key of Supadata. If set, /fetch_youtube_transcript uses it.',
  },
  SUPADATA_BASE_URL: { schema: address().default('https://api.supadata.ai/v1'), about: 'URL of Supadata.' },
  INVIDIOUS_BASE_URL: {
    schema: address(),
    about:
      'URL of your own Invidious, which /fetch_youtube_transcript uses if SUPADATA_API_KEY is not set. A server in a private network must be listed in ALLOWED_PRIVATE_HOSTS.',
  },
  LOOKUP_TIMEOUT_MS: {
    schema: count(20_000),
    about: 'Time limit for a web search or a transcript; the caller waits.',
  },
  TRANSCRIPTION_SERVICE: {
    schema: Joi.string().valid(...TRANSCRIPTION_SERVICES),
    about: 'Transcription service for files that name none. Default: deepgram if it has a key, else assemblyai.',
  },
  TRANSCRIPTION_CONCURRENCY: {
    schema: count(8),
    about: 'Maximum number of concurrent transcriptions per worker. Other files never wait for them.',
  },
  TRANSCRIPTION_TIMEOUT_S: {
    schema: count(3600),
    about: 'Time limit for one recording, including its upload to the service.',
  },
  DEEPGRAM_API_KEY: { schema: Joi.string(), about: 'API key of Deepgram. If not set, Deepgram is not used.' },
  DEEPGRAM_BASE_URL: {
    schema: Joi.string()
      .uri({ scheme: ['http', 'https'] })
      .default('https://api.deepgram.com'),
    about: 'URL of Deepgram. A server in a private network must be listed in ALLOWED_PRIVATE_HOSTS.',
  },
  DEEPGRAM_MODEL: { schema: Joi.string().default('nova-3'), about: 'Deepgram model.' },
  ASSEMBLYAI_API_KEY: { schema: Joi.string(), about: 'API key of AssemblyAI. If not set, AssemblyAI is not used.' },
  ASSEMBLYAI_BASE_URL: {
    schema: Joi.string()
      .uri({ scheme: ['http', 'https'] })
      .default('https://api.assemblyai.com'),
    about: 'URL of AssemblyAI. In Europe: https://api.eu.assemblyai.com.',
  },
  ASSEMBLYAI_MODEL: {
    schema: Joi.string().default('universal-3-5-pro,universal-2'),
    about: 'AssemblyAI models, separated by commas. The first that supports the language is used.',
  },
  ASSEMBLYAI_POLL_S: {
    schema: Joi.number().greater(0).default(3),
    about: 'Seconds between status requests for a transcript at AssemblyAI.',
  },
} as const satisfies Record<string, Setting>;
