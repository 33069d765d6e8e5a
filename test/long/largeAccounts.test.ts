/**
 * Syncs of large accounts within the published quotas of their providers, on a virtual clock. The syncing
 * process is killed three times; a new process continues from the last checkpoint.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

import { LARGE_ACCOUNTS, type LargeRow } from '../emulators/large/index.js';
import type { LargeAccount } from '../emulators/large/largeAccount.js';
import { linesOf, LISTED, READ, readCheckpoint } from '../support/largeAccounts/folderStore.js';
import { FILES_AT_ONCE } from '../support/largeAccounts/sync.js';
import type { ChildReport, ChildSync } from '../support/largeAccounts/syncChild.js';

const CHILD = fileURLToPath(new URL('../support/largeAccounts/syncChild.ts', import.meta.url));
const BEGUN = Date.parse('2026-11-27T00:00:00Z');
/** Virtual time (ms) between a kill and the restart. */
const RESTART_MS = 5_000;
/** The syncing process is killed after these fractions of the requests of a whole sync. */
const KILLED_AT = [0.01, 0.4, 0.8];
/** Tolerance for waits: Retry-After is in whole seconds, and a wait without Retry-After takes up to ten seconds. */
const ROUNDING_MS = 10_000;
/** Maximum working time (ms) that a kill may lose. */
const MINUTE_MS = 60_000;
/** Time limit of a test (ms). It is long because the Gmail mailbox takes 230,000 real requests. */
const HANG_MS = 60 * MINUTE_MS;

/**
 * Syncs an account in a process that is killed after each fraction of KILLED_AT and started again. Returns the report
 * of each part of the sync, with the number of requests until then.
 */
async function syncWithKills(large: LargeAccount, row: LargeRow, folder: string) {
  const { quota } = large;
  const requests = (): number => quota.calls + quota.refused;
  const reports = new Map<ChildReport['part'], ChildReport & { readonly requests: number; readonly refused: number }>();
  let kills = 0;
  let child: ChildProcess;
  const killAt = KILLED_AT.map((part) => Math.ceil(part * row.requests));
  quota.onRequest = (number) => {
    if (number < (killAt[kills] ?? Number.POSITIVE_INFINITY)) return;
    kills += 1;
    child.kill('SIGKILL');
  };
  for (let isOver = false; !isOver;) {
    const { source, settings, credentials } = large;
    const now = Math.max(BEGUN, quota.latest + RESTART_MS, readCheckpoint(folder)?.at ?? 0);
    const sync: ChildSync = { source, settings, credentials, folder, now, reads: row.readsContents };
    child = fork(CHILD, [JSON.stringify(sync)], { execArgv: ['--import', 'tsx'], stdio: 'inherit' });
    child.on('message', (report: ChildReport) => {
      // After a kill, the restarted process reports the finished listing again.
      if (report.part !== 'listed' || !reports.has('listed'))
        reports.set(report.part, { ...report, requests: requests(), refused: quota.refused });
      child.send('continue');
    });
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    if (code !== 0 && signal !== 'SIGKILL') throw new Error(`The sync ended with ${code ?? signal}`);
    isOver = code === 0;
  }
  return { reports, kills };
}

test.each(LARGE_ACCOUNTS)(
  '$name: stays within the quota, loses at most a minute of work by a kill, and syncs everything',
  async (row) => {
    const large = await row.start(row.size);
    const folder = await mkdtemp(path.join(tmpdir(), 'large-account-'));
    try {
      const { reports, kills } = await syncWithKills(large, row, folder);
      expect(kills).toBe(KILLED_AT.length);
      const [listed, read, again] = (['listed', 'read', 'again'] as const).map((part) => reports.get(part)!);
      const { figures } = read!;
      const hours = ((read!.at - BEGUN) / 3_600_000).toFixed(2);
      process.stdout.write(
        `\n| ${[
          row.name,
          read!.requests - read!.refused,
          read!.refused,
          hours,
          figures.checkpoints,
          (figures.longestMs / 1000).toFixed(1),
          (figures.longestWorkMs / 1000).toFixed(1),
          Math.ceil(figures.largest / 1024),
          Math.round(figures.memory),
          again!.requests - read!.requests,
        ].join(' | ')} |\n`,
      );

      const files = linesOf(path.join(folder, LISTED)).map((line) => line.split('\t')[0]);
      expect(new Set(files).size).toBe(large.files);
      expect(files.length - large.files).toBeLessThanOrEqual(kills * row.maxPageFiles);
      if (row.readsContents) {
        const contents = linesOf(path.join(folder, READ));
        expect(new Set(contents).size).toBe(large.files);
        expect(contents.length - large.files).toBeLessThanOrEqual(kills * FILES_AT_ONCE);
      }
      expect(figures.longestWorkMs).toBeLessThanOrEqual(MINUTE_MS);
      expect(figures.longestMs - figures.longestWorkMs).toBeLessThanOrEqual(row.periodMs + ROUNDING_MS);
      expect(again!.requests - read!.requests).toBeLessThanOrEqual(listed!.requests);
    } finally {
      await large.close();
      await rm(folder, { recursive: true });
    }
  },
  HANG_MS,
);
