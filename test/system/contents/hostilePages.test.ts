import { afterAll, describe, expect, test } from '@jest/globals';
import { FILES, input, LIMITS, parsePage, textOf } from '../../documents/page.js';
import { everyRow } from '../../support/everyRow.js';
import { loadDocumentPool } from '../../support/product.js';
import { thoroughRows } from '../../support/thorough.js';

const { createDocumentPool } = await loadDocumentPool();

const attributes = Array.from({ length: 100_000 }, (_, i) => `a${i}="v"`).join(' ');
const repeat = (text: string, times: number): string => text.repeat(times);

/** A page that declares an article, with the given HTML below its text. */
const article = (html: string): string =>
  '<script type="application/ld+json">{"@context":"https://schema.org","@type":"NewsArticle","headline":"H"}</script>' +
  `<article><h1>H</h1>${repeat('<p>The harbour was built in 1874, and it has been widened twice since then.</p>', 8)}${html}`;

/** Name of the page, its HTML, a pattern that its text must match and, optionally, one that it must not match. */
type Page = readonly [name: string, html: string, text: RegExp, excluded?: RegExp];
const pages: readonly Page[] = [
  ['100,000 open elements', `${repeat('<div>', 100_000)}deep`, /^deep$/],
  ['100,000 elements, all closed', `${repeat('<div>', 100_000)}deep${repeat('</div>', 100_000)}`, /^deep$/],
  ['100,000 formatting elements', `${repeat('<b>', 100_000)}deep${repeat('</b>', 100_000)}`, /^\**deep\**$/],
  ['formatting closed in the wrong order', `${repeat('<b><i>', 100_000)}deep${repeat('</b></i>', 100_000)}`, /deep/],
  ['100,000 lists inside one another', `${repeat('<ul><li>', 100_000)}deep`, /deep$/],
  ['100,000 quotes inside one another', `${repeat('<blockquote>', 100_000)}deep`, /deep$/],
  ['a table of 100,000 cells in a row', `<table><tr>${repeat('<td>x', 100_000)}</table>`, /^\|? ?x/],
  [
    'end tags of elements that are not open',
    `<p>${repeat('<span>', 100_000)}${repeat('<div></section>', 100_000)}deep`,
    /^deep$/,
  ],
  ['30,000 headings', repeat('<h2>x</h2>', 30_000), /^## x\n/],
  ['an attribute list of 100,000', `<p ${attributes}>text</p>`, /^text$/],
  ['an attribute of ten million characters', `<p title="${repeat('x', 10_000_000)}">text</p>`, /^text$/],
  ['an attribute of 100,000 entities', `<p title="${repeat('&amp;', 100_000)}">text</p>`, /^text$/],
  ['a class list of 100,000', `<p class="${repeat('c ', 100_000)}">text</p>`, /^text$/],
  ['an unclosed drawing', `${repeat('<svg>', 10_000)}<p>text`, /^text$/],
  ['an unclosed select', `${repeat('<select><option>no', 10_000)}<p>text`, /^text$/],
  ['100,000 unfinished comments', `${repeat('<!-', 100_000)}><p>text`, /text/],
  ['50,000 angle brackets', `<p>text ${repeat('<', 50_000)}`, /^text/],
  ['50,000 ampersands', `<p>text ${repeat('&', 50_000)}`, /^text &/],
  ['an unclosed script', `<p>text</p><script>${repeat('</scrip', 100_000)}`, /^text$/],
  ['an unclosed title', `<p>text</p><title>${repeat('x ', 100_000)}`, /text/],
  ['zero bytes', `<html><p>te\0xt${repeat('\0', 100_000)}`, /text/, /\0/],
  ['a word of 200,000 letters', `<p>${repeat('qz', 100_000)}`, /^(qz)+$/],
  ['100,000 comments in front', `${repeat('<!-- -->', 100_000)}<p>text`, /^text$/],
  ['100,000 blanks in preformatted text', `<pre>x${repeat(' ', 100_000)}x</pre>`, /x {100000}x/],
  ['100,000 empty lines in preformatted text', `<pre>x${repeat('\n', 100_000)}x</pre>`, /x\n{100000}x/],
  ['50,000 joiners', `<p>x${repeat('\u200d', 50_000)}x`, /^x\u200d{50000}x$/],
  ['30,000 combining marks', `<p>a${repeat('\u0301', 30_000)}`, /^[aá]/],
  ['100,000 changes of direction', `<p>text${repeat('\u202e\u202c', 100_000)}`, /^text/],
  [
    '100,000 paragraphs that are links in an article',
    article(`<h2>Links</h2>${repeat('<p><a href=/1>The ferry leaves</a></p>', 100_000)}`),
    /ferry leaves/,
  ],
  ['30,000 articles in an article', article(repeat('<article><h2>Next</h2><p>text</p></article>', 30_000)), /harbour/],
  ['100,000 linked pictures', article(repeat('<a href=/1><img src=a alt=logo></a>', 100_000)), /harbour/],
  ['special tokens of a tokenizer', `<p>${repeat('&lt;|endoftext|&gt;', 10_000)}`, /^(<\|endoftext\|>)+$/],
  // Further rows of these kinds, which only `npm run test:long` reads.
  ...thoroughRows<Page>([
    ['5,000 nested elements', `${repeat('<div>', 5000)}deep${repeat('</div>', 5000)}`, /^deep$/],
    ['100,000 links inside one another', `${repeat('<a href=x>', 100_000)}deep`, /deep/],
    ['100,000 tables inside one another', `${repeat('<table><tr><td>', 100_000)}deep`, /^deep$/],
    ['100,000 end tags', `<p>text${repeat('</p>', 100_000)}`, /^text$/],
    ['300,000 tiny elements', `${repeat('<b></b>', 300_000)}<p>text`, /^text$/],
    ['100,000 entities', `<p>${repeat('&lt;', 100_000)}`, /^<+$/],
    ['10,000 joined emoji', `<p>${repeat('👩‍👩‍👧‍👦', 10_000)}`, /^👩/],
  ]),
];

/** Content that is not HTML: name, media type, content, and a pattern that its text must match. */
const texts: ReadonlyArray<readonly [name: string, type: string, content: string, text: RegExp]> = [
  ['100,000 blanks in a line', 'text/plain', `x${repeat(' ', 100_000)}x`, /^x {100000}x$/],
  ['100,000 empty lines', 'text/plain', `x${repeat('\n', 100_000)}x`, /^x\n{3}x$/],
  ['100,000 unclosed comments', 'text/markdown', `text${repeat(' <!--', 100_000)}`, /^text <!--/],
  ['100,000 unclosed images', 'text/markdown', `text${repeat('](data:', 100_000)}`, /^text\]\(data:/],
  ['a heading of 100,000 blanks', 'text/markdown', `# text${repeat(' ', 100_000)}text`, /^# text/],
  ['100,000 open brackets', 'text/markdown', `text ${repeat('[', 100_000)}`, /^text \[/],
  ['unclosed front matter', 'text/markdown', `---\n${repeat('a: b\n', 100_000)}`, /^---\na: b/],
];

describe('hostile content is read and chunked within the time and memory limits of a document', () => {
  // The limits are raised, because content above the default limits would be refused without being read.
  const limits = { ...LIMITS, maxHtmlDepth: 1_000_000, maxHtmlAttributes: 1_000_000 };
  // Linear work takes milliseconds, other work minutes, so that the limits of the pool end it.
  const pool = createDocumentPool({ threads: 1, timeoutMs: 30_000, memoryMb: 512, limits, files: FILES });
  afterAll(() => pool.close());

  async function read(content: string, contentType: string): Promise<string> {
    const document = await pool.process(input(content, { contentType }), {
      chunkSize: 200,
      chunkOverlap: 20,
      prefix: null,
    });
    expect(document.cuts.length).toBeGreaterThan(0);
    expect(Math.max(...document.cuts.map((cut) => cut.tokens))).toBeLessThanOrEqual(200);
    expect(document.cuts.at(-1)?.end).toBe(document.text.length);
    // A long text is read from its file.
    return document.text.slice(0, document.text.length);
  }

  // Compared as booleans: Jest would take minutes to print megabytes.
  test(
    'in HTML pages',
    () =>
      everyRow(
        pages,
        ([name]) => name,
        async ([, html, text, excluded]) => {
          const actualText = await read(html, 'text/html; charset=utf-8');
          expect([text.test(actualText), excluded?.test(actualText) ?? false]).toEqual([true, false]);
        },
      ),
    1_800_000,
  );

  test('in plain text and Markdown', () =>
    everyRow(
      texts,
      ([name]) => name,
      async ([, type, content, text]) => expect(text.test(await read(content, type))).toBe(true),
    ));
});

describe('structures that no author writes', () => {
  test.each([
    [
      'elements that are never closed',
      (count: number) => repeat('<div>', count),
      /more than 50000 nested open elements.*MAX_HTML_DEPTH/,
    ],
    [
      'elements that are all closed',
      (count: number) => `${repeat('<i>', count)}x${repeat('</i>', count)}`,
      /MAX_HTML_DEPTH/,
    ],
    [
      'elements that are not rendered',
      (count: number) => `<svg>${repeat('<g>', count - 1)}${repeat('</g>', count - 1)}</svg>`,
      /MAX_HTML_DEPTH/,
    ],
  ])('%s: are read up to the limit, and refused above it', (_what, open, sentence) => {
    expect(textOf(`${open(50_000)}deep`)).toMatch(/deep/);
    expect(() => textOf(`${open(50_001)}deep`)).toThrow(sentence);
  });

  test('are refused if they have too many attributes on one element, with one name or different names', () => {
    const page = (count: number) => `<p ${Array.from({ length: count }, (_, i) => `a${i}`).join(' ')}>text`;
    expect(textOf(page(10_000))).toBe('text');
    expect(() => textOf(page(10_001))).toThrow(/more than 10000 attributes.*MAX_HTML_ATTRIBUTES/);
    expect(() => textOf(`<p ${repeat('a=b ', 10_001)}>text`)).toThrow(/MAX_HTML_ATTRIBUTES/);
  });

  test('do not include sibling elements and omitted end tags: 60,000 of them are read', () => {
    expect(textOf(`${repeat('<p>x', 60_000)}<p>text`)).toMatch(/text$/);
    expect(textOf(`<ul>${repeat('<li>x', 60_000)}</ul><table>${repeat('<tr><td>x', 10_000)}</table>text`)).toMatch(
      /text$/,
    );
  });
});

test('separates the words of elements nested deeper than the limit', () => {
  const limits = { ...LIMITS, maxDepth: 16, maxAttributesPerElement: 1000, maxTextCharacters: 1000 };
  const html = `${'<div>'.repeat(40)}one<div>two</div><p>three</p>four`;
  expect(parsePage(html, {}, limits).text).toBe('one two three four');
});

test('ignores attributes above the limit', () => {
  const limits = { ...LIMITS, maxDepth: 512, maxAttributesPerElement: 3, maxTextCharacters: 1000 };
  const html =
    '<p a b c hidden>shown</p><p hidden a b c>not shown</p><p>This is the text of the page, which is long enough.</p>';
  expect(parsePage(html, {}, limits).text).toBe('shown\n\nThis is the text of the page, which is long enough.');
});

test('limits a table with a forged colspan to fifty columns', () => {
  const rows = '<tr><td colspan=100000>a<td>b'.repeat(10);
  expect(parsePage(`<table>${rows}</table>`).text.length).toBeLessThan(3000);
});
