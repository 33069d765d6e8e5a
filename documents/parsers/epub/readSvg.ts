import { readXml } from '../../office/readXml.js';
import { oneLine } from '../../textBuilder.js';
import type { DocumentLimits } from '../../types.js';

/** SVG elements whose text is visible (https://www.w3.org/TR/SVG2/text.html); `foreignObject` contains XHTML. */
const TEXT_ELEMENTS: ReadonlySet<string> = new Set(['text', 'foreignObject']);
const HIDDEN_ELEMENTS: ReadonlySet<string> = new Set(['style', 'script', 'title', 'desc', 'metadata']);
/** Blocks of XHTML: their text is a line of its own. */
const BLOCK_ELEMENT = /^(?:p|div|li|h[1-6]|br|td|th|tr|dt|dd|section|blockquote|figcaption)$/;

/**
 * Returns the text that an SVG page shows, a line for each text element.
 * @throws Fault broken_content or too_large
 */
export function readSvg(part: Uint8Array, limits: DocumentLimits): string {
  const lines: string[] = [];
  let [shown, hidden, line] = [0, 0, ''];
  const endLine = (): void => {
    if (oneLine(line) !== '') lines.push(oneLine(line));
    line = '';
  };
  readXml(part, limits, {
    skipsDoctype: true,
    open(name, { x, y, dy }) {
      if (hidden > 0 || HIDDEN_ELEMENTS.has(name)) hidden += 1;
      else if (TEXT_ELEMENTS.has(name)) shown += 1;
      else if (shown > 0 && BLOCK_ELEMENT.test(name)) endLine();
      // Text with its own position does not continue the previous word.
      else if (name === 'tspan' && (x ?? y ?? dy) !== undefined) line += ' ';
    },
    text(text) {
      if (shown > 0 && hidden === 0) line += text;
    },
    close(name) {
      if (hidden > 0) hidden -= 1;
      else if (TEXT_ELEMENTS.has(name)) {
        shown -= 1;
        endLine();
      } else if (shown > 0 && BLOCK_ELEMENT.test(name)) endLine();
    },
  });
  return lines.join('\n');
}
