import type { Document } from 'domhandler';
import { isFragment, makePreformatted } from './render/codeFragment.js';
import { measureText } from './tree/measureText.js';
import { eachElement, isElement, type PageElement } from './tree/pageElement.js';
import { isTitleBlock, makeHeading } from './titleBlock.js';

/**
 * Changes the tree so that the search for the main text sees content that a script would show or that is in an unusual
 * element: closed panels of accordions and tabs, streamed parts of React, questions in buttons, details of a product in
 * its order form. A title that is not a heading becomes one, and code whose lines are blocks becomes preformatted. The
 * title in the page's metadata no longer counts as text. Menus, dialogs and banners stay hidden.
 */
export function revealContent(root: Document): void {
  const hidden: PageElement[] = [];
  const controlled = new Set<string>();
  const titles: PageElement[] = [];
  eachElement(root, (element) => {
    const { name } = element;
    if (name === 'title') element.children = [];
    else if (name === 'button' && isQuestion(element)) element.name = 'p';
    else if (name === 'form' && holdsProductData(element)) element.name = 'div';
    else if (isTitleBlock(element)) titles.push(element);
    else if (isFragment(element)) makePreformatted(element);
    // Iterate over the existing attributes: most elements have at most a class and an address, so this is faster than
    // a lookup of each hiding and control attribute.
    for (const attribute in element.attribs) {
      if (HIDING_ATTRIBUTES.has(attribute)) {
        if (isMarkedHidden(element) && hidden.at(-1) !== element) hidden.push(element);
      } else if (CONTROL_ATTRIBUTES.has(attribute)) {
        for (const id of controlledBy(element.attribs)) controlled.add(id);
      }
    }
    return true;
  });
  for (const title of titles) makeHeading(title);
  const panels = hidden.filter((element) => isPanel(element, controlled) && !isOverlay(element));
  if (panels.length > 0) measureText(root, new Set());
  const streamed = new Map<string, PageElement>();
  for (const element of panels) {
    const { textLength, linkLength } = element;
    const id = element.attribs['id'] ?? '';
    const isStreamed = STREAMED_ID.test(id);
    // A streamed part may contain only placeholders of further parts, and then has no text of its own.
    if ((textLength < MIN_PANEL_LENGTH && !isStreamed) || linkLength > MAX_LINK_SHARE * textLength) continue;
    show(element);
    if (isStreamed) streamed.set(id.slice(2), element);
  }
  if (streamed.size > 0) moveStreamed(root, streamed);
}

/** Maximum depth of the placeholder of a streamed part: the recursion over the tree must stay shallow. */
const DEEPEST_PLACE = 100;

/**
 * Moves streamed parts to their placeholders (template elements), as the page's script would. A moved part is searched
 * for placeholders of further parts, so outer parts move first and the depth of each placeholder is final.
 * @param streamed the parts by the number in their id, which is also in the id of the placeholder
 */
function moveStreamed(root: Document, streamed: ReadonlyMap<string, PageElement>): void {
  const parts = new Set(streamed.values());
  eachElement(root, (place) => {
    // Skip a part at its original position, because its placeholder may be inside of it. Its contents are searched
    // after they have been moved.
    if (parts.has(place)) return false;
    const part = place.name === 'template' ? streamed.get((place.attribs['id'] ?? '').slice(2)) : undefined;
    if (part === undefined || part.children.length === 0 || depthOf(place) > DEEPEST_PLACE) return true;
    place.name = 'div';
    place.children = part.children;
    for (const child of place.children) child.parent = place;
    part.children = [];
    return true;
  });
}

function depthOf(element: PageElement): number {
  let depth = 0;
  for (let node: PageElement['parent'] = element; isElement(node); node = node.parent) depth += 1;
  return depth;
}

/** Minimum number of characters of a panel: shorter elements are labels and icons. */
const MIN_PANEL_LENGTH = 20;
/** A panel with a larger share of links is a menu. */
const MAX_LINK_SHARE = 0.5;

const HIDING_ATTRIBUTES = new Set(['hidden', 'aria-hidden', 'style']);
const CONTROL_ATTRIBUTES = new Set([
  'aria-controls',
  'data-bs-target',
  'data-target',
  'data-toggle',
  'data-bs-toggle',
  'role',
]);

function isMarkedHidden({ attribs }: PageElement): boolean {
  const { hidden, style } = attribs;
  return (
    (hidden !== undefined && hidden !== 'until-found') ||
    attribs['aria-hidden'] === 'true' ||
    (style !== undefined && HIDDEN_STYLE.test(style))
  );
}

const HIDDEN_STYLE = /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\s*(?:!\s*important\s*)?(?=;|$)/i;

function show(element: PageElement): void {
  const { style } = element.attribs;
  delete element.attribs['hidden'];
  delete element.attribs['aria-hidden'];
  if (style !== undefined) element.attribs['style'] = style.replace(HIDDEN_STYLE, '').replace(HIDDEN_STYLE, '');
}

/** Returns the ids of the parts that an element opens. */
function controlledBy(attribs: PageElement['attribs']): string[] {
  const ids = (attribs['aria-controls'] ?? '').split(/\s+/);
  const target = attribs['data-bs-target'] ?? attribs['data-target'] ?? '';
  const href = attribs['href'] ?? '';
  const opens = attribs['role'] === 'tab' || 'data-toggle' in attribs || 'data-bs-toggle' in attribs;
  if (target.startsWith('#')) ids.push(target.slice(1));
  if (opens && href.startsWith('#')) ids.push(href.slice(1));
  return ids.filter((id) => id !== '');
}

/** React sends a late part of a page as a hidden element with such an id. A script moves it to its placeholder. */
const STREAMED_ID = /^S:[0-9a-z]+$/i;

/** Whether the hidden element is a panel that a user can open to read more of the page. */
function isPanel(element: PageElement, controlled: ReadonlySet<string>): boolean {
  const { attribs } = element;
  const id = attribs['id'] ?? '';
  if (STREAMED_ID.test(id) || attribs['role'] === 'tabpanel' || controlled.has(id)) return true;
  return isToggle(previousElementOf(element)) || isToggle(previousElementOf(element.parent));
}

function previousElementOf(node: PageElement['parent']): PageElement | null {
  if (!isElement(node)) return null;
  for (let before = node.prev; before !== null; before = before.prev) if (isElement(before)) return before;
  return null;
}

/** Whether the element is a closed or open switch, or a heading that contains only a switch. */
function isToggle(element: PageElement | null): boolean {
  if (element === null) return false;
  if (element.attribs['aria-expanded'] !== undefined) return true;
  const [only, ...more] = element.children.filter((child) => isElement(child));
  return more.length === 0 && only !== undefined && only.attribs['aria-expanded'] !== undefined;
}

/** Parts of the names of elements that cover or accompany a page. */
const OVERLAY =
  /(?:^|[\s_-])(?:modal|popup|pop-up|cookies?|consent|gdpr|overlay|lightbox|toast|tooltip|popover|offcanvas|drawer|dropdown|menu|nav|navbar|login|newsletter|subscribe|share|search|banner)(?:$|[\s_-])/i;
const OVERLAY_ROLE =
  /^(?:dialog|alertdialog|alert|status|menu|menubar|navigation|search|tooltip|listbox|banner|contentinfo)$/;
const OVERLAY_TAGS = new Set(['nav', 'dialog', 'header', 'footer', 'template']);

/** Whether the element, or one around it, is a dialog, a banner or a menu. */
function isOverlay(element: PageElement): boolean {
  for (let node: PageElement['parent'] = element; isElement(node); node = node.parent) {
    const { attribs, name } = node;
    if (name === 'main' || name === 'article') return false;
    const names = `${attribs['id'] ?? ''} ${attribs['class'] ?? ''}`;
    if (OVERLAY_TAGS.has(name) || attribs['aria-modal'] === 'true' || OVERLAY_ROLE.test(attribs['role'] ?? ''))
      return true;
    if (name !== 'body' && name !== 'html' && OVERLAY.test(names)) return true;
  }
  return false;
}

/** Whether a button is the question of an answer below: it opens something, and is a sentence. */
function isQuestion(button: PageElement): boolean {
  const { attribs } = button;
  const opens =
    attribs['aria-expanded'] ?? attribs['aria-controls'] ?? attribs['data-bs-target'] ?? attribs['data-target'];
  if (opens === undefined || isInTitle(button) || isOverlay(button)) return false;
  const text = textOf(button).trim();
  return text.length >= MIN_QUESTION_LENGTH && /\S\s+\S|[\u3040-\u9fff\uac00-\ud7af\u0e00-\u0e7f]/.test(text);
}

/** Whether the button is in a title: a heading, a term, a summary or a header cell. */
function isInTitle(button: PageElement): boolean {
  const { parent } = button;
  return [parent, parent?.parent ?? null].some((node) => isElement(node) && TITLE_TAG.test(node.name));
}

const TITLE_TAG = /^(?:h[1-6]|dt|summary|th)$/;

/** Minimum number of characters of a question: shorter labels name an action, such as "Menu", "Show more". */
const MIN_QUESTION_LENGTH = 12;

/** Returns the text of an element, or the beginning of a long one. */
function textOf(element: PageElement): string {
  let text = '';
  let nodes = 0;
  const read = (parent: PageElement): void => {
    for (const child of parent.children) {
      if (text.length > MAX_QUESTION_LENGTH || ++nodes > MAX_QUESTION_LENGTH) return;
      if ('data' in child) text += child.data;
      else if (isElement(child)) read(child);
    }
  };
  read(element);
  return text;
}

/** Maximum length of a label in characters, and in nodes. */
const MAX_QUESTION_LENGTH = 300;

/** Whether a form holds details of a product in a table, in a list of terms, or marked as its properties. */
function holdsProductData(form: PageElement): boolean {
  let facts = 0;
  eachElement(form, ({ name, attribs }) => {
    if (name === 'dd' || name === 'th' || PRODUCT_PROPERTY.test(attribs['itemprop'] ?? '')) facts += 1;
    return true;
  });
  return facts >= MIN_PRODUCT_FIELDS;
}

const PRODUCT_PROPERTY =
  /^(?:name|price|description|sku|brand|offers|availability|color|weight|material|model|mpn|gtin\d*)$/;
const MIN_PRODUCT_FIELDS = 2;
