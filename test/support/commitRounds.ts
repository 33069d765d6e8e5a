/** Re-syncs whose worker dies at chosen points of a commit, compared with re-syncs that nothing disturbed. */
import { expect } from '@jest/globals';

import { samplePage, type Site, sitemapOf, startSite } from '../emulators/site.js';
import { readAtRest } from './atRest.js';
import type { TestUser } from './client.js';
import { findDifferences } from './differences.js';
import { type FaultProxy, startFaultProxy, type Stop } from './faultProxy.js';
import { startProcess } from './processes.js';
import { startService, type TestService } from './service.js';

/** Enough for several commits, though not always for this many: files share commits as they come. */
const PAGES = 24;
export const COMMITS = 4;
const REACHED_MS = 60_000;
const SETTLED_MS = 60_000;

export interface CommitRounds {
  /** All pages change; both users sync them again, the second with a worker that dies at the given point. */
  play(stop: Stop): Promise<void>;
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
    timer = setTimeout(() => reject(new Error(`the commit never came to ${JSON.stringify(stop)}`)), REACHED_MS);
  });
  await Promise.race([moment, never]).finally(() => clearTimeout(timer));
}

async function createRounds({ service, proxy, site }: Parts): Promise<CommitRounds> {
  const workerEnv = { ...service.env, ...proxy.env };
  let worker = await startProcess('worker/main', workerEnv);
  const [calm, killed] = await Promise.all([service.user('calm'), service.user('killed')]);
  const paths = Array.from({ length: PAGES }, (_, number) => `/pages/${number}.html`);
  site.pages.set('/sitemap.xml', sitemapOf(site.origin, paths));
  let version = 0;
  const change = (): void => {
    version += 1;
    paths.forEach((path, number) => site.pages.set(path, samplePage(version * 1000 + number, 2)));
  };
  const scrape = async (user: TestUser): Promise<void> => {
    const { id } = await user.scrape({ url: site.url('/sitemap.xml'), chunk_size: 100 });
    expect((await user.settled(id, SETTLED_MS)).sync_status).toBe('READY');
  };
  /** One round; answers whether the worker was killed, which it is not when the moment does not come. */
  const dies = async (stop: Stop): Promise<boolean> => {
    change();
    await scrape(calm);
    const moment = proxy.stopAt(stop);
    const scraped = scrape(killed);
    const came = await Promise.race([reached(moment, stop).then(() => true), scraped.then(() => false)]);
    if (came) await worker.kill();
    proxy.reopen();
    if (came) worker = await startProcess('worker/main', workerEnv);
    await scraped;
    return came;
  };
  change();
  await scrape(calm);
  await scrape(killed);
  return {
    async play(stop) {
      let left = stop.nth;
      while (!(await dies({ ...stop, nth: left }))) {
        // There were fewer commits this time. The first always comes.
        left -= 1;
        expect(left).toBeGreaterThan(0);
      }
      const rest = await readAtRest(service.env);
      expect({ stop, inconsistencies: rest.findInconsistencies() }).toEqual({ stop, inconsistencies: [] });
      expect({ stop, found: await findDifferences(service.env) }).toEqual({ stop, found: [] });
      const [expected, actual] = [rest.content('calm'), rest.content('killed')];
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

/** A service with a worker process behind a proxy, and two users who have synced the same site once. */
export async function startCommitRounds(): Promise<CommitRounds> {
  const site = await startSite();
  const service = await startService(
    { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'silent' },
    { worker: false },
  );
  return createRounds({ service, proxy: await startFaultProxy(service.env), site });
}
