/** Syncs a large account in a process of its own, which its parent kills and starts again. */
import { once } from 'node:events';

import type { LargeAccount } from '../../emulators/large/largeAccount.js';
import { createFolderStore } from './folderStore.js';
import { BEGIN, type Figures, listVirtually, noFigures, openVirtually, readVirtually } from './sync.js';
import { VirtualClock } from './virtualClock.js';

export interface ChildSync extends Pick<LargeAccount, 'source' | 'settings' | 'credentials'> {
  /** Folder of the stored state. */
  readonly folder: string;
  /** Virtual time of the start, in milliseconds. */
  readonly now: number;
  /** Whether the contents are read. */
  readonly reads: boolean;
}

/** A message to the parent. After sending one, the child waits for a message from its parent, then continues. */
export interface ChildReport {
  /**
   * `listed`: the first listing has ended. `read`: the contents are read; this message follows at once if `reads` is
   * false. `again`: a second listing has ended, through the change feed if the source has one; it stores nothing.
   */
  readonly part: 'listed' | 'read' | 'again';
  /** Virtual time, in milliseconds. */
  readonly at: number;
  readonly figures: Figures;
}

const sync = JSON.parse(process.argv[2] ?? '') as ChildSync;
const clock = new VirtualClock(sync.now);
const store = createFolderStore(sync.folder);
const { figures } = store;
const { account } = openVirtually(sync, clock);
const { signal } = new AbortController();

async function report(part: ChildReport['part']): Promise<void> {
  const answered = once(process, 'message');
  process.send?.({ part, at: clock.now(), figures } satisfies ChildReport);
  await answered;
}

let { progress } = store;
const save = (checkpoint: Parameters<typeof store.save>[0]): void => {
  ({ progress } = checkpoint);
  store.save(checkpoint);
};
await listVirtually(account, clock, { ...store, save }, { figures, signal });
await report('listed');
if (sync.reads) await readVirtually(account, clock, store, { figures, signal });
await report('read');
const { nextChangeToken: token = null } = progress;
const withoutListing = { progress: BEGIN, add: () => undefined, save: () => undefined };
await listVirtually(
  account,
  clock,
  { ...store, ...withoutListing },
  { figures: noFigures(), signal, ...(token === null ? {} : { changeToken: token }) },
);
await report('again');
process.disconnect();
process.exit(0);
