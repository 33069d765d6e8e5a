import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type * as sdkActivity from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import {
  CONSENT_RETURNED_SIGNAL,
  EVENTS_QUEUED_SIGNAL,
  FAULT_FAILURE,
  RESUME_SIGNAL,
  UPLOADS_QUEUED_SIGNAL,
} from '../../contract/runs/orchestration.js';
import { deliveryQueue, ocrQueue, transcriptionQueue } from '../../contract/runs/workflowIds.js';
import { createTemporalClient } from '../../dispatch/client.js';
import { testEngines } from '../support/engines.js';
import { everyRow } from '../support/everyRow.js';
import { loadProduct } from '../support/product.js';
import { quietTemporal } from '../support/quietTemporal.js';
import { waitFor } from '../support/waitFor.js';
import { SCENARIOS, type Workflow } from '../support/workflows/scenarios.js';

// Tests of the order and inputs of the steps of each workflow, depending on the results of earlier steps. The steps are
// fakes; test/system/outages/everyWorkflow.test.ts runs the real steps.
const WORKFLOW_BUNDLE = fileURLToPath(new URL('../../dist/workflow-bundle.js', import.meta.url));
const SINKS = { traces: { ended: { fn: () => undefined } } };
const RUN_ID = 7;
const RUN = { runId: RUN_ID };

/**
 * Values that make a fake step fail with a Fault or a defect, or cancel its workflow, instead of returning a result.
 */
const FAULT = 'fault';
const DEFECT = 'defect';
const CANCEL = 'cancel';
/** Ends the step after this many calls of another step. */
interface Until {
  readonly until: string;
  readonly calls: number;
  readonly result?: unknown;
}
/** Run id of a part whose workflow cannot start: it has the workflow id of the scheduled sync, which is running. */
const ALREADY_RUNNING = 99;
/**
 * Results of a step, call by call; the last one repeats. FAULT and DEFECT make the step fail, CANCEL cancels the
 * workflow, and Until makes the step wait.
 */
type Answers = readonly unknown[];

interface Row {
  readonly what: string;
  readonly workflow: Workflow | 'deliverEvents';
  readonly input?: object;
  readonly steps?: Readonly<Record<string, Answers>>;
  /** A signal that is sent after the first result of `step`, or, with `meanwhile`, while the workflow waits for it. */
  readonly signal?: readonly [name: string, step: string, when?: 'meanwhile'];
  readonly calls: readonly (readonly [step: string, input?: object])[];
  /** Some of the steps are called concurrently, so the order of the calls is not checked. */
  readonly inAnyOrder?: true;
  /** Result of the workflow. Unset: the workflow fails or is cancelled. */
  readonly result?: unknown;
}

const BATCH = { ready: 1, failed: 0, requeued: 0, superseded: 0, alone: [] };
const NO_COUNTS = { ready: 0, failed: 0, requeued: 0, superseded: 0 };
const plan = (batches: readonly (readonly number[])[], fields: object = {}) => ({
  ...{ batches, window: 1, afterId: 0, dueInMs: null },
  ...fields,
});
const NO_PLAN = plan([]);
const planFrom = (afterId: number): [string, object] => ['planBatches', { afterId, limit: 20 }];
const batch = (...fileIds: number[]): [string, object] => ['ingestBatch', { fileIds }];
const SENTENCE = 'The site is down. Try again later.';
const INTERNAL_ERROR = (what: string, remedy: string) =>
  `The ${what} failed because of an internal error. See the log of the service for the cause. ${remedy}`;
const FAILED_RUN = { message: SENTENCE, cause: 'unreachable' };
const begun = (fields: object = {}) => ({ beginRun: [{ finished: false, ...fields }] });
const finished = (counts: object, discovered: number) => ({
  ...{ outcome: 'finished', discovered },
  counts: { ...NO_COUNTS, ...counts },
});

const INGESTS: readonly Row[] = [
  {
    ...{ what: 'whose run has ended before', workflow: 'scrapeSitemap', steps: { beginRun: [{ finished: true }] } },
    ...{ calls: [['beginRun']], result: { outcome: 'already_finished', discovered: 0, counts: NO_COUNTS } },
  },
  {
    ...{ what: 'of a site', workflow: 'scrapeSitemap' },
    steps: {
      ...begun({ deletesGonePages: true }),
      discoverPages: [{ discovered: 9 }],
      planBatches: [plan([[1, 2], [3]], { afterId: 3 }), plan([[5]]), plan([], { dueInMs: 5 }), NO_PLAN],
      ingestBatch: [
        { ...BATCH, ready: 1, failed: 2, requeued: 3, superseded: 4 },
        { ...BATCH, alone: [21, 22] },
        BATCH,
      ],
    },
    calls: [
      ...([['beginRun'], ['discoverPages'], planFrom(0), batch(1, 2), planFrom(3), batch(3)] as const),
      ...([batch(21), batch(22), batch(5), planFrom(0), planFrom(0), ['deleteGonePages'], ['finishRun']] as const),
    ],
    result: finished({ ready: 5, failed: 2, requeued: 3, superseded: 4 }, 9),
  },
  {
    ...{ what: 'of a site without deletions', workflow: 'scrapeSitemap' },
    steps: { ...begun({ deletesGonePages: false }), discoverPages: [{ discovered: 0 }], planBatches: [NO_PLAN] },
    ...{ calls: [['beginRun'], ['discoverPages'], planFrom(0), ['finishRun']], result: finished({}, 0) },
  },
  {
    ...{ what: 'of a site that cannot be read', workflow: 'scrapeSitemap' },
    steps: { ...begun({ deletesGonePages: true }), discoverPages: [FAULT] },
    calls: [['beginRun'], ['discoverPages'], ['failRun', FAILED_RUN]],
    result: { outcome: 'failed', discovered: 0, counts: NO_COUNTS },
  },
  {
    ...{ what: 'with a defect', workflow: 'scrapeSitemap' },
    steps: { ...begun(), discoverPages: [{ discovered: 1 }], planBatches: [plan([[1]])], ingestBatch: [DEFECT] },
    calls: [
      ...([['beginRun'], ['discoverPages'], planFrom(0), batch(1)] as const),
      ['failRun', { message: INTERNAL_ERROR('run', 'Resync to try again.') }],
    ],
  },
  {
    ...{ what: 'that is cancelled', workflow: 'scrapeSitemap' },
    steps: { ...begun({ deletesGonePages: true }), discoverPages: [CANCEL] },
    calls: [['beginRun'], ['discoverPages'], ['abortRun']],
  },
  {
    ...{ what: 'that is paused and resumed', workflow: 'scrapeSitemap', signal: [RESUME_SIGNAL, 'getPauseState'] },
    steps: {
      ...begun(),
      discoverPages: [{ discovered: 2 }],
      planBatches: [plan([[1], [2]], { afterId: 2 }), plan([[1]], { afterId: 1 }), NO_PLAN],
      ingestBatch: [{ ...BATCH, ready: 0, paused: true }, BATCH],
      getPauseState: [
        { isOver: false, endsInMs: 600_000 },
        { isOver: true, endsInMs: 0 },
      ],
    },
    calls: [
      ...([['beginRun'], ['discoverPages'], planFrom(0), batch(1), ['getPauseState'], ['getPauseState']] as const),
      ...([planFrom(0), planFrom(1), batch(1), ['finishRun']] as const),
    ],
    result: finished({ ready: 1 }, 2),
  },
  {
    ...{ what: 'that is paused, and still reads a file alone', workflow: 'scrapeSitemap' },
    steps: {
      ...begun(),
      discoverPages: [{ discovered: 2 }],
      planBatches: [plan([[1], [2]], { afterId: 2 }), NO_PLAN],
      ingestBatch: [{ ...BATCH, ready: 0, paused: true, alone: [21] }, BATCH],
      getPauseState: [{ isOver: true, endsInMs: 0 }],
    },
    calls: [
      ...([['beginRun'], ['discoverPages'], planFrom(0), batch(1), batch(21), ['getPauseState']] as const),
      ...([planFrom(0), ['finishRun']] as const),
    ],
    result: finished({ ready: 1 }, 2),
  },
  ...([['transcribe', 'toTranscribe'] as const, ['recognize', 'toRecognize'] as const] as const).flatMap(
    ([deferred, field]) =>
      [true, false].map((done): Row => ({
        ...{
          what: `that defers a file to ${deferred}, ${done ? 'then reads it' : 'gets no result'}`,
          workflow: 'scrapeSitemap',
        },
        steps: {
          ...begun(),
          discoverPages: [{ discovered: 1 }],
          planBatches: [plan([[11]]), NO_PLAN],
          ingestBatch: [{ ...BATCH, ready: 0, [field]: [11] }, BATCH],
          [deferred]: [{ done }],
        },
        calls: [
          ...([['beginRun'], ['discoverPages'], planFrom(0), batch(11), [deferred, { fileId: 11 }]] as const),
          ...([...(done ? [batch(11)] : []), planFrom(0), ['finishRun']] as const),
        ],
        result: finished({ ready: done ? 1 : 0 }, 1),
      })),
  ),
  {
    ...{
      what: 'that, with one batch at a time, begins the next batch while a file is deferred',
      workflow: 'scrapeSitemap',
    },
    steps: {
      ...begun(),
      discoverPages: [{ discovered: 2 }],
      planBatches: [plan([[11], [12]]), NO_PLAN],
      ingestBatch: [{ ...BATCH, ready: 0, toRecognize: [11] }, BATCH],
      recognize: [{ until: 'ingestBatch', calls: 2, result: { done: true } } satisfies Until],
    },
    inAnyOrder: true,
    calls: [
      ...([['beginRun'], ['discoverPages'], planFrom(0), batch(11), ['recognize', { fileId: 11 }]] as const),
      ...([batch(12), batch(11), planFrom(0), ['finishRun']] as const),
    ],
    result: finished({ ready: 2 }, 2),
  },
  {
    ...{ what: 'that is paused for too long', workflow: 'scrapeSitemap' },
    steps: {
      ...begun(),
      discoverPages: [{ discovered: 1 }],
      planBatches: [plan([[1]])],
      ingestBatch: [{ ...BATCH, paused: true }],
      getPauseState: [{ isOver: false, endsInMs: 0 }],
    },
    calls: [
      ...([['beginRun'], ['discoverPages'], planFrom(0), batch(1), ['getPauseState']] as const),
      [
        'failRun',
        {
          message:
            'The run was paused at max_tokens and was not resumed in time. Request it again with a higher limit.',
          cause: null,
        },
      ],
    ],
    result: { outcome: 'failed', discovered: 1, counts: { ...NO_COUNTS, ready: 1 } },
  },
  {
    ...{ what: 'of a crawl, which follows links when no batch is running', workflow: 'webScrape' },
    steps: {
      ...begun(),
      followLinks: [
        { discovered: 1, dueInMs: 0 },
        { discovered: 3, dueInMs: 0 },
        { discovered: 4, dueInMs: null },
      ],
      planBatches: [plan([[1]]), NO_PLAN, plan([[2, 3]]), NO_PLAN],
      ingestBatch: [BATCH],
    },
    calls: [
      ...([['beginRun'], ['followLinks'], planFrom(0)] as const),
      ...([['ingestBatch', { fileIds: [1], keepLinks: true }], planFrom(0), ['followLinks'], planFrom(0)] as const),
      ...([['ingestBatch', { fileIds: [2, 3], keepLinks: true }], planFrom(0), ['followLinks']] as const),
      ['finishRun'],
    ],
    result: finished({ ready: 2 }, 4),
  },
  {
    ...{ what: 'of an account', workflow: 'syncSource' },
    steps: {
      ...begun(),
      queueItems: [
        { done: false, discovered: 2 },
        { done: true, discovered: 5 },
      ],
      planBatches: [NO_PLAN],
    },
    calls: [['beginRun'], ['queueItems'], ['queueItems'], planFrom(0), ['finishRun']],
    result: finished({}, 5),
  },
  {
    ...{ what: 'of a feed', workflow: 'syncFeed' },
    steps: { ...begun(), discoverEntries: [{ discovered: 3 }], planBatches: [NO_PLAN] },
    calls: [['beginRun'], ['discoverEntries'], planFrom(0), ['finishRun']],
    result: finished({}, 3),
  },
  ...(['resyncFile', 'syncUpload'] as const).map((workflow): Row => ({
    ...{ what: `of ${workflow}`, workflow, steps: { ...begun(), planBatches: [NO_PLAN] } },
    ...{ calls: [['beginRun'], planFrom(0), ['finishRun']], result: finished({}, 1) },
  })),
];

const MORE = { done: false, listed: 1 };
const ALL = { done: true, listed: 2 };
const LISTINGS: readonly Row[] = [
  {
    ...{ what: 'whose run has ended before', workflow: 'syncItems', steps: { beginListing: [{ finished: true }] } },
    calls: [['beginListing']],
    result: null,
  },
  {
    ...{ what: 'of an account', workflow: 'syncItems' },
    steps: { beginListing: [{ finished: false }], listItems: [MORE, ALL] },
    calls: [
      ...([['beginListing'], ['listItems'], ['listItems'], ['deleteMissingFiles']] as const),
      ['endListing', { outcome: 'finished' }],
    ],
    result: null,
  },
  {
    ...{
      what: 'that continues as new',
      workflow: 'syncItems',
      input: { isContinued: true },
      steps: { listItems: [ALL] },
    },
    calls: [['listItems'], ['deleteMissingFiles'], ['endListing', { outcome: 'finished' }]],
    result: null,
  },
  {
    ...{ what: 'that the source refuses', workflow: 'syncItems' },
    steps: { beginListing: [{ finished: false }], listItems: [FAULT] },
    calls: [['beginListing'], ['listItems'], ['endListing', { outcome: 'failed', ...FAILED_RUN }]],
    result: null,
  },
  {
    ...{ what: 'with a defect', workflow: 'syncItems' },
    steps: { beginListing: [{ finished: false }], listItems: [ALL], deleteMissingFiles: [DEFECT] },
    calls: [
      ...([['beginListing'], ['listItems'], ['deleteMissingFiles']] as const),
      ['endListing', { outcome: 'failed', message: INTERNAL_ERROR('listing', 'Sync the items to try again.') }],
    ],
  },
  {
    ...{ what: 'that is cancelled', workflow: 'syncItems' },
    steps: { beginListing: [{ finished: false }], listItems: [CANCEL] },
    calls: [['beginListing'], ['listItems'], ['endListing', { outcome: 'aborted' }]],
  },
];

/** Workflows that repeat a step for each batch, by a cursor or until no more work is found. */
const BATCHES: readonly Row[] = [
  {
    ...{ what: 'deletes', workflow: 'deleteFiles', steps: { deleteBatch: [{ afterId: 5 }, { afterId: null }] } },
    calls: [
      ...([['stopQueued'], ['deleteBatch', { afterId: 0 }], ['deleteBatch', { afterId: 5 }]] as const),
      ['finishDelete', { outcome: 'finished' }],
    ],
    result: null,
  },
  {
    ...{
      what: 'continues deleting after a cursor',
      workflow: 'deleteFiles',
      input: { afterId: 5 },
      steps: { deleteBatch: [{ afterId: null }] },
    },
    calls: [
      ['deleteBatch', { afterId: 5 }],
      ['finishDelete', { outcome: 'finished' }],
    ],
    result: null,
  },
  {
    ...{ what: 'deletes until it is cancelled', workflow: 'deleteFiles', steps: { deleteBatch: [CANCEL] } },
    calls: [['stopQueued'], ['deleteBatch', { afterId: 0 }], ['finishDelete', { outcome: 'aborted' }]],
  },
  {
    ...{ what: 'deletes a user, and repeats for data that arrived meanwhile', workflow: 'deleteUser' },
    steps: {
      stopUserRuns: [{ workflowIds: ['no-such-workflow'] }, { workflowIds: [] }],
      eraseFiles: [{ erased: 2 }, { erased: 0 }],
      finishUserDelete: [{ again: true }, { again: false }],
    },
    calls: [
      ...([['removeSchedules'], ['stopUserRuns'], ['stopUserRuns'], ['eraseFiles'], ['eraseFiles']] as const),
      ...([['finishUserDelete'], ['removeSchedules'], ['stopUserRuns'], ['eraseFiles']] as const),
      ['finishUserDelete'],
    ],
    result: null,
  },
  {
    ...{ what: 'deletes a user until it is cancelled', workflow: 'deleteUser' },
    steps: { stopUserRuns: [{ workflowIds: [] }], eraseFiles: [CANCEL] },
    calls: [['removeSchedules'], ['stopUserRuns'], ['eraseFiles'], ['stopUserDelete']],
  },
  {
    ...{ what: 'moves vectors, and waits for files of another run', workflow: 'moveStorage' },
    steps: {
      planMove: [
        { fileIds: [1, 2], afterId: 2, waiting: false },
        { fileIds: [], afterId: 4, waiting: true },
        { fileIds: [5], afterId: null, waiting: false },
      ],
    },
    calls: [
      ...([
        ['planMove', { afterId: 0 }],
        ['moveBatch', { fileIds: [1, 2] }],
        ['planMove', { afterId: 2 }],
      ] as const),
      ...([
        ['planMove', { afterId: 4 }],
        ['moveBatch', { fileIds: [5] }],
        ['finishMove', { outcome: 'finished' }],
      ] as const),
    ],
    result: null,
  },
  {
    ...{ what: 'moves vectors until it is cancelled', workflow: 'moveStorage' },
    steps: { planMove: [{ fileIds: [1], afterId: 1, waiting: false }], moveBatch: [CANCEL] },
    calls: [
      ['planMove', { afterId: 0 }],
      ['moveBatch', { fileIds: [1] }],
      ['finishMove', { outcome: 'aborted' }],
    ],
  },
  {
    ...{ what: 'copies tags', workflow: 'updateTags' },
    steps: {
      copyTags: [
        { done: false, afterId: 3 },
        { done: true, afterId: 0 },
      ],
    },
    calls: [
      ['copyTags', { afterId: 0 }],
      ['copyTags', { afterId: 3 }],
      ['finishTags', { outcome: 'finished' }],
    ],
    result: null,
  },
  {
    ...{ what: 'copies tags until it is cancelled', workflow: 'updateTags', steps: { copyTags: [CANCEL] } },
    calls: [
      ['copyTags', { afterId: 0 }],
      ['finishTags', { outcome: 'aborted' }],
    ],
  },
  {
    ...{ what: 'restores or erases quarantined files, batch after batch', workflow: 'settleQuarantine' },
    steps: { settleBatch: [{ more: true }, { more: false }] },
    calls: [['settleBatch'], ['settleBatch'], ['finishQuarantine', { outcome: 'finished' }]],
    result: null,
  },
  {
    ...{
      what: 'restores or erases files until it is cancelled',
      workflow: 'settleQuarantine',
      steps: { settleBatch: [CANCEL] },
    },
    calls: [['settleBatch'], ['finishQuarantine', { outcome: 'aborted' }]],
  },
  {
    ...{ what: 'counts', workflow: 'recountFiles', calls: [['sumFiles'], ['finishRecount', { outcome: 'finished' }]] },
    result: null,
  },
  {
    ...{ what: 'counts until it is cancelled', workflow: 'recountFiles', steps: { sumFiles: [CANCEL] } },
    calls: [['sumFiles'], ['finishRecount', { outcome: 'aborted' }]],
  },
  {
    ...{ what: 'embeds again', workflow: 'reembedFiles' },
    steps: {
      planReembed: [
        { batches: [[1], [2, 3]], window: 1, afterId: 3, tokens: 40, skipped: 2, ended: false },
        { batches: [[9]], window: 1, afterId: 9, tokens: 70, skipped: 1, ended: true },
      ],
      reembedBatch: [{ reembedded: 1 }, { failed: 1, reembedded: 1 }, { skipped: 1 }],
    },
    calls: [
      ...([
        ['planReembed', { afterId: 0, tokens: 0 }],
        ['reembedBatch', { fileIds: [1] }],
      ] as const),
      ...([
        ['reembedBatch', { fileIds: [2, 3] }],
        ['planReembed', { afterId: 3, tokens: 40 }],
      ] as const),
      ...([
        ['reembedBatch', { fileIds: [9] }],
        ['finishReembed', { outcome: 'finished' }],
      ] as const),
    ],
    result: { reembedded: 2, skipped: 4, failed: 1 },
  },
  ...([['aborted', CANCEL] as const, ['failed', DEFECT] as const] as const).map(([outcome, does]): Row => ({
    ...{ what: `embeds again until it is ${outcome}`, workflow: 'reembedFiles' },
    steps: {
      planReembed: [{ batches: [[1]], window: 1, afterId: 1, tokens: 0, skipped: 0, ended: false }],
      reembedBatch: [does],
    },
    calls: [
      ['planReembed', { afterId: 0, tokens: 0 }],
      ['reembedBatch', { fileIds: [1] }],
      ['finishReembed', { outcome }],
    ],
  })),
];

const WAITS = { state: 'waiting', dueInMs: 600_000 };
const RETURNED = { state: 'came', dueInMs: 0 };
const OTHERS: readonly Row[] = [
  {
    ...{ what: 'connects after the user returns', workflow: 'connectByConsent' },
    signal: [CONSENT_RETURNED_SIGNAL, 'getConnectionState'],
    steps: { getConnectionState: [WAITS, RETURNED] },
    calls: [['getConnectionState'], ['getConnectionState'], ['exchangeCode'], ['recordConnection']],
    result: null,
  },
  {
    ...{ what: "checks the state again when the user's time is up", workflow: 'connectByConsent' },
    steps: { getConnectionState: [{ ...WAITS, dueInMs: 1 }, RETURNED] },
    calls: [['getConnectionState'], ['getConnectionState'], ['exchangeCode'], ['recordConnection']],
    result: null,
  },
  {
    ...{ what: 'is refused by the provider', workflow: 'connectByConsent' },
    steps: { getConnectionState: [RETURNED], exchangeCode: [FAULT] },
    calls: [['getConnectionState'], ['exchangeCode'], ['endConnection', { outcome: 'failed', message: SENTENCE }]],
    result: null,
  },
  {
    ...{ what: 'has a defect', workflow: 'connectByConsent' },
    steps: { getConnectionState: [RETURNED], recordConnection: [DEFECT] },
    calls: [
      ...([['getConnectionState'], ['exchangeCode'], ['recordConnection']] as const),
      [
        'endConnection',
        {
          outcome: 'failed',
          message:
            'The connection failed because of an internal error. See the log of the service for the cause. Connect again.',
        },
      ],
    ],
  },
  {
    ...{ what: 'is cancelled', workflow: 'connectByConsent' },
    steps: { getConnectionState: [RETURNED], exchangeCode: [CANCEL] },
    calls: [['getConnectionState'], ['exchangeCode'], ['endConnection', { outcome: 'cancelled' }]],
  },
  {
    ...{ what: 'ends immediately for a revoked account', workflow: 'autoSync', input: { scheduleId: 's' } },
    steps: { acceptPass: [{ runId: null, reason: 'revoked' }] },
    calls: [['acceptPass', { scheduleId: 's' }]],
    result: { outcome: 'revoked', parts: 0 },
  },
  {
    ...{ what: 'runs its parts one after the other', workflow: 'autoSync', input: { scheduleId: 's' } },
    steps: { acceptPass: [RUN], nextPart: [{ part: 1 }, { part: 2 }, { part: null }] },
    calls: [
      ...([['acceptPass', { scheduleId: 's' }], ['nextPart'], ['nextPart'], ['nextPart']] as const),
      ['endPass', { outcome: 'finished' }],
    ],
    result: { outcome: 'finished', parts: 2 },
  },
  {
    ...{
      what: 'gets the same part again, whose workflow was terminated from outside',
      workflow: 'autoSync',
      input: { scheduleId: 's' },
    },
    steps: { acceptPass: [RUN], nextPart: [{ part: 1 }] },
    calls: [
      ...([['acceptPass', { scheduleId: 's' }], ['nextPart'], ['nextPart']] as const),
      ['endPass', { outcome: 'failed' }],
    ],
    result: { outcome: 'failed', parts: 1 },
  },
  {
    ...{
      what: 'cannot start a part whose workflow id stays in use',
      workflow: 'autoSync',
      input: { scheduleId: 's' },
    },
    steps: { acceptPass: [RUN], nextPart: [{ part: ALREADY_RUNNING }] },
    calls: [['acceptPass', { scheduleId: 's' }], ['nextPart'], ['endPass', { outcome: 'failed' }]],
  },
  ...([['aborted', CANCEL] as const, ['failed', DEFECT] as const] as const).map(([outcome, does]): Row => ({
    ...{ what: `is a scheduled sync that is ${outcome}`, workflow: 'autoSync', input: { scheduleId: 's' } },
    steps: { acceptPass: [RUN], nextPart: [{ part: 1 }, does] },
    calls: [...([['acceptPass', { scheduleId: 's' }], ['nextPart'], ['nextPart']] as const), ['endPass', { outcome }]],
  })),
];

const USER = { organizationId: 1, userId: 2 };
const planned = (except: readonly number[], underWay: number): [string, object] => [
  'planUploads',
  { except, underWay },
];
const UPLOADS: readonly Row[] = [
  {
    ...{ what: 'ingests batch after batch until no upload waits', workflow: 'drainUploads', input: USER },
    steps: {
      planUploads: [
        { batches: [[1, 2]], window: 1 },
        { batches: [[3]], window: 1 },
        { batches: [], window: 1 },
      ],
    },
    calls: [
      ...([planned([], 0), ['ingestUploads', { runIds: [1, 2] }], planned([], 0)] as const),
      ...([['ingestUploads', { runIds: [3] }], planned([], 0)] as const),
    ],
    result: null,
  },
  {
    ...{ what: 'ingests uploads that arrive during a batch at the same time', workflow: 'drainUploads', input: USER },
    signal: [UPLOADS_QUEUED_SIGNAL, 'ingestUploads', 'meanwhile'],
    steps: {
      planUploads: [
        { batches: [[1, 2]], window: 2 },
        { batches: [[3]], window: 2 },
        { batches: [], window: 2 },
      ],
      ingestUploads: [{ until: 'planUploads', calls: 3 } satisfies Until, null],
    },
    calls: [
      ...([planned([], 0), ['ingestUploads', { runIds: [1, 2] }], planned([1, 2], 1)] as const),
      ...([['ingestUploads', { runIds: [3] }], planned([1, 2], 1), planned([], 0)] as const),
    ],
    result: null,
  },
  {
    ...{ what: 'fails the uploads of a batch with a defect', workflow: 'drainUploads', input: USER },
    steps: {
      planUploads: [
        { batches: [[1, 2]], window: 1 },
        { batches: [], window: 1 },
      ],
      ingestUploads: [DEFECT],
    },
    calls: [
      ...([planned([], 0), ['ingestUploads', { runIds: [1, 2] }]] as const),
      ['failUploads', { runIds: [1, 2], message: INTERNAL_ERROR('upload', 'Resync to try again.') }],
      planned([], 0),
    ],
    result: null,
  },
  {
    ...{ what: 'aborts all waiting uploads when cancelled', workflow: 'drainUploads', input: USER },
    steps: { planUploads: [{ batches: [[1]], window: 1 }], ingestUploads: [CANCEL] },
    calls: [planned([], 0), ['ingestUploads', { runIds: [1] }], ['abortUploads', {}]],
  },
];

const WEBHOOK = { webhookId: 5 };
const passed = (fields: object = {}) => ({ ended: false, more: false, dueInMs: null, ...fields });
const LAST_BATCH = passed({ ended: true });
/** Batches of a webhook's deliveries. */
const BATCHES_DELIVERED: readonly (Pick<Row, 'what' | 'signal'> & { readonly batches: Answers })[] = [
  { what: 'ends after a last batch', batches: [LAST_BATCH] },
  { what: 'delivers another batch at once while there are more events', batches: [passed({ more: true }), LAST_BATCH] },
  { what: 'waits until a delivery is due', batches: [passed({ dueInMs: 5 }), LAST_BATCH] },
  { what: 'waits for new events', batches: [passed(), LAST_BATCH], signal: [EVENTS_QUEUED_SIGNAL, 'deliverBatch'] },
  {
    what: 'delivers another batch for events that arrive during the last one',
    batches: [LAST_BATCH, LAST_BATCH],
    signal: [EVENTS_QUEUED_SIGNAL, 'deliverBatch', 'meanwhile'],
  },
];
/** The workflow has no result. */
const DELIVERIES = BATCHES_DELIVERED.map(({ batches, ...row }): Row => ({
  ...{ ...row, workflow: 'deliverEvents', input: WEBHOOK, steps: { deliverBatch: batches }, result: null },
  calls: batches.map(() => ['deliverBatch', WEBHOOK] as const),
}));

const DEFERRED = ['transcribe', 'recognize', 'deliverBatch'];
const STEPS = new Set<string>(
  DEFERRED.concat(Object.values(SCENARIOS).flatMap(({ steps, testedElsewhere: alike = [] }) => [...steps, ...alike])),
);

let client: Client;
let stop: () => Promise<void>;
let activity: typeof sdkActivity;
const taskQueue = `order-${randomUUID()}`;
const open = new Map<string, { readonly row: Row; readonly calls: [string, object][] }>();

/** Sends heartbeats until the cancellation arrives, and ends as cancelled. */
async function untilCancelled(): Promise<never> {
  const timer = setInterval(() => activity.heartbeat(), 100);
  return activity.Context.current().cancelled.finally(() => clearInterval(timer));
}

async function step(name: string, input: object): Promise<unknown> {
  const { activityInfo, ApplicationFailure } = activity;
  const { workflowExecution } = activityInfo();
  const workflowId = workflowExecution?.workflowId ?? '';
  const execution = open.get(workflowId);
  // A part of a scheduled sync ends at once.
  if (!execution) return undefined;
  const { row, calls } = execution;
  const answers = row.steps?.[name] ?? [];
  const nth = calls.filter(([called]) => called === name).length;
  calls.push([name, input]);
  const answer = answers[Math.min(nth, answers.length - 1)];
  const handle = client.workflow.getHandle(workflowId);
  if (row.signal?.[1] === name && nth === 0) {
    const [signal, , when] = row.signal;
    if (when === 'meanwhile') await handle.signal(signal);
    else setTimeout(() => void handle.signal(signal), 50);
  }
  if (answer === FAULT)
    throw ApplicationFailure.create({
      ...{ message: SENTENCE, type: FAULT_FAILURE, nonRetryable: true },
      details: ['unreachable'],
    });
  if (answer === DEFECT) throw ApplicationFailure.nonRetryable('a defect of the test');
  if (answer === CANCEL) {
    await handle.cancel();
    return untilCancelled();
  }
  if (typeof answer === 'object' && answer !== null && 'until' in answer) {
    const { until, calls: number, result } = answer as Until;
    await waitFor(
      () => calls.filter(([called]) => called === until).length,
      (called) => called >= number,
    );
    return result;
  }
  if (name !== 'nextPart') return answer ?? undefined;
  const { part } = answer as { part: number | null };
  const attributes = { OrganizationId: '1', UserId: '2' };
  return {
    part: part && {
      ...{ runId: part, kind: 'recountFiles', attributes },
      workflowId: part === ALREADY_RUNNING ? workflowId : `${workflowId}-${part}-${nth}`,
    },
  };
}

beforeAll(async () => {
  const product = await loadProduct();
  ({ activity } = product);
  const { sdk } = product;
  await quietTemporal('ERROR');
  const { temporalAddress: address } = testEngines();
  const connection = await sdk.NativeConnection.connect({ address });
  client = createTemporalClient({ address, namespace: 'default' });
  const shared = {
    ...{ connection, maxHeartbeatThrottleInterval: '100ms' as const },
    activities: Object.fromEntries([...STEPS].map((name) => [name, (input: object) => step(name, input)])),
  };
  const bundle = { workflowBundle: { codePath: WORKFLOW_BUNDLE }, sinks: SINKS };
  const queues = [ocrQueue, transcriptionQueue, deliveryQueue].map((queueOf) => queueOf(taskQueue));
  const workers = [
    await sdk.Worker.create({ ...shared, ...bundle, taskQueue }),
    ...(await Promise.all(queues.map((queue) => sdk.Worker.create({ ...shared, taskQueue: queue })))),
  ];
  const running = Promise.all(workers.map((worker) => worker.run()));
  stop = async () => {
    for (const worker of workers) worker.shutdown();
    await running;
    await client.connection.close();
    await connection.close();
  };
});
afterAll(() => stop());

const OWN_INPUTS: Readonly<Record<string, object>> = { drainUploads: USER, deliverEvents: WEBHOOK };
const ofRun = (row: Row): object => OWN_INPUTS[row.workflow] ?? RUN;
const checkRow = async (row: Row): Promise<void> => {
  const workflowId = `${taskQueue}-${randomUUID()}`;
  const calls: [string, object][] = [];
  open.set(workflowId, { row, calls });
  const input = row.workflow === 'autoSync' ? row.input : { ...ofRun(row), ...row.input };
  const handle = await client.workflow.start(row.workflow, { taskQueue, workflowId, args: [input] });
  const ended: unknown = await handle.result().then(
    (result: unknown) => ({ result: result ?? null }),
    () => ({}),
  );
  const expected = row.calls.map(([name, fields = {}]): [string, object] => [
    name,
    name === 'acceptPass' ? fields : { ...ofRun(row), ...fields },
  ]);
  const ordered = (made: readonly [string, object][]) =>
    row.inAnyOrder ? made.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))) : made;
  expect(ordered(calls)).toEqual(ordered(expected));
  expect(ended).toEqual('result' in row ? { result: row.result } : {});
};
const eachOf = (rows: readonly Row[]) =>
  everyRow(rows, ({ workflow, what }) => `${workflow} ${what}`, checkRow, { atOnce: 4 });

test('an ingest run discovers its files, ingests them batch by batch, and ends according to the results of its steps', () =>
  eachOf(INGESTS));
test('a listing reads page by page, deletes missing files, and ends with the step for its outcome', () =>
  eachOf(LISTINGS));
test('a workflow in batches repeats its steps until no work is left, and ends with the step for its outcome', () =>
  eachOf(BATCHES));
test('connections and scheduled syncs call their steps in order, and end with the step for their outcome', () =>
  eachOf(OTHERS));
test('uploads are ingested batch by batch', () => eachOf(UPLOADS));
test('deliveries continue batch by batch until one ends the workflow, and miss no new event', () => eachOf(DELIVERIES));
