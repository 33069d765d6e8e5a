import type { ParentNode } from 'domhandler';
import { HOLDS, isElement, type PageElement } from '../tree/pageElement.js';

/** Children of one parent that a template wrote: cards, list items, posts. */
export interface Repeats {
  readonly count: number;
  readonly signature: string;
  /** Share of them with a link, with a picture, with a heading, with a line of prose. */
  readonly links: number;
  readonly images: number;
  readonly headings: number;
  readonly prose: number;
  /** Mean number of characters. */
  readonly meanLength: number;
}

/** Returns the tag and first class of an element: equal for the elements that one template wrote. */
export function signatureOf(element: PageElement): string {
  const classes = element.attribs['class'] ?? '';
  const space = classes.indexOf(' ');
  return `${element.name}.${space === -1 ? classes : classes.slice(0, space)}`;
}

/** Whether three children are elements with text. */
function hasAtLeastThree(parent: ParentNode): boolean {
  let elements = 0;
  for (const child of parent.children) if (isElement(child) && child.textLength > 0 && ++elements === 3) return true;
  return false;
}

/** Returns the largest group of children with the same signature; null if it has fewer than three. */
export function findRepeats(parent: ParentNode): Repeats | null {
  if (!hasAtLeastThree(parent)) return null;
  const groups = new Map<string, PageElement[]>();
  let best: PageElement[] = [];
  let signature = '';
  for (const child of parent.children) {
    if (!isElement(child) || child.textLength === 0) continue;
    const childSignature = signatureOf(child);
    let group = groups.get(childSignature);
    if (group === undefined) groups.set(childSignature, (group = []));
    group.push(child);
    if (group.length > best.length) [best, signature] = [group, childSignature];
  }
  const count = best.length;
  if (count < 3) return null;
  const sum = { links: 0, images: 0, headings: 0, prose: 0, length: 0 };
  for (const child of best) {
    if (child.links > 0 || child.name === 'a') sum.links += 1;
    if (child.images > 0) sum.images += 1;
    if ((child.holds & HOLDS.heading) !== 0) sum.headings += 1;
    if (child.proseLength > 0) sum.prose += 1;
    sum.length += child.textLength;
  }
  return {
    count,
    signature,
    links: sum.links / count,
    images: sum.images / count,
    headings: sum.headings / count,
    prose: sum.prose / count,
    meanLength: sum.length / count,
  };
}
