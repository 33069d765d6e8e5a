import { expect, test } from '@jest/globals';
import { parsePage } from './page.js';

const metadataOf = (html: string, baseUrl: string | null = 'https://example.org/a/page'): unknown =>
  parsePage(`${html}<p>Some text of the page</p>`, { baseUrl }).metadata;

test('reads the title, language, address, description, author and date of a page', () => {
  const html = `<html lang="de-CH"><head><title> Der\n Hafen &amp; die Stadt </title>
    <link rel="shortlink" href="/s"><link rel="Canonical" href="../b?x=1#part">
    <meta name="Description" content="Alles  über den Hafen"><meta name=author content="Ann Bo">
    <meta property="og:title" content="Anders"><meta property="article:published_time" content="2021-03-04T05:06:07Z"></head><h1>Hafen</h1>`;
  expect(metadataOf(html)).toEqual({
    title: 'Der Hafen & die Stadt',
    language: 'de-CH',
    canonical_url: 'https://example.org/b?x=1',
    description: 'Alles über den Hafen',
    author: 'Ann Bo',
    published: '2021-03-04T05:06:07Z',
  });
});

test.each([
  ['prefers og:title to the heading', '<meta property="og:title" content="Open"><h1>Head</h1>', { title: 'Open' }],
  ['falls back to the heading', '<title></title><h1><img alt="The"> <b>Head</b></h1>', { title: 'The Head' }],
  ['ignores the title of an SVG drawing', '<svg><title>Icon</title></svg>', {}],
  ['reads the language of a meta element', '<meta http-equiv="Content-Language" content="fr, en">', { language: 'fr' }],
  ['reads the language of og:locale', '<meta property="og:locale" content="pt_BR">', { language: 'pt-BR' }],
  ['ignores an invalid language', '<html lang="{{lang}}">', {}],
  ['ignores a canonical address that is not HTTP', '<link rel=canonical href="javascript:alert(1)">', {}],
  [
    'resolves the canonical address against a base element',
    '<base href="https://other.example/x/"><link rel=canonical href=y>',
    { canonical_url: 'https://other.example/x/y' },
  ],
  [
    'ignores an author that is an address',
    '<meta property="article:author" content="https://social.example/ann"><meta name="dc.creator" content="Ann">',
    { author: 'Ann' },
  ],
  [
    'keeps a description that is an address, and the first of two values',
    '<meta name=description content="https://a.example/b"><meta name=description content="Two">',
    { description: 'https://a.example/b' },
  ],
])('%s', (_name, html, metadata) => {
  expect(metadataOf(html)).toEqual(metadata);
});

test('ignores a relative canonical address of an upload', () => {
  expect(metadataOf('<link rel=canonical href="/b">', null)).toEqual({});
  expect(metadataOf('<link rel=canonical href="https://a.example/b">', null)).toEqual({
    canonical_url: 'https://a.example/b',
  });
});
