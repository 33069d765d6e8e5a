import type { Document } from 'domhandler';
import { eachElement, HOLDS, isElement, type PageElement } from './pageElement.js';

/**
 * Finds elements that are marked as boilerplate by their tag, role, hidden state or name, on measured elements
 * (measureText). Each rule prefers to keep text: an extra word costs less than lost content.
 */
export function findBoilerplate(root: Document, pageLength: number): Set<PageElement> {
  const found = new Set<PageElement>();
  eachElement(root, (element) => {
    if (ALWAYS_KEPT.has(element.name)) return true;
    if (!isHidden(element, pageLength) && !isFurniture(element, pageLength)) return true;
    found.add(element);
    return false;
  });
  return found;
}

const ALWAYS_KEPT = new Set(['html', 'body', 'head', 'main', 'article']);

const ROLES: ReadonlyMap<string, 'nav' | 'header' | 'footer' | 'aside' | 'search' | 'dialog'> = new Map([
  ['navigation', 'nav'],
  ['menu', 'nav'],
  ['menubar', 'nav'],
  ['banner', 'header'],
  ['contentinfo', 'footer'],
  ['complementary', 'aside'],
  ['search', 'search'],
  ['dialog', 'dialog'],
  ['alertdialog', 'dialog'],
]);

/** Inside these elements, a header, footer or aside is part of the content. */
const CONTENT = new Set(['main', 'article', 'section', 'blockquote', 'figure', 'details', 'td']);

/** Words in ids and classes of boilerplate. They count only if the text looks like boilerplate too. */
const FURNITURE_NAMES = new Set(
  (
    'nav navbar navigation menu mainmenu submenu topnav sidenav breadcrumb breadcrumbs footer site-footer page-footer ' +
    'header site-header page-header masthead sidebar side-bar pagination pager share social social-links skip-link ' +
    'skip-to-content cookie-banner cookie-notice cookie-consent related related-posts toolbar'
  ).split(' '),
);

function isHidden(element: PageElement, pageLength: number): boolean {
  const { attribs } = element;
  const hidden =
    (attribs['hidden'] !== undefined && attribs['hidden'] !== 'until-found') ||
    attribs['aria-hidden'] === 'true' ||
    (element.name === 'dialog' && attribs['open'] === undefined) ||
    (attribs['style'] !== undefined &&
      /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(attribs['style']));
  // Pages that a script reveals hide everything at first.
  return hidden && element.textLength < pageLength / 2;
}

function isFurniture(element: PageElement, pageLength: number): boolean {
  const role = ROLES.get(element.attribs['role']?.trim().toLowerCase() ?? '') ?? element.name;
  switch (role) {
    case 'nav':
    case 'search':
      return true;
    case 'header':
      // A page's banner often contains its title and introduction.
      return !insideContent(element) && !((element.holds & HOLDS.heading) !== 0 && linkShare(element) < 0.5);
    case 'footer':
      return !insideContent(element);
    case 'aside':
      return !insideContent(element) || linkShare(element) > 0.7;
    case 'dialog':
      return element.textLength < pageLength / 2;
    case 'form':
      // Some servers wrap the whole page in a form.
      return (element.holds & HOLDS.control) !== 0 && element.textLength < Math.min(1500, pageLength * 0.3);
    case 'button':
      return !isTitle(element.parent) && !isTitle(element.parent?.parent ?? null);
    default:
      return isNamedFurniture(element, pageLength) || isPermalink(element);
  }
}

function insideContent(element: PageElement): boolean {
  for (let parent = element.parent; parent !== null; parent = parent.parent) {
    if (isElement(parent) && (CONTENT.has(parent.name) || /^(?:main|article)$/.test(parent.attribs['role'] ?? '')))
      return true;
  }
  return false;
}

function isTitle(node: unknown): boolean {
  return (
    typeof node === 'object' && node !== null && 'name' in node && /^(?:h[1-6]|dt|summary|th)$/.test(String(node.name))
  );
}

export function linkShare(element: { readonly textLength: number; readonly linkLength: number }): number {
  return element.textLength === 0 ? 0 : element.linkLength / element.textLength;
}

function isNamedFurniture(element: PageElement, pageLength: number): boolean {
  const name = `${element.attribs['id'] ?? ''} ${element.attribs['class'] ?? ''}`;
  if (name === ' ' || element.textLength > pageLength * 0.3 || (element.holds & HOLDS.topHeading) !== 0) return false;
  if (
    !name
      .toLowerCase()
      .split(/\s+/)
      .some((word) => FURNITURE_NAMES.has(word))
  )
    return false;
  return !insideContent(element) && linkShare(element) >= 0.5;
}

/** Whether the element is the sign after a heading that links to the heading itself. */
function isPermalink(element: PageElement): boolean {
  if (element.name !== 'a' || element.textLength > 2 || !(element.attribs['href'] ?? '').startsWith('#')) return false;
  const only = element.children[0];
  return only !== undefined && 'data' in only && /^\s*[¶#§🔗]\s*$/u.test(only.data);
}
