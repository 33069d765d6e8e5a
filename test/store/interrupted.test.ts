import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { storedTags, tagPairs } from '../../contract/files/tags.js';
import { DEFAULT_INGEST_OPTIONS } from '../../contract/files/ingestOptions.js';
import { workflowIds } from '../../contract/runs/workflowIds.js';
import { connectSource } from '../support/dataSources.js';
import { seedFiles } from '../support/seedFiles.js';
import { type SharedService, sharedService } from '../support/sharedService.js';

// Tests of the records that interrupted or concurrent work leaves, and how later work continues from them.
let service: SharedService;
let owner: { organizationId: number; userId: number; customerId: string };
/** Returns an id of a file or run of this suite. */
const idOf = (number: number): number => service.firstId + number;

beforeAll(async () => {
  service = await sharedService({ worker: false });
  await service.user('ada');
  owner = await service.store.users.ensure(service.organizationId, 'ada');
});
afterAll(() => service.close());

test('another run takes over an interrupted move only after the run of that move has ended', async () => {
  const { moves, runs, transaction } = service.store;
  /** Other suites leave due files of other organizations. */
  const ownersOfDue = async () =>
    (await moves.listOwnersOfDue(new Date(0), 10_000)).filter(
      ({ organizationId }) => organizationId === service.organizationId,
    );
  const [firstRunId, nextRunId] = [await runs.nextId(), await runs.nextId()];
  const work = { kind: 'moveStorage', workflowId: workflowIds.moveToCold(owner.userId), owner, fileId: null } as const;
  const accepted = { ...work, requestId: 'r', request: { move: 'toCold' } } as const;
  await transaction((session) => runs.accept(firstRunId, accepted, session));
  const move = { runId: firstRunId, token: null };
  await seedFiles(service, owner, [{ id: idOf(501), fields: { embeddingStorageStatus: 'HOT_TO_COLD', move } }]);
  expect(await ownersOfDue()).toEqual([]);
  await moves.adopt(owner, nextRunId);
  expect(await moves.listClaimed(owner, nextRunId, 10)).toEqual([]);
  await runs.finish(firstRunId, 'aborted', {});
  expect(await ownersOfDue()).toEqual([owner]);
  await moves.adopt(owner, nextRunId);
  expect(await moves.listClaimed(owner, nextRunId, 10)).toEqual([idOf(501)]);
});

test('due files of other users are found while many due files of one user are being moved', async () => {
  const { moves, runs, transaction, users } = service.store;
  const [busy, other] = [
    await users.ensure(service.organizationId, 'busy'),
    await users.ensure(service.organizationId, 'other'),
  ];
  const due = { supportsColdStorage: true, syncStatus: 'READY', vectorSpace: 's' } as const;
  const filesOf = (from: number, number: number, coolsAt: Date) =>
    Array.from({ length: number }, (_, nth) => ({ id: idOf(from + nth), fields: { ...due, coolsAt } }));
  await seedFiles(service, busy, filesOf(2_000, 1_001, new Date(1)));
  await seedFiles(service, other, filesOf(4_000, 1, new Date(2)));
  const found = async () => (await moves.listOwnersOfDue(new Date(3), 10)).map(({ userId }) => userId);
  expect(await found()).toContain(busy.userId);
  const runId = await runs.nextId();
  const run = { kind: 'moveStorage', workflowId: 'busy', owner: busy, fileId: null, requestId: 'r' } as const;
  await transaction((session) => runs.accept(runId, { ...run, request: { move: 'toCold' } }, session));
  expect(await moves.claimDue(busy, runId, new Date(3), 1)).toHaveLength(1);
  expect(await found()).toContain(other.userId);
  await runs.finish(runId, 'aborted', {});
  expect(await found()).toContain(busy.userId);
});

test('a second release of a file in OCR or under evaluation does not make its unfinishedStarts negative', async () => {
  const { files } = service.store;
  const [runId, inOcr, evaluated] = [idOf(77), idOf(505), idOf(506)];
  const fields = { runId, unfinishedStarts: 1 };
  await seedFiles(service, owner, [
    { id: inOcr, fields: { ...fields, syncStatus: 'QUEUED_FOR_OCR' } },
    { id: evaluated, fields: { ...fields, syncStatus: 'EVALUATING_RESYNC' } },
  ]);
  await files.release(runId, [inOcr, evaluated]);
  await files.release(runId, [inOcr, evaluated]);
  expect((await files.byIds(owner, [inOcr, evaluated])).map(({ unfinishedStarts }) => unfinishedStarts)).toEqual([
    0, 0,
  ]);
});

test('tags of a data source are not copied over tags that a file received meanwhile', async () => {
  const { files, transaction } = service.store;
  const [changed, unchanged] = [idOf(511), idOf(512)];
  const source = await connectSource(service, owner, { externalId: 'GOOGLE_DRIVE|tags', tags: { team: 'red' } });
  const fields = { dataSourceId: source._id, sourceTagsVersion: -1 };
  await seedFiles(
    service,
    owner,
    [changed, unchanged].map((id) => ({ id, tags: { own: 'old' }, fields })),
  );
  const read = await files.byIds(owner, [changed, unchanged]);
  const tags = storedTags({ own: 'new' });
  await transaction((session) => files.changeTags(owner, changed, () => tags, session));
  await files.applySourceTags(source, read);
  const pairs = (await files.byIds(owner, [changed, unchanged])).map((file) => file.tagPairs.toSorted());
  const pairsWith = (ownTag: string) => tagPairs(storedTags({ own: ownTag, team: 'red' })).toSorted();
  expect(pairs).toEqual([tagPairs(tags), pairsWith('old')]);
});

test('a crawl fetches the pages nearest to its start first, in whatever order they were found', async () => {
  const { frontier } = service.store;
  const runId = idOf(7);
  const depths = [2, 1, 3, 1];
  await frontier.add(
    runId,
    depths.map((depth, nth) => ({ url: `http://site.example/${nth}`, depth })),
  );
  const read = depths.map((_, nth) => ({ url: `http://site.example/${nth}`, finalUrl: 'x', runId, links: [] }));
  await frontier.saveLinks(read);
  expect((await frontier.listUnfollowed(runId, 3)).map(({ depth }) => depth)).toEqual([1, 1, 2]);
});

test('a deleted file is removed from the selections of its data source, not from those of another data source', async () => {
  const { files, selections, transaction } = service.store;
  const [deletedFrom, unaffected, file] = [idOf(601), idOf(602), idOf(521)];
  const chosen = { externalIds: ['a', 'b'], tags: {}, ingest: DEFAULT_INGEST_OPTIONS };
  for (const id of [deletedFrom, unaffected])
    await transaction((session) => selections.save(owner, id, chosen, session));
  await seedFiles(service, owner, [{ id: file, fields: { dataSourceId: deletedFrom, externalFileId: 'a' } }]);
  await selections.skip(owner, await files.byIds(owner, [file]), new Set());
  expect((await selections.nextGroup(owner, deletedFrom, []))?.externalIds).toEqual(['b']);
  expect((await selections.nextGroup(owner, unaffected, []))?.externalIds).toEqual(['a', 'b']);
});
