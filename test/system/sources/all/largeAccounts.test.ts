/**
 * Quotas of providers, tested with small accounts on a virtual clock. test/long/largeAccounts.test.ts syncs the full
 * sizes, and kills the syncing processes.
 */
import { expect, test } from '@jest/globals';

import { LARGE_ACCOUNTS, type LargeRow } from '../../../emulators/large/index.js';
import type { LargeAccount } from '../../../emulators/large/largeAccount.js';
import {
  BEGIN,
  type ListedFile,
  listVirtually,
  noFigures,
  openVirtually,
  readVirtually,
  type SyncStore,
  FILES_AT_ONCE,
} from '../../../support/largeAccounts/sync.js';
import { everyRow } from '../../../support/everyRow.js';
import { VirtualClock } from '../../../support/largeAccounts/virtualClock.js';

const START = Date.parse('2026-11-27T00:00:00Z');
const MINUTE_MS = 60_000;
/** Retry-After is rounded to seconds, and a wait without Retry-After lasts at most ten seconds. */
const ROUNDING_MS = 10_000;
/** Numbers of the requests at which the sync is aborted. */
const ABORTS = [5, 12, 23];

interface MemoryStore extends SyncStore {
  /** Number of times that each file was listed, and read. */
  readonly listed: Map<string, number>;
  readonly read: Map<string, number>;
}

const countUp = (counts: Map<string, number>, id: string): void => void counts.set(id, (counts.get(id) ?? 0) + 1);
const repeated = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((sum, count) => sum + count - 1, 0);

function createMemoryStore(): MemoryStore {
  const files = new Map<string, ListedFile>();
  const listed = new Map<string, number>();
  const read = new Map<string, number>();
  let progress = BEGIN;
  return {
    ...{ listed, read },
    get progress() {
      return progress;
    },
    add(added) {
      for (const file of added) {
        countUp(listed, file.id);
        files.set(file.id, file);
      }
    },
    save: (checkpoint) => void ({ progress } = checkpoint),
    unread: () => [...files.values()].filter(({ id }) => !read.has(id)),
    markRead: (id) => countUp(read, id),
  };
}

/** Syncs with a new connector until the sync is complete, or aborted at a request. Returns whether it is complete. */
async function syncUntil(
  large: LargeAccount,
  store: MemoryStore,
  { reads, abortAt, figures }: { reads: boolean; abortAt: number; figures: ReturnType<typeof noFigures> },
): Promise<boolean> {
  const clock = new VirtualClock(Math.max(START, large.quota.latest + 1000));
  const { account, close } = openVirtually(large, clock);
  const abort = new AbortController();
  large.quota.onRequest = (number) => {
    if (number >= abortAt) abort.abort(new Error('aborted'));
  };
  try {
    await listVirtually(account, clock, store, { figures, signal: abort.signal });
    if (reads) await readVirtually(account, clock, store, { figures, signal: abort.signal });
    return true;
  } catch (error) {
    if (!abort.signal.aborted) throw error;
    return false;
  } finally {
    await close();
  }
}

/** Lists the account again after a complete sync. Returns the number of requests. */
async function requestsOfNext(large: LargeAccount, { progress }: SyncStore): Promise<number> {
  const { quota } = large;
  const before = quota.calls + quota.refused;
  const clock = new VirtualClock(quota.latest + MINUTE_MS);
  const { account, close } = openVirtually(large, clock);
  const { nextChangeToken: token = null } = progress;
  const { signal } = new AbortController();
  quota.onRequest = () => undefined;
  const changeToken = token === null ? {} : { changeToken: token };
  await listVirtually(account, clock, createMemoryStore(), { figures: noFigures(), signal, ...changeToken });
  await close();
  return quota.calls + quota.refused - before;
}

async function checkAccount({ start, smallSize, readsContents, periodMs, maxPageFiles }: LargeRow): Promise<void> {
  const large = await start(smallSize);
  const { quota } = large;
  try {
    const store = createMemoryStore();
    const figures = noFigures();
    let interruptions = 0;
    let listing = 0;
    for (;;) {
      const abortAt = ABORTS[interruptions] ?? Number.POSITIVE_INFINITY;
      const isOver = await syncUntil(large, store, { reads: false, abortAt, figures });
      listing = quota.calls + quota.refused;
      if (isOver) break;
      interruptions += 1;
    }
    // After an abort between two checkpoints, the sync repeats one page and no earlier one.
    expect(store.listed.size).toBe(large.files);
    expect(repeated(store.listed)).toBeLessThanOrEqual(interruptions * maxPageFiles);
    expect(interruptions).toBeGreaterThan(0);
    if (readsContents) {
      const abortAt = listing + 10;
      expect(await syncUntil(large, store, { reads: true, abortAt, figures })).toBe(false);
      expect(await syncUntil(large, store, { reads: true, abortAt: Number.POSITIVE_INFINITY, figures })).toBe(true);
      expect(store.read.size).toBe(large.files);
      expect(repeated(store.read)).toBeLessThanOrEqual(FILES_AT_ONCE);
    }
    expect(figures.longestWorkMs).toBeLessThanOrEqual(MINUTE_MS);
    expect(figures.longestMs - figures.longestWorkMs).toBeLessThanOrEqual(periodMs + ROUNDING_MS);
    expect(await requestsOfNext(large, store)).toBeLessThanOrEqual(listing);
  } finally {
    await large.close();
  }
}

test('syncs an account within its quota, with a checkpoint after at most a minute of work, and continues after a crash', () =>
  everyRow(LARGE_ACCOUNTS, ({ name }) => name, checkAccount));
