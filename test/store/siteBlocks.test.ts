import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';

import type { RepeatedBlock } from '../../store/models/siteBlocks.js';
import type { Site, SiteBlocks } from '../../store/siteBlocks/siteBlocks.js';
import { type SharedService, sharedService } from '../support/sharedService.js';

let service: SharedService;
let siteBlocks: SiteBlocks;
let lastId: number;
let site: Site;
let otherOrganizationId: number;

beforeAll(async () => {
  service = await sharedService({ worker: false });
  lastId = service.firstId;
  ({ siteBlocks } = service.store);
  ({ organizationId: otherOrganizationId } = await service.store.organizations.create('other'));
});
afterAll(() => service.close());
beforeEach(() => {
  lastId += 1;
  site = { organizationId: service.organizationId, userId: 2, fileId: lastId };
});

const blocks = (...ids: string[]): RepeatedBlock[] => ids.map((id) => ({ id, keptBy: 7 }));

test('a run stores its blocks once: a second attempt and an older run change nothing', async () => {
  expect(await siteBlocks.find(site)).toBeNull();
  expect(await siteBlocks.learn(site, 5, blocks('a', 'b'))).toEqual({ runId: 5, blocks: blocks('a', 'b') });
  expect(await siteBlocks.learn(site, 5, blocks('c'))).toEqual({ runId: 5, blocks: blocks('a', 'b') });
  expect(await siteBlocks.learn(site, 4, blocks('c'))).toEqual({ runId: 5, blocks: blocks('a', 'b') });
  expect(await siteBlocks.learn(site, 6, [])).toEqual({ runId: 6, blocks: [] });
  expect(await siteBlocks.find(site)).toEqual({ runId: 6, blocks: [] });
});

test('concurrent attempts all get the blocks that one of them stored', async () => {
  const names = Array.from({ length: 20 }, (_, i) => `block ${i}`);
  const learned = await Promise.all(names.map((name) => siteBlocks.learn(site, 5, blocks(name))));
  expect(new Set(learned.map((result) => result.blocks[0]?.id)).size).toBe(1);
});

test('blocks belong to one scrape of one user of one organization', async () => {
  const otherScrapes = [
    { ...site, organizationId: otherOrganizationId },
    { ...site, userId: 9 },
    { ...site, fileId: site.fileId + 100_000 },
  ];
  await siteBlocks.learn(site, 5, blocks('a'));
  for (const other of otherScrapes) expect(await siteBlocks.find(other)).toBeNull();
  for (const [i, other] of otherScrapes.entries()) await siteBlocks.learn(other, 5, blocks(`other ${i}`));
  expect(await siteBlocks.find(site)).toEqual({ runId: 5, blocks: blocks('a') });

  await siteBlocks.deleteOf(site, [site.fileId]);
  expect(await siteBlocks.countOf(site, [site.fileId])).toBe(0);
  const [ofOrganization, ofUser, ofScrape] = otherScrapes as [Site, Site, Site];
  await siteBlocks.deleteAll(site);
  expect(await siteBlocks.find(ofScrape)).toBeNull();
  expect(await siteBlocks.find(ofOrganization)).not.toBeNull();
  expect(await siteBlocks.find(ofUser)).not.toBeNull();
});
