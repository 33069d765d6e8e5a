import type { ChunkQueries } from '../chunks/queries.js';
import type { Tenant } from '../users/accept.js';
import type { PointKey, PointsCensus, ReadVectors } from '../vectors/census.js';
import type { Finding, ReconcileOptions } from './differences.js';
import type { RecordOfFile } from './records.js';

/**
 * Number of points that are read per space. A damaged segment of Qdrant that contains one point in a thousand is missed
 * with a probability below 0.01 % ((1 - 0.001)^10,000). Reading takes seconds and transfers about 80 MB of JSON at 384
 * dimensions.
 */
const SAMPLED_POINTS = 10_000;
/**
 * Number of chunks per space that are embedded again, in a sample and in a full check: about 1 s and 15 s of one core.
 */
const EMBEDDED_AGAIN = { sample: 64, full: 1_000 };
/** Points per request. */
const READ_AT_ONCE = 256;
/** Minimum cosine of a stored vector and a recomputed vector. For the same text they differ only by rounding. */
const MIN_COSINE = 0.99;
/** Tolerance of the squared length, which should be 1 because Qdrant normalizes vectors on write. */
const LENGTH_TOLERANCE = 1e-3;

interface Sampled extends PointKey {
  readonly file: RecordOfFile;
}

export interface SampledStores {
  readonly points: Pick<PointsCensus, 'read'>;
  readonly chunks: Pick<ChunkQueries, 'byKeys'>;
}

/** Returns the defect of a single vector; null if it has none. */
function faultOf(vector: readonly number[] | null, dimensions: number | null): string | null {
  if (vector === null) return 'is missing';
  if (dimensions !== null && vector.length !== dimensions) return `has ${vector.length} dimensions, not ${dimensions}`;
  if (!vector.every(Number.isFinite)) return 'has values that are not numbers';
  const squared = vector.reduce((sum, x) => sum + x * x, 0);
  return Math.abs(squared - 1) > LENGTH_TOLERANCE ? `has the length ${Math.sqrt(squared).toPrecision(3)}, not 1` : null;
}

function cosine(a: readonly number[] | Float32Array, b: readonly number[] | Float32Array): number {
  let [dot, aa, bb] = [0, 0, 0];
  for (let at = 0; at < a.length; at += 1) {
    const [x, y] = [a[at] ?? 0, b[at] ?? 0];
    dot += x * y;
    aa += x * x;
    bb += y * y;
  }
  return dot / Math.sqrt(aa * bb);
}

/**
 * Reads the vectors of random chunks of files. Embeds the texts of some chunks again and compares the results with the
 * stored vectors. Returns a finding for each damaged file.
 * @param files idle files of one user, with all their points
 * @param pointsOf the number of points of each space
 */
export async function checkVectors(
  { points, chunks }: SampledStores,
  tenant: Tenant,
  files: readonly RecordOfFile[],
  pointsOf: ReadonlyMap<string, number>,
  { readsAllVectors = false, embed }: Pick<ReconcileOptions, 'readsAllVectors' | 'embed'>,
): Promise<Map<number, Finding>> {
  const findings = new Map<number, Finding>();
  const report = ({ fileId }: PointKey, what: string): void => {
    if (!findings.has(fileId)) findings.set(fileId, { kind: 'damaged_vectors', what, repair: null });
  };
  const bySpace = groupBy(files, ({ vectorSpace }) => vectorSpace ?? '');
  for (const [space, group] of bySpace) {
    const totalPoints = Math.max(1, pointsOf.get(space) ?? 0);
    const share = readsAllVectors ? 1 : Math.min(1, SAMPLED_POINTS / totalPoints);
    const embeddedAgain = readsAllVectors ? EMBEDDED_AGAIN.full : EMBEDDED_AGAIN.sample;
    const embeddedShare = Math.min(1, embeddedAgain / (totalPoints * share));
    for (const batch of inBatches(sampleOf(group, share))) {
      const sound: { readonly key: Sampled; readonly vector: readonly number[] }[] = [];
      for (const [key, vector] of await readEach(points, tenant, space, batch)) {
        const fault = 'problem' in vector ? 'cannot be read' : faultOf(vector.vector, key.file.dimensions);
        if (fault !== null) report(key, `the vector of its chunk ${key.chunkIndex} in ${space} ${fault}`);
        else if ('vector' in vector && vector.vector) sound.push({ key, vector: vector.vector });
      }
      const compared = sound.filter(({ key }) => key.file.hasText && Math.random() < embeddedShare);
      if (compared.length === 0 || !embed) continue;
      const texts = await textsOf(
        chunks,
        tenant,
        compared.map(({ key }) => key),
      );
      const withTexts = compared.flatMap((one) => {
        const text = texts.get(`${one.key.fileId}:${one.key.chunkIndex}`);
        return text === undefined ? [] : [{ ...one, text }];
      });
      const recomputed = await embed(
        tenant,
        space,
        withTexts.map(({ text }) => text),
      );
      recomputed?.forEach((expected, index) => {
        const one = withTexts[index];
        const similarity = one ? cosine(one.vector, expected) : 1;
        if (one && !(similarity >= MIN_COSINE))
          report(
            one.key,
            `the vector of its chunk ${one.key.chunkIndex} in ${space} is not that of its text (cosine ${similarity.toFixed(3)})`,
          );
      });
    }
  }
  return findings;
}

function groupBy<Key, Item>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

function* sampleOf(files: readonly RecordOfFile[], share: number): Generator<Sampled> {
  for (const file of files)
    for (let chunkIndex = 0; chunkIndex < file.numChunks; chunkIndex += 1)
      if (share >= 1 || Math.random() < share)
        yield { file, fileId: file._id, generation: file.generation, chunkIndex };
}

function* inBatches(keys: Iterable<Sampled>): Generator<Sampled[]> {
  let batch: Sampled[] = [];
  for (const key of keys) {
    batch.push(key);
    if (batch.length === READ_AT_ONCE) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

type Answer = { readonly vector: readonly number[] | null } | { readonly problem: string };

/**
 * Reads the vectors of points. If a request fails because of one unreadable vector, each file is read by a separate
 * request.
 */
async function readEach(
  points: SampledStores['points'],
  tenant: Tenant,
  space: string,
  keys: readonly Sampled[],
): Promise<(readonly [Sampled, Answer])[]> {
  const pair = (group: readonly Sampled[], read: ReadVectors): (readonly [Sampled, Answer])[] =>
    group.map((key, index) => [key, 'problem' in read ? read : { vector: read.vectors[index] ?? null }]);
  const read = await points.read(tenant, space, keys);
  if ('vectors' in read) return pair(keys, read);
  const answers: (readonly [Sampled, Answer])[] = [];
  for (const [, group] of groupBy(keys, ({ fileId }) => fileId))
    answers.push(...pair(group, await points.read(tenant, space, group)));
  return answers;
}

async function textsOf(
  chunks: SampledStores['chunks'],
  tenant: Tenant,
  keys: readonly PointKey[],
): Promise<Map<string, string>> {
  const chunkKeys = keys.map(({ fileId, generation, chunkIndex }) => ({ fileId, generation, chunkIndex }));
  const rows = await chunks.byKeys(tenant, chunkKeys);
  return new Map(rows.map(({ fileId, chunkIndex, text }) => [`${fileId}:${chunkIndex}`, text]));
}
