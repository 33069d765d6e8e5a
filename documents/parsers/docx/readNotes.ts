import { readXml } from '../../office/readXml.js';
import { oneLine } from '../../textBuilder.js';
import type { DocumentLimits } from '../../types.js';

export type NoteKind = 'footnotes' | 'endnotes';

/** What stands in the text in the place of each note: numbers in the order of the text, whatever the file calls them. */
export class NoteMarks {
  readonly #marks: { readonly [Kind in NoteKind]: Map<string, string> } = {
    footnotes: new Map(),
    endnotes: new Map(),
  };

  /** The mark of a note that the text refers to. */
  refer(kind: NoteKind, id: string): string {
    const marks = this.#marks[kind];
    const mark = marks.get(id) ?? `[^${kind === 'endnotes' ? 'e' : ''}${marks.size + 1}]`;
    marks.set(id, mark);
    return mark;
  }

  /** Undefined where nothing refers to the note. */
  markOf(kind: NoteKind, id: string): string | undefined {
    return this.#marks[kind].get(id);
  }
}

/** The notes of a document by their ids. Separators, which are kept as notes too, have no words. */
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
