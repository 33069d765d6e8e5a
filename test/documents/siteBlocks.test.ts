import { describe, expect, test } from '@jest/globals';

import { learnBlocks } from '../../activities/ingest/site/learnBlocks.js';
import type { ParsedDocument } from '../../documents/types.js';
import { everyRow } from '../support/everyRow.js';
import { parsePage } from './page.js';

const HOST = 'shop.test';
const NOTICE = 'We use cookies to count visits. Read in our policy what we store and for how long.';
const prose = (number: number): string =>
  `Chapter ${number} of the harbour's history begins in ${1800 + number}, when the town built pier ${number} of stone. ` +
  `It was ${number * 7} metres long, and ships of ${number * 30} tons could land there at every tide of the year.`;
const BOX = `<div class=note><p>${NOTICE}</p></div>`;
const pageOf = (number: number, extra = BOX): string =>
  `<main><h1>Pier ${number}</h1><p>${prose(number)}</p>${extra}<p>${prose(number + 50)}</p></main>`;

const listed = (html: string, host = HOST): readonly string[] =>
  parsePage(html, { site: { host, repeated: [], listBlocks: true } }).blocks ?? [];

/** Returns the ids of the blocks that the pages repeat. */
const learn = (pages: readonly string[], host = HOST): string[] =>
  learnBlocks(pages.map((html, fileId) => ({ fileId, host, blocks: listed(html, host) }))).map(({ id }) => id);

const readWith = (html: string, repeated: readonly string[], host = HOST): ParsedDocument =>
  parsePage(html, { site: { host, repeated, listBlocks: false } });

const SIX = [1, 2, 3, 4, 5, 6].map((number) => pageOf(number));

describe('a block that the pages of a site repeat', () => {
  test('is removed and counted in the metadata', () => {
    const { text, metadata } = readWith(pageOf(9), learn(SIX));
    expect(text).toBe(`# Pier 9\n\n${prose(9)}\n\n${prose(59)}`);
    expect(metadata).toMatchObject({
      repeated_blocks_removed: { blocks: 1, characters: NOTICE.replaceAll(' ', '').length },
    });
  });

  test('is kept without evidence that it repeats, and the metadata then has no count', () => {
    const { text, metadata, blocks } = parsePage(pageOf(9));
    expect(text).toContain(NOTICE);
    expect(metadata).not.toHaveProperty('repeated_blocks_removed');
    expect(blocks).toBeUndefined();
  });

  test('is found with any white space', () => {
    const spaced = pageOf(9, `<div class=note>\n  <p>${NOTICE.replaceAll(' ', '\n   ')}</p>\n</div>`);
    expect(readWith(spaced, learn(SIX)).text).not.toContain('cookies');
  });

  test('is removed with the heading above it if nothing else is below that heading', () => {
    const headed = (number: number): string => pageOf(number, `<h2>Privacy</h2>${BOX}<h2>Pier ${number + 50}</h2>`);
    const repeated = learn([1, 2, 3, 4, 5, 6].map(headed));
    expect(readWith(headed(9), repeated).text).toBe(`# Pier 9\n\n${prose(9)}\n\n## Pier 59\n\n${prose(59)}`);
  });
});

const LINES = ['#include &lt;harbour/pier.h>', 'namespace harbour::internal {', '// the piers of the eastern harbour']
  .map((line) => `<div class=line>${line}</div>`)
  .join('');

/** Blocks of a page that are kept, although other pages of the site have the same or a similar block. */
const KEPT: ReadonlyArray<readonly [name: string, repeated: (number: number) => string, own: string, kept: string]> = [
  ['at another place', () => BOX, `<section>${BOX}</section>`, NOTICE],
  [
    'with another number',
    () => '<p>Delivery takes 3 days within the country.</p>',
    '<p>Delivery takes 5 days within the country.</p>',
    'takes 5 days',
  ],
  ['a short label', () => '<p>Return value</p>', '<p>Return value</p>', 'Return value'],
  [
    'a heading',
    () => '<h2>What this chapter is about</h2>',
    '<h2>What this chapter is about</h2>',
    'What this chapter is about',
  ],
  [
    'a row of a table',
    (number) => `<table><tr><td>Guarantee<td>two years from the day of purchase<tr><td>Weight<td>${number} kg</table>`,
    '<table><tr><td>Guarantee<td>two years from the day of purchase<tr><td>Weight<td>9 kg</table>',
    'two years from the day of purchase',
  ],
  [
    'an item of a list',
    (number) => `<ul><li>Delivered without costs in the whole country<li>${number} colours</ul>`,
    '<ul><li>Delivered without costs in the whole country<li>9 colours</ul>',
    'Delivered without costs',
  ],
  [
    'code',
    () => '<pre>npm install harbour --save-exact --omit=dev</pre>',
    '<pre>npm install harbour --save-exact --omit=dev</pre>',
    'npm install harbour',
  ],
  [
    'a line of a series',
    (number) => `<div>${LINES}<div class=line>int pier_${number} = 0;</div></div>`,
    `<div>${LINES}<div class=line>int pier_9 = 0;</div></div>`,
    'namespace harbour',
  ],
];

test('keeps equal or similar content in other places, with other numbers, and in labels, headings, rows, items and code', async () => {
  const nameOf = ([name]: (typeof KEPT)[number]): string => name;
  await everyRow(KEPT, nameOf, ([, repeated, own, kept]) => {
    const ids = learn([1, 2, 3, 4, 5, 6].map((number) => pageOf(number, repeated(number))));
    expect(readWith(pageOf(9, own), ids).text).toContain(kept);
  });
});

test('a page whose text is nearly all repeated keeps all of it', () => {
  const list =
    '<ul>' + ['Anna', 'Bert', 'Carla', 'Dora'].map((name) => `<li>${name} of the harbour office</li>`).join('');
  const almostSame = (number: number): string =>
    `<main><div>${list}</ul></div><div><p>Open on Sundays from nine to four.</p></div><p>Ship ${number}</p></main>`;
  const ids = learn([1, 2, 3, 4, 5, 6].map(almostSame));
  expect(ids).not.toHaveLength(0);
  const { text, metadata } = readWith(almostSame(9), ids);
  expect(text).toBe(parsePage(almostSame(9)).text);
  expect(metadata).not.toHaveProperty('repeated_blocks_removed');
});

test('a page that would lose more than half of its text keeps all of it', () => {
  const note = `<div class=note><p>${NOTICE}</p><p>${NOTICE.replaceAll('e', 'i').repeat(3)}</p></div>`;
  const pageWith = (number: number, own: string): string => `<main><h1>Pier ${number}</h1><p>${own}</p>${note}</main>`;
  const ids = learn([1, 2, 3, 4, 5, 6].map((number) => pageWith(number, prose(number))));
  const short = pageWith(9, prose(9));
  expect(readWith(short, ids).text).toBe(parsePage(short).text);
  const long = pageWith(9, `${prose(9)} ${prose(19)} ${prose(29)}`);
  expect(readWith(long, ids).text).not.toContain(NOTICE);
});

test('an equal page of another host has other block ids', () => {
  const ids = learn(SIX, 'other.test');
  expect(ids).not.toHaveLength(0);
  expect(readWith(pageOf(9), ids).text).toContain(NOTICE);
  expect(listed(pageOf(9), 'a.test').filter((id) => listed(pageOf(9), 'b.test').includes(id))).toEqual([]);
});

test('a page lists at most 1,000 blocks, and none below 20 or above 10,000 characters', () => {
  const many = Array.from({ length: 1500 }, (_, i) => `<p>Paragraph ${i} describes one more day at the harbour.</p>`);
  expect(listed(`<main>${many.join('')}</main>`)).toHaveLength(1000);
  const lengths = listed(`<main><p>${'word '.repeat(4000)}</p><p>A short line</p>${BOX}<p>${prose(1)}</p></main>`).map(
    (id) => Number.parseInt(id, 36),
  );
  expect(lengths.length).toBeGreaterThan(1);
  for (const length of lengths) expect(length >= 20 && length <= 10_000).toBe(true);
});
