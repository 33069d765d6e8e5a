import type { VectorSpace } from '../../../contract/vectors/embeddingModels.js';
import { Fault } from '../../../contract/failures.js';
import type { AttemptCost } from './attemptCost.js';
import type { ProcessedDocument } from '../../../documents/types.js';
import type { FairnessKey } from '../../../providers/embeddings/fairQueue.js';
import { contentStep } from './contentStep.js';
import type { ActivityDeps } from '../../deps.js';
import type { TokenBudget } from './tokenBudget.js';

/** The text of a chunk that is embedded, and its cl100k tokens. */
interface ChunkText {
  readonly text: string;
  readonly tokens: number;
}

const sumOf = (tokens: readonly (number | undefined)[]): number => tokens.reduce<number>((sum, n = 0) => sum + n, 0);

/** Inputs and dependencies of an embedding. */
export interface EmbeddingWork {
  readonly deps: ActivityDeps;
  readonly signal: AbortSignal;
  /** Reserves the tokens of texts before they are embedded; null: unlimited. */
  readonly tokens: TokenBudget | null;
  /** Receives the numbers of tokens of reused and of newly embedded texts; unset: they are not counted. */
  readonly attempt?: AttemptCost;
}

/**
 * Returns the vectors of chunks, in their order. Vectors that are not cached are computed.
 * @param owner shares a provider's capacity with other owners
 * @throws TokenBudgetReached if the tokens exceed the token budget
 */
export async function embedTexts(
  owner: FairnessKey,
  space: VectorSpace,
  chunks: readonly ChunkText[],
  { deps, signal, tokens: budget, attempt }: EmbeddingWork,
): Promise<Float32Array[]> {
  const { organizationId } = owner;
  const { embeddingUsage, vectorCache } = deps.store;
  const tokensOf = new Map(chunks.map(({ text, tokens }) => [text, tokens]));
  const computed = { texts: 0, tokens: 0 };
  const count = (outcome: 'computed' | 'reused', texts: number, tokens: number): void => {
    embeddingUsage.count(organizationId, space.name, { [outcome]: texts });
    deps.metrics.embedded({ space: space.name, purpose: 'document', outcome, texts, tokens });
  };
  const vectors = await vectorCache.resolve(
    organizationId,
    space,
    chunks.map(({ text }) => text),
    async (missing) => {
      const tokens = sumOf(missing.map((text) => tokensOf.get(text)));
      await budget?.reserve(tokens);
      const newVectors = await contentStep('embedded', signal, deps, () =>
        deps.embeddings.embed(space.name, missing, 'document', signal, owner),
      ).catch(async (error: unknown) => {
        // After an abort the number of embedded texts is unknown.
        if (error instanceof Fault && !signal.aborted) await budget?.release(tokens);
        throw error;
      });
      computed.texts += missing.length;
      computed.tokens += tokens;
      if (attempt) attempt.tokens += tokens;
      count('computed', missing.length, tokens);
      return newVectors;
    },
    signal,
  );
  const reused = sumOf(chunks.map(({ tokens }) => tokens)) - computed.tokens;
  if (attempt) attempt.reused += reused;
  count('reused', chunks.length - computed.texts, reused);
  return vectors;
}

/** Number of chunks of a long document whose texts are in memory at once, until they are embedded. */
const CHUNKS_AT_ONCE = 2_000;

/** Returns a vector for each chunk of a document, in their order. */
export async function embedChunks(
  owner: FairnessKey,
  space: VectorSpace,
  { prefix, text, cuts }: ProcessedDocument,
  work: EmbeddingWork,
): Promise<Float32Array[]> {
  const vectors: Float32Array[] = [];
  for (let from = 0; from < cuts.length; from += CHUNKS_AT_ONCE) {
    const chunks = cuts
      .slice(from, from + CHUNKS_AT_ONCE)
      .map(({ start, end, tokens }) => ({ text: prefix + text.slice(start, end), tokens }));
    vectors.push(...(await embedTexts(owner, space, chunks, work)));
  }
  return vectors;
}
