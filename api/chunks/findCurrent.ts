import { chunkKey, type StoredChunk } from '../../store/chunks/model.js';
import type { FoundFile } from '../../store/files/found.js';
import type { Tenant } from '../../store/users/accept.js';
import type { VectorHit } from '../../store/vectors/search.js';
import type { ApiDeps } from '../deps.js';

export interface Found {
  readonly hit: VectorHit;
  readonly space: string;
  readonly chunk: StoredChunk;
  readonly file: FoundFile;
}

/** Hits asked for at most, however many had to be dropped. */
const MAX_HITS = 20_000;
/** How many more than are missing are read once some were dropped. */
const SPARE = 16;
/** Times a search is made again because a file was replaced between its points and its record. */
const MAX_REPEATS = 3;

interface Read {
  readonly found: Found[];
  /** A hit was dropped whose file has a newer generation by now: that one's points may not be among the hits. */
  readonly replaced: boolean;
}

const isCold = ({ embeddingStorageStatus: status }: FoundFile): boolean =>
  status === 'COLD_STORAGE' || status === 'COLD_TO_HOT';

/** The records of files, as they are now. */
export type ReadFiles = (tenant: Tenant, ids: readonly number[]) => Promise<FoundFile[]>;

/** Hits whose generation is the file's current one, with text and record, in the order of the hits: two reads, side by side. */
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
    // Points of a file in cold storage are on their way in or out.
    return file && chunk && file.generation === hit.generation && !isCold(file) ? [{ hit, space, chunk, file }] : [];
  });
  store.chunks.keep(
    tenant,
    found.map(({ chunk }) => chunk),
  );
  return { found, replaced: hits.some((hit) => (fileOf.get(hit.fileId)?.generation ?? 0) > hit.generation) };
}

/**
 * The best `wanted` chunks of one space that readers may see. Mostly one search and one read of each kind: more are made
 * only where too many hits were of generations that nobody sees.
 * @param search the ranked hits for a limit, and whether there are no more
 */
export async function findCurrent(
  tenant: Tenant,
  space: string,
  {
    wanted,
    limit: first,
    readFiles,
  }: { readonly wanted: number; readonly limit: number; readonly readFiles: ReadFiles },
  search: (limit: number) => Promise<{ readonly ranked: readonly VectorHit[]; readonly isAll: boolean }>,
  deps: Pick<ApiDeps, 'store'>,
): Promise<Found[]> {
  for (let limit = first, repeats = 0; ;) {
    const { ranked, isAll } = await search(limit);
    const found: Found[] = [];
    let replaced = false;
    for (let from = 0; found.length < wanted && from < ranked.length;) {
      const to = from + wanted - found.length + (from === 0 ? 0 : SPARE);
      const read = await readCurrent(tenant, space, ranked.slice(from, to), readFiles, deps);
      found.push(...read.found);
      replaced ||= read.replaced;
      from = to;
    }
    if (found.length >= wanted) return found.slice(0, wanted);
    if (!isAll && limit < MAX_HITS) limit *= 4;
    else if (replaced && repeats < MAX_REPEATS) repeats += 1;
    else return found;
  }
}
