import { expect, test } from '@jest/globals';

import * as workflows from '../../workflows/index.js';
import { everyRow } from '../support/everyRow.js';
import {
  activityNames,
  beats,
  callActivity,
  isFirstWayWith,
  lanes,
  testWorkflows,
} from '../support/workflows/trials.js';
import { type Step, TESTED_ELSEWHERE, WAYS, type Workflow } from '../support/workflows/ways.js';

/** Ways whose run lists what a data source, a site or a feed holds: the record must leave its motion at whatever step the run is cancelled. */
const LISTINGS = ['listing of an account', 'sync of an account', 'scrape', 'crawl', 'feed'];

/**
 * Every workflow once undisturbed, with its first step failing once, and listings cancelled at each step;
 * test/system/kills/steps.test.ts has every step of every workflow.
 */
testWorkflows((name, step) => [
  ...(WAYS[name]?.steps[0] === step ? [{ does: 'fail', when: 'after' } as const] : []),
  ...(LISTINGS.includes(name) && isFirstWayWith(step, name) ? [{ does: 'cancel', when: 'before' } as const] : []),
]);

test('every workflow is in the table', () => {
  const known = [...Object.values(WAYS).map(({ workflow }) => workflow), ...TESTED_ELSEWHERE];
  expect(new Set(known)).toEqual(new Set(Object.keys(workflows)));
});

/** Temporal serves fairness keys in turn: what has the key of deletes does not wait behind an ingest of the same user. */
const LANES: Readonly<Record<Workflow, 'work' | 'deletes' | 'none'>> = {
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
  // A schedule starts it. Its steps are short, and its parts have the key of their user.
  autoSync: 'none',
};

test('steps of workflows that delete never wait behind an ingest of their user, and no others pass it', () =>
  everyRow(
    Object.entries(LANES) as [Workflow, string][],
    ([workflow]) => workflow,
    ([workflow, lane]) => expect([...(lanes.get(workflow) ?? [])]).toEqual([lane]),
  ));

/** Two heartbeats fit into the timeout, so that one may be late on a loaded machine. */
test('every step with a heartbeat timeout heartbeats by a timer, twice within the timeout of its workflow', () =>
  everyRow(
    [...beats],
    ([step]) => step,
    ([, { everyMs, timeoutMs }]) => expect(everyMs).toBeLessThanOrEqual(timeoutMs / 2),
  ));

/** Activities that work for no single run. */
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

test('an activity whose run has no row has nothing to do, or fails in a way that is not retried', async () => {
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
      // Of a connection, the row of its attempt is missing first.
      expect([null, { type: 'RunMissing', nonRetryable: true }, { kind: 'gone', retryable: false }]).toContainEqual(
        error,
      );
    },
  );
});
