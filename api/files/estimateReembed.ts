import type { EmbeddingModelId } from '../../contract/vectors/embeddingModels.js';
import type { FileFilters } from '../../contract/files/fileFilters.js';
import { reembedSkipReason, type ReembedSkipReason, tokensOf } from '../../contract/runs/reembed.js';
import type { FileContent } from '../../store/files/queries.js';
import type { ApiDeps } from '../http/deps.js';
import type { UserCaller } from '../http/operation.js';

/** Above this number of chunks, reusable vectors are not counted, since each text would have to be read. */
const CHUNKS_LOOKED_UP = 5_000;
const TOKENS_PER_PRICE = 1_000_000;

export interface ReembedEstimate {
  readonly files: number;
  readonly chunks: number;
  /** Estimated number of tokens: those of the texts, plus the maximum overlaps, without prepended file names. */
  readonly tokens: number;
  /** Chunks whose vectors can be reused; null if there are too many to check. */
  readonly knownChunks: number | null;
  /** Price of all tokens, including reused ones; null if the model has no price. */
  readonly price: number | null;
  readonly skipped: Partial<Record<ReembedSkipReason, number>>;
}

/** Estimates a re-embedding run from the current files. Embeds nothing. */
export async function estimateReembed(
  caller: UserCaller,
  { filters, model }: { readonly filters: FileFilters; readonly model: EmbeddingModelId },
  { store, embedder, settings }: ApiDeps,
): Promise<ReembedEstimate> {
  const { organizationId, userId } = caller;
  const tenant = { organizationId, userId };
  const target = { model, space: embedder.spaceOf(model).name };
  const skipped: Partial<Record<ReembedSkipReason, number>> = {};
  const fileIds: number[] = [];
  let [files, chunks, tokens] = [0, 0, 0];
  for await (const file of store.files.candidates(tenant, filters, new Date(), 0, null)) {
    const reason = reembedSkipReason(file, target);
    if (reason !== null) {
      skipped[reason] = (skipped[reason] ?? 0) + 1;
      continue;
    }
    files += 1;
    chunks += file.numChunks;
    tokens += tokensOf(file);
    if (chunks <= CHUNKS_LOOKED_UP) fileIds.push(file._id);
  }
  const price = settings.embeddingPrices[model] ?? null;
  return {
    ...{ files, chunks, tokens, skipped },
    price: price === null ? null : (tokens / TOKENS_PER_PRICE) * price,
    knownChunks: chunks > CHUNKS_LOOKED_UP ? null : await countKnown(caller, target.space, fileIds, store),
  };
}

async function countKnown(
  { organizationId, userId }: UserCaller,
  space: string,
  fileIds: readonly number[],
  { files, chunks, vectorCache }: ApiDeps['store'],
): Promise<number> {
  const tenant = { organizationId, userId };
  const rows = await files.byIds(tenant, fileIds);
  async function* contents(): AsyncGenerator<FileContent> {
    yield* rows;
  }
  let counted = 0;
  for await (const part of chunks.page(tenant, contents(), 0, CHUNKS_LOOKED_UP)) {
    const texts = part.map(({ text }) => text);
    counted += await vectorCache.countCached(organizationId, space, texts);
  }
  return counted;
}
