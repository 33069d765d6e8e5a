/** One user with as many files and chunks as the lists are measured with, written straight to MongoDB. */
import type mongoose from 'mongoose';

import { storedTags, tagPairs } from '../contract/tags.js';
import { DEFAULT_INGEST_OPTIONS } from '../contract/ingestOptions.js';
import type { SegmentDoc } from '../store/chunks/model.js';
import { type ChunkedText, toSegments } from '../store/chunks/segments.js';
import type { FileDoc } from '../store/files/model.js';
import type { Tenant } from '../store/users/accept.js';

export interface Seeded {
  readonly firstId: number;
  readonly parents: readonly number[];
}

const ROWS_PER_WRITE = 1_000;
const CHUNKS_PER_FILE = 10;
/** So that a page of a hundred files has a parent. */
const FILES_PER_PARENT = 1_000;
const CHUNK = 'Allotrope keeps the text of a page once, and cuts its chunks out when they are read. '.repeat(6);

const statusOf = (number: number): FileDoc['syncStatus'] =>
  number % 20 === 0 ? 'SYNC_ERROR' : number % 50 === 1 ? 'SYNC_ABORTED' : 'READY';

/** What the n-th file is: spread so that every filter of the bench matches some, and every order has ties. */
function fileOf(tenant: Tenant, firstId: number, number: number, blank: FileDoc): FileDoc {
  const _id = firstId + number;
  const isContainer = number % FILES_PER_PARENT === 0;
  const url = `https://bench.example/${Math.floor(number / FILES_PER_PARENT)}/${(number * 7919) % 1_000_003}.html`;
  const tags = storedTags({ team: `team-${number % 100}`, half: number % 2 === 0 });
  const at = new Date(Date.UTC(2026, 0, 1) + ((number * 104_729) % 1_000_000) * 1_000);
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
    lastSync: ready ? at : null,
    tags,
    tagPairs: tagPairs(tags),
    options: DEFAULT_INGEST_OPTIONS,
    requestId: `request-${Math.floor(number / FILES_PER_PARENT)}`,
    generation: 1,
    lastGeneration: 1,
    numChunks: isContainer ? 0 : CHUNKS_PER_FILE,
    statistics: {
      fileFormat: 'HTML',
      fileSize: 20_000 + (number % 5_000),
      numCharacters: 5_000,
      numTokens: 1_200,
      numEmbeddings: 0,
      mimeType: 'text/html',
    },
    createdAt: at,
    updatedAt: at,
  };
}

function textOf(tenant: Tenant, fileId: number): ChunkedText {
  const cuts = Array.from({ length: CHUNKS_PER_FILE }, (_, index) => ({
    start: index * CHUNK.length,
    end: (index + 1) * CHUNK.length,
    tokens: 120,
  }));
  return { ...tenant, fileId, generation: 1, text: CHUNK.repeat(CHUNKS_PER_FILE), prefix: '', cuts };
}

/** @param count how many files; each but the parents has ten chunks */
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
    const texts = rows.filter((row) => row.numChunks > 0).flatMap((row) => toSegments(textOf(tenant, row._id)));
    await Promise.all([
      files.insertMany(rows as never, { ordered: false }),
      segments.insertMany(texts as never, { ordered: false }),
    ]);
  }
  return {
    firstId,
    parents: Array.from({ length: count / FILES_PER_PARENT }, (_, index) => firstId + index * FILES_PER_PARENT),
  };
}
