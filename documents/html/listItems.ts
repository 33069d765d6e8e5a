import { isElement, isText, type PageElement } from './pageElement.js';

/** The element before this one, unless text stands between them. */
export function previousElement(element: PageElement): PageElement | null {
  for (let previous = element.prev; previous !== null; previous = previous.prev) {
    if (isElement(previous)) return previous;
    if (isText(previous) && previous.visibleLength > 0) return null;
  }
  return null;
}

/** The list that an item lies in, or null for an item without one. */
export function listOf(item: PageElement): PageElement | null {
  const { parent } = item;
  return parent !== null && isElement(parent) && /^(?:ul|ol|menu|dir)$/.test(parent.name) ? parent : null;
}

/** Numbers list items as the page shows them; asked in the order of the page. */
export class ItemNumbers {
  readonly #last = new Map<PageElement, number>();

  next(item: PageElement, list: PageElement): number {
    const own = Number.parseInt(item.attribs['value'] ?? '', 10);
    const first = Number.parseInt(list.attribs['start'] ?? '', 10);
    const last = this.#last.get(list);
    const counted = last !== undefined ? last + 1 : Number.isSafeInteger(first) ? first : 1;
    const number = Number.isSafeInteger(own) ? own : counted;
    this.#last.set(list, number);
    return number;
  }
}
