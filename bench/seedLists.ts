/** Seeds the files and chunks of one user directly in MongoDB, for `bench:lists`. */
import type mongoose from 'mongoose';

import { storedTags, tagPairs } from '../contract/files/tags.js';
import { DEFAULT_INGEST_OPTIONS } from '../contract/files/ingestOptions.js';
import type { SegmentDoc } from '../store/models/chunks.js';
import { type ChunkedText, toSegments } from '../store/chunks/segments.js';
import type { FileDoc } from '../store/models/files.js';
import type { Tenant } from '../store/users/accept.js';

export interface Seeded {
  readonly firstId: number;
  readonly parents: readonly number[];
  readonly chunks: number;
  /** The file with the most chunks. */
  readonly largest: { readonly id: number; readonly chunks: number };
}

const ROWS_PER_WRITE = 1_000;
const FILES_PER_PARENT = 1_000;
/** Number of files with the same creation time. */
const FILES_PER_TIMESTAMP = 50;
const CHUNKS_OF_LARGEST = 20_000;
const CHUNK = 'Allotrope keeps the text of a page once, and cuts its chunks out when they are read. '.repeat(6);

const statusOf = (number: number): FileDoc['syncStatus'] =>
  number % 20 === 0 ? 'SYNC_ERROR' : number % 50 === 1 ? 'SYNC_ABORTED' : 'READY';

/** Returns the number of chunks of a file: ten on average. */
const chunksOf = (number: number): number => (number % FILES_PER_PARENT === 0 ? 0 : 5 + ((number * 13) % 11));

/**
 * Returns the n-th file. Values are spread so that every filter of the bench matches some files and every order has
 * ties.
 */
function fileOf(tenant: Tenant, firstId: number, number: number, blank: FileDoc): FileDoc {
  const _id = firstId + number;
  const isContainer = number % FILES_PER_PARENT === 0;
  const url = `https://bench.example/${Math.floor(number / FILES_PER_PARENT)}/${(number * 7919) % 1_000_003}.html`;
  const tags = storedTags({ team: `team-${number % 100}`, tenth: (number * 7) % 10 === 0, half: number % 2 === 0 });
  const createdAt = new Date(Date.UTC(2026, 0, 1) + Math.floor(number / FILES_PER_TIMESTAMP) * 1_000);
  const updatedAt = new Date(Date.UTC(2026, 1, 1) + ((number * 104_729) % 50_000) * 1_000);
  const syncStatus = statusOf(number);
  const ready = syncStatus === 'READY' && !isContainer;
  return {
    ...blank,
    _id,
    ...tenant,
    customerId: 'bench',
    source: 'WEB_SCRAPE',
    dataSourceId: number % 10 === 0 ? 1 + (number % 70) : null,
    externalFileId: url,
    externalUrl: url,
    name: url,
    parentId: isContainer ? null : firstId + number - (number % FILES_PER_PARENT),
    isContainer,
    syncStatus,
    syncErrorMessage: syncStatus === 'SYNC_ERROR' ? 'The page does not exist.' : null,
    lastSync: ready ? updatedAt : null,
    tags,
    tagPairs: tagPairs(tags),
    options: DEFAULT_INGEST_OPTIONS,
    requestId: `request-${Math.floor(number / FILES_PER_PARENT)}`,
    generation: 1,
    lastGeneration: 1,
    numChunks: chunksOf(number),
    statistics: {
      fileFormat: 'HTML',
      fileSize: 20_000 + ((number * 31) % 5_000),
      numCharacters: 5_000,
      numTokens: 1_200,
      numEmbeddings: 0,
      mimeType: 'text/html',
    },
    createdAt,
    updatedAt,
  };
}

function textOf(tenant: Tenant, fileId: number, chunks: number): ChunkedText {
  const cuts = Array.from({ length: chunks }, (_, index) => ({
    start: index * CHUNK.length,
    end: (index + 1) * CHUNK.length,
    tokens: 120,
  }));
  return { ...tenant, fileId, generation: 1, text: CHUNK.repeat(chunks), prefix: '', cuts };
}

/**
 * @param count number of files; each except the parents has ten chunks on average. One more file has very many chunks.
 */
export async function seedLists(
  connection: mongoose.Connection,
  tenant: Tenant,
  blank: FileDoc,
  count: number,
): Promise<Seeded> {
  const files = connection.collection<FileDoc>('files');
  const segments = connection.collection<SegmentDoc>('segments');
  const firstId = 1_000_000;
  for (let from = 0; from < count; from += ROWS_PER_WRITE) {
    const rows = Array.from({ length: Math.min(ROWS_PER_WRITE, count - from) }, (_, index) =>
      fileOf(tenant, firstId, from + index, blank),
    );
    const texts = rows
      .filter((row) => row.numChunks > 0)
      .flatMap((row) => [...toSegments(textOf(tenant, row._id, row.numChunks))]);
    await Promise.all([
      files.insertMany(rows as never, { ordered: false }),
      segments.insertMany(texts as never, { ordered: false }),
    ]);
  }
  const largest = { ...fileOf(tenant, firstId, count + 1, blank), numChunks: CHUNKS_OF_LARGEST };
  await files.insertOne(largest as never);
  await segments.insertMany([...toSegments(textOf(tenant, largest._id, CHUNKS_OF_LARGEST))] as never);
  return {
    firstId,
    parents: Array.from({ length: count / FILES_PER_PARENT }, (_, index) => firstId + index * FILES_PER_PARENT),
    chunks: Array.from({ length: count }, (_, number) => chunksOf(number)).reduce((a, b) => a + b, CHUNKS_OF_LARGEST),
    largest: { id: largest._id, chunks: CHUNKS_OF_LARGEST },
  };
}
