import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Numbers of page responses since the site started: with status 200 (`full`) and with 304. */
export interface SiteCounts {
  readonly full: number;
  readonly notModified: number;
}

export interface BenchSite {
  readonly host: string;
  readonly pid: number;
  /** Returns the address of a sitemap of `count` pages from page `from` on. */
  sitemap(count: number, from?: number): string;
  counts(): Promise<SiteCounts>;
  stop(): void;
}

/** Starts a TypeScript module of the bench as a child process. */
export function forkModule(file: string, args: readonly string[] = [], env = process.env): ChildProcess {
  return fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    env,
    execArgv: ['--import', import.meta.resolve('tsx')],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

/** Starts the generated site on loopback and waits until it serves. */
export async function startBenchSite(): Promise<BenchSite> {
  const child = forkModule('siteServer.ts');
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const host = `127.0.0.1:${port}`;
  return {
    host,
    pid: child.pid ?? 0,
    sitemap: (count, from = 0) => `http://${host}/from/${from}/count/${count}/sitemap.xml`,
    async counts() {
      const answer = once(child, 'message');
      child.send('counts');
      const [counts] = (await answer) as [SiteCounts];
      return counts;
    },
    stop: () => child.kill(),
  };
}
