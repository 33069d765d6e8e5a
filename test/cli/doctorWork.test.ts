/** Tests of the checks of `doctor` for unfinished files, webhooks and data sources, with a simulated database. */
import { expect, test } from '@jest/globals';

import type { Check } from '../../cli/doctor/check.js';
import { workChecks } from '../../cli/doctor/work.js';
import type { Config } from '../../config/types.js';
import type { TemporalInspection } from '../../dispatch/inspect.js';
import type { Inspection, UnfinishedFiles } from '../../store/overview/inspection.js';

const CONFIG = { secretKeys: [{ id: 'k', key: Buffer.alloc(32) }], reapIntervalMs: 5_000 } as unknown as Config;
const DOWN = { qdrant: null, temporal: null };

/** Returns the checks that have this name. `found` replaces methods of an inspection that finds nothing. */
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

/**
 * Number of failing webhooks and of failing data sources, number of checks of each, and what the last check of data
 * sources and the last check of webhooks say.
 */
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

test('counts the runs that have waited in the outbox for more than a minute', async () => {
  const limits: number[] = [];
  const outboxOf = (waiting: number) =>
    checksOf('outbox', { unstarted: async (before: Date) => waiting + 0 * limits.push(Date.now() - before.getTime()) });
  expect(await outboxOf(0)).toMatchObject([{ state: 'ok' }]);
  expect(await outboxOf(3)).toMatchObject([{ state: 'warn', found: expect.stringMatching(/^3 runs have waited/) }]);
  expect(limits.map((ms) => Math.round(ms / 10_000))).toEqual([6, 6]);
});

test('reports secrets that no key decrypts', async () => {
  const secretsOf = (opened: number, broken: number) =>
    checksOf('SECRET_KEY', { openSecrets: async () => ({ opened, broken, why: 'no key k2' }) });
  expect(await secretsOf(3, 0)).toMatchObject([{ state: 'ok', found: 'decrypts all 3 stored secrets' }]);
  expect(await secretsOf(3, 1)).toMatchObject([
    { state: 'bad', found: '1 of 4 secrets cannot be decrypted: no key k2' },
  ]);
});

/** A failing data source, and what the check says. */
test.each<[object, string]>([
  [{ revokedAccess: true, metadata: { deletions_held: 2 } }, 'access to data source 7 (BOX of ada) was lost'],
  [{ metadata: { deletions_held: 2 } }, 'data source 7 (BOX of ada) has 2 held deletions'],
  [{ metadata: { deletions_held: 0, items_error: 'a', files_error: 'b' } }, 'data source 7 (BOX of ada): a'],
  [{ metadata: { files_error: 'b' } }, 'data source 7 (BOX of ada): b'],
  [{ metadata: {} }, 'data source 7 (BOX of ada): its last sync failed'],
])('states why a data source needs attention: %j', async (fields, found) => {
  const failing = { ...source(7), revokedAccess: false, ...fields };
  const checks = await checksOf('data sources', { failingSources: async () => [failing] } as unknown as Inspection);
  expect(checks).toMatchObject([{ state: 'warn', found }]);
});

test('groups stalled runs by their cause, with the first five of each', async () => {
  const stalled = (run: number, cause: string) => ({ run: { _id: run }, stall: { cause, message: `${cause}. Do x` } });
  const found = [...[1, 2, 3, 4, 5, 6].map((run) => stalled(run, 'no_worker')), stalled(7, 'busy')];
  const temporal = { stalled: async () => found, isAlive: async () => true };
  expect(await checksOf('stalled runs', {}, temporal)).toMatchObject([
    { state: 'bad', found: '6 (run 1, 2, 3, 4, 5, …): no_worker', fix: 'Do x' },
    { state: 'bad', found: '1 (run 7): busy', fix: 'Do x' },
  ]);
  expect(await checksOf('stalled runs', {})).toMatchObject([{ state: 'skipped' }]);
  expect(await checksOf('stalled runs', {}, { stalled: async () => [] })).toMatchObject([{ state: 'ok' }]);
});
