import { afterAll, describe, expect, test } from '@jest/globals';

import { readPageLinks } from '../../documents/readPageLinks.js';
import type { LinkOptions, ParseInput } from '../../documents/types.js';
import { FILES, input, LIMITS } from './page.js';
import { loadDocumentPool } from '../support/product.js';

const { createDocumentPool } = await loadDocumentPool();

const ALL: LinkOptions = { max: 1000, follow: null, withText: false };
const FOLLOW: LinkOptions = { ...ALL, follow: { hosts: ['example.org'] } };
const linksOf = (html: string, options = ALL, more: Partial<ParseInput> = {}): readonly string[] =>
  readPageLinks(input(html, more), options).urls;

const pool = createDocumentPool({ threads: 1, timeoutMs: 60_000, memoryMb: 256, limits: LIMITS, files: FILES });
afterAll(() => pool.close());

describe('links of a page', () => {
  test('are normalised, unique and in page order', () => {
    const html = `<a href="/b">B</a><A HREF='/a?x=1&amp;y=2#part'>A</A><a href=" /b#top ">again</a>
      <map><area href="c"></map><a href=HTTP://Other.Org:80/d>D</a>`;
    expect(linksOf(html)).toEqual([
      'https://example.org/b',
      'https://example.org/a?x=1&y=2',
      'https://example.org/c',
      'http://other.org/d',
    ]);
  });

  test('are resolved against the base element, even a relative one', () => {
    expect(linksOf('<base href="/docs/"><a href="one">1</a>')).toEqual(['https://example.org/docs/one']);
    expect(linksOf('<base href="javascript:x"><a href="one">1</a>')).toEqual(['https://example.org/one']);
  });

  test('exclude fragments, other schemes, logins, invalid addresses, and links in comments, scripts and text areas', () => {
    const html = `<a href="#part">part</a><a href="">empty</a><a name="x">anchor</a><a href="mailto:a@example.org">mail</a>
      <a href="javascript:void(0)">script</a><a href="https://user:secret@example.org/">login</a><a href="http://[">broken</a>
      <!-- <a href="/comment"> --><script>'<a href="/script">'</script><style><a href="/style"></style><textarea><a href="/typed"></textarea>`;
    expect(linksOf(html)).toEqual([]);
  });

  test('are found in malformed HTML and in SVG', () => {
    expect(linksOf('<div><a href="/open">one<p><a href="/next" <b>two')).toEqual([
      'https://example.org/open',
      'https://example.org/next',
    ]);
    expect(linksOf('<svg><a href="/drawn"/></svg><a href="/after">')).toEqual([
      'https://example.org/drawn',
      'https://example.org/after',
    ]);
  });

  test('are found after an empty style or title in an SVG, and after an SVG without an end', () => {
    const after = ['https://example.org/after'];
    expect(linksOf('<svg><defs><style/><title/></defs></svg><a href="/after">')).toEqual(after);
    expect(linksOf('<svg/><style><a href="/no"></style><a href="/after">')).toEqual(after);
    expect(linksOf('<svg><path><p><style><a href="/no"></style><a href="/after">')).toEqual(after);
  });

  test('are found after a CDATA section without an end', () => {
    expect(linksOf('<![CDATA[ <div><a href="/after?a=1&amp;b=2">A</a>')).toEqual(['https://example.org/after?a=1&b=2']);
  });

  test('exclude addresses that are too long before their references are decoded', () => {
    expect(linksOf(`<a href="/${'&amp;'.repeat(7000)}">A</a><a href="/b">B</a>`)).toEqual(['https://example.org/b']);
  });

  test('are not searched for in plain text', () => {
    expect(linksOf('<a href="/b">B</a>', ALL, { contentType: 'text/plain' })).toEqual([]);
  });
});

describe('links that a crawl may follow', () => {
  test('lead to pages of the allowed hosts', () => {
    const html = `<a href="/a">a</a><a href="https://example.org:8443/port">p</a><a href="https://www.example.org/">w</a>
      <a href="/paper.PDF">f</a><a href="/logo.png?size=2">i</a><a href="/wiki/Node.js">n</a><a href="/x?file=a.zip">q</a>`;
    expect(linksOf(html, FOLLOW)).toEqual([
      'https://example.org/a',
      'https://example.org/wiki/Node.js',
      'https://example.org/x?file=a.zip',
    ]);
  });

  test('exclude links marked nofollow, individually or by the page', () => {
    const html = '<a rel="noopener NoFollow" href="/a">a</a><a href="/b" rel=nofollow>b</a><a href="/b">b</a>';
    expect(linksOf(html, FOLLOW)).toEqual(['https://example.org/b']);
    expect(linksOf(html)).toHaveLength(2);
    expect(linksOf(`<meta name="ROBOTS" content="index, nofollow">${html}`, FOLLOW)).toEqual([]);
    expect(linksOf(`<meta name="robots" content="none">${html}`, FOLLOW)).toEqual([]);
    expect(linksOf(`<meta name="robots" content="max-snippet: -1 nofollow">${html}`, FOLLOW)).toEqual([]);
    const preview = '<meta name="robots" content="index, follow, max-image-preview: none">';
    expect(linksOf(`${preview}${html}`, FOLLOW)).toEqual(['https://example.org/b']);
  });

  test('reach the requested number although the page has many other links', () => {
    const html = `${'<a href="https://other.org/">o</a>'.repeat(50_000)}${Array.from({ length: 30 }, (_, n) => `<a href="/${n}">`).join('')}`;
    expect(linksOf(html, { ...FOLLOW, max: 20 })).toHaveLength(20);
  });
});

test('reads a page with very long addresses, attributes and lists of links, but returns no very long address', () => {
  const html = [
    `<a href="/${'x'.repeat(1_000_000)}">`,
    `<a href="/${'&amp;'.repeat(300_000)}">`,
    `<a ${'x '.repeat(300_000)} href="/late">`,
    ...Array.from({ length: 200_000 }, (_, n) => `<a href="/${n}">`),
    '<a '.repeat(200_000),
  ].join('');
  const urls = linksOf(html, { ...FOLLOW, max: 100 });
  expect(urls).toHaveLength(100);
  expect(urls.every((url) => url.length < 2100)).toBe(true);
});

test('returns the links and the text of a page from the pool, and leaves its bytes usable', async () => {
  const page = input(`<title>Harbour</title><p>Grüße <a href="/a">a</a></p>${'<!-- -->'.repeat(30_000)}`);
  const size = page.bytes.byteLength;
  const { urls, text } = await pool.links(page, { ...ALL, withText: true });
  expect(urls).toEqual(['https://example.org/a']);
  expect(text).toContain('Grüße <a href="/a">');
  expect(page.bytes.byteLength).toBe(size);
  const document = await pool.process(page, { chunkSize: 100, chunkOverlap: 10, prefix: null });
  expect(document.text).toContain('Grüße');
});
