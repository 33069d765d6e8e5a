import { readXml } from '../../office/readXml.js';
import { oneLine } from '../../textBuilder.js';
import type { DocumentLimits } from '../../types.js';

/** Returns the notes of a document by id. Separators, which are stored as notes, have no text. */
export function readNotes(part: Uint8Array, limits: DocumentLimits): Map<string, string> {
  const notes = new Map<string, string>();
  let id = '';
  let words = '';
  let inText = false;
  readXml(part, limits, {
    open(name, attributes) {
      if (name === 'footnote' || name === 'endnote') {
        id = attributes['id'] ?? '';
        words = '';
      } else if (name === 't') inText = true;
      else if (name === 'p') words += ' ';
    },
    text(text) {
      if (inText) words += text;
    },
    close(name) {
      if (name === 't') inText = false;
      else if ((name === 'footnote' || name === 'endnote') && oneLine(words) !== '') notes.set(id, oneLine(words));
    },
  });
  return notes;
}
