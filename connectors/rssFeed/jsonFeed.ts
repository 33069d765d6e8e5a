import { MAX_ENTRIES, InvalidFeed, type RawFeed } from './feedParser.js';
import { isObject, type Json } from '../json.js';
import { escapeHtml } from '../html.js';

/** Maximum length of one text, in characters. */
const MAX_TEXT = 1_000_000;
const MAX_VALUE = 2000;

/** Returns the first non-empty field as text. Ids may be numbers. */
function fieldText(fields: Json, names: readonly string[], limit = MAX_VALUE): string {
  for (const name of names) {
    const value = fields[name];
    const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : '';
    if (text !== '') return text.slice(0, limit);
  }
  return '';
}

/** Reads a JSON Feed (1.0, 1.1). @throws InvalidFeed */
export function parseJsonFeed(text: string): RawFeed {
  let feed: unknown;
  try {
    feed = JSON.parse(text);
  } catch {
    throw new InvalidFeed('is neither valid XML nor valid JSON. Correct it.');
  }
  if (!isObject(feed) || !Array.isArray(feed['items']))
    throw new InvalidFeed('is JSON but not a feed: it has no list of items. Give the address of a JSON Feed.');
  const entries = feed['items'].slice(0, MAX_ENTRIES).filter(isObject);
  return {
    title: escapeHtml(fieldText(feed, ['title'])),
    entries: entries.map((item) => ({
      id: fieldText(item, ['id']),
      link: fieldText(item, ['url', 'external_url']),
      title: escapeHtml(fieldText(item, ['title'])),
      summary: escapeHtml(fieldText(item, ['summary'], MAX_TEXT)),
      content: fieldText(item, ['content_html'], MAX_TEXT) || asHtml(fieldText(item, ['content_text'], MAX_TEXT)),
      published: fieldText(item, ['date_published', 'date_modified']),
      isPermalink: true,
    })),
  };
}

/** Converts plain text to HTML paragraphs. */
const asHtml = (text: string): string =>
  text === ''
    ? ''
    : text
        .split(/\n\s*\n/)
        .map((part) => `<p>${escapeHtml(part)}</p>`)
        .join('\n');
