import { describe, expect, test } from '@jest/globals';

import { FAULT_FAILURE, TIME_SLICE_OVER_FAILURE } from '../../contract/runs/orchestration.js';
import { type PendingStep, diagnoseWorkflow } from '../../dispatch/diagnoseWorkflow.js';
import type { Activities } from '../../activities/index.js';
import { everyRow } from '../support/everyRow.js';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const ago = (ms: number): Date => new Date(NOW - ms);

const step = (fields: Partial<PendingStep>): PendingStep => ({
  ...{ name: 'ingestBatch', isStarted: true, attempt: 1, seenAt: ago(1_000), scheduledAt: ago(1_800_000) },
  failure: null,
  ...fields,
});
const failure = { message: 'Cannot read properties of undefined', type: 'TypeError', isTimeout: false };
const fault = { message: 'The site does not answer.', type: 'Fault', isTimeout: false };
const task = { isStarted: false, attempt: 1, scheduledAt: ago(90_000) };

describe('no evidence of a stall', () => {
  test.each([
    ['a wait for a timer or a signal', []],
    ['a step that has sent heartbeats for half an hour, such as OCR', [step({ name: 'recognize' })]],
    ['a retry after a site refused', [step({ isStarted: false, attempt: 4, failure: fault })]],
    ['one running step and one that fails', [step({}), step({ isStarted: false, attempt: 9, failure })]],
    ['a step that needs no Qdrant while Qdrant is down', [step({ name: 'transcribe' })], true],
    ['a running attempt after failures', [step({ attempt: 5, failure })]],
  ] as [string, PendingStep[], boolean?][])('%s', (_what, steps, isQdrantDown = false) => {
    expect(diagnoseWorkflow({ task: null, steps }, NOW, isQdrantDown)).toBeNull();
  });
});

describe('evidence of a stall', () => {
  test('a workflow task at its third attempt, after two failures', () => {
    const evidence = diagnoseWorkflow({ task: { ...task, attempt: 3 }, steps: [step({})] }, NOW, false);
    expect(evidence).toEqual({ cause: 'workflow_task_fails' });
  });

  test('a workflow task that no worker takes; the stall begins when the task was scheduled', () => {
    expect(diagnoseWorkflow({ task, steps: [] }, NOW, false)).toEqual({ cause: null, since: ago(90_000) });
  });

  test('a started workflow task, which retries its local activities, while Qdrant is down', () => {
    const open = { ...task, isStarted: true };
    expect(diagnoseWorkflow({ task: open, steps: [] }, NOW, true)).toEqual({ cause: 'qdrant_down' });
  });

  test('a step that no worker takes', () => {
    const waiting = step({ isStarted: false, seenAt: null, scheduledAt: ago(70_000) });
    expect(diagnoseWorkflow({ task: null, steps: [waiting] }, NOW, false)).toEqual({ cause: null, since: ago(70_000) });
  });

  test('a step whose heartbeats ended', () => {
    const silent = step({ seenAt: ago(30_000) });
    expect(diagnoseWorkflow({ task: null, steps: [silent] }, NOW, false)).toEqual({ cause: null, since: ago(30_000) });
  });

  test('a step that has failed twice, and waits for its third attempt', () => {
    const failing = step({ isStarted: false, attempt: 3, failure });
    expect(diagnoseWorkflow({ task: null, steps: [failing] }, NOW, false)).toEqual({
      cause: 'step_fails',
      step: failing,
    });
  });

  test.each([
    ['although it sends heartbeats', {}],
    ['and whose heartbeats ended', { seenAt: ago(30_000) }],
    ['and that no worker takes', { isStarted: false, seenAt: null }],
  ])('a step that writes vectors while Qdrant is down, %s', (_what, fields) => {
    expect(diagnoseWorkflow({ task: null, steps: [step(fields)] }, NOW, true)).toEqual({ cause: 'qdrant_down' });
  });
});

/**
 * The last failure of a step, and the result of the diagnosis from the third attempt on: while the step waits for a
 * worker, and while it runs.
 */
const FAILURES: [what: string, failure: PendingStep['failure'], waiting: string, running: string][] = [
  ['no failure', null, 'no worker', 'none'],
  ['a defect', failure, 'step_fails', 'none'],
  ['an error without a type', { ...failure, type: null }, 'step_fails', 'none'],
  ['a fault of a site or source', { ...fault, type: FAULT_FAILURE }, 'none', 'none'],
  ['a step whose time slice is over', { ...failure, type: TIME_SLICE_OVER_FAILURE }, 'no worker', 'none'],
  ['a timeout, as after the crash of a worker', { ...failure, isTimeout: true }, 'no worker', 'none'],
];

test('a step counts as failing only from its third attempt on, after two failures of the service itself', async () => {
  const judge = (fields: Partial<PendingStep>): string => {
    const steps = [step({ name: 'recognize', seenAt: fields.isStarted ? ago(1_000) : null, ...fields })];
    const evidence = diagnoseWorkflow({ task: null, steps }, NOW, false);
    return evidence === null ? 'none' : (evidence.cause ?? 'no worker');
  };
  await everyRow(
    FAILURES,
    ([what]) => what,
    ([, lastFailure, waiting, running]) => {
      for (const attempt of [3, 50])
        expect([
          judge({ attempt, failure: lastFailure, isStarted: false }),
          judge({ attempt, failure: lastFailure, isStarted: true }),
        ]).toEqual([waiting, running]);
      const early = waiting === 'step_fails' ? 'no worker' : waiting;
      expect(judge({ attempt: 2, failure: lastFailure, isStarted: false })).toBe(early);
    },
  );
});

/**
 * Whether each step writes or deletes vectors. While Qdrant is down, such a step waits although it sends heartbeats.
 */
const WRITES_VECTORS: readonly (readonly [step: keyof Activities, needsQdrant: boolean])[] = [
  ['ingestBatch', true],
  ['ingestUploads', true],
  ['reembedBatch', true],
  ['moveBatch', true],
  ['deleteBatch', true],
  ['eraseFiles', true],
  ['copyTags', true],
  ['settleBatch', true],
  ['deleteMissingFiles', true],
  ['deleteGonePages', true],
  ['discoverPages', false],
  ['discoverEntries', false],
  ['followLinks', false],
  ['listItems', false],
  ['queueItems', false],
  ['transcribe', false],
  ['recognize', false],
  ['deliverBatch', false],
  ['stopQueued', false],
  ['sumFiles', false],
];

test('only a step that writes or deletes vectors is held up by Qdrant', () =>
  everyRow(WRITES_VECTORS, String, ([name, needsQdrant]) => {
    const evidence = diagnoseWorkflow({ task: null, steps: [step({ name })] }, NOW, true);
    expect(evidence).toEqual(needsQdrant ? { cause: 'qdrant_down' } : null);
    expect(diagnoseWorkflow({ task: null, steps: [step({ name })] }, NOW, false)).toBeNull();
  }));
