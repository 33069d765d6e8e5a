import { type IngestOptions, wantsVectors } from '../../contract/files/ingestOptions.js';
import type { RunKind } from '../../contract/runs/runKinds.js';
import type { ApiDeps, Sample } from '../http/deps.js';
import type { UserCaller } from '../http/operation.js';
import type { SkippedByDryRun } from '../schemas/estimates.js';

/** Findings of a dry run. */
export interface DryRunFindings {
  /** Number of files that would be read. */
  readonly files: number;
  /** Whether all files were found. */
  readonly complete: boolean;
  readonly read: readonly Sample[];
  /** Number of files in the sample that could not be read. */
  readonly failed: number;
  readonly skipped: Readonly<Partial<Record<SkippedByDryRun, number>>>;
}

/** Above this number of chunks, reusable vectors are not counted. */
const CHUNKS_LOOKED_UP = 5_000;
const TOKENS_PER_PRICE = 1_000_000;
/** Standard errors on each side of the mean that cover 95 % of samples. */
const STANDARD_ERRORS = 1.96;

interface Total {
  readonly value: number;
  readonly low: number;
  /** Null: unknown. */
  readonly high: number | null;
}

/**
 * Extrapolates a total from the files that were read.
 * @returns null if none was read, unless the search for files was complete and all of them failed
 */
function totalOf({ files, complete, read, failed }: DryRunFindings, of: (sample: Sample) => number): Total | null {
  const sum = read.reduce((subtotal, sample) => subtotal + of(sample), 0);
  if (complete && read.length + failed === files) return { value: sum, low: sum, high: sum };
  const number = read.length;
  if (number === 0) return null;
  // Assume the same share of unreadable files as in the sample.
  const readable = (files * number) / (number + failed);
  const mean = sum / number;
  const variance = number < 2 ? 0 : read.reduce((subtotal, one) => subtotal + (of(one) - mean) ** 2, 0) / (number - 1);
  const unreadShare = Math.max(0, 1 - number / readable);
  const spread = STANDARD_ERRORS * readable * Math.sqrt((variance / number) * unreadShare);
  const value = mean * readable;
  return {
    value: Math.round(value),
    low: Math.max(sum, Math.floor(value - spread)),
    high: complete && number > 1 ? Math.ceil(value + spread) : null,
  };
}

/**
 * Estimates the cost of a run, in the response format of POST /files/reembed. `estimated` is false only if all files
 * were found and the sample contains all of them.
 */
export async function estimateOf(
  caller: UserCaller,
  kind: RunKind,
  ingest: IngestOptions,
  findings: DryRunFindings,
  { store, embedder, settings }: ApiDeps,
) {
  const { embeddingModel: model } = ingest;
  const price = settings.embeddingPrices[model] ?? null;
  const none = { value: 0, low: 0, high: 0 };
  const makesChunks = !ingest.storeFileOnly && !ingest.skipFileProcessing;
  const embeds = wantsVectors(ingest) && !ingest.skipFileProcessing;
  const tokens = embeds ? totalOf(findings, (sample) => sample.tokens) : none;
  const chunks = makesChunks ? totalOf(findings, ({ texts }) => texts.length) : none;
  const texts = embeds ? findings.read.flatMap((sample) => sample.texts) : [];
  const countKnown = (chunkTexts: readonly string[]): Promise<number> =>
    store.vectorCache.countCached(caller.organizationId, embedder.spaceOf(model).name, chunkTexts);
  const rate = await store.runRates.rateOf(caller, kind);
  const sampled = (of: (sample: Sample) => number): number => findings.read.reduce((sum, one) => sum + of(one), 0);
  return {
    id: null,
    dry_run: true,
    embedding_model: model,
    files: findings.files,
    bytes: totalOf(findings, ({ bytes }) => bytes)?.value ?? null,
    chunks: chunks?.value ?? null,
    tokens: tokens?.value ?? null,
    tokens_low: tokens?.low ?? null,
    tokens_high: tokens?.high ?? null,
    price: price === null || tokens === null ? null : (tokens.value / TOKENS_PER_PRICE) * price,
    seconds: rate === null ? null : Math.round((findings.files / rate.files) * rate.seconds * 10) / 10,
    seconds_by: rate && { runs: rate.runs, files: rate.files },
    complete: findings.complete,
    estimated: !findings.complete || findings.read.length + findings.failed < findings.files,
    sample: {
      files: findings.read.length,
      failed: findings.failed,
      bytes: sampled(({ bytes }) => bytes),
      chunks: sampled((sample) => sample.texts.length),
      known_chunks: texts.length > CHUNKS_LOOKED_UP ? null : await countKnown(texts),
      tokens: sampled((sample) => sample.tokens),
    },
    skipped: findings.skipped,
  };
}
