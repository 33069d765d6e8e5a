/** Runs what a user would pick instead, each in a process of its own. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import type { Orders, PeerDone } from './langchain/peer.js';
import { type ByRole, cpuNow, cpuSince, type Peak, watchMemory } from './processes.js';
import { forkModule } from './site.js';

const FOLDER = fileURLToPath(new URL('langchain', import.meta.url));

/** Installs the peers from their lock when they are absent. */
export function ensurePeers(say: (line: string) => void): void {
  if (existsSync(`${FOLDER}/node_modules/.package-lock.json`)) return;
  say('installing the peers into bench/langchain (once)');
  execFileSync('npm', ['ci', '--ignore-scripts', '--loglevel', 'error'], { cwd: FOLDER, stdio: 'inherit' });
}

export interface PeerRun extends PeerDone {
  readonly peak: Peak;
  readonly cpu: ByRole;
  readonly pagesPerSecond: number;
}

/** The scripts in bench/langchain. */
type PeerName = 'langchain' | 'crawlee' | 'crawleeAsShipped';

/** Runs one peer to its end. @throws when it ends without having told what it did */
export async function runPeer(name: PeerName, orders: Orders): Promise<PeerRun> {
  const before = cpuNow();
  let cpu: ByRole = {};
  const [done, peak] = await watchMemory(['peer', 'embedding'], async () => {
    const child = forkModule(`langchain/${name}.ts`, [JSON.stringify(orders)]);
    const ended = once(child, 'exit');
    const told = await Promise.race([
      once(child, 'message').then(([message]) => message as PeerDone),
      ended.then(([code]) => {
        throw new Error(`${name} ended with code ${String(code)}; its message is above`);
      }),
    ]);
    // Taken before its processes are gone, since their time goes with them.
    cpu = cpuSince(before);
    child.disconnect();
    await ended;
    return told;
  });
  return { ...done, peak, cpu, pagesPerSecond: done.pages / (done.totalMs / 1000) };
}
