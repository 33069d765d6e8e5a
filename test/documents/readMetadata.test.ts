import { expect, test } from '@jest/globals';
import { parsePage } from './page.js';

const metadataOf = (html: string, baseUrl: string | null = 'https://example.org/a/page'): unknown =>
  parsePage(`${html}<p>Some text of the page</p>`, { baseUrl }).metadata;

test('what a page says of itself', () => {
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
  ['og:title before the heading', '<meta property="og:title" content="Open"><h1>Head</h1>', { title: 'Open' }],
  [
    'the heading when there is nothing else',
    '<title></title><h1><img alt="The"> <b>Head</b></h1>',
    { title: 'The Head' },
  ],
  ['the title of a drawing is none', '<svg><title>Icon</title></svg>', {}],
  ['language from meta', '<meta http-equiv="Content-Language" content="fr, en">', { language: 'fr' }],
  ['language from og:locale', '<meta property="og:locale" content="pt_BR">', { language: 'pt-BR' }],
  ['a language that is none', '<html lang="{{lang}}">', {}],
  ['a canonical address that is not on the web', '<link rel=canonical href="javascript:alert(1)">', {}],
  [
    'a base element',
    '<base href="https://other.example/x/"><link rel=canonical href=y>',
    { canonical_url: 'https://other.example/x/y' },
  ],
  [
    'an author that is an address',
    '<meta property="article:author" content="https://social.example/ann"><meta name="dc.creator" content="Ann">',
    { author: 'Ann' },
  ],
])('%s', (_name, html, metadata) => {
  expect(metadataOf(html)).toEqual(metadata);
});

test('an upload has no address to resolve against', () => {
  expect(metadataOf('<link rel=canonical href="/b">', null)).toEqual({});
  expect(metadataOf('<link rel=canonical href="https://a.example/b">', null)).toEqual({
    canonical_url: 'https://a.example/b',
  });
});
