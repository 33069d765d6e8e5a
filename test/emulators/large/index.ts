import { startLargeGmail } from './gmail.js';
import { startLargeGong } from './gong.js';
import { startLargeGoogleDrive } from './googleDrive.js';
import type { LargeAccount } from './largeAccount.js';
import { startLargeOneDrive } from './oneDrive.js';
import { startLargeMailbox } from './outlook.js';
import { MINUTE_MS, SECOND_MS } from './quota.js';
import { startLargeSlack } from './slack.js';

export interface LargeRow {
  /** What the account contains. */
  readonly name: string;
  readonly start: (size: number) => Promise<LargeAccount>;
  /** Full size, for the long tier. */
  readonly size: number;
  /** Number of requests that a sync of the full size takes at least, as measured. */
  readonly requests: number;
  /** A size that takes less than a second. */
  readonly moderate: number;
  /** Whether contents are read too: where reading has a quota of its own that the number of files can exceed. */
  readonly reads: boolean;
  /** Period of the quota that the sync uses up: a provider may ask to wait that long. */
  readonly periodMs: number;
  /** Files on the largest page of a listing: a crash lists at most these again. */
  readonly page: number;
}

/** Large accounts of sources with published quotas. */
export const LARGE_ACCOUNTS: readonly LargeRow[] = [
  {
    name: 'Gong: 5,000 calls',
    start: startLargeGong,
    size: 5_000,
    requests: 1_300,
    moderate: 300,
    reads: true,
    periodMs: SECOND_MS,
    page: 100,
  },
  {
    name: 'Slack: 20,000 quarter-hours',
    start: startLargeSlack,
    size: 20_000,
    requests: 5_000,
    moderate: 300,
    reads: true,
    periodMs: MINUTE_MS,
    page: 16,
  },
  {
    name: 'Outlook: 200,000 messages',
    start: startLargeMailbox,
    size: 200_000,
    requests: 24_000,
    moderate: 2_000,
    reads: false,
    periodMs: 10 * MINUTE_MS,
    page: 100,
  },
  {
    name: 'OneDrive: 500,000 items',
    start: startLargeOneDrive,
    size: 500_000,
    requests: 5_000,
    moderate: 5_000,
    reads: false,
    periodMs: 5 * MINUTE_MS,
    page: 200,
  },
  {
    name: 'Google Drive: 500,000 items',
    start: startLargeGoogleDrive,
    size: 500_000,
    requests: 500,
    moderate: 5_000,
    reads: false,
    periodMs: MINUTE_MS,
    page: 1_000,
  },
  {
    name: 'Gmail: 200,000 messages',
    start: startLargeGmail,
    size: 200_000,
    requests: 208_000,
    moderate: 500,
    reads: false,
    periodMs: MINUTE_MS,
    page: 25,
  },
];
