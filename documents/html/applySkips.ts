import { compile, selectAll } from 'css-select';
import type { AnyNode, Document, Element, ParentNode } from 'domhandler';
import { Fault } from '../../contract/failures.js';
import type { HtmlSkips } from '../types.js';
import { eachElement, isElement, setChildren, type PageElement } from './tree/pageElement.js';

/** Removes the elements from the tree that the request skips. */
export function applySkips(root: Document, skips: HtmlSkips): void {
  const tags = new Set(skips.tags.map((tag) => tag.trim().toLowerCase()).filter((tag) => tag !== ''));
  const classes = new Set(skips.classes.map((name) => name.trim().replace(/^\./, '')).filter((name) => name !== ''));
  const selectors = skips.selectors.filter((selector) => selector.trim() !== '');
  if (tags.size === 0 && classes.size === 0 && selectors.length === 0) return;
  const skipped = new Set<PageElement>();
  // Find all elements before any is removed, so that one selector does not change the matches of the next.
  for (const selector of selectors) for (const element of find(root, selector)) skipped.add(element);
  eachElement(root, (element) => {
    if (tags.has(element.name) || hasClass(element, classes)) skipped.add(element);
    return !skipped.has(element);
  });
  removeAll(skipped);
}

function find(root: Document, selector: string): PageElement[] {
  try {
    return selectAll<AnyNode, Element>(compile<AnyNode, Element>(selector), root).filter(isElement);
  } catch (cause) {
    throw new Fault(
      'broken_content',
      `The CSS selector "${selector}" to skip is not valid. Correct it and try again.`,
      { cause },
    );
  }
}

function hasClass(element: PageElement, classes: ReadonlySet<string>): boolean {
  const value = element.attribs['class'];
  return value !== undefined && classes.size > 0 && value.split(/\s+/).some((name) => classes.has(name));
}

function removeAll(removed: ReadonlySet<PageElement>): void {
  const parents = new Set<ParentNode>();
  for (const element of removed) if (element.parent !== null) parents.add(element.parent);
  for (const parent of parents)
    setChildren(
      parent,
      parent.children.filter((child) => !isElement(child) || !removed.has(child)),
    );
}
