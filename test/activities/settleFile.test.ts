import { expect, test } from '@jest/globals';

import { newAttemptCost } from '../../activities/ingest/prepare/attemptCost.js';
import { createSettling } from '../../activities/ingest/settleFile.js';
import { Fault, FAULTS, type FaultKind } from '../../contract/failures.js';
import type { FileDoc } from '../../store/files/model.js';
import { everyRow } from '../support/everyRow.js';
import { recorder } from '../support/recorder.js';

/** How a try of a file ends at a fault, by its kind, the tries that are left, and what the file is. */
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
  const begun = Date.now();
  const fault = new Fault(kind, 'It failed.', retryAfterMs === undefined ? {} : { retryAfterMs });
  const attempt = { ...newAttemptCost('read'), bytes: 5, tokens: 6, reused: 7 };
  await createSettling(deps).settle(7, { file: fileOf(fields), generation }, fault, attempt);
  const end = calls.findLast(({ name }) => name.startsWith('files.'));
  /** Milliseconds from now, as the last call says it. */
  const waits = end?.args.flatMap((one) => (one instanceof Date ? [one.getTime() - begun] : []))[0] ?? null;
  return { end: end?.name ?? null, args: end?.args ?? [], waits, names, of };
}

test('a fault that trying again can help is tried as often as there are delays; any other, and the last, ends the file', async () => {
  const kinds = (Object.keys(FAULTS) as FaultKind[]).filter((kind) => !['no_room', 'rate_limited'].includes(kind));
  await everyRow(kinds, String, async (kind) => {
    const ends = await Promise.all([0, 1, 2].map((attempts) => settle(kind, { attempts })));
    const again = FAULTS[kind].retryable;
    expect(ends.map(({ end }) => end)).toEqual(
      again ? ['files.requeue', 'files.requeue', 'files.fail'] : Array(3).fill('files.fail'),
    );
    if (again) {
      expect(ends[0]!.waits).toBeGreaterThanOrEqual(1_000);
      expect(ends[0]!.waits).toBeLessThan(50_000);
      expect(ends[1]!.waits).toBeGreaterThanOrEqual(60_000);
      expect(ends[0]!.names()).toEqual(['files.requeue']);
    }
    const [runId, fileId, message, ended, isGone] = ends[2]!.args;
    expect([runId, fileId, message]).toEqual([7, 3, 'It failed.']);
    expect(ended).toEqual({ as: 'failed', stage: 'read', cause: kind, bytes: 5, tokens: 6, reused: 7 });
    expect(isGone).toBe(kind === 'not_found' || kind === 'gone');
  });
});

/** What a rate limit does to a file, and how long it waits. */
const LIMITED: [
  what: string,
  file: Partial<FileDoc>,
  retryAfterMs: number | undefined,
  end: string,
  atLeast: number,
  counts: boolean,
][] = [
  ['of a site, that says when', {}, 90_000, 'files.limit', 90_000, true],
  ['of a site, sooner than our own delay', { attempts: 1 }, 10, 'files.limit', 60_000, true],
  ['of a site, that says nothing', {}, undefined, 'files.limit', 1_000, true],
  ['of a site, at the last try', { attempts: 2 }, 90_000, 'files.fail', 0, true],
  ['of an account, that says when', ofAccount, 90_000, 'files.limit', 90_000, false],
  ['of an account, at the last try', { ...ofAccount, attempts: 2 }, 90_000, 'files.limit', 90_000, false],
  ['of an account, that says nothing', ofAccount, undefined, 'files.limit', 1_000, true],
  [
    'of an account, that says nothing, at the last try',
    { ...ofAccount, attempts: 2 },
    undefined,
    'files.fail',
    0,
    true,
  ],
];

test('a rate limit is waited out for as long as it says; that of an account is no try of the file', async () => {
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

test('a pause that the other side asks for is kept where it is longer than ours', async () => {
  const [longer, shorter] = [await settle('server_error', {}, 90_000), await settle('server_error', {}, 10)];
  expect(longer.waits).toBeGreaterThanOrEqual(90_000);
  expect(shorter.waits).toBeGreaterThanOrEqual(1_000);
  expect(shorter.waits).toBeLessThan(50_000);
});

test('a file for which there is no room is held back, and has not failed', async () => {
  const settled = await settle('no_room', { attempts: 9 });
  expect([settled.end, settled.args.slice(0, 3)]).toEqual(['files.delay', [7, 3, 'It failed.']]);
  expect(settled.of('files.fail')).toEqual([]);
});

/** What was only looked at, and how it ends. */
const LOOKS: [what: string, kind: FaultKind, file: Partial<FileDoc>, end: string][] = [
  ['its account takes no credentials', 'access_revoked', {}, 'files.endLook'],
  ['it is gone, as is known of what was had back', 'not_found', { restoredAt: new Date() }, 'files.endLook'],
  ['it is gone for good, as is known of what was had back', 'gone', { restoredAt: new Date() }, 'files.endLook'],
  ['it is gone', 'not_found', {}, 'files.fail'],
  ['it is refused', 'access_denied', { restoredAt: new Date() }, 'files.fail'],
];

test('what was only looked at stays as it is where its fault is no news of the file', async () => {
  await everyRow(
    LOOKS,
    ([what]) => what,
    async ([_what, kind, file, end]) => {
      expect((await settle(kind, { ...file, syncStatus: 'EVALUATING_RESYNC' })).end).toBe(end);
      expect((await settle(kind, file)).end).toBe('files.fail');
    },
  );
});

test('what the try wrote is deleted, of its own generation alone', async () => {
  const { of } = await settle('not_found');
  expect(of('contents.deleteGenerations')).toEqual([
    [[{ organizationId: 1, userId: 2, fileId: 3, generations: { exactly: 1 } }]],
  ]);
  expect((await settle('server_error')).of('contents.deleteGenerations')).toEqual([]);
});

test('a content is noted as one that brings readers down from the third death on', async () => {
  const crash = async (unfinishedStarts: number, kind: FaultKind = 'quarantined') =>
    (await settle(kind, { unfinishedStarts, original: { sha256: 'hash' } as never })).of('files.noteCrash');
  expect(await crash(3)).toEqual([]);
  expect(await crash(4)).toEqual([[7, 3, 'hash']]);
  expect(await crash(4, 'not_found')).toEqual([]);
});
