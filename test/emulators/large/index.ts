import { startLargeGmail } from './gmail.js';
import { startLargeGong } from './gong.js';
import { startLargeGoogleDrive } from './googleDrive.js';
import type { LargeAccount } from './largeAccount.js';
import { startLargeOneDrive } from './oneDrive.js';
import { startLargeMailbox } from './outlook.js';
import { MINUTE_MS, SECOND_MS } from './quota.js';
import { startLargeSlack } from './slack.js';

export interface LargeRow {
  /** Description of the account's contents. */
  readonly name: string;
  readonly start: (size: number) => Promise<LargeAccount>;
  /** Full size, for `npm run test:long`. */
  readonly size: number;
  /** Number of requests that a sync of the full size takes at least, as measured. */
  readonly requests: number;
  /** A smaller size, whose sync takes less than a second. */
  readonly smallSize: number;
  /** Whether the test also reads the content of each file after the listing. */
  readonly readsContents: boolean;
  /** Period of the quota that the sync exhausts: the longest wait that a provider may ask for, in milliseconds. */
  readonly periodMs: number;
  /** Files on the largest page of a listing: at most these are listed again after a crash. */
  readonly maxPageFiles: number;
}

/** Large accounts of sources with published quotas. */
export const LARGE_ACCOUNTS: readonly LargeRow[] = [
  {
    name: 'Gong: 5,000 calls',
    start: startLargeGong,
    size: 5_000,
    requests: 1_300,
    smallSize: 300,
    readsContents: true,
    periodMs: SECOND_MS,
    maxPageFiles: 100,
  },
  {
    name: 'Slack: messages in 20,000 quarter-hours',
    start: startLargeSlack,
    size: 20_000,
    requests: 5_000,
    smallSize: 300,
    readsContents: true,
    periodMs: MINUTE_MS,
    maxPageFiles: 16,
  },
  {
    name: 'Outlook: 200,000 messages',
    start: startLargeMailbox,
    size: 200_000,
    requests: 24_000,
    smallSize: 2_000,
    readsContents: false,
    periodMs: 10 * MINUTE_MS,
    maxPageFiles: 100,
  },
  {
    name: 'OneDrive: 500,000 items',
    start: startLargeOneDrive,
    size: 500_000,
    requests: 5_000,
    smallSize: 5_000,
    readsContents: false,
    periodMs: 5 * MINUTE_MS,
    maxPageFiles: 200,
  },
  {
    name: 'Google Drive: 500,000 items',
    start: startLargeGoogleDrive,
    size: 500_000,
    requests: 500,
    smallSize: 5_000,
    readsContents: false,
    periodMs: MINUTE_MS,
    maxPageFiles: 1_000,
  },
  {
    name: 'Gmail: 200,000 messages',
    start: startLargeGmail,
    size: 200_000,
    requests: 208_000,
    smallSize: 500,
    readsContents: false,
    periodMs: MINUTE_MS,
    maxPageFiles: 25,
  },
];
