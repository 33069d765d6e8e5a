/** Tests of what activities decide from rows, answers of a source and times. Stores, sources and clocks are fakes. */
import { expect, test } from '@jest/globals';
import { asyncLocalStorage } from '@temporalio/activity';

import { createItemActivities } from '../../activities/connected/listItems.js';
import { waitOutLimits } from '../../activities/connected/waitOutLimits.js';
import { nextPage } from '../../activities/connected/walk.js';
import type { ActivityDeps } from '../../activities/deps.js';
import { createAutoSyncActivities } from '../../activities/runs/autoSync.js';
import { createPauseActivities } from '../../activities/runs/pauses.js';
import { createWebhookActivities } from '../../activities/webhooks/deliverBatch.js';
import type { Account } from '../../connectors/account.js';
import { MAX_INACCESSIBLE, type Walk, WALK_ALL, walkOf } from '../../contract/accounts/connections.js';
import { Fault, type FaultKind } from '../../contract/failures.js';
import { everyRow } from '../support/everyRow.js';
import { faultOf } from '../support/faultOf.js';
import { type Answers, recorder } from '../support/recorder.js';

const NEVER = new AbortController().signal;
const log = { info: () => undefined, warn: () => undefined };
const run = { ...{ _id: 7, organizationId: 1, userId: 2, dataSourceId: 5, fileId: null }, requestId: 'r', request: {} };

/** Creates activities with fake stores that record their calls. */
function open(answers: Answers) {
  const recorded = recorder(answers);
  const store = {
    ...(recorded.stores as object),
    transaction: (work: (session: null) => unknown) => Promise.resolve(work(null)),
  };
  return { ...recorded, deps: { store, log } as unknown as ActivityDeps };
}

const limited = (retryAfterMs: number | null) =>
  new Fault('rate_limited', 'limit', retryAfterMs === null ? {} : { retryAfterMs });
const LIMITS: readonly (readonly [what: string, errors: readonly Error[], waits: readonly number[], ends: unknown])[] =
  [
    ['no limit', [], [], 'done'],
    ['a requested wait', [limited(3_000)], [3_000], 'done'],
    ['no requested wait', [limited(null)], [200], 'done'],
    ['a shorter wait than the minimum', [limited(1)], [200], 'done'],
    ['a wait beyond the end', [limited(60_000)], [10_000], 'done'],
    ['limits until the end', [limited(6_000), limited(6_000), limited(6_000)], [6_000, 4_000], null],
  ];
test('a listing waits for the Retry-After of its source, at most until the end of the step', () =>
  everyRow(
    LIMITS,
    ([what]) => what,
    async ([, errors, waits, result]) => {
      const remainingErrors = [...errors];
      const slept: number[] = [];
      let now = 1_000;
      const clock = {
        now: () => now,
        sleep: (ms: number) => {
          slept.push(ms);
          now += ms;
          return Promise.resolve();
        },
      };
      const step = () => {
        const error = remainingErrors.shift();
        return error ? Promise.reject(error) : Promise.resolve('done');
      };
      expect(await waitOutLimits(step, 11_000, NEVER, clock)).toBe(result);
      expect(slept).toEqual(waits);
    },
  ));
test('a listing does not wait after any other error', async () => {
  const failing = () => Promise.reject(new Fault('access_revoked', 'revoked', { retryAfterMs: 1 }));
  await faultOf(waitOutLimits(failing, 0, NEVER), 'access_revoked');
});

const folder = (externalId: string) => ({ externalId, isExpandable: true });
const fileItem = (externalId: string) => ({ externalId, isExpandable: false });
const ROOTS: Walk = { ...WALK_ALL, refused: 2 };
const INSIDE: Walk = { ...walkOf(['A', 'B']), at: 'page 2', refused: 2 };
const AFTER_A = { open: ['B'], at: null };
const PAGES: readonly (readonly [what: string, from: Walk, answer: object, found: object, walk: object])[] = [
  [
    ...(['roots, and more to come', ROOTS, { items: [folder('A'), fileItem('a')], next: 'page 2' }] as const),
    { refused: [], missing: [] },
    { open: ['A'], roots: { next: 'page 2' }, refused: 2 },
  ],
  ['the last roots', ROOTS, { items: [], next: null }, {}, { open: [], roots: null, refused: 2 }],
  ['roots with descendants', ROOTS, { items: [folder('A')], next: null, isDeep: true }, {}, { open: [], refused: 2 }],
  [
    ...(['an incomplete list of roots', { ...ROOTS, partialPages: 1 }] as const),
    ...([{ items: [], next: null, isPartial: true }, {}, { refused: 3, partialPages: 2 }] as const),
  ],
  [
    ...(['an incomplete list of roots with descendants', { ...ROOTS, partialPages: 1 }] as const),
    ...([{ items: [], next: null, isPartial: true, isDeep: true }, {}, { refused: 3, partialPages: 1 }] as const),
  ],
  ['refused roots', ROOTS, { items: [], next: null, refused: ['x', 'y'] }, { refused: ['x', 'y'] }, { refused: 4 }],
  ['contents, and more to come', INSIDE, { items: [], next: 'page 3' }, {}, { open: ['A', 'B'], at: 'page 3' }],
  ['the last contents', INSIDE, { items: [], next: null }, {}, AFTER_A],
  ['refused contents', INSIDE, { items: [], next: null, refused: ['x'] }, { missing: ['x'] }, { refused: 3 }],
  ...(['access_denied', 'bad_response', 'too_large', 'unsupported_type'] as const).map((kind: FaultKind) => {
    const error = { error: new Fault(kind, 'refused') };
    return [kind, INSIDE, error, { missing: ['A'], refused: ['A'] }, { ...AFTER_A, refused: 3 }] as const;
  }),
  [
    ...(['not_found', INSIDE, { error: new Fault('not_found', 'none') }] as const),
    { missing: ['A'], refused: [] },
    { ...AFTER_A, refused: 2 },
  ],
  [
    ...(['a stale cursor', INSIDE, { error: new Fault('stale_cursor', 'old') }] as const),
    { missing: [], refused: [] },
    { open: ['A', 'B'], at: null, refused: 2, restarts: 1 },
  ],
  [
    ...(['a stale cursor of the roots', { ...ROOTS, roots: { next: 'page 2' } }] as const),
    ...([{ error: new Fault('stale_cursor', 'old') }, {}, { roots: { next: null }, restarts: 1 }] as const),
  ],
];
const accountOf = (answer: object): Account => {
  const page = () => ('error' in answer ? Promise.reject(answer.error as Error) : Promise.resolve(answer));
  return { listRoots: page, listDescendants: page } as unknown as Account;
};
test('a walk continues after each page and each inaccessible item, and counts the items it could not list', () =>
  everyRow(
    PAGES,
    ([what]) => what,
    async ([, from, answer, foundFields, walk]) => {
      const step = await nextPage(accountOf(answer), from, NEVER);
      expect(step).toMatchObject({ ...foundFields, walk });
    },
  ));
test.each([
  ['access_revoked', INSIDE],
  ['server_error', INSIDE],
  ['stale_cursor', { ...INSIDE, restarts: 3 }],
  ['stale_cursor', { ...INSIDE, at: null }],
] as const)('a walk ends with %s at %j', (kind, walk) =>
  faultOf(nextPage(accountOf({ error: new Fault(kind, 'end') }), walk, NEVER), kind),
);

const FULL = { walk: { ...WALK_ALL, roots: null }, listed: 3, nextChangeToken: 'token' };
const refusing = (refused: number, closed = refused) => ({ ...FULL, walk: { ...FULL.walk, refused, closed } });
const BY_CHANGES = { ...FULL, changeToken: null };
const READY = { status: 'READY', whole: true };
const ENDS: readonly (readonly [what: string, progress: object, outcome: string, more: Answers, expected: object])[] = [
  ['a full listing', FULL, 'finished', {}, { ...READY, changeToken: 'token', metadata: { items_error: null } }],
  ['a full listing with a known gap', refusing(2), 'finished', {}, { changeToken: 'token' }],
  ['a full listing with an unknown gap', refusing(2, 1), 'finished', {}, { changeToken: null }],
  ['as many gaps as are retried', refusing(MAX_INACCESSIBLE), 'finished', {}, { changeToken: 'token' }],
  ['more gaps than are retried', refusing(MAX_INACCESSIBLE + 1), 'finished', {}, { changeToken: null }],
  [
    ...(['held deletions', FULL, 'finished', { 'dataSources.find': { metadata: { deletions_held: 3 } } }] as const),
    { changeToken: null },
  ],
  ['a listing of changes', BY_CHANGES, 'finished', {}, { changeToken: 'token' }],
  ['changes in unlisted folders', BY_CHANGES, 'finished', { 'items.countReopened': 1 }, { changeToken: null }],
  ['a failed listing', FULL, 'failed', {}, { status: 'SYNC_ERROR', whole: false, metadata: { items_error: 'why' } }],
  ['a cancelled listing', FULL, 'aborted', {}, { status: 'READY', whole: false, metadata: {} }],
];
test('the next listing reads the change feed only if this listing listed every item or recorded it as inaccessible', () =>
  everyRow(
    ENDS,
    ([what]) => what,
    async ([, progress, outcome, answers, expected]) => {
      const { deps, of } = open({
        'runs.find': { ...run, kind: 'syncItems', progress },
        'dataSources.find': { metadata: {} },
        'items.countReopened': 0,
        ...answers,
      });
      const { endListing } = createItemActivities(deps);
      const message = outcome === 'failed' ? { message: 'why' } : {};
      await endListing({ runId: 7, outcome: outcome as 'finished', ...message });
      const [[, dataSourceId, runId, fields] = []] = of('dataSources.endListing');
      expect([dataSourceId, runId]).toEqual([5, 7]);
      expect(fields).toMatchObject(expected);
      expect('changeToken' in (fields as object)).toBe(outcome === 'finished');
      const finished = [7, outcome, { listed: 3 }];
      const failure = { message: 'why', error: 'run_failed' };
      expect(of('runs.finish')).toEqual([[...finished, outcome === 'failed' ? failure : undefined]]);
    },
  ));

const LISTED_AT = new Date(1_000);
const DONE = {
  _id: 8,
  kind: 'syncSource',
  outcome: 'finished',
  finishedAt: LISTED_AT,
  counts: { synced: 2 },
  progress: {},
};
const FAILED = { ...DONE, outcome: 'failed' };
const FULL_PART = { ...DONE, progress: { isFull: true } };
type SyncRow = readonly [what: string, parts: readonly object[], failed: number, outcome: string, applies: boolean];
const SYNCS: readonly SyncRow[] = [
  ['complete parts', [DONE], 0, 'finished', true],
  ['a failed part', [DONE, FAILED], 1, 'finished', false],
  ['a part that reached the limit of files', [FULL_PART], 0, 'finished', false],
  ['a cancelled sync', [DONE], 0, 'aborted', false],
  ['a sync whose part was terminated', [DONE], 0, 'failed', false],
];
test('a listing is marked as applied only if the scheduled sync and its parts succeeded, and no limit left files out', () =>
  everyRow(
    SYNCS,
    ([what]) => what,
    async ([, parts, failed, outcome, applies]) => {
      const scheduled = { ...run, kind: 'autoSync', progress: { listedAt: LISTED_AT } };
      const { deps, of } = open({ 'runs.find': scheduled, 'scheduledSyncs.listParts': parts });
      await createAutoSyncActivities(deps).endPass({ runId: 7, outcome: outcome as 'finished' });
      const applied = of('dataSources.markListingApplied').map(([, ...args]) => args);
      expect(applied).toEqual(applies ? [[5, LISTED_AT]] : []);
      const counts = { parts: parts.length, failed, synced: 2 * parts.length };
      const failure = { message: expect.stringContaining('terminated outside'), error: 'run_failed' };
      expect(of('runs.finish')).toEqual([[7, outcome, counts, outcome === 'failed' ? failure : undefined]]);
    },
  ));

const PAUSES: readonly (readonly [what: string, minutesAgo: number, isResumed: boolean, leftMs: number | null])[] = [
  ['a new pause', 0, false, 600_000],
  ['an older pause', 4, false, 360_000],
  ['an expired pause', 11, false, 0],
  ['a resumed pause', 4, true, null],
];
test('a pause ends a fixed time after its start, regardless of the number of checks, or when the run is resumed', () =>
  everyRow(
    PAUSES,
    ([what]) => what,
    async ([, minutesAgo, isResumed, leftMs]) => {
      const at = new Date(Date.now() - minutesAgo * 60_000);
      const pause = { at, wanted: 9, resumedAt: isResumed ? new Date() : null };
      const { deps, of } = open({ 'runs.find': { ...run, pause, maxTokens: 4, tokensTaken: 3 } });
      const { getPauseState } = createPauseActivities({ ...deps, settings: { pausedRunMs: 600_000 } } as never);
      const { isOver, endsInMs } = await getPauseState({ runId: 7 });
      expect(isOver).toBe(isResumed);
      expect(endsInMs).toBeLessThanOrEqual(leftMs ?? 0);
      // A slow machine may need up to a minute.
      expect(endsInMs).toBeGreaterThanOrEqual(Math.max(0, (leftMs ?? 0) - 60_000));
      const shown = expect.stringContaining('3 of 4 tokens are used, and the next text has 9');
      expect(of('dataSources.mergeMetadata')).toEqual([
        [expect.anything(), 5, { files_paused: isResumed ? null : shown }],
      ]);
      expect(of('pauses.clearPause')).toHaveLength(isResumed ? 1 : 0);
      expect(of('events.write')).toHaveLength(isResumed ? 0 : 1);
    },
  ));

const RECEIVERS: readonly (readonly [pending: number, read: number | null])[] = [
  [0, 100],
  [900, 100],
  [950, 50],
  [1_000, null],
  [1_001, null],
];
test('for an unreachable receiver at most 1,000 deliveries are created; further events stay in the feed', () =>
  everyRow(
    RECEIVERS,
    ([pending]) => `${pending} pending`,
    async ([pending, read]) => {
      const later = new Date(Date.now() + 3_600_000);
      const waiting = { event: { kind: 'FILE_READY' }, objects: ['1'], tries: 1, nextTryAt: later, attempts: [] };
      const { deps, of } = open({
        'webhooks.find': { _id: 3, organizationId: 1, cursor: 40, deletedAt: null, disabledAt: null, wake: 1 },
        'deliveries.listPending': Array.from({ length: pending }, (_, nth) => ({ ...waiting, position: nth + 1 })),
        'deliveries.filterDelivered': [],
        'events.after': [],
      });
      const { deliverBatch } = createWebhookActivities({
        ...deps,
        settings: { webhooks: { retryDelaysMs: [0] } },
      } as never);
      const context = { heartbeat: () => undefined, cancellationSignal: NEVER } as never;
      await asyncLocalStorage.run(context, () => deliverBatch({ webhookId: 3 }));
      expect(of('events.after')).toEqual(read === null ? [] : [[1, 40, read]]);
    },
  ));
