import { asyncLocalStorage } from '@temporalio/activity';
import { expect, test } from '@jest/globals';

import { createQueueActivities } from '../../activities/connected/queueItems.js';
import type { ActivityDeps } from '../../activities/deps.js';
import type { SourceItem } from '../../connectors/sourceItem.js';
import { WALK_ALL, walkOf } from '../../contract/accounts/connections.js';
import type { NewEvent } from '../../contract/events.js';
import { Fault } from '../../contract/failures.js';
import { DEFAULT_INGEST_OPTIONS } from '../../contract/files/ingestOptions.js';
import type { FileRequest } from '../../store/files/acceptance/request.js';
import { everyRow } from '../support/everyRow.js';
import { type Answers, recorder } from '../support/recorder.js';

const itemOf = (externalId: string): SourceItem => ({
  ...{ externalId, name: externalId, itemType: 'FILE', externalUrl: null, fileFormat: null },
  ...{ parentExternalId: null, rootExternalId: null, createdAt: null, version: null },
  ...{ isSelectable: true, isExpandable: false, hasContent: true },
});

/**
 * Queues a whole account whose listing has these pages.
 * @param sizes number of files on each page
 * @param maxFiles max_files_per_upload; null: no limit
 */
async function queueAccount(sizes: readonly number[], maxFiles: number | null, answers: Answers = {}) {
  const { stores, of } = recorder({
    'runs.find': {
      ...{ _id: 7, kind: 'syncSource', organizationId: 1, userId: 2, customerId: 'ada', fileId: null, dataSourceId: 9 },
      ...{ requestId: 'r', workflowId: 'w', progress: { walk: WALK_ALL, queued: 0 } },
      request: { tags: {}, ingest: DEFAULT_INGEST_OPTIONS, isWhole: true },
    },
    'dataSources.find': { _id: 9, type: 'GOOGLE_DRIVE', tagsVersion: 1 },
    'limits.get': { max_files_per_upload: maxFiles },
    'files.acceptMany': (_owner: unknown, requests: readonly unknown[]) => requests.length,
    ...answers,
  });
  const account = {
    sourceOf: () => 'GOOGLE_DRIVE',
    listRoots: (cursor: string | null) => {
      const page = Number(cursor ?? 0);
      const items = Array.from({ length: sizes[page] ?? 0 }, (_, nth) => itemOf(`${page}.${nth}`));
      return Promise.resolve({ items, next: page + 1 < sizes.length ? String(page + 1) : null });
    },
  };
  const store = {
    ...(stores as object),
    accountCredentials: () => 'credentials',
    transaction: (work: (session: null) => unknown) => work(null),
    ledger: { addItems: () => Promise.resolve() },
  };
  const deps = { store, connectors: { account: () => account } } as unknown as ActivityDeps;
  const context = { cancellationSignal: new AbortController().signal } as never;
  const result = await asyncLocalStorage.run(context, () => createQueueActivities(deps).queueItems({ runId: 7 }));
  const events = of('events.write').flatMap(([writtenEvents]) =>
    (writtenEvents as readonly NewEvent[]).map(({ kind }) => kind),
  );
  const files = of('files.acceptMany').flatMap(([, requests]) => requests as readonly { externalFileId: string }[]);
  const accepted = of('files.acceptMany').map(([, requests]) => requests as readonly FileRequest[]);
  return { result, events, accepted, files: files.map(({ externalFileId }) => externalFileId) };
}

const QUEUED = ['ALL_UPLOADED_FILES_QUEUED'];
const LIMITED = ['FILE_SYNC_LIMIT_REACHED', ...QUEUED];
const ROWS: readonly (readonly [
  what: string,
  sizes: readonly number[],
  most: number | null,
  files: readonly string[],
  events: readonly string[],
])[] = [
  ['no limit', [2, 1], null, ['0.0', '0.1', '1.0'], QUEUED],
  ['fewer files than the limit', [2, 1], 4, ['0.0', '0.1', '1.0'], QUEUED],
  ['as many files as the limit', [2, 1], 3, ['0.0', '0.1', '1.0'], QUEUED],
  ['as many files as the limit, and an empty page after them', [3, 0], 3, ['0.0', '0.1', '0.2'], QUEUED],
  ['one file more, on the same page', [4], 3, ['0.0', '0.1', '0.2'], LIMITED],
  ['one file more, on the next page', [3, 1], 3, ['0.0', '0.1', '0.2'], LIMITED],
  ['a limit of 0', [1], 0, [], LIMITED],
];

test('queues at most max_files_per_upload files, and emits FILE_SYNC_LIMIT_REACHED only if it omits one', () =>
  everyRow(
    ROWS,
    ([what]) => what,
    async ([, sizes, maxFiles, files, events]) => {
      const { accepted: _requests, ...queued } = await queueAccount(sizes, maxFiles);
      expect(queued).toEqual({ result: { done: true, discovered: files.length }, events, files });
    },
  ));

test('a page with more files than one transaction accepts is accepted in parts, each file once', async () => {
  const { accepted, result } = await queueAccount([1_001], null);
  expect([accepted.map(({ length }) => length), result.discovered]).toEqual([[500, 500, 1], 1_001]);
  const ids = accepted.flat().map(({ externalFileId }) => externalFileId);
  expect(new Set(ids).size).toBe(1_001);
  const limited = await queueAccount([1_001], 600);
  expect(limited.accepted.map(({ length }) => length)).toEqual([500, 100]);
});

test('files are accepted again, with the new tags, if the tags changed after the account was opened', async () => {
  let reads = 0;
  const { accepted, result } = await queueAccount([1], null, {
    // The first read opens the account. Each later read checks the tags after files were accepted.
    'dataSources.find': () => ({ _id: 9, type: 'GOOGLE_DRIVE', tagsVersion: (reads += 1) === 1 ? 1 : 2 }),
  });
  expect(accepted.map(([file]) => file?.dataSource?.tagsVersion)).toEqual([1, 2]);
  expect(result.discovered).toBe(1);
});

/** Queues a selection: the folder `A` with the file `a`, the file `b`, and `gone`, which does not exist. */
async function queueSelection(run: object = {}, request: object = {}) {
  const { stores, of } = recorder({
    'runs.find': {
      ...{ _id: 7, kind: 'syncSource', organizationId: 1, userId: 2, customerId: 'ada', fileId: null, dataSourceId: 9 },
      ...{ requestId: 'r', workflowId: 'w', progress: { walk: walkOf(['A', 'b', 'gone']), queued: 0 }, ...run },
      request: { tags: {}, ingest: DEFAULT_INGEST_OPTIONS, ...request },
    },
    'dataSources.find': { _id: 9, type: 'GOOGLE_DRIVE', tagsVersion: 1 },
    'limits.get': { max_files_per_upload: null },
    'files.acceptMany': (_owner: unknown, requests: readonly unknown[]) => requests.length,
    'items.syncedCopies': (_source: unknown, ids: readonly string[]) =>
      new Map(ids.filter((id) => id === 'b').map((id) => [id, { _id: 4, externalFileId: id, name: id }])),
  });
  const folder = { ...itemOf('A'), isExpandable: true, hasContent: false };
  const account = {
    sourceOf: () => 'GOOGLE_DRIVE',
    listDescendants: async (id: string) => {
      if (id === 'gone') throw new Fault('not_found', 'It does not exist.');
      return { items: id === 'A' ? [folder, itemOf('a')] : [itemOf('b')], next: null };
    },
  };
  const store = {
    ...(stores as object),
    accountCredentials: () => 'credentials',
    transaction: (work: (session: null) => unknown) => work(null),
  };
  const deps = { store, connectors: { account: () => account } } as unknown as ActivityDeps;
  const context = { cancellationSignal: new AbortController().signal } as never;
  const result = await asyncLocalStorage.run(context, () => createQueueActivities(deps).queueItems({ runId: 7 }));
  const files = of('files.acceptMany').flatMap(([, requests]) => requests as readonly FileRequest[]);
  const skipped = of('ledger.addItems').flatMap(([, items]) => items as readonly { readonly externalId: string }[]);
  const events = of('events.write').flatMap(([some]) => (some as readonly NewEvent[]).map(({ kind }) => kind));
  return { result, events, ids: files.map(({ externalFileId }) => externalFileId), skipped };
}

test('a requested item that does not exist is accepted as a file, but not in a scheduled sync', async () => {
  const requested = await queueSelection();
  expect([requested.ids, requested.result]).toEqual([['a', 'b', 'gone'], { done: true, discovered: 3 }]);
  expect([requested.skipped, requested.events]).toEqual([[], QUEUED]);
  const scheduled = await queueSelection({ parentRunId: 6 });
  expect([scheduled.ids, scheduled.events]).toEqual([['a', 'b'], []]);
});

test('an incremental sync skips the items that are synced already, and records them', async () => {
  const { ids, skipped, result } = await queueSelection({}, { incremental: true });
  expect([ids, result.discovered]).toEqual([['a', 'gone'], 2]);
  expect(skipped).toMatchObject([{ fileId: 4, externalId: 'b', end: { as: 'skipped', cause: 'incremental_sync' } }]);
});
