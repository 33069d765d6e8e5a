import type { ChildNode } from 'domhandler';
import { isElement, setChildren, type PageElement } from './tree/pageElement.js';
import { BLOCKS } from './tree/tagSets.js';

/** Whether the element is the title of a page without a heading element for it: Doxygen writes a div in its header. */
export function isTitleBlock({ name, attribs, parent }: PageElement): boolean {
  return (
    name === 'div' && attribs['class'] === 'title' && isElement(parent) && parent.attribs['class'] === 'headertitle'
  );
}

/** Makes a title a heading. Blocks in it, such as a breadcrumb, are moved after it. */
export function makeHeading(title: PageElement): void {
  const { parent } = title;
  if (parent === null) return;
  const isInLine = (child: ChildNode): boolean => !isElement(child) || !BLOCKS.has(child.name);
  const blocks = title.children.filter((child) => !isInLine(child));
  title.name = 'h1';
  setChildren(title, title.children.filter(isInLine));
  setChildren(
    parent,
    parent.children.flatMap((child) => (child === title ? [title, ...blocks] : child)),
  );
}
