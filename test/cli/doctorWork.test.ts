/** Tests of the checks of `doctor` for unfinished files, webhooks and data sources, with a simulated database. */
import { expect, test } from '@jest/globals';

import type { Check } from '../../cli/doctor/check.js';
import { workChecks } from '../../cli/doctor/work.js';
import type { Config } from '../../config/types.js';
import type { TemporalInspection } from '../../dispatch/inspect.js';
import type { Inspection, UnfinishedFiles } from '../../store/overview/inspection.js';

const CONFIG = { secretKeys: [{ id: 'k', key: Buffer.alloc(32) }], reapIntervalMs: 5_000 } as unknown as Config;
const DOWN = { qdrant: null, temporal: null };

/** Returns the checks with a name. */
async function checksOf(name: string, found: Partial<Inspection>, temporal: object | null = null): Promise<Check[]> {
  const inspection = {
    workers: { list: async () => [] },
    openSecrets: async () => ({ opened: 0, broken: 0, why: null }),
    unfinishedFiles: async () => [],
    unstarted: async () => 0,
    failingWebhooks: async () => [],
    failingSources: async () => [],
    ...found,
  } as unknown as Inspection;
  const checks = await workChecks(CONFIG, inspection, temporal as TemporalInspection | null, DOWN);
  return checks.filter((check) => check.name === name);
}

const OWNERLESS = { runId: 1, files: 2, example: 3, run: null } as UnfinishedFiles;
const OWNED = { runId: 4, files: 5, example: 6, run: { _id: 4, startedAt: new Date(0) } } as UnfinishedFiles;

/** Unfinished files, whether their workflow exists (null: Temporal does not respond), and the expected states. */
test.each<[string, UnfinishedFiles[], boolean | null, Check['state'][]]>([
  ['without unfinished files', [], null, ['ok']],
  ['of a run, without Temporal', [OWNED], null, ['skipped']],
  ['of a run and of none, without Temporal', [OWNERLESS, OWNED], null, ['bad', 'skipped']],
  ['of no run, without Temporal', [OWNERLESS], null, ['bad']],
  ['of a run with a workflow', [OWNED], true, ['ok']],
  ['of a run without a workflow', [OWNED], false, ['warn']],
])('checks unfinished files: %s', async (_name, groups, isAlive, states) => {
  const temporal = isAlive === null ? null : { isAlive: async () => isAlive, stalled: async () => [] };
  const checks = await checksOf('unfinished files', { unfinishedFiles: async () => groups }, temporal);
  expect(checks.map(({ state }) => state)).toEqual(states);
});

const webhook = (nth: number) => ({ _id: nth, organizationId: 1, url: 'https://a.example', disabledAt: new Date(0) });
const source = (nth: number) => ({ _id: nth, type: 'BOX', customerId: 'ada', revokedAccess: true, metadata: {} });

/** Numbers of failing entries, and what the last check says. */
test.each([
  [5, 5, / was lost$/, /HTTP 410$/],
  [6, 6, /^1 more$/, /^1 more$/],
  [200, 6, /^195 more at least$/, /^195 more at least$/],
])('reports the first five of %d failing webhooks and data sources, and counts the others', async (...row) => {
  const [number, checks, lastSource, lastWebhook] = row;
  const found = {
    failingWebhooks: async () => Array.from({ length: number }, (_, nth) => webhook(nth)),
    failingSources: async () => Array.from({ length: number }, (_, nth) => source(nth)),
  } as unknown as Partial<Inspection>;
  const [webhooks, sources] = [await checksOf('webhooks', found), await checksOf('data sources', found)];
  expect([webhooks.length, sources.length]).toEqual([checks, checks]);
  expect(webhooks.at(-1)?.found).toMatch(lastWebhook);
  expect(sources.at(-1)?.found).toMatch(lastSource);
});
