/** Runs the programs of bench/langchain, with which the service is compared, each in its own process. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import type { BaselineOptions, BaselineDone } from './langchain/baseline.js';
import { type ByRole, cpuNow, cpuSince, type Peak, watchMemory } from './processes.js';
import { forkModule } from './site.js';

const FOLDER = fileURLToPath(new URL('langchain', import.meta.url));

/** Installs the baselines from their lock file if they are missing. */
export function ensureBaselines(printLine: (line: string) => void): void {
  if (existsSync(`${FOLDER}/node_modules/.package-lock.json`)) return;
  printLine('installing the baselines into bench/langchain (once)');
  execFileSync('npm', ['ci', '--ignore-scripts', '--loglevel', 'error'], { cwd: FOLDER, stdio: 'inherit' });
}

export interface BaselineRun extends BaselineDone {
  readonly peak: Peak;
  readonly cpu: ByRole;
  readonly pagesPerSecond: number;
}

/** The scripts in bench/langchain. */
type BaselineName = 'langchain' | 'crawlee' | 'crawleeAsShipped';

/** Runs one baseline to its end. @throws Error if it ends without a result */
export async function runBaseline(name: BaselineName, options: BaselineOptions): Promise<BaselineRun> {
  const before = cpuNow();
  let cpu: ByRole = {};
  const [done, peak] = await watchMemory(['baseline', 'embedding'], async () => {
    const child = forkModule(`langchain/${name}.ts`, [JSON.stringify(options)]);
    const ended = once(child, 'exit');
    const result = await Promise.race([
      once(child, 'message').then(([message]) => message as BaselineDone),
      ended.then(([code]) => {
        throw new Error(`${name} ended with code ${String(code)}; its message is above`);
      }),
    ]);
    // Read the processor time before the processes end: Linux drops it with them.
    cpu = cpuSince(before);
    child.disconnect();
    await ended;
    return result;
  });
  return { ...done, peak, cpu, pagesPerSecond: done.pages / (done.totalMs / 1000) };
}
