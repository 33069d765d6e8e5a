import { linkedDataHtml, productDescriptionHtml } from './linkedData.js';
import { visibleLength } from './tree/pageElement.js';
import type { RenderedText } from './render/renderText.js';

/** A page with fewer visible characters may have its content elsewhere: in noscript or noframes. */
const MIN_VISIBLE = 300;
/** Length above which the visible characters of a text are not counted: it has enough. */
const SUFFICIENT_LENGTH = 3000;
/** A page with fewer characters counts as empty: its JSON-LD is read. */
const MIN_NONEMPTY_LENGTH = 100;
/** Minimum number of characters that a replacement adds; a sentence that requests JavaScript has fewer. */
const MIN_GAIN = 200;

/**
 * Returns a longer text for a page with little text: with its noscript or noframes content, else from its JSON-LD.
 * Otherwise returns the text unchanged.
 * @param read reads the main text of a page
 */
export function withFallbacks(page: RenderedText, html: string, read: (html: string) => RenderedText): RenderedText {
  if (page.text.length > SUFFICIENT_LENGTH) return page;
  const length = visibleLength(page.text);
  const isFuller = ({ text }: RenderedText): boolean => visibleLength(text) >= Math.max(2 * length, length + MIN_GAIN);
  if (length >= MIN_VISIBLE) return page;
  if (FALLBACK.test(html)) {
    const shown = read(html.replaceAll(FALLBACK_TAGS, '<$1div>'));
    if (isFuller(shown)) return shown;
  }
  if (length >= MIN_NONEMPTY_LENGTH) return page;
  const data = linkedDataHtml(html);
  if (data === '') return page;
  const described = read(`<html><body>${data}`);
  return isFuller(described) ? described : page;
}

const FALLBACK = /<no(?:script|frames)\b/i;
const FALLBACK_TAGS = /<(\/?)no(?:script|frames)\b[^<>]*>/gi;

/** A product's page with fewer visible characters may have its description only in data for a script. */
const SHORT_PRODUCT = 700;
/** Number of characters of a description that are compared with the page. */
const COMPARED_CHARACTERS = 40;

/**
 * Returns the text of a product's page with the description from its JSON-LD at the end, if the text is short and does
 * not have it. Longer pages have the description in other words.
 * @param render converts HTML to text
 */
export function withDescription(text: string, html: string, render: (html: string) => string): string {
  if (text.length > SUFFICIENT_LENGTH || visibleLength(text) >= SHORT_PRODUCT) return text;
  const data = productDescriptionHtml(html);
  const description = data === '' ? '' : render(`<html><body>${data}`);
  if (description === '' || lettersOf(text).includes(lettersOf(description).slice(0, COMPARED_CHARACTERS))) return text;
  return text === '' ? description : `${text}\n\n${description}`;
}

const lettersOf = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
