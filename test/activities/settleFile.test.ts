import { expect, test } from '@jest/globals';

import { newAttemptCost } from '../../activities/ingest/prepare/attemptCost.js';
import { createSettling } from '../../activities/ingest/settleFile.js';
import { Fault, FAULTS, type FaultKind } from '../../contract/failures.js';
import type { FileDoc } from '../../store/models/files.js';
import { everyRow } from '../support/everyRow.js';
import { recorder } from '../support/recorder.js';
import { createAdmission } from '../../activities/ingest/admission.js';
import { faultOf } from '../support/faultOf.js';

/** Configured delays of retries, in milliseconds. */
const DELAYS = [1_000, 60_000];
const fileOf = (fields: Partial<FileDoc> = {}): FileDoc =>
  ({
    ...{ _id: 3, organizationId: 1, userId: 2, requestId: 'r', source: 'WEB_SCRAPE', dataSourceId: null },
    ...{ attempts: 0, unfinishedStarts: 1, generation: 0, lastGeneration: 1, syncStatus: 'SYNCING', restoredAt: null },
    ...{ original: null },
    ...fields,
  }) as FileDoc;
const ofAccount = { source: 'GOOGLE_DRIVE', dataSourceId: 9 } as const;

async function settle(kind: FaultKind, fields: Partial<FileDoc> = {}, retryAfterMs?: number, generation = 1) {
  const { stores, calls, names, of } = recorder();
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined };
  const deps = { store: stores, settings: { retryDelaysMs: DELAYS }, log } as never;
  const startedAt = Date.now();
  const fault = new Fault(kind, 'It failed.', retryAfterMs === undefined ? {} : { retryAfterMs });
  const attempt = { ...newAttemptCost('read'), bytes: 5, tokens: 6, reused: 7 };
  await createSettling(deps).settle(7, { file: fileOf(fields), generation }, fault, attempt);
  const lastCall = calls.findLast(({ name }) => name.startsWith('files.'));
  /** Delay in milliseconds passed to the last call. */
  const waits = lastCall?.args.flatMap((arg) => (arg instanceof Date ? [arg.getTime() - startedAt] : []))[0] ?? null;
  return { end: lastCall?.name ?? null, args: lastCall?.args ?? [], waits, names, of };
}

test('retries a retryable fault once per configured delay; fails the file after any other fault and after the last attempt', async () => {
  const kinds = (Object.keys(FAULTS) as FaultKind[]).filter((kind) => !['no_room', 'rate_limited'].includes(kind));
  await everyRow(kinds, String, async (kind) => {
    const results = await Promise.all([0, 1, 2].map((attempts) => settle(kind, { attempts })));
    const isRetryable = FAULTS[kind].retryable;
    expect(results.map(({ end }) => end)).toEqual(
      isRetryable ? ['files.requeue', 'files.requeue', 'files.fail'] : Array(3).fill('files.fail'),
    );
    if (isRetryable) {
      expect(results[0]!.waits).toBeGreaterThanOrEqual(1_000);
      expect(results[0]!.waits).toBeLessThan(50_000);
      expect(results[1]!.waits).toBeGreaterThanOrEqual(60_000);
      expect(results[0]!.names()).toEqual(['files.requeue']);
    }
    const [runId, fileId, message, ended, isGone] = results[2]!.args;
    expect([runId, fileId, message]).toEqual([7, 3, 'It failed.']);
    expect(ended).toEqual({ as: 'failed', stage: 'read', cause: kind, bytes: 5, tokens: 6, reused: 7 });
    expect(isGone).toBe(kind === 'not_found' || kind === 'gone');
  });
});

/** Effect of a rate limit on a file, minimum delay in milliseconds, and whether it counts as an attempt. */
const LIMITED: [
  what: string,
  file: Partial<FileDoc>,
  retryAfterMs: number | undefined,
  end: string,
  atLeast: number,
  counts: boolean,
][] = [
  ['of a site, with Retry-After', {}, 90_000, 'files.limit', 90_000, true],
  ['of a site, Retry-After shorter than our own delay', { attempts: 1 }, 10, 'files.limit', 60_000, true],
  ['of a site, without Retry-After', {}, undefined, 'files.limit', 1_000, true],
  ['of a site, at the last attempt', { attempts: 2 }, 90_000, 'files.fail', 0, true],
  ['of an account, with Retry-After', ofAccount, 90_000, 'files.limit', 90_000, false],
  ['of an account, at the last attempt', { ...ofAccount, attempts: 2 }, 90_000, 'files.limit', 90_000, false],
  ['of an account, without Retry-After', ofAccount, undefined, 'files.limit', 1_000, true],
  [
    'of an account, without Retry-After, at the last attempt',
    { ...ofAccount, attempts: 2 },
    undefined,
    'files.fail',
    0,
    true,
  ],
];

test('waits at least Retry-After; an account limit with Retry-After does not count as an attempt', async () => {
  await everyRow(
    LIMITED,
    ([what]) => what,
    async ([_what, file, retryAfterMs, end, atLeast, counts]) => {
      const settled = await settle('rate_limited', file, retryAfterMs);
      expect(settled.end).toBe(end);
      if (end === 'files.fail') return;
      expect(settled.waits).toBeGreaterThanOrEqual(atLeast);
      expect(settled.waits).toBeLessThan(atLeast + 50_000);
      expect(settled.args.at(-1)).toBe(counts);
      expect(settled.args[3]).toMatch(/^It failed\. It continues automatically at \d{4}-/);
    },
  );
});

test('uses Retry-After if it is longer than our own delay', async () => {
  const [longer, shorter] = [await settle('server_error', {}, 90_000), await settle('server_error', {}, 10)];
  expect(longer.waits).toBeGreaterThanOrEqual(90_000);
  expect(shorter.waits).toBeGreaterThanOrEqual(1_000);
  expect(shorter.waits).toBeLessThan(50_000);
});

test('delays a file that exceeds a limit, without failing it', async () => {
  const settled = await settle('no_room', { attempts: 9 });
  expect([settled.end, settled.args.slice(0, 3)]).toEqual(['files.delay', [7, 3, 'It failed.']]);
  expect(settled.of('files.fail')).toEqual([]);
});

/** Faults while checking a file for changes, and the call that ends the check. */
const CHECKS: [what: string, kind: FaultKind, file: Partial<FileDoc>, end: string][] = [
  ['access to its account was revoked', 'access_revoked', {}, 'files.endEvaluation'],
  ['not found, as expected of a restored file', 'not_found', { restoredAt: new Date() }, 'files.endEvaluation'],
  ['gone, as expected of a restored file', 'gone', { restoredAt: new Date() }, 'files.endEvaluation'],
  ['not found', 'not_found', {}, 'files.fail'],
  ['access denied', 'access_denied', { restoredAt: new Date() }, 'files.fail'],
];

test('a check for changes keeps the state of a file after lost access, or if a restored file is missing', async () => {
  await everyRow(
    CHECKS,
    ([what]) => what,
    async ([_what, kind, file, end]) => {
      expect((await settle(kind, { ...file, syncStatus: 'EVALUATING_RESYNC' })).end).toBe(end);
      expect((await settle(kind, file)).end).toBe('files.fail');
    },
  );
});

test('deletes the data of an attempt that is not retried, and no other generation', async () => {
  const { of } = await settle('not_found');
  expect(of('contents.deleteGenerations')).toEqual([
    [[{ organizationId: 1, userId: 2, fileId: 3, generations: { exactly: 1 } }]],
  ]);
  expect((await settle('server_error')).of('contents.deleteGenerations')).toEqual([]);
});

test('records the hash of a content after three crashes during its ingest, not after two', async () => {
  // The current start counts, too: four unfinished starts are three crashes.
  const crash = async (unfinishedStarts: number, kind: FaultKind = 'quarantined') =>
    (await settle(kind, { unfinishedStarts, original: { sha256: 'hash' } as never })).of('files.recordCrash');
  expect(await crash(3)).toEqual([]);
  expect(await crash(4)).toEqual([[7, 3, 'hash']]);
  expect(await crash(4, 'not_found')).toEqual([]);
});

test('a text above a total limit of its user waits, and one above a limit per file or upload fails', async () => {
  const kinds: Readonly<Record<string, FaultKind>> = {
    ...{ max_files: 'no_room', max_characters: 'no_room', max_files_per_upload: 'over_limit' },
    ...{ max_characters_per_file: 'over_limit', max_characters_per_upload: 'over_limit' },
  };
  let exceeded: string | null = null;
  const { stores, of } = recorder({ 'limits.get': 'limits', 'limits.admit': () => exceeded });
  const admit = createAdmission(stores);
  const file = { _id: 3, organizationId: 1, userId: 2, runId: 7 } as never;
  await admit(file, 10);
  const request = { organizationId: 1, userId: 2, runId: 7, fileId: 3, characters: 10 };
  expect(of('limits.admit')).toEqual([[request, 'limits']]);
  for (const [limit, kind] of Object.entries(kinds)) {
    exceeded = limit;
    const fault = await faultOf(admit(file, 10), kind);
    expect(fault.message).toContain(`The file has 10 characters, more than the user's limit ${limit} still allows`);
  }
  // The limits are read once per batch.
  expect(of('limits.get')).toHaveLength(1);
});
