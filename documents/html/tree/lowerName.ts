import { BLOCKS, CONTROLS, DROPPED, FORMATTING, HEADINGS, INLINE_CODE, LISTS, VOID } from './tagSets.js';

/** Attributes that are frequent on pages. */
const ATTRIBUTES =
  'class id href src alt style title type name value rel target content property role width height lang dir hidden ' +
  'data-id data-src data-href data-url data-type data-value data-toggle data-target srcset sizes loading decoding ' +
  'aria-label aria-hidden aria-expanded aria-controls aria-labelledby aria-describedby tabindex onclick itemprop ' +
  'itemtype itemscope datetime colspan rowspan placeholder action method for viewbox fill d xmlns stroke';

/**
 * Known names, each as one string: comparisons and searches in sets are fastest for a string that is the same object.
 * Names of the page itself are not stored, so that the map does not grow.
 */
const KNOWN_NAMES: ReadonlyMap<string, string> = new Map(
  [
    ...['html', 'head', 'img', 'path', 'g', 'button', 'picture', 'label', 'ruby', 'rt', 'math', 'title'],
    ...BLOCKS,
    ...VOID,
    ...DROPPED,
    ...CONTROLS,
    ...HEADINGS,
    ...LISTS,
    ...FORMATTING,
    ...INLINE_CODE,
    ...ATTRIBUTES.split(' '),
  ].map((name) => [name, name]),
);

/** Returns the name of a tag or an attribute, in lower case. */
export function lowerName(html: string, start: number, end: number): string {
  const name = html.slice(start, end);
  return KNOWN_NAMES.get(name) ?? name.toLowerCase();
}
