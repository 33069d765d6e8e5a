import { HOLDS, isElement, type PageElement } from '../../tree/pageElement.js';
import { HEADINGS } from '../../tree/tagSets.js';
import type { PageMeasures } from '../pageMeasures.js';

/** Minimum number and minimum share of entries whose heading is a link, in a list of other pages. */
const MIN_ENTRIES = 3;
const MIN_LINKED = 0.8;
/** Maximum mean number of characters of the entries. */
const MAX_ENTRY = 800;

/** Whether the element is a list of other pages: short, similar entries, most with a heading that is a link. */
export function isTeaserList(element: PageElement, page: PageMeasures): boolean {
  const repeats = page.repeats.get(element);
  if (repeats === undefined || repeats.links < 0.9 || repeats.headings < 0.6 || repeats.meanLength > MAX_ENTRY)
    return false;
  const entries = element.children.filter((child): child is PageElement => isElement(child) && child.textLength > 0);
  const linked = entries.filter(leadsElsewhere).length;
  return linked >= MIN_ENTRIES && linked >= MIN_LINKED * entries.length;
}

/** Whether a heading in the element is a link, or in a link. */
function leadsElsewhere(element: PageElement): boolean {
  const visit = (parent: PageElement, inLink: boolean): boolean =>
    parent.children.some((child) => {
      if (!isElement(child) || child.textLength === 0) return false;
      if (HEADINGS.has(child.name)) return inLink || child.linkLength >= 0.8 * child.textLength;
      return (child.holds & HOLDS.heading) !== 0 && visit(child, inLink || child.name === 'a');
    });
  return visit(element, element.name === 'a');
}
