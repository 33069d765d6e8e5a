import { isEdgeText, PAGE_FIELD } from '../../office/pageEdges.js';
import { readXml } from '../../office/readXml.js';
import { oneLine } from '../../textBuilder.js';
import type { DocumentLimits } from '../../types.js';

/**
 * Returns the text of a header or footer in one line; '' if it has only a page number with a short word. The values of
 * page fields are omitted, because they are those of the last page that was printed.
 */
export function readPageEdge(part: Uint8Array, limits: DocumentLimits): string {
  const lines: string[] = [];
  let [line, instruction] = ['', ''];
  let [inText, inInstruction, isNumbered] = [false, false, false];
  /** Nesting of fields, the level whose value is omitted (0: none), and the nesting of skipped elements. */
  let [fields, hidden, skipped] = [0, 0, 0];
  const endLine = (): void => {
    const text = oneLine(line);
    if (isEdgeText(text, isNumbered)) lines.push(text);
    [line, isNumbered] = ['', false];
  };
  readXml(part, limits, {
    open(name, attributes) {
      if (skipped > 0 || name === 'Fallback' || name === 'del' || name === 'moveFrom') skipped += 1;
      else if (name === 't') inText = true;
      else if (name === 'tab' && attributes['pos'] === undefined) line += ' ';
      else if (name === 'br') line += ' ';
      else if (name === 'instrText') inInstruction = true;
      else if (name === 'fldSimple' && PAGE_FIELD.test(attributes['instr'] ?? '')) [skipped, isNumbered] = [1, true];
      else if (name === 'fldChar') {
        const type = attributes['fldCharType'];
        if (type === 'begin') [fields, instruction] = [fields + 1, ''];
        else if (type === 'separate' && hidden === 0 && PAGE_FIELD.test(instruction))
          [hidden, isNumbered] = [fields, true];
        else if (type === 'end') {
          if (hidden === fields) hidden = 0;
          fields = Math.max(0, fields - 1);
        }
      }
    },
    text(text) {
      if (inInstruction) instruction += text;
      else if (inText && hidden === 0 && skipped === 0) line += text;
    },
    close(name) {
      if (skipped > 0) skipped -= 1;
      else if (name === 't') inText = false;
      else if (name === 'instrText') inInstruction = false;
      else if (name === 'p') endLine();
    },
  });
  return [...new Set(lines)].join(' | ');
}
