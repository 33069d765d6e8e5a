import { isEdgeText } from '../../office/pageEdges.js';
import { readXml } from '../../office/readXml.js';
import { oneLine } from '../../textBuilder.js';
import type { DocumentLimits } from '../../types.js';
import { SKIPPED } from './elements.js';

/** Elements of a master page: the header and footer of all pages, of left pages and of the first page. */
const EDGE = /^(header|footer)(?:-left|-first)?$/;
const PAGE_FIELDS: ReadonlySet<string> = new Set(['page-number', 'page-count', 'page-continuation']);

/**
 * Returns the headers and footers in the styles of a text document as `Header: …` and `Footer: …`, each once. Omits
 * lines that contain only a page number, or a page number and a few letters.
 */
export function readPageEdges(part: Uint8Array, limits: DocumentLimits): string[] {
  const edges = new Set<string>();
  let edge: string | null = null;
  let lines = new Set<string>();
  let line = '';
  let isNumbered = false;
  let [skipped, depth, paragraphs] = [0, 0, 0];
  readXml(part, limits, {
    skipsDoctype: true,
    open(name) {
      if (skipped > 0 || SKIPPED.test(name)) skipped += 1;
      else if (edge !== null && PAGE_FIELDS.has(name)) [skipped, isNumbered] = [1, true];
      else if (edge === null) {
        edge = EDGE.exec(name)?.[1] ?? null;
        depth = 0;
        lines = new Set();
      } else {
        depth += 1;
        if (name === 'p' || name === 'h') paragraphs += 1;
        else if (name === 's' || name === 'tab' || name === 'line-break') line += ' ';
      }
    },
    text(text) {
      if (skipped === 0 && paragraphs > 0) line += text;
    },
    close(name) {
      if (skipped > 0) skipped -= 1;
      else if (edge !== null && depth === 0) {
        if (lines.size > 0) edges.add(`${edge === 'header' ? 'Header' : 'Footer'}: ${[...lines].join(' | ')}`);
        edge = null;
      } else if (edge !== null) {
        depth -= 1;
        if (name !== 'p' && name !== 'h') return;
        paragraphs -= 1;
        const text = oneLine(line);
        if (isEdgeText(text, isNumbered)) lines.add(text);
        [line, isNumbered] = ['', false];
      }
    },
  });
  return [...edges];
}
