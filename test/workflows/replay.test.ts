import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from '@jest/globals';
import type { WorkerOptions } from '@temporalio/worker';

import { loadProduct } from '../support/product.js';
import { everyRow } from '../support/everyRow.js';
import { quietTemporal } from '../support/quietTemporal.js';
import { NO_TRACING } from '../../observability/tracing.js';
import { traceSinks } from '../../worker/traces.js';
import * as workflows from '../../workflows/index.js';

const FOLDER = fileURLToPath(new URL('./histories/', import.meta.url));
const histories = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
type Bundle = NonNullable<WorkerOptions['workflowBundle']>;
/** The production bundle with the tracing interceptors, and one without. Histories must replay with both. */
const bundles: Record<'with' | 'without', Bundle | null> = {
  with: { codePath: fileURLToPath(new URL('../../dist/workflow-bundle.js', import.meta.url)) },
  without: null,
};

beforeAll(async () => {
  await quietTemporal();
  const { sdk } = await loadProduct();
  bundles.without = await sdk.bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../workflows/index.ts', import.meta.url)),
  });
});

const read = (name: string): unknown => JSON.parse(readFileSync(path.join(FOLDER, name), 'utf8'));
const optionsOf = (traces: keyof typeof bundles) => ({
  workflowBundle: bundles[traces]!,
  sinks: traceSinks(NO_TRACING),
});

test('every workflow has a recorded history', () =>
  everyRow(Object.keys(workflows), String, (workflow) =>
    expect(histories.filter((name) => name.startsWith(`${workflow}.`))).not.toEqual([]),
  ));

test.each(['with', 'without'] as const)(
  'every recorded history still replays, %s the interceptors for traces',
  async (traces) => {
    /** Error of each replayed history, null if it succeeded. */
    const replayed = new Map<string, unknown>();
    // One worker replays all histories, because creating a worker takes most of the time.
    const recorded = histories.map((name) => ({ workflowId: name, history: read(name) }));
    const { Worker } = (await loadProduct()).sdk;
    for await (const { workflowId, error } of Worker.runReplayHistories(optionsOf(traces), recorded))
      replayed.set(workflowId, error ?? null);
    await everyRow(histories, String, (name) => expect(replayed.get(name)).toBeNull());
  },
);

test('a history with other commands does not replay', async () => {
  const name = histories.find((history) => history === 'scrapeSitemap.finished.json') ?? '';
  const altered = JSON.parse(
    JSON.stringify(read(name)).replaceAll('"discoverPages"', '"discoverSomethingElse"'),
  ) as unknown;
  const { Worker } = (await loadProduct()).sdk;
  await expect(Worker.runReplayHistory(optionsOf('with'), altered)).rejects.toThrow(/TMPRL1100|nondetermin/i);
});
