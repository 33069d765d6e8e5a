import type { Config } from '../config/types.js';
import { createEgress } from '../egress/createEgress.js';
import { createLocalProvider } from '../providers/embeddings/providers/local.js';
import { createEmbeddings } from '../providers/embeddings/registry.js';
import type { ReconcileOptions } from '../store/reconcile/differences.js';

/** Embeds texts again to compare them with stored vectors. */
export interface Embedder {
  readonly embed: NonNullable<ReconcileOptions['embed']>;
  close(): Promise<void>;
}

/**
 * Creates an embedder with the built-in model, which is loaded when the first text arrives; null if the paths of the
 * model and its tokenizer are unknown. @param remote whether to use the configured providers too, which bill for it
 */
export function createEmbedder(
  { embedding, egress }: Pick<Config, 'embedding' | 'egress'>,
  remote: boolean,
): Embedder | null {
  const { modelPath, tokenizerPath, threads, niceness, providers } = embedding;
  if (modelPath === null || tokenizerPath === null) return null;
  const local = createLocalProvider({ modelPath, tokenizerPath, threads, niceness });
  const loadCounter = async () => (await import('../documents/chunking/countTokens.js')).countTokens;
  const ignore = (): void => undefined;
  const embeddings = createEmbeddings({
    local,
    ...(remote && {
      remote: { providers, egress: createEgress(egress), loadCounter, onUsage: ignore, onRequest: ignore },
    }),
  });
  const servedSpaces = new Set([
    local.space.name,
    ...(remote ? embeddings.models().map(({ space }) => space.name) : []),
  ]);
  return {
    embed: async (tenant, space, texts) =>
      servedSpaces.has(space) ? embeddings.embed(space, texts, 'document', new AbortController().signal, tenant) : null,
    close: () => embeddings.close(),
  };
}
