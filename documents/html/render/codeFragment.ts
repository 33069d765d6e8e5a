import type { ChildNode } from 'domhandler';
import { isElement, isText, PageText, setChildren, type PageElement } from '../tree/pageElement.js';

const classOf = (element: PageElement): string => element.attribs['class'] ?? '';

const LINE = /(?:^|\s)line(?:\s|$)/;

/** Whether the element is code of Doxygen: its lines are divs, some of them in folded parts. */
export function isFragment(element: PageElement): boolean {
  if (element.name !== 'div' || classOf(element) !== 'fragment') return false;
  const first = element.children.find(isElement);
  return first?.name === 'div' && (LINE.test(classOf(first)) || first.children.some(isLine));
}

const isLine = (node: ChildNode): boolean => isElement(node) && node.name === 'div' && LINE.test(classOf(node));

/**
 * Makes a fragment preformatted text, without the numbers of its lines and the pop-ups of the names in them. A single line
 * in a cell becomes inline code, so that the table keeps its rows.
 */
export function makePreformatted(fragment: PageElement): void {
  const code: ChildNode[] = [];
  let lines = 0;
  const add = (parent: PageElement): void => {
    for (const child of parent.children) {
      if (!isElement(child)) continue;
      if (isLine(child)) {
        code.push(...withoutNumber(child), new PageText('\n'));
        lines += 1;
      } else if (classOf(child) !== POP_UP) add(child);
    }
  };
  add(fragment);
  fragment.name = lines === 1 && isCell(fragment.parent) ? 'code' : 'pre';
  setChildren(fragment, code);
}

const POP_UP = 'ttc';

const isCell = (node: PageElement['parent']): boolean => isElement(node) && node.name === 'td';

/** Returns the nodes of a line after its number, without the no-break space that older versions write after it. */
function withoutNumber({ children }: PageElement): ChildNode[] {
  const number = children.findIndex((child) => isElement(child) && classOf(child) === 'lineno');
  const [first, ...rest] = children.slice(number + 1);
  if (first === undefined) return [];
  if (number === -1 || !isText(first) || !first.data.startsWith('\u00a0')) return [first, ...rest];
  return [new PageText(first.data.slice(1)), ...rest];
}
