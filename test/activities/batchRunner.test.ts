/** Tests of what a batch does with files that end in different ways. Stores and contents are fakes. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { asyncLocalStorage } from '@temporalio/activity';

import { createBatchRunner, type FileBatch } from '../../activities/ingest/batchRunner.js';
import { Deferred } from '../../activities/ingest/prepare/deferred.js';
import { TokenBudgetReached, UNLIMITED_TOKENS } from '../../activities/ingest/prepare/tokenBudget.js';
import { Fault } from '../../contract/failures.js';
import { type Answers, recorder } from '../support/recorder.js';

const TENANT = { organizationId: 1, userId: 2 };
const fileOf = (_id: number, fields: object = {}) => ({
  ...{ _id, ...TENANT, runId: 7, requestId: 'r', source: 'WEB_SCRAPE', externalFileId: `https://site.example/${_id}` },
  ...{ attempts: 0, unfinishedStarts: 1, generation: 0, lastGeneration: 1, syncStatus: 'SYNCING', restoredAt: null },
  ...{ original: null, options: { storeFileOnly: true }, sourceOptions: {}, fileMetadata: {}, cleanupPending: false },
  ...{ vectorSpace: null, numChunks: 0, dimensions: null, rawHash: null, processedAs: null },
  ...fields,
});

interface Trial {
  readonly answers?: Answers;
  readonly files?: readonly number[];
  /** Fields of the files' records, by id. */
  readonly fields?: Readonly<Record<number, object>>;
  /** Number of files processed at once. */
  readonly atOnce?: number;
  readonly attempt?: number;
  readonly until?: number;
  readonly abort?: AbortController;
  /** Called when a file is read; a file for which nothing is thrown is unchanged. */
  readonly read?: (fileId: number) => unknown;
}

/** Runs a batch. @returns its end, or the error with which it ends */
async function runBatch({
  answers = {},
  files = [1, 2, 3, 4],
  fields = {},
  atOnce = 1,
  attempt = 1,
  until = Infinity,
  abort = new AbortController(),
  read = () => undefined,
}: Trial) {
  const recorded = recorder({
    'files.start': (_runId: number, ids: readonly number[]) =>
      ids.map((id) => ({ file: fileOf(id, fields[id]), generation: 1 })),
    'files.filterNeedingCleanUp': [],
    ...answers,
  });
  const ignore = (): void => undefined;
  const deps = {
    ...{ store: recorded.stores, metrics: { contentReceived: ignore }, embeddings: {} },
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    settings: { fileConcurrency: atOnce, workerFileConcurrency: 100, retryDelaysMs: [1_000], ocr: {} },
  } as never;
  const batch: FileBatch = {
    ...{ owner: TENANT, until, tokensOf: () => UNLIMITED_TOKENS, signal: abort.signal },
    files: files.map((fileId) => ({ runId: 7, fileId })),
    async fetchedAhead({ _id }) {
      await read(_id);
      return { opened: null } as never;
    },
  };
  const context = { info: { attempt }, cancellationSignal: abort.signal } as never;
  const end = await asyncLocalStorage
    .run(context, () => createBatchRunner(deps).run(batch))
    .catch((error: unknown) => error as Error);
  const unchanged = recorded.of('files.finishUnchanged').flatMap(([ended]) => ended as { file: { _id: number } }[]);
  const started = recorded.of('files.start').flatMap(([, ids]) => ids as number[]);
  return { ...recorded, end, started, unchanged: unchanged.map(({ file }) => file._id) };
}
/** Ids of the files whose data was deleted. */
const discardedIds = ({ of }: Pick<Awaited<ReturnType<typeof runBatch>>, 'of'>): number[] =>
  of('contents.deleteGenerations').flatMap(([scopes]) => (scopes as { fileId: number }[]).map(({ fileId }) => fileId));
const throwing =
  (errors: Readonly<Record<number, Error>>) =>
  (fileId: number): void => {
    if (errors[fileId]) throw errors[fileId];
  };

test('a file that fails or waits for another step changes no other file of its batch', async () => {
  const read = throwing({ 1: new Fault('server_error', 'HTTP 500.'), 2: new Deferred('recognize', [4, 6]) });
  const batch = await runBatch({ read });
  expect(batch.end).toEqual({
    ...{ paused: false, alone: [], unprocessed: [] },
    deferred: { transcribe: [], recognize: [2] },
  });
  expect(batch.unchanged).toEqual([3, 4]);
  expect(batch.of('files.requeue').map(([runId, fileId]) => [runId, fileId])).toEqual([[7, 1]]);
  expect(batch.of('files.defer')).toEqual([[7, 2, [4, 6]]]);
  expect([discardedIds(batch), batch.of('files.release')]).toEqual([[2], []]);
});

test('at the token limit of its run, a file returns to the queue and no further file starts', async () => {
  const batch = await runBatch({ read: throwing({ 2: new TokenBudgetReached() }) });
  expect(batch.end).toMatchObject({ paused: true, unprocessed: [] });
  expect([batch.started, batch.unchanged, discardedIds(batch)]).toEqual([[1, 2], [1], [2]]);
  expect(batch.of('files.release')).toEqual([[7, [2]]]);
  expect(batch.names().filter((name) => /fail|requeue/.test(name))).toEqual([]);
});

test('after its time limit, a batch starts only one file and returns the others', async () => {
  const batch = await runBatch({ until: -1 });
  expect(batch.end).toMatchObject({ unprocessed: [2, 3, 4] });
  expect([batch.started, batch.unchanged]).toEqual([[1], [1]]);
});

test('after a store failure, no further file starts, and the file that met it returns to the queue without a failed attempt', async () => {
  const failure = new Error('The store does not answer');
  const batch = await runBatch({ read: throwing({ 2: failure }) });
  expect(batch.end).toBe(failure);
  expect([batch.started, batch.unchanged]).toEqual([[1, 2], [1]]);
  // The next attempt of the batch uses the stored data of the file.
  expect([batch.of('files.release'), discardedIds(batch)]).toEqual([[[7, [2]]], []]);
});

test('a cancelled batch deletes the data of unfinished files, except those whose write has begun', async () => {
  const abort = new AbortController();
  const reason = new Error('CANCELLED');
  let isWriting = (): void => undefined;
  const writing = new Promise<void>((resolve) => (isWriting = resolve));
  const batch = await runBatch({
    ...{ files: [1, 2], atOnce: 2, abort },
    answers: {
      'files.finishUnchanged'() {
        isWriting();
        return Promise.reject(new Error('The reply was lost'));
      },
    },
    async read(fileId) {
      if (fileId === 1) return;
      await writing;
      abort.abort(reason);
      throw new Fault('timed_out', 'It was aborted.');
    },
  });
  expect(batch.end).toBeInstanceOf(Error);
  expect(discardedIds(batch)).toEqual([2]);
  expect(batch.of('files.release')).toEqual([[7, [1, 2]]]);
  expect(batch.names().filter((name) => /fail|requeue/.test(name))).toEqual([]);
});

test('a file that was in progress at two crashes waits to run alone; after three crashes it fails', async () => {
  const together = await runBatch({ files: [1, 2], fields: { 1: { unfinishedStarts: 3 } } });
  expect(together.end).toMatchObject({ alone: [1] });
  expect([together.unchanged, together.of('files.release')]).toEqual([[2], [[7, [1]]]]);
  const once = await runBatch({ files: [1, 2], fields: { 1: { unfinishedStarts: 2 } } });
  expect([once.end, once.unchanged]).toEqual([expect.objectContaining({ alone: [] }), [1, 2]]);
  const alone = await runBatch({ files: [1], fields: { 1: { unfinishedStarts: 3 } } });
  expect([alone.end, alone.unchanged]).toEqual([expect.objectContaining({ alone: [] }), [1]]);
  const often = await runBatch({ files: [1], fields: { 1: { unfinishedStarts: 4 } } });
  expect([often.of('files.fail').map(([, id]) => id), often.unchanged]).toEqual([[1], []]);
});

test('a repeated batch checks the vector store and publishes events of the last attempt before it starts a file', async () => {
  const first = await runBatch({});
  expect(first.names().filter((name) => /ping|settle/.test(name))).toEqual([]);
  const repeated = await runBatch({ attempt: 2, files: [1] });
  expect(repeated.names().slice(0, 2)).toEqual(['vectors.ping', 'events.settle']);
  expect(repeated.of('events.settle')).toEqual([[[1]]]);
  const down = new Error('Qdrant does not answer');
  const withoutVectors = await runBatch({ attempt: 2, answers: { 'vectors.ping': () => Promise.reject(down) } });
  expect([withoutVectors.end, withoutVectors.started]).toEqual([down, []]);
});

test('old data of published files is deleted before the batch starts a file', async () => {
  const batch = await runBatch({
    files: [1],
    answers: { 'files.filterNeedingCleanUp': [fileOf(9, { generation: 3 })] },
  });
  const cleaned = batch.names().indexOf('files.markCleanedUp');
  expect([batch.of('files.markCleanedUp'), cleaned < batch.names().indexOf('files.start')]).toEqual([[[[9]]], true]);
});

test('a batch skips files that are done, or that another run owns', async () => {
  const start = (_runId: number, ids: readonly number[]) =>
    ids.filter((id) => id !== 1).map((id) => ({ file: fileOf(id, id === 2 ? { runId: 8 } : {}), generation: 1 }));
  const batch = await runBatch({ atOnce: 4, answers: { 'files.start': start } });
  expect([batch.unchanged.toSorted((a, b) => a - b), batch.of('files.release')]).toEqual([[3, 4], []]);
});

test('an attempt for an unchanged file deletes the data of crashed attempts before it', async () => {
  const start = (_runId: number, [id = 0]: readonly number[]) => [{ file: fileOf(id), generation: id === 1 ? 1 : 2 }];
  const batch = await runBatch({ files: [1, 2], answers: { 'files.start': start } });
  expect([batch.unchanged, new Set(discardedIds(batch))]).toEqual([[1, 2], new Set([2])]);
});

test('at most the configured number of files of a batch is read at once', async () => {
  let active = 0;
  let highest = 0;
  const batch = await runBatch({
    ...{ files: [1, 2, 3, 4, 5, 6], atOnce: 2 },
    async read() {
      active += 1;
      highest = Math.max(highest, active);
      await nextTurn();
      active -= 1;
    },
  });
  expect([highest, batch.unchanged.toSorted((a, b) => a - b)]).toEqual([2, [1, 2, 3, 4, 5, 6]]);
});
