import { expect, test } from '@jest/globals';

import { faultOfFile, readFile } from '../readFile.js';
import { AES, encryptedMember, epubFile } from './epubFile.js';

const page = (body: string) => ({ href: 'a.xhtml', body });

test('empty elements of XHTML do not enclose the elements after them', async () => {
  const body =
    '<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="a.js"/><style/></head><body><p/><p>Tides<a id="x"/> rise.</p><td/><p>Caf&eacute;&nbsp;<![CDATA[& more]]></p></body></html>';
  expect((await readFile(epubFile({ pages: [page(body)] }), 'a.epub')).text).toBe('Tides rise.\n\nCafé & more');
});

test('declarations inside of the document type are not text, and entities are not expanded', async () => {
  const body =
    '<?xml version="1.0"?>\n<!DOCTYPE html [<!ENTITY who "Anna"><!ENTITY file SYSTEM "file:///etc/passwd">]>\n<html><body><p>By &who;, &file;</p></body></html>';
  expect((await readFile(epubFile({ pages: [page(body)] }), 'a.epub')).text).toBe('By &who;, &file;');
});

test('numbers of notes are separated from the words before them', async () => {
  const body =
    '<p>It rose by 3.<a epub:type="noteref" href="#n">1</a> It fell.<a href="#m"><sup>2</sup></a></p><p>See <a href="b.xhtml">10</a>.</p>';
  expect((await readFile(epubFile({ pages: [page(body)] }), 'a.epub')).text).toBe(
    'It rose by 3.[1] It fell.[2]\n\nSee 10.',
  );
});

test('the metadata of the book is read, and parts that are not read are counted', async () => {
  const document = await readFile(
    epubFile({
      pages: [page('<p>Tides.</p>')],
      metadata:
        '<dc:title>Of the sea</dc:title><dc:creator>Anna</dc:creator><dc:creator>Bo</dc:creator><dc:date>2024-05-01</dc:date><dc:language>en</dc:language>',
      items:
        '<item id="i" href="a.png" media-type="image/png"/><item id="s" href="a.mp3" media-type="audio/mpeg"/><item id="v" href="a.svg" media-type="image/svg+xml"/>',
      spine: ['p0', 'v', 'missing'],
    }),
    'a.epub',
  );
  expect(document.metadata).toEqual({
    title: 'Of the sea',
    author: 'Anna, Bo',
    created: '2024-05-01',
    language: 'en',
    book_pages: 1,
    not_read: { pictures: 2, recordings: 1, pages: 2 },
  });
  expect(document.sourceCreatedAt).toBe('2024-05-01T00:00:00.000Z');
});

test('a page in another format is replaced by its fallback', async () => {
  const bytes = epubFile({
    pages: [page('<p>Tides.</p>')],
    items:
      '<item id="x" href="x.pdf" media-type="application/pdf" fallback="y"/><item id="y" href="y.bin" media-type="application/x" fallback="p0"/><item id="loop" href="l.bin" media-type="application/x" fallback="loop"/>',
    spine: ['x', 'loop'],
  });
  expect(await readFile(bytes, 'a.epub')).toMatchObject({ text: 'Tides.', metadata: { not_read: { pages: 1 } } });
});

test('a protected book is refused, one with obfuscated fonts is read', async () => {
  const fonts = encryptedMember('http://www.idpf.org/2008/embedding', 'OPS/font.otf');
  expect((await readFile(epubFile({ pages: [page('<p>Tides.</p>')], encryption: fonts }), 'a.epub')).text).toBe(
    'Tides.',
  );
  const both = fonts + encryptedMember(AES, 'OPS/a.xhtml');
  expect(await faultOfFile(epubFile({ pages: [page('<p>Tides.</p>')], encryption: both }), 'a.epub')).toMatch(
    /^encrypted: The book is protected by digital rights management/,
  );
});

test('a book with an empty container.xml is broken, and one that decompresses to too much is too large', async () => {
  const bytes = epubFile({ pages: [page('<p>Tides.</p>')], more: { 'META-INF/container.xml': new Uint8Array() } });
  expect(await faultOfFile(bytes, 'a.epub')).toMatch(/^broken_content: /);
  const bomb = epubFile({ pages: [page('<p>'.padEnd(3_000_000))] });
  expect(await faultOfFile(bomb, 'a.epub')).toMatch(/^too_large: .*MAX_UNPACK_RATIO/);
});

const SVG = 'image/svg+xml';
const svg = (inner: string, start = ''): string =>
  `<?xml version="1.0"?>${start}<svg xmlns="http://www.w3.org/2000/svg"><title>Cover</title><style>text { fill: red }</style>${inner}</svg>`;

test('reads SVG pages; not_read counts one without text as a picture, a malformed one as a page', async () => {
  const lines =
    '<text>The <tspan>har</tspan>bour</text><text><tspan x="1" y="2">of</tspan><tspan x="1" dy="9">Kiel</tspan></text><path d="M0 0"/>';
  const foreign =
    '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><p>First</p><p>Second</p></body></foreignObject>';
  const { text, metadata } = await readFile(
    epubFile({
      pages: [
        { href: 'a.svg', type: SVG, body: svg(lines) },
        { href: 'b.xhtml', body: '<p>Page.</p>' },
        { href: 'c.svg', type: SVG, body: svg(foreign, '<!DOCTYPE svg [<!ENTITY a "b">]>') },
        { href: 'd.svg', type: SVG, body: svg('<path d="M0 0"/>') },
        { href: 'e.svg', type: SVG, body: svg('<text>&unknown;</text>') },
      ],
    }),
    'a.epub',
  );
  expect(text).toBe('The harbour\nof Kiel\n\nPage.\n\nFirst\nSecond');
  expect(metadata['not_read']).toEqual({ pages: 1, pictures: 1 });
});
