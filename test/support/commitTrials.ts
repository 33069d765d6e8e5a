/** Re-syncs whose worker is killed at chosen points of a commit, compared with uninterrupted re-syncs. */
import { expect } from '@jest/globals';

import { samplePage, type Site, sitemapOf, startSite } from '../emulators/site.js';
import { readStoredState } from './storedState.js';
import type { TestUser } from './client.js';
import { findDifferences } from './differences.js';
import { type FaultProxy, startFaultProxy, type Stop } from './faultProxy.js';
import { startProcess } from './processes.js';
import { startService, type TestService } from './service.js';

/**
 * Number of pages. They need several commits, but sometimes fewer than COMMITS: timing decides which pages share one.
 */
const PAGES = 24;
export const COMMITS = 4;
const REACHED_MS = 60_000;
const SETTLED_MS = 60_000;

export interface CommitTrials {
  /**
   * Changes all pages and has both users sync them again; the worker of the second sync is killed at the given point.
   */
  run(stop: Stop): Promise<void>;
  close(): Promise<void>;
}

interface Parts {
  readonly service: TestService;
  readonly proxy: FaultProxy;
  readonly site: Site;
}

async function reached(moment: Promise<void>, stop: Stop): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const never = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`the commit did not reach ${JSON.stringify(stop)}`)), REACHED_MS);
  });
  await Promise.race([moment, never]).finally(() => clearTimeout(timer));
}

async function createTrials({ service, proxy, site }: Parts): Promise<CommitTrials> {
  const workerEnv = { ...service.env, ...proxy.env };
  let worker = await startProcess('worker/main', workerEnv);
  const [uninterrupted, killed] = await Promise.all([service.user('uninterrupted'), service.user('killed')]);
  const paths = Array.from({ length: PAGES }, (_, number) => `/pages/${number}.html`);
  site.pages.set('/sitemap.xml', sitemapOf(site.origin, paths));
  let version = 0;
  const change = (): void => {
    version += 1;
    paths.forEach((path, number) => site.pages.set(path, samplePage(version * 1000 + number, 1)));
  };
  const scrape = async (user: TestUser): Promise<void> => {
    const { id } = await user.scrape({ url: site.url('/sitemap.xml'), chunk_size: 100 });
    expect((await user.settled(id, SETTLED_MS)).sync_status).toBe('READY');
  };
  /** Runs one trial. Returns whether the worker was killed: false if no commit reached the given point. */
  const killAt = async (stop: Stop): Promise<boolean> => {
    change();
    await scrape(uninterrupted);
    const moment = proxy.stopAt(stop);
    const scraped = scrape(killed);
    const isReached = await Promise.race([reached(moment, stop).then(() => true), scraped.then(() => false)]);
    if (isReached) await worker.kill();
    proxy.reopen();
    if (isReached) worker = await startProcess('worker/main', workerEnv);
    await scraped;
    return isReached;
  };
  change();
  await scrape(uninterrupted);
  await scrape(killed);
  return {
    async run(stop) {
      let nth = stop.nth;
      while (!(await killAt({ ...stop, nth }))) {
        // This trial had fewer than `nth` commits. Try an earlier commit; every trial has at least one.
        nth -= 1;
        expect(nth).toBeGreaterThan(0);
      }
      const storedState = await readStoredState(service.env);
      expect({ stop, inconsistencies: storedState.findInconsistencies() }).toEqual({ stop, inconsistencies: [] });
      expect({ stop, found: await findDifferences(service.env) }).toEqual({ stop, found: [] });
      const [expected, actual] = [storedState.content('uninterrupted'), storedState.content('killed')];
      expect(expected.points.length).toBeGreaterThan(PAGES);
      expect(actual).toEqual(expected);
    },
    async close() {
      await worker.stop();
      await proxy.close();
      await service.close();
      await site.close();
    },
  };
}

/** Starts a service with a worker process behind a proxy, and two users who have synced the same site once. */
export async function startCommitTrials(): Promise<CommitTrials> {
  const site = await startSite();
  const service = await startService(
    { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'silent' },
    { worker: false },
  );
  return createTrials({ service, proxy: await startFaultProxy(service.env), site });
}
