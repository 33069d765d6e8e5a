import { readFileSync } from 'node:fs';

import type { TranscriptionService } from '../../contract/files/uploads.js';
import type { EgressSettings } from '../../egress/types.js';
import { readPrices } from '../../providers/embeddings/readPrices.js';
import { readProviders } from '../../providers/embeddings/readProviders.js';
import type { ProviderSettings } from '../../providers/embeddings/registry.js';
import { configErrorOf } from '../configError.js';
import type { EmbeddedEngines } from '../embeddedEngines.js';
import type { SettingName, Settings } from '../readSettings.js';
import type { Config } from '../types.js';

function readEmbeddingProviders(settings: Settings): Omit<ProviderSettings, 'keyLimits'> {
  try {
    return readProviders(
      (name) => settings.optional(name as SettingName),
      (file) => readFileSync(file, 'utf8'),
    );
  } catch (error) {
    throw configErrorOf([(error as Error).message]);
  }
}

/** Returns the settings of the embedding models. @param egress the settings of all outgoing requests */
export function embeddingSection(
  settings: Settings,
  egress: EgressSettings,
  embedded: EmbeddedEngines,
): Config['embedding'] {
  const timeoutMs = settings.number('EMBEDDING_TIMEOUT_MS');
  const maxConcurrency = Math.max(
    settings.number('EMBEDDING_MIN_CONCURRENCY'),
    settings.number('EMBEDDING_MAX_CONCURRENCY'),
  );
  return {
    threads: settings.number('EMBEDDING_THREADS'),
    niceness: settings.number('COMPUTE_NICENESS'),
    modelPath: settings.optional('EMBEDDING_MODEL_PATH') ?? embedded['modelPath'] ?? null,
    tokenizerPath: settings.optional('EMBEDDING_TOKENIZER_PATH') ?? embedded['tokenizerPath'] ?? null,
    providers: {
      ...readEmbeddingProviders(settings),
      keyLimits: {
        minConcurrency: settings.number('EMBEDDING_MIN_CONCURRENCY'),
        maxConcurrency,
        tries: settings.number('EMBEDDING_TRIES'),
        timeoutMs,
        timeLimitMs: settings.number('EMBEDDING_PATIENCE_MS'),
      },
    },
    prices: readPrices(settings.optional('EMBEDDING_PRICES') ?? ''),
    // A model may respond as late as the request timeout allows.
    egress: {
      ...egress,
      connectionsPerHost: maxConcurrency,
      headersTimeoutMs: timeoutMs,
      bodyTimeoutMs: timeoutMs,
    },
  };
}

/** Returns the settings of rerankers, lookups and transcription. @param egress the settings of all outgoing requests */
export function serviceSection(
  settings: Settings,
  egress: EgressSettings,
): Pick<Config, 'rerank' | 'lookups' | 'transcription'> {
  return {
    rerank: {
      timeoutMs: settings.number('RERANK_TIMEOUT_MS'),
      services: {
        cohere: { apiKey: settings.optional('COHERE_API_KEY'), baseUrl: settings.address('COHERE_BASE_URL') },
        jina: { apiKey: settings.optional('JINA_API_KEY'), baseUrl: settings.address('JINA_BASE_URL') },
        pongo: { apiKey: settings.optional('PONGO_API_KEY'), baseUrl: settings.address('PONGO_BASE_URL') },
      },
    },
    lookups: {
      timeoutMs: settings.number('LOOKUP_TIMEOUT_MS'),
      search: {
        brave: {
          apiKey: settings.optional('BRAVE_SEARCH_API_KEY'),
          baseUrl: settings.address('BRAVE_SEARCH_BASE_URL'),
        },
        searxng: { apiKey: null, baseUrl: settings.optionalAddress('SEARXNG_BASE_URL') },
      },
      transcripts: {
        supadata: { apiKey: settings.optional('SUPADATA_API_KEY'), baseUrl: settings.address('SUPADATA_BASE_URL') },
        invidious: { apiKey: null, baseUrl: settings.optionalAddress('INVIDIOUS_BASE_URL') },
      },
    },
    transcription: {
      preferred: settings.optional('TRANSCRIPTION_SERVICE') as TranscriptionService | null,
      concurrency: settings.number('TRANSCRIPTION_CONCURRENCY'),
      timeoutMs: settings.number('TRANSCRIPTION_TIMEOUT_S') * 1000,
      pollMs: settings.number('ASSEMBLYAI_POLL_S') * 1000,
      services: {
        deepgram: {
          apiKey: settings.optional('DEEPGRAM_API_KEY'),
          baseUrl: settings.address('DEEPGRAM_BASE_URL'),
          model: settings.string('DEEPGRAM_MODEL'),
        },
        assemblyai: {
          apiKey: settings.optional('ASSEMBLYAI_API_KEY'),
          baseUrl: settings.address('ASSEMBLYAI_BASE_URL'),
          model: settings.string('ASSEMBLYAI_MODEL'),
        },
      },
      egress: {
        ...egress,
        // Deepgram sends the headers of its answer only when the transcription is complete.
        headersTimeoutMs: settings.number('TRANSCRIPTION_TIMEOUT_S') * 1000,
        connectionsPerHost: 2 * settings.number('TRANSCRIPTION_CONCURRENCY'),
      },
    },
  };
}
