import { isElement, type PageElement } from '../tree/pageElement.js';

/** Maximum depth to which the first children of elements without class and id are read. */
const MAX_DEPTH = 3;

/**
 * Returns the tag of an element with its first class; without a class, with its id without numbers; without both, with
 * the shape of its first child that has text. The result is equal for the elements that one template wrote.
 */
export function shapeOf(element: PageElement, depth = 0): string {
  const { id = '', class: classes = '' } = element.attribs;
  const [first = ''] = classes.trim().split(/\s/, 1);
  if (first !== '') return `${element.name}.${first}`;
  if (id !== '') return `${element.name}#${id.replaceAll(/\d+/g, '0')}`;
  const inner = element.children.find((child) => isElement(child) && child.textLength > 0) ?? null;
  return isElement(inner) && depth < MAX_DEPTH ? `${element.name}>${shapeOf(inner, depth + 1)}` : element.name;
}
