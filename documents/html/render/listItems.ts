import { isElement, isText, type PageElement } from '../tree/pageElement.js';

/** Returns the element before this one, unless there is text between them. */
export function previousElement(element: PageElement): PageElement | null {
  for (let previous = element.prev; previous !== null; previous = previous.prev) {
    if (isElement(previous)) return previous;
    if (isText(previous) && previous.visibleLength > 0) return null;
  }
  return null;
}

/** Returns the list that contains an item, or null. */
export function listOf(item: PageElement): PageElement | null {
  const { parent } = item;
  return parent !== null && isElement(parent) && /^(?:ul|ol|menu|dir)$/.test(parent.name) ? parent : null;
}

/** Numbers list items as the page shows them; call it in document order. */
export class ItemNumbers {
  readonly #last = new Map<PageElement, number>();

  next(item: PageElement, list: PageElement): number {
    const ownNumber = Number.parseInt(item.attribs['value'] ?? '', 10);
    const last = this.#last.get(list);
    const counted = last === undefined ? firstNumber(list) : last + (isReversed(list) ? -1 : 1);
    const number = Number.isSafeInteger(ownNumber) ? ownNumber : counted;
    this.#last.set(list, number);
    return number;
  }
}

const isReversed = (list: PageElement): boolean => list.attribs['reversed'] !== undefined;

function firstNumber(list: PageElement): number {
  const start = Number.parseInt(list.attribs['start'] ?? '', 10);
  if (Number.isSafeInteger(start)) return start;
  return isReversed(list) ? list.children.filter((child) => isElement(child) && child.name === 'li').length : 1;
}
