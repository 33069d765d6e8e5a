/** Rerankers, lookups and transcription. */
import Joi from 'joi';

import { TRANSCRIPTION_SERVICES } from '../../contract/uploads.js';
import { count, address, type Setting } from './rules.js';

export const PROVIDERS_SETTINGS = {
  JINA_API_KEY: { schema: Joi.string(), about: 'Key of Jina. Serves JINA_RERANKER_MULTILINGUAL_V2.' },
  JINA_BASE_URL: {
    schema: address().default('https://api.jina.ai/v1'),
    about: 'Address of Jina, or of a server of your own that takes the same requests to rerank.',
  },
  PONGO_API_KEY: { schema: Joi.string(), about: 'Key of Pongo. Serves PONGO_RERANKER.' },
  PONGO_BASE_URL: { schema: address().default('https://api.joinpongo.com/api/v1'), about: 'Address of Pongo.' },
  RERANK_TIMEOUT_MS: { schema: count(10_000), about: 'Time a reranker has for one search, whose caller waits.' },
  BRAVE_SEARCH_API_KEY: {
    schema: Joi.string(),
    about: 'Key of the Brave Search API. With it /search_urls asks there.',
  },
  BRAVE_SEARCH_BASE_URL: {
    schema: address().default('https://api.search.brave.com/res/v1'),
    about: 'Address of the Brave Search API.',
  },
  SEARXNG_BASE_URL: {
    schema: address(),
    about:
      'Address of a SearXNG of yours, which /search_urls asks where BRAVE_SEARCH_API_KEY is unset; its settings.yml names `json` among search.formats. One of your own network must be named in ALLOWED_PRIVATE_HOSTS.',
  },
  SUPADATA_API_KEY: {
    schema: Joi.string(),
    about: 'Key of Supadata. With it /fetch_youtube_transcript asks there.',
  },
  SUPADATA_BASE_URL: { schema: address().default('https://api.supadata.ai/v1'), about: 'Address of Supadata.' },
  INVIDIOUS_BASE_URL: {
    schema: address(),
    about:
      'Address of an Invidious of yours, which /fetch_youtube_transcript asks where SUPADATA_API_KEY is unset. One of your own network must be named in ALLOWED_PRIVATE_HOSTS.',
  },
  LOOKUP_TIMEOUT_MS: {
    schema: count(20_000),
    about: 'Time that a search of the web, or a transcript, has; its caller waits.',
  },
  TRANSCRIPTION_SERVICE: {
    schema: Joi.string().valid(...TRANSCRIPTION_SERVICES),
    about:
      'Service that transcribes sound and video where a file names none. Unset: deepgram where it has a key, else assemblyai.',
  },
  TRANSCRIPTION_CONCURRENCY: {
    schema: count(8),
    about: 'Recordings that one worker has transcribed at once; other files never wait for them.',
  },
  TRANSCRIPTION_TIMEOUT_S: {
    schema: count(3600),
    about: 'Time for one recording, its way to the service included.',
  },
  DEEPGRAM_API_KEY: { schema: Joi.string(), about: 'Key of Deepgram. Unset: it is not used.' },
  DEEPGRAM_BASE_URL: {
    schema: Joi.string()
      .uri({ scheme: ['http', 'https'] })
      .default('https://api.deepgram.com'),
    about: 'Address of Deepgram; one of your own network must be named in ALLOWED_PRIVATE_HOSTS.',
  },
  DEEPGRAM_MODEL: { schema: Joi.string().default('nova-3'), about: 'Model that Deepgram transcribes with.' },
  ASSEMBLYAI_API_KEY: { schema: Joi.string(), about: 'Key of AssemblyAI. Unset: it is not used.' },
  ASSEMBLYAI_BASE_URL: {
    schema: Joi.string()
      .uri({ scheme: ['http', 'https'] })
      .default('https://api.assemblyai.com'),
    about: 'Address of AssemblyAI, which has one in Europe too (https://api.eu.assemblyai.com).',
  },
  ASSEMBLYAI_MODEL: {
    schema: Joi.string().default('universal-3-5-pro,universal-2'),
    about: 'Models that AssemblyAI transcribes with, by comma: the first that knows the language.',
  },
  ASSEMBLYAI_POLL_S: {
    schema: Joi.number().greater(0).default(3),
    about: 'Seconds between two looks at a transcript that AssemblyAI is making.',
  },
} as const satisfies Record<string, Setting>;
