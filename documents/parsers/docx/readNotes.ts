import { readXml } from '../../office/readXml.js';
import { oneLine } from '../../textBuilder.js';
import type { DocumentLimits } from '../../types.js';

/** Returns the notes of a document by id. Separators, which are stored as notes, have no text. */
export function readNotes(part: Uint8Array, limits: DocumentLimits): Map<string, string> {
  const notes = new Map<string, string>();
  let id = '';
  let words = '';
  let inText = false;
  /** Depth of an element with deleted text or a copy of other text. */
  let skipped = 0;
  readXml(part, limits, {
    open(name, attributes) {
      if (skipped > 0 || name === 'del' || name === 'moveFrom' || name === 'Fallback') skipped += 1;
      else if (name === 'footnote' || name === 'endnote') {
        id = attributes['id'] ?? '';
        words = '';
      } else if (name === 't') inText = true;
      else if (name === 'p' || name === 'br' || name === 'cr' || name === 'tab') words += ' ';
    },
    text(text) {
      if (inText && skipped === 0) words += text;
    },
    close(name) {
      if (skipped > 0) skipped -= 1;
      else if (name === 't') inText = false;
      else if ((name === 'footnote' || name === 'endnote') && oneLine(words) !== '') notes.set(id, oneLine(words));
    },
  });
  return notes;
}
