/** Tests of which runs a scheduled sync begins, and when it has nothing to do. The store is a fake. */
import { expect, test } from '@jest/globals';
import { asyncLocalStorage } from '@temporalio/activity';

import { createAutoSyncActivities } from '../../activities/runs/autoSync.js';
import { WALK_ALL } from '../../contract/accounts/connections.js';
import { everyRow } from '../support/everyRow.js';
import { type Answers, recorder } from '../support/recorder.js';

const ADA = { organizationId: 1, userId: 2 };
const AT = new Date(1_000);
const SYNC = {
  ...{ _id: 7, ...ADA, kind: 'autoSync', workflowId: 'auto', requestId: 'r', dataSourceId: 5, fileId: null },
  ...{ finishedAt: null, progress: {}, counts: {}, request: {}, customerId: 'c' },
};
const names = { idOf: (key: string) => `d/${key}`, keyOf: (id: string) => id.replace('d/', '') };

/** Creates activities with fake stores that record their calls. */
function open(answers: Answers) {
  const recorded = recorder({ 'runs.nextId': 70, 'scheduledSyncs.listParts': [], ...answers });
  const store = {
    ...(recorded.stores as object),
    transaction: (work: (session: null) => unknown) => Promise.resolve(work(null)),
    connections: { list: record('list'), select: record('select') },
  };
  const begun: unknown[][] = [];
  function record(name: string) {
    return async (_run: unknown, part: { runId: number; begun: object }, group: unknown) =>
      void begun.push([name, part.runId, part.begun, ...(name === 'select' ? [group] : [])]);
  }
  const deps = { store, names, log: { info: () => undefined, warn: () => undefined } } as never;
  return { ...recorded, begun, activities: createAutoSyncActivities(deps) };
}

const ROW = { ...ADA, dataSourceId: 5, fileId: null };
const ACCEPT: Answers = {
  'scheduledSyncs.findByTemporalRunId': null,
  'scheduledSyncs.findConflict': null,
  'schedules.find': ROW,
  'schedules.desiredState': { state: 'on', hours: 1 },
};
const PASSES: readonly (readonly [what: string, answers: Answers, result: object, target: object | null])[] = [
  ['an account', {}, { runId: 70 }, { dataSourceId: 5 }],
  ['a site', { 'schedules.find': { ...ADA, dataSourceId: 5, fileId: 3 } }, { runId: 70 }, { fileId: 3 }],
  ['a repeated activity', { 'scheduledSyncs.findByTemporalRunId': { _id: 9 } }, { runId: 9 }, null],
  ['a deleted schedule', { 'schedules.find': null }, { runId: null, reason: 'gone' }, null],
  ['a revoked account', { 'schedules.desiredState': { state: 'paused' } }, { runId: null, reason: 'revoked' }, null],
  ['a disabled schedule', { 'schedules.desiredState': { state: 'off' } }, { runId: null, reason: 'off' }, null],
  ['a running sync', { 'scheduledSyncs.findConflict': 'busy' }, { runId: null, reason: 'busy' }, { dataSourceId: 5 }],
];
test('a scheduled sync is accepted once, unless its schedule or another run prevents it', () =>
  everyRow(
    PASSES,
    ([what]) => what,
    async ([, answers, result, target]) => {
      const { activities, of } = open({ ...ACCEPT, ...answers });
      const info = { workflowExecution: { workflowId: 'd/auto', runId: 'temporal-run' } };
      const accept = () => activities.acceptPass({ scheduleId: 's' });
      expect(await asyncLocalStorage.run({ info } as never, accept)).toEqual(result);
      expect(of('scheduledSyncs.findByTemporalRunId')).toEqual([['temporal-run']]);
      expect(of('scheduledSyncs.findConflict')).toEqual(target === null ? [] : [[target]]);
      const begun = { kind: 'autoSync', workflowId: 'auto', request: { scheduleId: 's' } };
      const expected = { ...begun, begun: { temporalRunId: 'temporal-run' }, dataSourceId: 5 };
      const accepted = of('runs.accept');
      if ((result as { runId: unknown }).runId === 70) expect(accepted).toMatchObject([[70, expected, null]]);
      else expect(accepted).toEqual([]);
    },
  ));

const SOURCE = {
  ...{ _id: 5, ...ADA, type: 'NOTION', revokedAccess: false, sourceItemsSyncedAt: AT, appliedListingAt: AT },
  itemsRunId: 70,
};
const FULL = { walk: { ...WALK_ALL, roots: null }, listed: 3 };
const PART = {
  ...{ _id: 8, ...ADA, part: 'items', kind: 'syncItems', workflowId: 'part', requestId: 'r', dataSourceId: 5 },
  ...{ finishedAt: AT, outcome: 'finished', progress: FULL, counts: { listed: 3 } },
};
const BY_CHANGES = { ...PART, progress: { ...FULL, changeToken: null, nextChangeToken: 't' }, counts: { listed: 0 } };
const group = (key: string, externalIds: readonly string[] | null) => ({ key, externalIds, tags: {}, ingest: {} });
/** Returns the answers of a store after the listing; every individually selected item `same…` is unchanged. */
const listed = (parts: readonly object[], more: Answers = {}): Answers => ({
  'scheduledSyncs.listParts': parts,
  'runs.find': (id: number) =>
    id === 7 ? { ...SYNC, progress: { listedBefore: AT, listedAt: AT } } : { ...PART, _id: id },
  'files.hasUnsynced': false,
  'items.hasChanged': false,
  'items.unchanged': (_source: unknown, ids: readonly string[]) => new Set(ids.filter((id) => id.startsWith('same'))),
  'selections.nextGroup': (_tenant: unknown, _id: number, done: readonly string[]) =>
    [group('one', ['same']), group('two', ['same', 'new']), group('all', null)].find(
      ({ key }) => !done.includes(key),
    ) ?? null,
  ...more,
});
const beganPart = (part: string) => ({ parentRunId: 7, part });
const selects = (key: string, externalIds: readonly string[] | null) => [
  ['select', 70, beganPart(key), group(key, externalIds)],
];
const TWO = selects('two', ['new']);
const DONE = { ...PART, _id: 9, kind: 'syncSource', part: 'two' };
const PARTS: readonly (readonly [what: string, answers: Answers, begun: unknown[], part: number | null])[] = [
  ['an unfinished part', listed([{ ...PART, finishedAt: null }]), [], 8],
  ['a cancelled part', listed([{ ...PART, outcome: 'aborted' }]), [], null],
  ['a failed listing', listed([{ ...PART, outcome: 'failed' }], { 'items.hasChanged': true }), [], null],
  ['no change', listed([PART]), [], null],
  ['a changed item', listed([PART], { 'items.hasChanged': true }), TWO, 70],
  ['an unsynced file', listed([PART], { 'files.hasUnsynced': true }), TWO, 70],
  ['an item without a version', listed([{ ...PART, progress: { ...FULL, hasUnversioned: true } }]), TWO, 70],
  ['an unlisted folder', listed([{ ...PART, progress: { ...FULL, walk: { ...FULL.walk, refused: 1 } } }]), TWO, 70],
  ['no change in the feed', listed([BY_CHANGES], { 'items.hasChanged': true }), [], null],
  ['a change in the feed', listed([{ ...BY_CHANGES, counts: { listed: 1 } }]), TWO, 70],
  [
    'a listing of another run since the last sync',
    listed([PART], { 'dataSources.find': { ...SOURCE, appliedListingAt: new Date(2) } }),
    ...([TWO, 70] as const),
  ],
  [
    'a revoked account',
    listed([PART], { 'items.hasChanged': true, 'dataSources.find': { ...SOURCE, revokedAccess: true } }),
    [],
    null,
  ],
  ['a cancelled selection', listed([PART, { ...DONE, outcome: 'aborted' }], { 'items.hasChanged': true }), [], null],
  ['the next selection', listed([PART, DONE], { 'items.hasChanged': true }), selects('all', null), 70],
  ['the last selection', listed([PART, DONE, { ...DONE, part: 'all' }], { 'items.hasChanged': true }), [], null],
];
test('after the listing, a scheduled sync begins the selections with new or changed items, one after another', () =>
  everyRow(
    PARTS,
    ([what]) => what,
    async ([, answers, begun, partId]) => {
      const opened = open({ 'dataSources.find': SOURCE, ...answers });
      const { part } = await opened.activities.nextPart({ runId: 7 });
      expect([opened.begun, part?.runId ?? null]).toEqual([begun, partId]);
    },
  ));

test('a scheduled sync lists its account first, unless another run lists it', async () => {
  const runs = { 'runs.find': (id: number) => (id === 7 ? SYNC : { ...PART, _id: id }), 'dataSources.find': SOURCE };
  const { activities, begun, of } = open({ ...runs, 'dataSources.queueListing': SOURCE });
  const { part } = await activities.nextPart({ runId: 7 });
  expect(part).toEqual({
    ...{ runId: 70, kind: 'syncItems', workflowId: 'd/part' },
    attributes: { OrganizationId: '1', UserId: '2', RequestId: 'r', DataSourceId: '5' },
  });
  expect(begun).toEqual([['list', 70, beganPart('items')]]);
  expect(of('runs.saveProgress')).toEqual([[SYNC, { listedBefore: AT }]]);
  const busy = open({ ...runs, 'dataSources.queueListing': { ...SOURCE, itemsRunId: 66 } });
  expect([await busy.activities.nextPart({ runId: 7 }), busy.begun]).toEqual([{ part: null }, []]);
});

const SITE = {
  ...{ _id: 3, ...ADA, source: 'WEB_SCRAPE', externalFileId: 'https://site.example/', syncStatus: 'READY' },
  ...{ options: {}, sourceOptions: {}, fileMetadata: {}, dataSourceId: null, tags: [], name: 'A' },
};
const SITES: readonly (readonly [what: string, site: object, isQueued: boolean, begins: boolean])[] = [
  ['a synced site', {}, true, true],
  ['a site whose last sync failed', { syncStatus: 'SYNC_ERROR' }, true, true],
  ['a site that is being synced', { syncStatus: 'SYNCING' }, true, false],
  ['a site that another run takes', {}, false, false],
  ['a feed that is permanently gone', { fileMetadata: { feed_gone: true } }, true, false],
];
test('a site or feed is synced unless another run syncs it or the feed is permanently gone', () =>
  everyRow(
    SITES,
    ([what]) => what,
    async ([, site, isQueued, begins]) => {
      const { activities, of } = open({
        'runs.find': (id: number) => ({ ...SYNC, _id: id, dataSourceId: null, fileId: 3 }),
        'files.byIds': (_run: unknown, ids: readonly number[]) => ids.map(() => ({ ...SITE, ...site })),
        'files.queueAgain': isQueued,
      });
      const { part } = await activities.nextPart({ runId: 7 });
      expect([part?.runId ?? null, of('runs.accept').length]).toEqual(begins ? [70, 1] : [null, 0]);
      if (begins) expect(of('runs.accept')).toMatchObject([[70, { fileId: 3, begun: beganPart('file:3') }, null]]);
    },
  ));

test('the end of a sync ends the parts whose workflow was terminated, and the listing of the account', async () => {
  const openPart = { ...PART, finishedAt: null, outcome: null };
  const { activities, of } = open({ 'runs.find': SYNC, 'scheduledSyncs.listParts': [openPart, DONE] });
  await activities.endPass({ runId: 7, outcome: 'failed' });
  expect(of('runs.finish').map(([id, outcome]) => [id, outcome])).toEqual([
    [8, 'aborted'],
    [7, 'failed'],
  ]);
  expect(of('files.abortOpen').map(([id, , cause]) => [id, cause])).toEqual([[8, 'cancelled']]);
  expect(of('dataSources.endListing')).toEqual([[openPart, 5, 8, { status: 'READY', whole: false, metadata: {} }]]);
});
