/** Reads the text that a page has only in its JSON-LD (https://schema.org). */

/** Maximum length in characters and depth of a block of JSON-LD, and maximum number of titles and texts of a page. */
const MAX_LENGTH = 2_000_000;
const MAX_DEPTH = 12;
const MAX_VALUES = 2000;

/** The start and the end of a script element. Each is searched onwards from the last match, so the search is linear. */
const SCRIPT = /<script\s([^<>]*)>/gi;
const END = /<\/script/gi;
const JSON_LD = /\btype\s*=\s*["']?application\/ld\+json/i;

/** Properties with a title and properties with text, each in order of preference. Only the first one is used. */
const TITLES = ['headline', 'name'] as const;
const TEXTS = ['articleBody', 'text', 'reviewBody', 'description'] as const;

/** Returns the texts of a page's JSON-LD as paragraphs of HTML; an empty string if it has none. */
export function linkedDataHtml(html: string): string {
  const parts: string[] = [];
  const seen = new Set<string>();
  for (const json of blocksOf(html)) if (json.length <= MAX_LENGTH) collect(parsed(json), 0, parts, seen);
  return parts.join('\n');
}

/** Returns the description of the page's product in its JSON-LD as HTML; an empty string if it has none. */
export function productDescriptionHtml(html: string): string {
  for (const json of blocksOf(html)) {
    const text = json.length <= MAX_LENGTH ? descriptionIn(parsed(json), 0) : null;
    if (text !== null) return asHtml(text);
  }
  return '';
}

function descriptionIn(value: unknown, depth: number): string | null {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return null;
  const properties = value as Record<string, unknown>;
  const { description } = properties;
  const types: unknown[] = [properties['@type']].flat();
  if (types.some((type) => type === 'Product' || type === 'ProductGroup') && typeof description === 'string')
    return description.length >= MIN_TEXT_LENGTH ? description : null;
  for (const [name, inner] of Object.entries(properties)) {
    const found = NOT_CONTENT.has(name) || OTHER_PRODUCTS.has(name) ? null : descriptionIn(inner, depth + 1);
    if (found !== null) return found;
  }
  return null;
}

/** Properties that hold other products. */
const OTHER_PRODUCTS = new Set([
  'isRelatedTo',
  'isSimilarTo',
  'isAccessoryOrSparePartFor',
  'itemListElement',
  'review',
]);

function blocksOf(html: string): string[] {
  const blocks: string[] = [];
  SCRIPT.lastIndex = 0;
  for (let start = SCRIPT.exec(html); start !== null; start = SCRIPT.exec(html)) {
    END.lastIndex = SCRIPT.lastIndex;
    const end = END.exec(html);
    if (end === null) break;
    if (JSON_LD.test(start[1] ?? '')) blocks.push(html.slice(SCRIPT.lastIndex, end.index));
    SCRIPT.lastIndex = END.lastIndex;
  }
  return blocks;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json.replace(/^\s*(?:<!--|\/\/\s*<!\[CDATA\[)|(?:-->|\/\/\s*\]\]>)\s*$/g, ''));
  } catch {
    // Ignore broken JSON, as search engines do.
    return null;
  }
}

function collect(value: unknown, depth: number, parts: string[], seen: Set<string>): void {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH || parts.length > MAX_VALUES) return;
  if (Array.isArray(value)) {
    for (const element of value) collect(element, depth + 1, parts, seen);
    return;
  }
  const properties = value as Record<string, unknown>;
  const texts = TEXTS.map((name) => properties[name]).filter(
    (text) => typeof text === 'string' && (text.length >= MIN_TEXT_LENGTH || isPost(properties)),
  );
  const [text] = texts;
  if (typeof text === 'string' && !seen.has(text)) {
    seen.add(text);
    const title = TITLES.map((name) => properties[name]).find((candidate) => typeof candidate === 'string');
    if (typeof title === 'string') parts.push(`<h2>${escaped(title)}</h2>`);
    parts.push(asPost(properties, asHtml(text)));
  }
  for (const [name, inner] of Object.entries(properties))
    if (!NOT_CONTENT.has(name)) collect(inner, depth + 1, parts, seen);
}

/** Shorter texts are labels. */
const MIN_TEXT_LENGTH = 40;
/** Properties whose texts are about the site or the author instead of the page. */
const NOT_CONTENT = new Set(['publisher', 'author', 'isPartOf', 'provider', 'brand', 'potentialAction', 'breadcrumb']);

const POSTS = /^(?:Comment|Answer|Question|DiscussionForumPosting|SocialMediaPosting)$/;

const isPost = (properties: Readonly<Record<string, unknown>>): boolean => {
  const type: unknown = Array.isArray(properties['@type']) ? properties['@type'][0] : properties['@type'];
  return typeof type === 'string' && POSTS.test(type);
};

/** Returns a post of a thread with its author and date in markup, and any other text unchanged. */
function asPost(properties: Readonly<Record<string, unknown>>, html: string): string {
  const author: unknown = Array.isArray(properties['author']) ? properties['author'][0] : properties['author'];
  const name = typeof author === 'object' && author !== null && 'name' in author ? author.name : author;
  const date = properties['datePublished'] ?? properties['dateCreated'];
  if (!isPost(properties) || typeof name !== 'string' || typeof date !== 'string') return html;
  const [safeName, safeDate] = [name, date].map((text) => escaped(text).replaceAll('"', '&quot;'));
  return `<article class="post" data-author="${safeName}"><time datetime="${safeDate}">${safeDate}</time><div>${html}</div></article>`;
}

/** Converts plain text to paragraphs; text with markup stays unchanged. */
function asHtml(text: string): string {
  if (/<\/?(?:p|br|div|ul|h[1-6])\b/i.test(text)) return `<div>${text}</div>`;
  return text
    .split(/\n+/)
    .map((line) => `<p>${escaped(line)}</p>`)
    .join('\n');
}

const escaped = (text: string): string => text.replaceAll('<', '&lt;');
