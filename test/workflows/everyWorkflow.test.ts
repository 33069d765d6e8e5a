import { expect, test } from '@jest/globals';

import * as workflows from '../../workflows/index.js';
import { everyRow } from '../support/everyRow.js';
import { beats, isFirstWayWith, lanes, testWorkflows } from '../support/workflows/trials.js';
import { TESTED_ELSEWHERE, WAYS, type Workflow } from '../support/workflows/ways.js';

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
