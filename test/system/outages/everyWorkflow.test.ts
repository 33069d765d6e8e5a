import { expect, test } from '@jest/globals';

import * as workflows from '../../../workflows/index.js';
import { everyRow } from '../../support/everyRow.js';
import {
  activityNames,
  heartbeatIntervals,
  callActivity,
  called,
  isFirstScenarioWith,
  usedFairnessKeys,
  testWorkflows,
} from '../../support/workflows/trials.js';
import { type Step, TESTED_ELSEWHERE, SCENARIOS, type Workflow } from '../../support/workflows/scenarios.js';

/**
 * Scenarios that set a data source or a container to SYNCING while they list its contents. They also run with
 * cancellations: a cancelled run must end that status.
 */
const CANCELLED = ['listing of an account', 'scrape'];

/** Scenarios of the part that several workflows share (workflows/ingestRun.ts), which a scrape runs here. */
const LIKE_A_SCRAPE = [
  'crawl from a missing page',
  'cancelled crawl',
  'broken resync',
  'cancelled resync',
  'cancelled sync of an account',
];

/**
 * Every scenario runs without faults, except those in LIKE_A_SCRAPE. If no earlier scenario contains the first step of
 * a scenario, that scenario also runs with a failure after this step. The scenarios in CANCELLED also run with a
 * cancellation before each step that no earlier scenario contains. The step ingestBatch is omitted, because the
 * scenario 'cancelled scrape' is cancelled there.
 * test/long/steps.test.ts injects faults at every step of every scenario.
 */
testWorkflows(
  (name, step) => [
    ...(SCENARIOS[name]?.steps[0] === step && isFirstScenarioWith(step, name)
      ? [{ does: 'fail', when: 'after' } as const]
      : []),
    ...(CANCELLED.includes(name) && isFirstScenarioWith(step, name) && step !== 'ingestBatch'
      ? [{ does: 'cancel', when: 'before' } as const]
      : []),
  ],
  LIKE_A_SCRAPE,
);

test('every workflow is in SCENARIOS or in TESTED_ELSEWHERE', () => {
  const listed = [...Object.values(SCENARIOS).map(({ workflow }) => workflow), ...TESTED_ELSEWHERE];
  expect(new Set(listed)).toEqual(new Set(Object.keys(workflows)));
});

test('SCENARIOS lists every step that the workflows called in the tests above', () => {
  const listed = Object.values(SCENARIOS).flatMap(({ workflow, steps, testedElsewhere = [] }) =>
    [...steps, ...testedElsewhere].map((step) => `${workflow}: ${step}`),
  );
  expect(listed).toEqual(expect.arrayContaining([...called]));
});

/** Temporal dispatches tasks by fairness key in turn, so a delete does not wait for an ingest of the same user. */
const FAIRNESS_KEYS: Readonly<Record<Workflow, 'work' | 'deletes' | 'none'>> = {
  scrapeSitemap: 'work',
  webScrape: 'work',
  syncFeed: 'work',
  syncUpload: 'work',
  drainUploads: 'work',
  connectByConsent: 'work',
  syncItems: 'work',
  syncSource: 'work',
  resyncFile: 'work',
  deleteFiles: 'deletes',
  deleteUser: 'deletes',
  recountFiles: 'work',
  updateTags: 'work',
  reembedFiles: 'work',
  moveStorage: 'work',
  settleQuarantine: 'deletes',
  // A schedule starts autoSync without a fairness key. Its own steps are short; the runs that it starts have keys.
  autoSync: 'none',
};

test('the steps of each workflow run with the expected fairness key', () =>
  everyRow(
    Object.entries(FAIRNESS_KEYS) as [Workflow, string][],
    ([workflow]) => workflow,
    ([workflow, fairnessKey]) => expect([...(usedFairnessKeys.get(workflow) ?? [])]).toEqual([fairnessKey]),
  ));

/** At least two heartbeats per timeout, so that one may be late on a busy machine. */
test('every step with a heartbeat timeout sends heartbeats by a timer, at least two per timeout', () =>
  everyRow(
    [...heartbeatIntervals],
    ([step]) => step,
    ([, { everyMs, timeoutMs }]) => expect(everyMs).toBeLessThanOrEqual(timeoutMs / 2),
  ));

/** Activities that belong to no single run. */
const OF_NO_RUN: readonly Step[] = [
  'acceptPass',
  'deliverBatch',
  'planUploads',
  'ingestUploads',
  'failUploads',
  'abortUploads',
];
/** Larger than any id. */
const NO_RUN = Number.MAX_SAFE_INTEGER;

test('an activity whose run has no record does nothing, or fails without retries', async () => {
  await everyRow(
    activityNames().filter((name) => !OF_NO_RUN.includes(name)),
    String,
    async (name) => {
      const input = { runId: NO_RUN, fileIds: [1], fileId: 1, afterId: 0, outcome: 'aborted', message: 'It ended.' };
      const error = await callActivity(name, input).then(
        () => null,
        ({ type, nonRetryable, kind, retryable }: Record<string, unknown>) =>
          kind === undefined ? { type, nonRetryable } : { kind, retryable },
      );
      // `gone`: the activities of a connection by consent need the record of a connection attempt, not of a run.
      expect([null, { type: 'RunMissing', nonRetryable: true }, { kind: 'gone', retryable: false }]).toContainEqual(
        error,
      );
    },
  );
});
