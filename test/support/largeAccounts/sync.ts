/** Syncs an account as the activities do: pages of the listing, each with a checkpoint, and then the contents. */
import { listPage } from '../../../activities/connected/listPage.js';
import type { OpenAccount } from '../../../activities/connected/openAccount.js';
import { waitOutLimits } from '../../../activities/connected/waitOutLimits.js';
import { loadConfig } from '../../../config/config.js';
import type { Account } from '../../../connectors/account.js';
import { readSourceUrls } from '../../../connectors/readSourceUrls.js';
import { createConnectors } from '../../../connectors/registry.js';
import { isListed, type SyncItemsProgress, WALK_ALL } from '../../../contract/accounts/connections.js';
import type { ConnectedSourceType } from '../../../contract/sources/connectedSources.js';
import { createEgress } from '../../../egress/createEgress.js';
import { virtualEgress, type VirtualClock } from './virtualClock.js';

/** Virtual duration of a request, in milliseconds. */
export const REQUEST_MS = 50;
/** Number of files that are read concurrently: the default of FILE_CONCURRENCY. */
export const FILES_AT_ONCE = 8;

export interface ListedFile {
  readonly id: string;
  readonly version: string | null;
}

/** The stored state of a sync. */
export interface Checkpoint {
  readonly progress: SyncItemsProgress;
  /** Virtual time, in milliseconds. */
  readonly at: number;
}

export const BEGIN: SyncItemsProgress = { walk: WALK_ALL, listed: 0 };

/** The stored progress of a sync. After a crash, the next sync continues from it. */
export interface SyncStore {
  readonly progress: SyncItemsProgress;
  /** Adds listed files. If a page is read again after a crash, its files are added again. */
  add(files: readonly ListedFile[]): void;
  save(checkpoint: Checkpoint): void;
  /** Files whose contents were not read yet. */
  unread(): ListedFile[];
  markRead(id: string): void;
}

/** Measurements of a sync. They exclude the time between the last checkpoint before a crash and the restart. */
export interface Figures {
  checkpoints: number;
  /** Longest virtual time between two checkpoints, in milliseconds. */
  longestMs: number;
  /**
   * Like `longestMs`, without the time in which no request was in progress because each part of the sync waited, as for
   * a rate limit.
   */
  longestWorkMs: number;
  /** Size of the largest checkpoint, in bytes. */
  largest: number;
  /** Peak memory of the process, in megabytes; 0: not measured. */
  memory: number;
}

export const noFigures = (): Figures => ({ checkpoints: 0, longestMs: 0, longestWorkMs: 0, largest: 0, memory: 0 });

/** Returns a function to call at each checkpoint: it counts checkpoints and measures the time between them. */
function createMeter(clock: VirtualClock, figures: Figures): (bytes: number) => void {
  let lastCheckpoint = { at: clock.now(), idleMs: clock.idleMs };
  return (bytes) => {
    const now = { at: clock.now(), idleMs: clock.idleMs };
    const elapsed = now.at - lastCheckpoint.at;
    figures.checkpoints += 1;
    figures.longestMs = Math.max(figures.longestMs, elapsed);
    figures.longestWorkMs = Math.max(figures.longestWorkMs, elapsed - (now.idleMs - lastCheckpoint.idleMs));
    figures.largest = Math.max(figures.largest, bytes);
    lastCheckpoint = now;
  };
}

interface AccountAddress {
  readonly source: ConnectedSourceType;
  readonly settings: string;
  readonly credentials: string;
}

/** Opens an account whose requests take virtual time. */
export function openVirtually({ source, settings, credentials }: AccountAddress, clock: VirtualClock) {
  const env = { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', SECRET_KEY: `k:${Buffer.alloc(32).toString('base64')}` };
  const egress = createEgress(loadConfig(env).egress);
  const connectors = createConnectors({
    egress: virtualEgress(egress, clock, REQUEST_MS),
    urls: readSourceUrls(settings),
    maxItemBytes: 1_000_000,
    clock,
  });
  return { account: connectors.account(source, '1', credentials), close: () => egress.close() };
}

/**
 * Lists an account from its stored progress.
 * @param changeToken cursor of the change feed of the last sync; unset: none
 */
export async function listVirtually(
  account: Account,
  clock: VirtualClock,
  store: SyncStore,
  { figures, signal, changeToken }: { figures: Figures; signal: AbortSignal; changeToken?: string },
): Promise<void> {
  const meter = createMeter(clock, figures);
  const items = {
    listClosed: () => Promise.resolve([]),
    markClosed: () => Promise.resolve(new Set<string>()),
    listUnlistedRoots: () => Promise.resolve([]),
    markDeleted: () => Promise.resolve(),
    markPathsDeleted: () => Promise.resolve(),
    unlist: () => Promise.resolve(),
    upsert: () => Promise.resolve(new Set<string>()),
  };
  // `listPage` drops `hasContent`, which marks the items that become files, so it is read from the account's pages.
  const watched: Account = {
    ...account,
    async listDescendants(...call) {
      const page = await account.listDescendants(...call);
      const files = page.items.filter(({ hasContent }) => hasContent);
      store.add(files.map(({ externalId: id, version }) => ({ id, version })));
      return page;
    },
  };
  const open = { source: { changeToken }, account: watched } as unknown as OpenAccount;
  let { progress } = store;
  while (!isListed(progress)) {
    signal.throwIfAborted();
    const before = progress;
    const step = () => listPage(open, before, { runId: 1, items } as never, signal);
    progress = (await waitOutLimits(step, Number.POSITIVE_INFINITY, signal, clock)) ?? progress;
    store.save({ progress, at: clock.now() });
    meter(JSON.stringify(progress).length);
  }
}

/**
 * Reads the contents of all listed files that were not read yet, several at once. In `figures`, each read file counts
 * as a checkpoint.
 */
export async function readVirtually(
  account: Account,
  clock: VirtualClock,
  store: SyncStore,
  { figures, signal }: { figures: Figures; signal: AbortSignal },
): Promise<void> {
  const meter = createMeter(clock, figures);
  const files = store.unread()[Symbol.iterator]();
  const reader = async (): Promise<void> => {
    for (const { id, version } of files) {
      const step = () => account.open(id, signal, { version });
      await waitOutLimits(step, Number.POSITIVE_INFINITY, signal, clock);
      store.markRead(id);
      meter(0);
    }
  };
  await Promise.all(Array.from({ length: FILES_AT_ONCE }, reader));
}
