/**
 * Tests the lists and transitions of file states against expected values, which are written out here with their
 * reasons. Change a row here, with its reason, whenever you change the list.
 */
import { expect, test } from '@jest/globals';

import {
  FILE_SYNC_STATUSES,
  FINAL_FILE_STATUSES,
  IN_PROGRESS_STATUSES,
  WAITING_FILE_STATUSES,
} from '../../contract/files/statuses.js';
import { activeStatus, isStartable, transition, type Transition, TRANSITIONS } from '../../store/files/transitions.js';
import { everyRow } from '../support/everyRow.js';

const ALL =
  'DELAYED QUEUED_FOR_SYNC SYNCING READY SYNC_ERROR EVALUATING_RESYNC RATE_LIMITED SYNC_ABORTED QUEUED_FOR_OCR READY_TO_SYNC';
const ACTIVE_STATUSES = 'QUEUED_FOR_SYNC RATE_LIMITED SYNCING QUEUED_FOR_OCR EVALUATING_RESYNC';
const OPEN = `DELAYED ${ACTIVE_STATUSES}`;
const sorted = (states: string | readonly string[]): string[] =>
  (typeof states === 'string' ? states.split(' ').filter(Boolean) : [...states]).toSorted();

const LISTS: readonly (readonly [name: string, list: readonly string[], states: string, reason: string])[] = [
  ['all', FILE_SYNC_STATUSES, ALL, 'The values of the public contract.'],
  [
    'final',
    FINAL_FILE_STATUSES,
    'READY SYNC_ERROR SYNC_ABORTED READY_TO_SYNC',
    'No run owns the file: it can be retried, deleted or re-embedded without waiting.',
  ],
  ['in progress', IN_PROGRESS_STATUSES, 'SYNCING QUEUED_FOR_OCR EVALUATING_RESYNC', 'A run has started the file.'],
  [
    'waiting',
    WAITING_FILE_STATUSES,
    'DELAYED QUEUED_FOR_SYNC RATE_LIMITED',
    'Accepted and not started: it can be cancelled without a cleanup.',
  ],
  [
    'active',
    activeStatus.$in,
    ACTIVE_STATUSES,
    'A run works on it. A delayed file waits for room, so its run may end first.',
  ],
];

test('each list contains exactly the expected states', () =>
  everyRow(
    LISTS,
    ([name]) => name,
    ([, list, states]) => expect(sorted(list)).toEqual(sorted(states)),
  ));

test('each state is exactly one of final, in progress and waiting', () =>
  expect(sorted([...FINAL_FILE_STATUSES, ...IN_PROGRESS_STATUSES, ...WAITING_FILE_STATUSES])).toEqual(sorted(ALL)));

test('a run starts files that wait for their turn or for the end of a rate limit, and no others', () =>
  expect(sorted(FILE_SYNC_STATUSES.filter((syncStatus) => isStartable({ syncStatus })))).toEqual(
    sorted('QUEUED_FOR_SYNC RATE_LIMITED'),
  ));

/** The states from which a transition starts, its new state, who may write it, and the reason for the start states. */
type Row = readonly [from: string, to: string, by: 'run' | 'tenant', reason: string];
const RETRIED = 'READY SYNC_ERROR SYNC_ABORTED';
const IN_PROGRESS = 'SYNCING QUEUED_FOR_OCR EVALUATING_RESYNC';
const STARTED = 'SYNCING QUEUED_FOR_OCR';
const EXPECTED: Readonly<Record<Transition, Row>> = {
  create: ['', 'QUEUED_FOR_SYNC', 'tenant', 'A new record.'],
  createDelayed: ['', 'DELAYED', 'tenant', 'A new record while the queue is full.'],
  restore: ['', 'READY', 'tenant', 'It is restored from quarantine with its vectors.'],
  restoreUnread: [
    '',
    'SYNC_ABORTED',
    'tenant',
    'It was missing at its source before it was read: the next scheduled sync reads it.',
  ],
  restoreFailed: ['', 'SYNC_ERROR', 'tenant', 'Its vectors are lost.'],
  accept: [ALL, 'QUEUED_FOR_SYNC', 'tenant', 'A request takes a file from any run that has it.'],
  acceptDelayed: [ALL, 'DELAYED', 'tenant', 'The same while the queue is full.'],
  queueAgain: ['READY SYNC_ERROR SYNC_ABORTED READY_TO_SYNC', 'QUEUED_FOR_SYNC', 'tenant', 'No run owns it.'],
  scheduledEvaluate: ['READY', 'EVALUATING_RESYNC', 'tenant', 'Only a stored copy can be compared with its source.'],
  scheduledQueue: [
    RETRIED,
    'QUEUED_FOR_SYNC',
    'tenant',
    'An aborted file must not wait for a request. READY_TO_SYNC must.',
  ],
  scheduledDelay: [RETRIED, 'DELAYED', 'tenant', 'The same while the queue is full.'],
  delayNewest: ['QUEUED_FOR_SYNC', 'DELAYED', 'run', 'The limit of files delays only files that have not started.'],
  releaseDelayed: ['DELAYED', 'QUEUED_FOR_SYNC', 'run', 'There is room within the limits.'],
  releaseHeld: ['DELAYED', 'QUEUED_FOR_SYNC', 'tenant', 'There is room in the queue.'],
  start: ['QUEUED_FOR_SYNC RATE_LIMITED', 'SYNCING', 'run', 'A started file must not start twice.'],
  startChanged: ['EVALUATING_RESYNC', 'SYNCING', 'run', 'The comparison found a change.'],
  deferToOcr: ['SYNCING', 'QUEUED_FOR_OCR', 'run', 'Only a file that is being read finds pages without text.'],
  release: ['SYNCING', 'QUEUED_FOR_SYNC', 'run', 'The run pauses: a file that is being read waits again.'],
  requeue: [STARTED, 'QUEUED_FOR_SYNC', 'run', 'A failed attempt is repeated. A comparison is not an attempt.'],
  limit: [IN_PROGRESS, 'RATE_LIMITED', 'run', 'Any request to the source can meet its rate limit.'],
  delay: [IN_PROGRESS, 'DELAYED', 'run', 'A limit of characters applies only after the text was read.'],
  finish: [IN_PROGRESS, 'READY', 'run', 'A new copy is published.'],
  finishUnchanged: [STARTED, 'READY', 'run', 'The stored copy is current.'],
  keepEvaluated: ['EVALUATING_RESYNC', 'READY', 'run', 'The comparison found no change.'],
  endEvaluation: ['EVALUATING_RESYNC', 'READY', 'run', 'A comparison that ends without an outcome keeps the copy.'],
  endEvaluationsOfSource: ['EVALUATING_RESYNC', 'READY', 'tenant', 'Access to the source ended.'],
  skipContent: ['SYNCING', 'READY_TO_SYNC', 'run', 'The request asks only for a record.'],
  fail: [OPEN, 'SYNC_ERROR', 'run', 'Any file that the run has not ended.'],
  abort: [OPEN, 'SYNC_ABORTED', 'run', 'Any file that the run has not ended.'],
  abortQueued: ['DELAYED QUEUED_FOR_SYNC RATE_LIMITED', 'SYNC_ABORTED', 'tenant', 'The run of a started file ends it.'],
  containerStart: [ACTIVE_STATUSES, 'SYNCING', 'run', 'A container is never delayed by limits of files.'],
  containerDiscovered: [ACTIVE_STATUSES, 'SYNCING', 'run', 'The same.'],
  containerPause: [ACTIVE_STATUSES, 'QUEUED_FOR_SYNC', 'run', 'The same.'],
  containerFinish: [
    ACTIVE_STATUSES,
    'READY',
    'run',
    'A container that was deleted or taken over meanwhile stays as it is.',
  ],
  containerFail: [ACTIVE_STATUSES, 'SYNC_ERROR', 'run', 'The same.'],
  loseVectors: ['READY SYNC_ERROR', 'SYNC_ERROR', 'tenant', 'Only a file with a published copy has vectors to lose.'],
  takeOverForDelete: [ALL, 'SYNC_ABORTED', 'tenant', 'A deletion takes a file from any run that has it.'],
  empty: ['SYNC_ABORTED', 'READY_TO_SYNC', 'tenant', 'The deletion took it over before.'],
};

test('each transition starts from exactly the expected states and ends in the expected one', () =>
  everyRow(Object.keys({ ...TRANSITIONS, ...EXPECTED }) as Transition[], String, (name) => {
    const { from, to, by } = TRANSITIONS[name];
    const [expectedFrom, expectedTo, expectedBy] = EXPECTED[name];
    expect([sorted(from), to, by]).toEqual([sorted(expectedFrom), expectedTo, expectedBy]);
  }));

const OWNERS = { run: { runId: 7 }, tenant: { organizationId: 1, userId: 2 } } as const;

test('the write of a transition changes only files of the given run or tenant that are in one of its start states', () =>
  everyRow(Object.keys(EXPECTED) as Transition[], String, (name) => {
    const [from, to, by] = EXPECTED[name];
    const { filter, update } = transition(name, { owner: OWNERS[by] as never, where: { _id: 3 } });
    const states = sorted(from);
    expect(filter).toMatchObject({ ...OWNERS[by], _id: 3 });
    expect(update.$set).toMatchObject({ syncStatus: to });
    const condition = filter.syncStatus as { $in: readonly string[] } | undefined;
    if (states.length === FILE_SYNC_STATUSES.length) expect(condition).toBeUndefined();
    else expect(sorted(condition?.$in ?? ['none'])).toEqual(states);
  }));

test('a write that expects a state changes no file in another state', () =>
  everyRow(Object.keys(EXPECTED) as Transition[], String, (name) => {
    const [from, , by] = EXPECTED[name];
    for (const expectedState of FILE_SYNC_STATUSES) {
      const { filter } = transition(name, { owner: OWNERS[by] as never, where: {}, seen: expectedState });
      expect(filter.syncStatus).toEqual({ $in: sorted(from).includes(expectedState) ? [expectedState] : [] });
    }
  }));

/**
 * Transitions after which a file counts as ended, once each. Containers, and comparisons without an outcome, are
 * excluded.
 */
const ENDS = 'finish finishUnchanged keepEvaluated skipContent fail abort abortQueued';

test('a file counts as ended after the transitions that end its sync, and after no others', () =>
  expect(sorted((Object.keys(TRANSITIONS) as Transition[]).filter((name) => 'endsSync' in TRANSITIONS[name]))).toEqual(
    sorted(ENDS),
  ));
