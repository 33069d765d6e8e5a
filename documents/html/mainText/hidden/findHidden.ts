import type { ChildNode, Document } from 'domhandler';
import { previousElement } from '../../render/listItems.js';
import type { Measure } from '../../tree/measureText.js';
import { eachElement, HOLDS, isElement, isText, visibleLength, type PageElement } from '../../tree/pageElement.js';
import { HEADINGS } from '../../tree/tagSets.js';
import { isConsentName, isSection } from './consent.js';
import { isLineNumbers } from './lineNumbers.js';
import { textIn } from './textIn.js';
import { isSummaryLink } from '../summaryLinks.js';

/**
 * Finds elements that are not shown or are not text: hidden elements, closed dialogs, permalinks, links at the end of a
 * summary, bars of tabs, search forms, icons of notes, and buttons outside of titles and sentences.
 */
export function findHidden(root: Document, page: Measure, isReference: boolean): Set<PageElement> {
  const found = new Set<PageElement>();
  const names = new Map<string, number>();
  let title: PageElement | null = null;
  eachElement(root, (element) => {
    if (ALWAYS_KEPT.has(element.name)) return true;
    if (HEADINGS.has(element.name)) title = element;
    if (
      !isHidden(element, page) &&
      !isPermalink(element) &&
      !isSummaryLink(element, title, isReference) &&
      !isNoteIcon(element) &&
      !isSwitch(element) &&
      !isPictureLabel(element) &&
      !isCodeLink(element) &&
      !isButton(element) &&
      !isTabBar(element) &&
      !isSearch(element) &&
      !isData(element) &&
      !isOfCode(element, names) &&
      !isTooltip(element, names) &&
      !(isConsent(element, page.textLength, names) && !isSection(element))
    )
      return true;
    found.add(element);
    return false;
  });
  return found;
}

const ALWAYS_KEPT = new Set(['html', 'body', 'head', 'main', 'article']);

const HIDDEN_STYLE = /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i;

function isHidden(element: PageElement, page: Measure): boolean {
  const { attribs } = element;
  const hidden =
    (attribs['hidden'] !== undefined && attribs['hidden'] !== 'until-found') ||
    (attribs['aria-hidden'] === 'true' && !isShown(element)) ||
    (element.name === 'dialog' && attribs['open'] === undefined) ||
    (attribs['style'] !== undefined && HIDDEN_STYLE.test(attribs['style']));
  // Some pages hide everything until a script shows it.
  if (!hidden || element.textLength >= page.textLength / 2) return false;
  // Some pages hide only their content until a script shows it. It can be shorter than the menus.
  return (element.holds & HOLDS.topHeading) === 0 || element.proseLength < page.proseLength / 2;
}

/**
 * Whether an element with aria-hidden is text. The attribute hides elements only from screen readers: icons and
 * decorations, which are short, but also teasers that repeat the link of their title, which are long links.
 */
function isShown({ name, attribs, textLength }: PageElement): boolean {
  return name === 'a' && attribs['href'] !== undefined && textLength >= MIN_TEASER_LENGTH;
}

/** Minimum number of characters of a teaser. */
const MIN_TEASER_LENGTH = 60;

/** Whether the node is a text with a word. A button between two of them is part of the sentence. */
const isWordAt = (node: ChildNode | null): boolean => node !== null && isText(node) && WORD.test(node.data);

function isButton(element: PageElement): boolean {
  if (element.name !== 'button') return false;
  if (isWordAt(element.prev) && isWordAt(element.next)) return false;
  const title = [element.parent, element.parent?.parent ?? null].find(isTitle);
  // A button with less than half of the text of a heading copies the heading or links to it.
  return !isElement(title ?? null) || element.textLength < 0.5 * (title as PageElement).textLength;
}

/**
 * Whether the element is a bar of tabs, such as above a table: it has no text of its own, and at least two of its parts
 * contain a link that runs a script.
 */
function isTabBar({ name, attribs, links, children }: PageElement): boolean {
  if ((name !== 'caption' && attribs['role'] !== 'tablist') || links < 2) return false;
  let tabs = 0;
  for (const child of children) {
    if ('data' in child && child.data.trim() !== '') return false;
    if (isElement(child) && isTab(child)) tabs += 1;
  }
  return tabs >= 2;
}

const isTab = (element: PageElement): boolean =>
  element.name === 'a'
    ? /^\s*javascript:/i.test(element.attribs['href'] ?? '')
    : element.children.some((child) => isElement(child) && isTab(child));

/** Classes that documentation generators give to links to the source, and to buttons that switch code samples. */
const OF_CODE = /(?:^|\s)(?:viewcode-link|viewcode-back|srclink|method-click-advice|showSource|hideme)(?:\s|$)/;

/** Whether the element is a control of a code sample, or the column with its line numbers. */
function isOfCode(element: PageElement, names: Map<string, number>): boolean {
  const { name, textLength, attribs } = element;
  if (name === 'pre') return (element.holds & HOLDS.block) === 0 && textLength > 2 && isLineNumbers(element);
  if (isHiddenLine(element)) return true;
  return (
    textLength > 0 && textLength < MAX_FIELD_LENGTH && (meaningOfName(attribs['class'], names) & NAMED.ofCode) !== 0
  );
}

/** Whether the element is a line of a code sample that mdBook hides until the reader asks for it. */
const isHiddenLine = ({ name, attribs, parent }: PageElement): boolean =>
  name === 'span' && attribs['class'] === 'boring' && isElement(parent) && parent.name === 'code';

/** Maximum number of visible characters of the sign of a switch, and of the label of a link of a code sample. */
const MAX_SIGN_LENGTH = 3;
const MAX_LABEL_LENGTH = 10;

/**
 * Whether the element is the sign of a switch, such as `[−]`: at most MAX_SIGN_LENGTH characters without a word, as the
 * text of a link to `javascript:` or of a span with `onclick`, or as the `alt` of a picture whose parent has `onclick`.
 */
function isSwitch(element: PageElement): boolean {
  const { name, attribs, textLength, children, parent } = element;
  if (textLength === 0 || textLength > MAX_SIGN_LENGTH) return false;
  if (name === 'img') return isElement(parent) && 'onclick' in parent.attribs && !WORD.test(attribs['alt'] ?? '');
  if (name === 'span') return 'onclick' in attribs && !children.some(holdsWord);
  if (name !== 'a') return false;
  return /^\s*javascript:/i.test(attribs['href'] ?? '') && !children.some(holdsWord);
}

const WORD = /[\p{L}\p{N}]/u;

function holdsWord(node: ChildNode): boolean {
  return 'data' in node ? WORD.test(node.data) : isElement(node) && node.children.some(holdsWord);
}

/** Maximum number of visible characters in a hidden part that is only a picture, with its label and a link. */
const MAX_PICTURE_LENGTH = 40;

/** Whether the element opens the next part by a script, and the part is only a hidden picture, such as a diagram. */
function isPictureLabel({ attribs, textLength, next }: PageElement): boolean {
  if (!('onclick' in attribs) || textLength === 0) return false;
  for (let node = next; node !== null; node = node.next) {
    if (isText(node) ? node.visibleLength > 0 : !isElement(node)) return false;
    if (isElement(node) && (node.textLength > 0 || node.images > 0))
      return (
        node.images === 1 && node.textLength <= MAX_PICTURE_LENGTH && HIDDEN_STYLE.test(node.attribs['style'] ?? '')
      );
  }
  return false;
}

/** Whether the element is a link that runs a code sample: short, after the sample, and alone with it in a container. */
function isCodeLink(element: PageElement): boolean {
  const { name, attribs, textLength, parent } = element;
  if (name !== 'a' || textLength === 0 || textLength > MAX_LABEL_LENGTH || attribs['href'] === undefined) return false;
  if (previousElement(element)?.name !== 'pre' || parent === null) return false;
  return parent.children.every((child) =>
    isText(child) ? child.visibleLength <= 0 : !isElement(child) || child === element || child.name === 'pre',
  );
}

/**
 * Whether the element is a dialog that asks for consent. Otherwise its long text would count as the content of a short
 * page.
 */
function isConsent({ attribs, textLength }: PageElement, pageLength: number, names: Map<string, number>): boolean {
  if (textLength === 0 || textLength > 0.9 * pageLength) return false;
  const kind = meaningOfName(attribs['class'], names) | meaningOfName(attribs['id'], names);
  return (kind & NAMED.consent) !== 0;
}

/** Classes of texts that style sheets show only at the pointer. */
const TOOLTIP = /(?:^|[\s_-])tooltip/i;

/**
 * Whether an element with a class of TOOLTIP is removed:
 * - anywhere, a sign of at most MAX_SIGN_LENGTH characters without a word: rustdoc writes `ⓘ` next to code that fails;
 * - in a title, an element inside another one with such a class, or one without a word except in such elements. So of a
 *   word with a tooltip, the word stays.
 */
function isTooltip(element: PageElement, names: Map<string, number>): boolean {
  const isNamed = ({ attribs }: PageElement): boolean => (meaningOfName(attribs['class'], names) & NAMED.tooltip) !== 0;
  if (element.textLength === 0 || !isNamed(element)) return false;
  if (element.textLength <= MAX_SIGN_LENGTH && !holdsWord(element)) return true;
  let isNested = false;
  let isInTitle = false;
  for (let node = element.parent; node !== null && isElement(node) && !isInTitle; node = node.parent) {
    isInTitle = isTitle(node);
    isNested ||= isNamed(node);
  }
  const isWord = (node: ChildNode): boolean => holdsWord(node) && !(isElement(node) && isNamed(node));
  return isInTitle && (isNested || !element.children.some(isWord));
}

/**
 * Whether the element is a cell with only the icon of a note, whose label repeats the heading in the next cell, as in
 * DocBook: `<td><img alt="[Note]"></td><th>Note</th>`.
 */
function isNoteIcon({ name, images, textLength, children, next }: PageElement): boolean {
  if (name !== 'td' || images !== 1) return false;
  let heading = next;
  while (heading !== null && !isElement(heading)) heading = heading.next;
  if (heading === null || heading.name !== 'th') return false;
  const icon = children.find((child) => isElement(child) && child.name === 'img');
  const label = icon === undefined || !isElement(icon) ? '' : (icon.attribs['alt'] ?? '');
  const isAlone = visibleLength(label) === textLength;
  return isAlone && label.replace(/^\[(.*)\]$/, '$1').trim() === textIn(heading).trim();
}

const NAMED = { consent: 1, ofCode: 2, tooltip: 4 } as const;

/** Returns the meaning of a class or an id, as bits of NAMED. A page has few different names, so results are cached. */
function meaningOfName(name: string | undefined, names: Map<string, number>): number {
  if (name === undefined || name === '') return 0;
  const cached = names.get(name);
  if (cached !== undefined) return cached;
  const kind =
    (isConsentName(name) ? NAMED.consent : 0) |
    (OF_CODE.test(name) ? NAMED.ofCode : 0) |
    (TOOLTIP.test(name) ? NAMED.tooltip : 0);
  names.set(name, kind);
  return kind;
}

/** Minimum number of visible characters of data: a shorter object may be an example in a sentence. */
const MIN_DATA_LENGTH = 200;
const DATA_TAGS = new Set(['div', 'span']);

/** Whether the text of the element is an object of JSON, which a script reads and a style sheet hides. */
function isData({ name, textLength, children }: PageElement): boolean {
  const [only] = children;
  if (textLength < MIN_DATA_LENGTH || !DATA_TAGS.has(name) || children.length !== 1) return false;
  if (only === undefined || !isText(only) || !/^\s*\{\s*"[^]*\}\s*$/.test(only.data)) return false;
  try {
    JSON.parse(only.data);
    return true;
  } catch {
    return false;
  }
}

/** Maximum number of characters of a form that is only a field with its label, and of a control of a code sample. */
const MAX_FIELD_LENGTH = 40;

/** Whether the element is a search box. Other forms hold content: products, and whole pages of some servers. */
function isSearch(element: PageElement): boolean {
  if (element.name === 'search' || element.attribs['role'] === 'search') return true;
  return element.name === 'form' && (element.holds & HOLDS.control) !== 0 && element.textLength < MAX_FIELD_LENGTH;
}

const TITLES = new Set([...HEADINGS, 'dt', 'summary', 'th']);

function isTitle(node: PageElement['parent']): boolean {
  return node !== null && isElement(node) && TITLES.has(node.name);
}

/** Signs of permalinks, and icon fonts, whose letters are in the private use area. */
const PERMALINK = /^\s*(?:[¶#§🔗∞↩\uE000-\uF8FF]+\s*)?$/u;

/**
 * Whether the element is the sign next to a heading that links to the heading itself. Other short links to a place in
 * the page are footnotes.
 */
function isPermalink(element: PageElement): boolean {
  if (element.name !== 'a' || element.textLength > 2 || element.textLength === 0) return false;
  if (!(element.attribs['href'] ?? '').includes('#')) return false;
  const only = element.children[0];
  if (element.children.length !== 1 || only === undefined || !('data' in only)) return false;
  return PERMALINK.test(only.data) || (ANY_SIGN.test(only.data) && isBesideTitle(element));
}

/** Signs other than those of ASCII, of formulas and of footnotes. */
const ANY_SIGN = /^[^\p{L}\p{N}\p{Sm}\x21-\x7e†‡]+$/u;

/** Whether the element is the first or the last part of a title with further text, alone in its wrapper. */
function isBesideTitle(element: PageElement): boolean {
  const { parent } = element;
  if (parent === null || !isElement(parent)) return false;
  if (!isTitle(parent))
    return parent.textLength === element.textLength && isTitle(parent.parent) && isBesideTitle(parent);
  const parts = parent.children.filter((child) =>
    isElement(child) ? child.textLength > 0 : 'data' in child && child.data.trim() !== '',
  );
  return parts.length > 1 && (parts[0] === element || parts.at(-1) === element);
}
