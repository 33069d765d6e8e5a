import type { Document, ParentNode } from 'domhandler';
import { normaliseUrl } from '../../contract/urls.js';
import { eachElement, isElement, type PageElement } from './tree/pageElement.js';

/** Maximum length of a metadata value. */
const MAX_VALUE = 1000;

/** The names of meta elements for each field, in order of preference. */
const META_NAMES: ReadonlyArray<readonly [string, readonly string[]]> = [
  ['description', ['description', 'og:description', 'twitter:description', 'dc.description', 'dcterms.description']],
  ['author', ['author', 'article:author', 'dc.creator', 'dcterms.creator']],
  [
    'published',
    [
      'article:published_time',
      'datepublished',
      'date',
      'dc.date',
      'dc.date.issued',
      'dcterms.issued',
      'dcterms.created',
      'pubdate',
      'citation_publication_date',
    ],
  ],
];

/**
 * Returns the page's metadata: title, language, canonical_url, description, author, published. Missing values are
 * omitted.
 */
export function readMetadata(root: Document, baseUrl: string | null): Record<string, unknown> {
  const metas = new Map<string, string>();
  // The first non-empty value of each kind.
  const first = { title: '', heading: '', lang: '', canonical: '', base: '' };
  eachElement(root, (element) => {
    const { name, attribs } = element;
    if (name === 'meta') readMeta(element, metas);
    else if (name === 'title') first.title ||= textOf(element);
    else if (name === 'h1') first.heading ||= textOf(element);
    else if (name === 'html') first.lang ||= attribs['lang'] ?? attribs['xml:lang'] ?? '';
    else if (name === 'base') first.base ||= attribs['href'] ?? '';
    else if (name === 'link' && /(?:^|\s)canonical(?:\s|$)/i.test(attribs['rel'] ?? ''))
      first.canonical ||= attribs['href'] ?? '';
    return true;
  });
  const found: [string, string | null | undefined][] = [
    ['title', first.title || metas.get('og:title') || first.heading],
    ['language', language(first.lang) ?? language(metas.get('content-language')) ?? language(metas.get('og:locale'))],
    ['canonical_url', canonicalUrl(first.canonical || metas.get('og:url') || '', first.base, baseUrl)],
  ];
  for (const [fact, names] of META_NAMES) {
    // Ignore an author that is a URL: some sites give the URL of a profile.
    const values = names
      .map((name) => metas.get(name) ?? '')
      .filter((value) => fact !== 'author' || !/^https?:/i.test(value));
    found.push([fact, values.find((value) => value !== '')]);
  }
  return Object.fromEntries(found.filter(([, value]) => value !== null && value !== undefined && value !== ''));
}

function readMeta({ attribs }: PageElement, metas: Map<string, string>): void {
  const name = (attribs['name'] ?? attribs['property'] ?? attribs['itemprop'] ?? attribs['http-equiv'] ?? '')
    .trim()
    .toLowerCase();
  const content = tidy(attribs['content'] ?? '');
  if (name !== '' && content !== '' && !metas.has(name)) metas.set(name, content);
}

/**
 * Returns the element's text up to the maximum length of a value: a heading without an end tag contains the rest of the
 * page.
 */
export function textOf(element: PageElement): string {
  let text = '';
  const read = (parent: ParentNode): void => {
    for (const child of parent.children) {
      if (text.length > 4 * MAX_VALUE) return;
      if ('data' in child) text += child.data;
      else if (isElement(child) && child.name === 'img') text += ` ${child.attribs['alt'] ?? ''} `;
      else if (isElement(child)) read(child);
    }
  };
  read(element);
  return tidy(text);
}

function tidy(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, MAX_VALUE);
}

/** Returns the first language tag of a list, with hyphens; null if it is not valid. */
function language(value: string | undefined): string | null {
  const tag = (value ?? '').split(',')[0]?.trim().replaceAll('_', '-') ?? '';
  return /^[a-z]{2,3}(?:-[a-z0-9]{2,8})*$/i.test(tag) ? tag : null;
}

function canonicalUrl(href: string, base: string, baseUrl: string | null): string | null {
  if (href.trim() === '') return null;
  const from = base === '' ? baseUrl : (normaliseUrl(base, baseUrl ?? undefined) ?? baseUrl);
  return normaliseUrl(href, from ?? undefined);
}
