import iconv from 'iconv-lite';

import { answer, html, type Trap } from './trap.js';

const bytes = (body: Buffer | string, type = 'text/html'): Trap['page'] => answer(200, body, { 'content-type': type });
const encoded = (encoding: string, text: string, head = ''): Buffer => iconv.encode(html(text, head), encoding);
const readable = (name: string, body: string, ...words: string[]): Trap => ({
  name,
  page: bytes(body, 'text/html; charset=utf-8'),
  outcome: { words },
});

/** Charsets: declared, undeclared and declared wrongly. */
export const CHARSET_TRAPS: readonly Trap[] = [
  {
    name: 'declared-utf8-is-1252',
    page: bytes(encoded('windows-1252', 'A café for 5 €'), 'text/html; charset=utf-8'),
    outcome: { words: ['A café for 5 €'] },
  },
  {
    name: 'declared-latin1-is-utf8',
    page: bytes(html('A café for 5 €'), 'text/html; charset=ISO-8859-1'),
    outcome: { words: ['A café for 5 €'] },
  },
  {
    name: 'declared-utf8-meta-is-right',
    page: bytes(encoded('windows-1251', 'Привет, мир', '<meta charset=windows-1251>'), 'text/html; charset=utf-8'),
    outcome: { words: ['Привет, мир'] },
  },
  {
    name: 'header-against-meta',
    page: bytes(encoded('koi8-r', 'Привет, мир', '<meta charset=utf-8>'), 'text/html; charset=koi8-r'),
    outcome: { words: ['Привет, мир'] },
  },
  {
    name: 'meta-alone',
    page: bytes(encoded('shift_jis', '日本語の文', '<meta charset=shift_jis>')),
    outcome: { words: ['日本語の文'] },
  },
  { name: 'undeclared-utf8', page: bytes(html('A café for 5 €')), outcome: { words: ['A café for 5 €'] } },
  {
    name: 'undeclared-1252',
    page: bytes(encoded('windows-1252', 'A café for 5 €')),
    outcome: { words: ['A café for 5 €'] },
  },
  {
    name: 'unknown-charset',
    page: bytes(html('A café for 5 €'), 'text/html; charset=klingon'),
    outcome: { words: ['A café for 5 €'] },
  },
  {
    name: 'utf16-with-mark',
    page: bytes(Buffer.from(`\ufeff${html('A café for 5 €')}`, 'utf16le')),
    outcome: { words: ['A café for 5 €'] },
  },
  {
    name: 'some-bytes-not-utf8',
    page: bytes(
      Buffer.concat([Buffer.from('<p>Grüße aus '), Buffer.from([0xff, 0xc3]), Buffer.from(' Köln</p>')]),
      'text/html; charset=utf-8',
    ),
    outcome: { words: ['Grüße aus', 'Köln'] },
  },
  {
    name: 'nul-bytes',
    page: bytes(html('Some\0 words\0 with\0 nothing between.'), 'text/html; charset=utf-8'),
    outcome: { words: ['Some words with nothing between.'], without: ['\0'] },
  },
];

/** Pages with faulty or unusual contents. */
export const CONTENT_TRAPS: readonly Trap[] = [
  { name: 'empty', page: bytes(''), outcome: { sentence: /there is no text in it/ } },
  { name: 'only-blanks', page: bytes(' \n\t\u00a0 '), outcome: { sentence: /there is no text in it/ } },
  {
    name: 'only-tags',
    page: bytes('<html><body><div><img src=a></div></body></html>'),
    outcome: { sentence: /no readable text on the page/ },
  },
  {
    name: 'only-a-script',
    page: bytes('<html><body><div id=root></div><script>throw new Error("no data")</script></body></html>'),
    outcome: { sentence: /no readable text on the page.* script/ },
  },
  {
    name: 'a-pdf.html',
    page: bytes('%PDF-1.7\n%\u00e2\u00e3\n1 0 obj'),
    outcome: { sentence: /can't be read as a PDF/ },
  },
  {
    name: 'binary.html',
    page: bytes(Buffer.from([1, 2, 0, 3, 200, 0, 7, 0, 0, 9])),
    outcome: { sentence: /it is binary data/ },
  },
  readable('duplicate-1', html('These words are on two pages.'), 'These words are on two pages.'),
  readable('duplicate-2', html('These words are on two pages.'), 'These words are on two pages.'),
  readable('5000-nested', `${'<div>'.repeat(5000)}deep${'</div>'.repeat(5000)}`, 'deep'),
  readable('5000-nested-lists', `${'<ul><li>'.repeat(5000)}deep`, 'deep'),
  {
    name: '60000-nested',
    page: bytes(`<p>top</p>${'<div>'.repeat(60_000)}deep${'</div>'.repeat(60_000)}`),
    outcome: { sentence: /MAX_HTML_DEPTH/ },
  },
  {
    name: '12000-attributes',
    page: bytes(`<p ${Array.from({ length: 12_000 }, (_, i) => `a${i}=v`).join(' ')}>one element`),
    outcome: { sentence: /MAX_HTML_ATTRIBUTES/ },
  },
  readable('300000-tiny-tags', `${'<b></b>'.repeat(300_000)}<p>after the tags`, 'after the tags'),
  {
    name: 'million-tiny-paragraphs',
    page: bytes('<p>x'.repeat(1_000_000)),
    // Which PARSE_ limit is exceeded first depends on the machine.
    outcome: { sentence: /could not be read within .* \(setting PARSE_\w+\)/ },
  },
  readable('one-endless-word', `<p>begins ${'qz'.repeat(100_000)}`, 'begins'),
  readable('very-long-title', `<title>${'Long title '.repeat(20_000)}</title><p>Short text.`, 'Short text.'),
  readable('right-to-left', html('שלום עולם \u202eمرحبا بالعالم\u202c'), 'שלום עולם', 'مرحبا بالعالم'),
  readable('chinese-and-emoji', html('敏捷的棕色狐狸跳过了懒狗。👩‍👩‍👧‍👦 🇨🇭'), '敏捷的棕色狐狸跳过了懒狗。', '🇨🇭'),
  readable('invalid-characters', html('a&#xD800;b &#0; &#x110000; &unknown; end'), 'end'),
  readable(
    'words-of-a-tokenizer',
    html('It says &lt;|endoftext|&gt; and &lt;|im_start|&gt; here.'),
    '<|endoftext|>',
    '<|im_start|>',
  ),
  readable(
    'names-of-objects',
    '<p __proto__=x constructor=y>Own words <toString>inside</toString></p>',
    'Own words inside',
  ),
  readable('tags-cut-off', '<html><body><p>Words before the end of <a href="', 'Words before the end of'),
  readable('comment-without-end', '<p>Words before.</p><!-- and then', 'Words before.'),
  readable('entities-of-entities', `<p>laughs ${'&amp;lol;'.repeat(50_000)}`, 'laughs &lol;'),
];
