import { expect, test } from '@jest/globals';
import { parsePage } from './page.js';

const attributes = Array.from({ length: 100_000 }, (_, i) => `a${i}="v"`).join(' ');

const pages: ReadonlyArray<readonly [name: string, html: string, text: string]> = [
  ['300,000 open elements', `${'<div>'.repeat(300_000)}deep`, 'deep'],
  ['300,000 elements, all closed', `${'<div>'.repeat(300_000)}deep${'</div>'.repeat(300_000)}`, 'deep'],
  ['300,000 formatting elements', `${'<b>'.repeat(300_000)}deep${'</b>'.repeat(300_000)}`, 'deep'],
  ['100,000 tables inside one another', `${'<table><tr><td>'.repeat(100_000)}deep`, 'deep'],
  ['end tags of what is not open', `<p>${'<span>'.repeat(100_000)}${'<div></section>'.repeat(100_000)}deep`, 'deep'],
  ['an attribute list of 100,000', `<p ${attributes}>text</p>`, 'text'],
  ['an attribute of 300,000 entities', `<p title="${'&amp;'.repeat(300_000)}">text</p>`, 'text'],
  ['a drawing that is never closed', `${'<svg>'.repeat(10_000)}<p>text`, 'text'],
  ['a choice that is never closed', `${'<select><option>no'.repeat(10_000)}<p>text`, 'text'],
];

test.each(pages)('%s', (_name, html, text) => {
  const started = performance.now();
  expect(parsePage(html).text).toBe(text);
  // Milliseconds when linear, minutes when not.
  expect(performance.now() - started).toBeLessThan(20_000);
});

test('words of flattened elements stay apart', () => {
  const limits = { maxDepth: 16, maxAttributesPerElement: 1000, maxTextCharacters: 1000 };
  const html = `${'<div>'.repeat(40)}one<div>two</div><p>three</p>four`;
  expect(parsePage(html, {}, limits).text).toBe('one two three four');
});

test('attributes past the limit are not read', () => {
  const limits = { maxDepth: 512, maxAttributesPerElement: 3, maxTextCharacters: 1000 };
  const html =
    '<p a b c hidden>shown</p><p hidden a b c>not shown</p><p>This is the text of the page, which is long enough.</p>';
  expect(parsePage(html, {}, limits).text).toBe('shown\n\nThis is the text of the page, which is long enough.');
});

test('a forged colspan makes no table wider than fifty columns', () => {
  const rows = '<tr><td colspan=100000>a<td>b'.repeat(10);
  expect(parsePage(`<table>${rows}</table>`).text.length).toBeLessThan(3000);
});
