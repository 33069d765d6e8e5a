import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { samplePage, type Site, sitemapOf, startSite } from '../../emulators/site.js';
import { withDatabase } from '../../support/mongo.js';
import { startService, type TestService } from '../../support/service.js';
import { isThorough } from '../../support/thorough.js';

const PAGES = isThorough() ? 300 : 12;
const FIRST_ID = 5_000;

/** Two deployments with the same Temporal namespace and the same setting TASK_QUEUE, each with its own site. */
let services: TestService[];
let sites: Site[];

beforeAll(async () => {
  const settings = { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', LOG_LEVEL: 'silent', REAP_INTERVAL_S: '1' };
  sites = await Promise.all([startSite(), startSite()]);
  services = await Promise.all([startService(settings), startService(settings)]);
  for (const service of services)
    await withDatabase(service, (db) => db.collection('sequences').updateMany({}, { $set: { last: FIRST_ID } }));
});
afterAll(async () => {
  await Promise.all(services.map((service) => service.close()));
  await Promise.all(sites.map((site) => site.close()));
});

const paths = Array.from({ length: PAGES }, (_, index) => `/pages/${index}.html`);

/** Scrapes all pages of a site. Returns the ended parent with its pages. */
async function scraped(index: number) {
  const [service, site] = [services[index]!, sites[index]!];
  paths.forEach((path, seed) => site.pages.set(path, samplePage(index * PAGES + seed, 1)));
  site.pages.set('/sitemap.xml', sitemapOf(site.origin, paths));
  const user = await service.user('ada');
  const parent = await user.settled((await user.scrape({ url: site.url('/sitemap.xml'), enable_auto_sync: true })).id);
  return { parent, pages: await user.children(parent.id) };
}

test('completes runs of two deployments with equal ids in one namespace at the same time', async () => {
  const [one, other] = (await Promise.all([scraped(0), scraped(1)])) as [
    Awaited<ReturnType<typeof scraped>>,
    Awaited<ReturnType<typeof scraped>>,
  ];
  expect(one.parent.id).toBe(other.parent.id);
  for (const [index, { parent, pages }] of [one, other].entries()) {
    const { deploymentId } = services[index]!.names;
    expect(parent).toMatchObject({ sync_status: 'READY', workflow_id: `${deploymentId}:scrape:${parent.id}` });
    expect(pages.map((page) => page.sync_status)).toEqual(paths.map(() => 'READY'));
    // Each site was read by its own deployment only, and once.
    const { requests, origin } = sites[index]!;
    expect(requests.filter((path) => path.startsWith('/pages/')).toSorted()).toEqual(paths.toSorted());
    expect(pages.every((page) => page.external_url?.startsWith(origin))).toBe(true);
  }
  expect(services[0]!.names.taskQueue).not.toBe(services[1]!.names.taskQueue);
});
