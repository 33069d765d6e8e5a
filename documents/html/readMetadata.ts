import type { Document } from 'domhandler';
import { textContent } from 'domutils';

import { eachElement } from './pageElement.js';

/** Longest value that is kept of what a page says of itself. */
const MAX_VALUE = 1000;

const META: Readonly<Record<string, string>> = {
  description: 'description',
  'og:description': 'description',
  author: 'author',
  'article:author': 'author',
  'article:published_time': 'published',
  date: 'published',
  'og:title': 'title',
  'content-language': 'language',
};

const tidy = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_VALUE);

function resolved(href: string | undefined, baseUrl: string | null): string | null {
  if (href === undefined) return null;
  try {
    const url = new URL(href, baseUrl ?? undefined);
    return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : null;
  } catch {
    return null;
  }
}

/** What a page says of itself: title, language, canonical_url, description, author, published. Only what is there. */
export function readMetadata(root: Document, baseUrl: string | null): Record<string, unknown> {
  const found: Record<string, string> = {};
  const fallback: Record<string, string> = {};
  eachElement(root, (element) => {
    const { name, attribs } = element;
    if (name === 'html' && attribs['lang']) found['language'] = tidy(attribs['lang']);
    else if (name === 'title') found['title'] ??= tidy(textContent(element));
    else if (name === 'h1') fallback['title'] ??= tidy(textContent(element));
    else if (name === 'link' && /\bcanonical\b/i.test(attribs['rel'] ?? '')) {
      const url = resolved(attribs['href'], baseUrl);
      if (url !== null) found['canonical_url'] ??= url;
    } else if (name === 'meta') {
      const key = META[(attribs['name'] ?? attribs['property'] ?? attribs['http-equiv'] ?? '').toLowerCase()];
      if (key !== undefined && attribs['content']) fallback[key] ??= tidy(attribs['content']);
    }
    return true;
  });
  return Object.fromEntries(Object.entries({ ...fallback, ...found }).filter(([, value]) => value !== ''));
}
