import type { ParentNode } from 'domhandler';
import { countText, isElement, isText, PageText, type PageElement } from './tree/pageElement.js';

/** Minimum number of characters of a label that is compared: shorter ones repeat by chance. */
const MIN_LABEL_LENGTH = 8;
/** Number of elements around a picture that are searched, from the inside to the outside. */
const MAX_ANCESTORS = 6;
/** Maximum number of nodes in an element around a picture. A larger element is not the card of the picture. */
const MAX_NODES = 80;

/**
 * Removes the labels of pictures that repeat a text next to the picture, as in product cards, where the picture and the
 * title have the same text.
 * @param leftOut the elements that are excluded from the text of the page; labels are not compared with their texts
 */
export function removeRepeatedLabels(nodes: readonly ParentNode[], leftOut: ReadonlySet<PageElement>): void {
  const visit = (parent: ParentNode): void => {
    for (const child of parent.children) {
      if (!isElement(child) || child.textLength === 0 || leftOut.has(child)) continue;
      if (child.images === 0) continue;
      if (child.name !== 'img') visit(child);
      else if (repeatsNearbyText(child, leftOut)) child.attribs['alt'] = '';
    }
  };
  for (const node of nodes) visit(node);
}

function repeatsNearbyText(image: PageElement, leftOut: ReadonlySet<PageElement>): boolean {
  const label = image.attribs['alt'] ?? '';
  if (label.length < MIN_LABEL_LENGTH) return false;
  const text = new PageText(label);
  countText(text);
  let nodes = 0;
  const holds = (parent: PageElement): boolean => {
    for (const child of parent.children) {
      if (++nodes > MAX_NODES) return false;
      if (isText(child)) {
        countText(child);
        if (child.textHash === text.textHash && child.visibleLength === text.visibleLength) return true;
      } else if (isElement(child) && !leftOut.has(child) && holds(child)) return true;
    }
    return false;
  };
  let ancestor = image.parent;
  for (let level = 0; level < MAX_ANCESTORS && isElement(ancestor); level++, ancestor = ancestor.parent) {
    nodes = 0;
    if (holds(ancestor)) return true;
    if (nodes > MAX_NODES) return false;
  }
  return false;
}
