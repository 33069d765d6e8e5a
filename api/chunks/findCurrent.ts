import { chunkKey, type StoredChunk } from '../../store/models/chunks.js';
import type { HitFile } from '../../store/files/hitFiles.js';
import type { Tenant } from '../../store/users/accept.js';
import type { VectorHit } from '../../store/vectors/search.js';
import type { ApiDeps } from '../http/deps.js';
import type { Ranking } from './ranking.js';

/** A search hit with its chunk and its file. */
export interface FoundChunk {
  readonly hit: VectorHit;
  readonly space: string;
  readonly chunk: StoredChunk;
  readonly file: HitFile;
}

/** A search for this many hits or more is not repeated with a higher limit. */
const MAX_HITS = 20_000;
/** Number of additional hits requested after hits were dropped. */
const ADDITIONAL_HITS = 16;
/** Maximum number of repeated searches because a file was replaced between the reads of its points and its record. */
const MAX_REPEATS = 3;

interface Read {
  readonly found: FoundChunk[];
  /** Whether a hit was dropped because its file has a newer generation, whose points may be missing among the hits. */
  readonly replaced: boolean;
}

const isCold = ({ embeddingStorageStatus: status }: HitFile): boolean =>
  status === 'COLD_STORAGE' || status === 'COLD_TO_HOT';

/** Returns the current records of files. */
export type ReadFiles = (tenant: Tenant, ids: readonly number[]) => Promise<HitFile[]>;

/**
 * Returns the hits whose file still has the generation of the hit, each with its chunk and file record, in the order of
 * the hits. Chunks and records are read in parallel.
 */
async function readCurrent(
  tenant: Tenant,
  space: string,
  hits: readonly VectorHit[],
  readFiles: ReadFiles,
  { store }: Pick<ApiDeps, 'store'>,
): Promise<Read> {
  const [files, chunks] = await Promise.all([
    readFiles(tenant, [...new Set(hits.map((hit) => hit.fileId))]),
    store.chunks.byKeys(tenant, hits),
  ]);
  const fileOf = new Map(files.map((file) => [file._id, file]));
  const chunkOf = new Map(chunks.map((chunk) => [chunk.key, chunk]));
  const found = hits.flatMap((hit) => {
    const file = fileOf.get(hit.fileId);
    const chunk = chunkOf.get(chunkKey(hit.fileId, hit.generation, hit.chunkIndex));
    // Files in cold storage are not searched: while a run moves them, Qdrant has only some of their points.
    return file && chunk && file.generation === hit.generation && !isCold(file) ? [{ hit, space, chunk, file }] : [];
  });
  store.chunks.cache(
    tenant,
    found.map(({ chunk }) => chunk),
  );
  return { found, replaced: hits.some((hit) => (fileOf.get(hit.fileId)?.generation ?? 0) > hit.generation) };
}

/**
 * Returns the best `wanted` current chunks of one space. Usually one search, and one read of chunks and of records, are
 * enough. They are repeated only if too many hits are dropped.
 * @param search returns at most `limit` ranked hits; `isAll`: no more points match
 */
export async function findCurrent(
  tenant: Tenant,
  space: string,
  {
    wanted,
    limit: initialLimit,
    readFiles,
  }: { readonly wanted: number; readonly limit: number; readonly readFiles: ReadFiles },
  search: (limit: number) => Promise<{ readonly ranked: Ranking; readonly isAll: boolean }>,
  deps: Pick<ApiDeps, 'store'>,
): Promise<FoundChunk[]> {
  for (let limit = initialLimit, repeats = 0; ;) {
    const { ranked, isAll } = await search(limit);
    const found: FoundChunk[] = [];
    let replaced = false;
    for (let count = wanted; found.length < wanted; count = wanted - found.length + ADDITIONAL_HITS) {
      const { hits, deleted } = await ranked.next(count);
      replaced ||= deleted;
      if (hits.length === 0) break;
      const read = await readCurrent(tenant, space, hits, readFiles, deps);
      found.push(...read.found);
      replaced ||= read.replaced;
    }
    if (found.length >= wanted) return found.slice(0, wanted);
    if (!isAll && limit < MAX_HITS) limit *= 4;
    else if (replaced && repeats < MAX_REPEATS) repeats += 1;
    else return found;
  }
}
