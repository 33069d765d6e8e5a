import { describe, expect, test } from '@jest/globals';

import { learnBlocks, type PageBlocks } from '../../activities/ingest/site/learnBlocks.js';
import { createSiteEvidence } from '../../activities/ingest/site/siteEvidence.js';
import { siteOfRun } from '../../activities/ingest/site/siteOf.js';
import { everyRow } from '../support/everyRow.js';
import { recorder } from '../support/recorder.js';

const HOST = 'a.test';
const id = (name: string, length = 30): string => `${length.toString(36)}.${name}`;
const page = (fileId: number, names: readonly string[], host = HOST): PageBlocks => ({
  fileId,
  host,
  blocks: names.map((name) => id(name)),
});
const idsOf = (pages: readonly PageBlocks[]): string[] => learnBlocks(pages).map((block) => block.id);

/** Ten pages: all contain the menu, six the notice, five the tip. */
const TEN = Array.from({ length: 10 }, (_, i) =>
  page(i + 1, ['menu', `text ${i}`, ...(i < 6 ? ['notice'] : []), ...(i % 2 === 0 ? ['tip'] : [])]),
);

describe('repeated blocks', () => {
  test('are those on at least 60 % of the pages of a host', () => {
    expect(idsOf(TEN).toSorted()).toEqual([id('menu'), id('notice')]);
  });

  test('are the same whatever the order of the pages', () => {
    const learned = learnBlocks(TEN);
    expect(learned).not.toHaveLength(0);
    for (let turn = 1; turn < TEN.length; turn++) {
      const turned = [...TEN.slice(turn), ...TEN.slice(0, turn)];
      expect(learnBlocks(turned)).toEqual(learned);
      expect(learnBlocks(turned.toReversed())).toEqual(learned);
    }
  });

  test('are counted per host, whatever the order of the hosts', () => {
    // The tip is on two of five pages of one host, and on one of ten pages of the other.
    const small = [1, 2, 3, 4, 5].map((fileId) => page(fileId, fileId < 3 ? ['tip', 'menu'] : ['menu'], 'b.test'));
    const large = TEN.map(({ fileId }) => page(10 + fileId, fileId === 1 ? ['tip', 'menu'] : []));
    for (const pages of [
      [...small, ...large],
      [...large, ...small],
    ])
      expect(learnBlocks(pages)).toEqual([{ id: id('menu'), keptBy: 1 }]);
  });

  test('stay on the first page that has them, so that no text of the site is lost', () => {
    const later = TEN.map(({ fileId, ...fields }) => ({ ...fields, fileId: fileId + (fileId < 3 ? 100 : 0) }));
    expect(learnBlocks(TEN)).toContainEqual({ id: id('notice'), keptBy: 1 });
    expect(learnBlocks(later)).toContainEqual({ id: id('notice'), keptBy: 3 });
  });

  test('are found only on hosts with at least five pages', () => {
    const four = TEN.slice(0, 4);
    expect(idsOf(four)).toEqual([]);
    expect(idsOf([...four, ...Array.from({ length: 4 }, (_, i) => page(20 + i, ['menu'], 'b.test'))])).toEqual([]);
    expect(idsOf(TEN.slice(0, 5))).toContain(id('menu'));
  });

  test('count once per page', () => {
    const blocks = [id('tip'), id('tip'), id('tip')];
    const pages = [{ fileId: 1, host: HOST, blocks }, ...[2, 3, 4, 5].map((fileId) => page(fileId, []))];
    expect(idsOf(pages)).toEqual([]);
  });

  test('are at most 500, the longest first', () => {
    const blocks = Array.from({ length: 900 }, (_, i) => id(`block ${i}`, 20 + i));
    const learned = idsOf([1, 2, 3, 4, 5].map((fileId) => ({ fileId, host: HOST, blocks })));
    expect(learned).toEqual(blocks.toReversed().slice(0, 500));
  });
});

const SITE = { organizationId: 1, userId: 2, fileId: 9 };
const scrape = (fields: object = {}, ingest: object = {}, kind = 'webScrape') => ({
  ...{ kind, organizationId: 1, userId: 2, fileId: 9, request: { scrape: fields, ingest } },
});
test('the pages of a crawl or sitemap are compared with each other unless the request or the setting disables it', () =>
  everyRow(
    [
      ['a crawl', scrape(), 5, true],
      ['a sitemap', scrape({}, {}, 'scrapeSitemap'), 5, true],
      ['a feed', scrape({}, {}, 'syncFeed'), 5, false],
      ['fewer pages than are needed', scrape(), 4, false],
      ['a request to keep the blocks', scrape({ removeRepeatedBlocks: false }), 5, false],
      ['a request to store pages only', scrape({}, { storeFileOnly: true }), 5, false],
      ['a request to process nothing', scrape({}, { skipFileProcessing: true }), 5, false],
    ] as const,
    ([what]) => what,
    ([, run, siteSamplePages, isCompared]) =>
      expect(siteOfRun(run as never, { siteSamplePages })).toEqual(isCompared ? SITE : null),
  ));

test('a page loses the repeated blocks of its site, except those that it keeps for the site', async () => {
  const blocks = [
    { id: 'menu', keptBy: 3 },
    { id: 'foot', keptBy: 4 },
  ];
  const { stores, of } = recorder({
    'siteBlocks.find': ({ fileId }: { fileId: number }) => (fileId === 9 ? { blocks } : null),
  });
  const evidenceOf = createSiteEvidence({ store: stores, settings: { siteSamplePages: 5 } } as never);
  const evidenceOfPage = (_id: number, fields: object = {}) =>
    evidenceOf({
      ...{ _id, organizationId: 1, userId: 2, parentId: 9, source: 'WEB_SCRAPE', sourceOptions: {} },
      ...{ externalFileId: 'https://site.example:81/a', ...fields },
    } as never);
  const evidence = (repeated: readonly string[]) => ({ host: 'site.example:81', repeated, listBlocks: false });
  expect(await evidenceOfPage(3)).toEqual(evidence(['foot']));
  expect(await evidenceOfPage(5)).toEqual(evidence(['menu', 'foot']));
  // The blocks of a site are read once per batch.
  expect(of('siteBlocks.find')).toEqual([[SITE]]);
  expect(await evidenceOfPage(5, { parentId: 8 })).toBeNull();
  for (const fields of [{ source: 'RSS_FEED' }, { parentId: null }, { sourceOptions: { removeRepeatedBlocks: false } }])
    expect(await evidenceOfPage(5, fields)).toBeNull();
});
