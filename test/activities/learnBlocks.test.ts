import { describe, expect, test } from '@jest/globals';

import { learnBlocks, type PageBlocks } from '../../activities/ingest/site/learnBlocks.js';

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
