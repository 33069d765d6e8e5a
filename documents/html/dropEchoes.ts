import { countText, isElement, isText, PageText, type PageElement } from './pageElement.js';

/** Minimum number of characters of a label that is compared: shorter ones repeat by chance. */
const MIN_LABEL_LENGTH = 8;
/** Number of elements around a picture that are searched, from the inside to the outside. */
const LEVELS = 6;
/** Maximum number of nodes of such an element. A larger one is not the card of the picture. */
const MAX_NODES = 80;

/**
 * Removes the labels of pictures that repeat a text beside the picture, as cards of products do: the link around the
 * picture and the title have the same text.
 */
export function dropEchoes(images: readonly PageElement[]): void {
  for (const image of images) {
    const label = image.attribs['alt'] ?? '';
    if (label.length < MIN_LABEL_LENGTH) continue;
    const text = new PageText(label);
    countText(text);
    let nodes = 0;
    const holds = (parent: PageElement): boolean => {
      for (const child of parent.children) {
        if (++nodes > MAX_NODES) return false;
        if (isText(child)) {
          countText(child);
          if (child.textHash === text.textHash && child.visibleLength === text.visibleLength) return true;
        } else if (isElement(child) && holds(child)) return true;
      }
      return false;
    };
    let around = image.parent;
    for (let level = 0; level < LEVELS && isElement(around) && nodes <= MAX_NODES; level++, around = around.parent) {
      nodes = 0;
      if (!holds(around)) continue;
      image.attribs['alt'] = '';
      break;
    }
  }
}
