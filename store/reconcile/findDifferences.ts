import { blobKey } from '../contents/blobs.js';
import { DELETE_STOPPED, TAKEN_OVER } from '../files/deletion.js';
import { originalKey } from '../originals/originals.js';
import type { Finding, Repair } from './differences.js';
import type { StoredOfFile, Measured } from './measure.js';
import type { RecordOfFile } from './records.js';

const NOTHING: StoredOfFile = { chunks: [], points: [], contents: [], originals: [], pages: 0, withoutSparse: 0 };
const RESYNC: Repair = { do: 'resync' };

const chunksOf = (count: number): string => `${count} chunk${count === 1 ? '' : 's'}`;

/** Returns findings for all data stored under an id without a record. */
export function findStrayData({ chunks, points, contents, originals, pages }: StoredOfFile): Finding[] {
  const ofNoFile = 'of a file that does not exist';
  return [
    ...chunks.map(({ generation, count }): Finding => ({
      kind: 'stray_chunks',
      what: `${chunksOf(count)} of generation ${generation} ${ofNoFile}`,
      repair: { do: 'deleteChunks', generation },
    })),
    ...points.map(({ space, generation, count }): Finding => ({
      kind: 'stray_points',
      what: `${count} points of generation ${generation} in ${space} ${ofNoFile}`,
      repair: { do: 'deletePoints', space, generation, fromChunk: 0 },
    })),
    ...contents.map((generation): Finding => ({
      kind: 'stray_contents',
      what: `the content of generation ${generation} ${ofNoFile}`,
      repair: { do: 'deleteContents', generation },
    })),
    ...originals.map(({ id }): Finding => ({
      kind: 'stray_originals',
      what: `the uploaded content ${id} ${ofNoFile}`,
      repair: { do: 'releaseOriginal', id },
    })),
    ...(pages > 0
      ? [{ kind: 'stray_pages', what: `${pages} recognized pages ${ofNoFile}`, repair: { do: 'deletePages' } } as const]
      : []),
  ];
}

/** Returns whether the record shows that parts of the file may already be deleted. */
const isHalfDeleted = ({ syncStatus, syncErrorMessage }: RecordOfFile): boolean =>
  syncStatus === TAKEN_OVER.syncStatus &&
  (syncErrorMessage === TAKEN_OVER.syncErrorMessage || syncErrorMessage === DELETE_STOPPED);

/** Compares the numbers of chunks and points with the record. */
function compareCounts(file: RecordOfFile, held: StoredOfFile, isCopied: boolean, checksPoints: boolean): Finding[] {
  const { generation, numChunks, vectorSpace, embeddingStorageStatus } = file;
  const isCold = embeddingStorageStatus === 'COLD_STORAGE';
  const isCurrent = (one: { readonly generation: number }): boolean => one.generation === generation;
  const chunks = held.chunks.find(isCurrent) ?? { count: 0, isWhole: true };
  const points = held.points.find((point) => isCurrent(point) && point.space === vectorSpace);
  const count = points?.count ?? 0;
  // If chunks and points agree, the record's number is wrong. If both are missing, the number cannot be checked.
  const isMiscounted =
    checksPoints &&
    chunks.isWhole &&
    chunks.count > 0 &&
    chunks.count !== numChunks &&
    vectorSpace !== null &&
    count === chunks.count;
  if (isMiscounted && !isCold)
    return [
      {
        kind: 'wrong_count',
        what: `its record states ${chunksOf(numChunks)}, but ${chunks.count} are stored`,
        repair: { do: 'setCount', numChunks: chunks.count },
      },
    ];
  const expected = vectorSpace === null || isCold ? 0 : numChunks;
  const findings: Finding[] = [];
  // If the copy of a cold file is missing, its points are the only vectors, so they stay.
  if (points && points.last >= expected && (!isCold || isCopied))
    findings.push({
      kind: 'stray_points',
      what: `${count} points of generation ${generation} in ${points.space}, but its record states ${expected}`,
      repair: { do: 'deletePoints', space: points.space, generation, fromChunk: expected },
    });
  if (isHalfDeleted(file)) return findings;
  if (!chunks.isWhole || chunks.count !== numChunks)
    findings.push({
      kind: 'missing_chunks',
      what: `its record states ${chunksOf(numChunks)}, but ${chunks.count} are stored${chunks.isWhole ? '' : ', with gaps'}`,
      repair: RESYNC,
    });
  if (!checksPoints) return findings;
  if (count < expected)
    findings.push({
      kind: 'missing_points',
      what: `its record states ${expected} points, but ${count} are stored`,
      repair: RESYNC,
    });
  else if (held.withoutSparse > 0 && expected > 0)
    findings.push({
      kind: 'missing_sparse',
      what: `${held.withoutSparse} points lack a sparse vector`,
      repair: RESYNC,
    });
  return findings;
}

/** Finds data of generations and spaces other than those of the record. */
function findUnreferenced(file: RecordOfFile, held: StoredOfFile): Finding[] {
  const { generation, vectorSpace, hasContent, original, callerChunks } = file;
  const unreferenced = findStrayData({
    chunks: held.chunks.filter((chunk) => chunk.generation !== generation),
    points: held.points.filter((point) => point.generation !== generation || point.space !== vectorSpace),
    contents: held.contents.filter((stored) => stored !== generation || !hasContent),
    originals: held.originals.filter(({ id }) => id !== original?.id && id !== callerChunks?.id),
    pages: 0,
    withoutSparse: 0,
  });
  const notReferenced = `that the record (generation ${generation}) does not reference`;
  return unreferenced.map((one) => ({
    ...one,
    what: one.what.replace('of a file that does not exist', notReferenced),
  }));
}

/** Finds contents that the record references and that are missing in MongoDB and file storage. */
function findMissingContents(file: RecordOfFile, held: StoredOfFile, stored: Measured['stored']): Finding[] {
  const { organizationId, _id: fileId, generation, hasContent, original, callerChunks } = file;
  if (isHalfDeleted(file)) return [];
  const findings: Finding[] = [];
  const isGone = (key: string): boolean => (stored.get(key) ?? null) === null;
  if (hasContent && !held.contents.includes(generation) && isGone(blobKey({ organizationId, fileId, generation })))
    findings.push({ kind: 'missing_content', what: 'its stored content is missing', repair: RESYNC });
  for (const one of [original, callerChunks]) {
    if (!one) continue;
    const row = held.originals.find(({ id }) => id === one.id);
    if (!row || (!row.isInMongoDB && isGone(originalKey({ organizationId, _id: one.id }))))
      findings.push({ kind: 'missing_original', what: `its uploaded content ${one.id} is missing`, repair: null });
  }
  return findings;
}

function comparePageCounts({ isContainer, fileMetadata }: RecordOfFile): Finding[] {
  const { pages_total, pages_ready, pages_failed, pages_aborted } = fileMetadata as Record<string, number | undefined>;
  const sum = (pages_ready ?? 0) + (pages_failed ?? 0) + (pages_aborted ?? 0);
  if (!isContainer || pages_ready === undefined || pages_total === sum) return [];
  return [
    {
      kind: 'wrong_page_counts',
      what: `its record states ${pages_total} pages in total, but ${sum} as the sum over the outcomes`,
      repair: { do: 'countPages' },
    },
  ];
}

/**
 * Returns the inconsistencies of an idle file without an active run.
 * @param checksTags false while a run changes its tags
 * @param checksPoints false if the collection of its space is missing or damaged: its points are not checked then
 */
export function findDifferences(
  file: RecordOfFile,
  { held: heldByFile, stored }: Pick<Measured, 'held' | 'stored'>,
  checksTags: boolean,
  checksPoints = true,
): Finding[] {
  const held = heldByFile.get(file._id) ?? NOTHING;
  const { generation, numChunks, embeddingStorageStatus, coldCopy } = file;
  const isCold = embeddingStorageStatus === 'COLD_STORAGE';
  const isCopied =
    isCold && coldCopy?.generation === generation && (stored.get(coldCopy.key) ?? null) === coldCopy.bytes;
  const findings: Finding[] = [...compareCounts(file, held, isCopied, checksPoints), ...findUnreferenced(file, held)];
  if (isCold && !isCopied && numChunks > 0 && !isHalfDeleted(file))
    findings.push({
      kind: 'missing_cold_copy',
      what: 'its vectors in file storage are missing or truncated',
      repair: RESYNC,
    });
  findings.push(...findMissingContents(file, held, stored), ...comparePageCounts(file));
  const tags = JSON.stringify([...file.tagPairs].toSorted());
  const current = held.points.filter((point) => point.generation === generation && point.space === file.vectorSpace);
  if (checksTags && current.some((point) => [...point.tags].some((other) => other !== tags)))
    findings.push({
      kind: 'other_tags',
      what: 'its points have other tags than the record',
      repair: { do: 'setTags' },
    });
  if (file.cleanupPending)
    findings.push({
      kind: 'unfinished_cleanup',
      what: `data of generations before ${generation} was not deleted`,
      repair: { do: 'cleanUp' },
    });
  return findings;
}

/**
 * Returns the inconsistencies of a quarantined file, whose vectors should be in file storage. Missing data cannot be
 * restored.
 */
export function findQuarantinedDifferences(file: RecordOfFile, measured: Pick<Measured, 'held' | 'stored'>): Finding[] {
  return findDifferences(file, measured, false).map((one) =>
    one.repair?.do.startsWith('delete') === true ? one : { ...one, what: `in quarantine: ${one.what}`, repair: null },
  );
}
