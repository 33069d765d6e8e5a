import { readXml } from '../../office/readXml.js';
import { oneLine } from '../../textBuilder.js';
import type { DocumentLimits } from '../../types.js';

export type NoteKind = 'footnotes' | 'endnotes';

/** Replaces notes with marks, numbered in the order of the text, independent of the file's numbering. */
export class NoteMarks {
  readonly #marks: { readonly [Kind in NoteKind]: Map<string, string> } = {
    footnotes: new Map(),
    endnotes: new Map(),
  };

  /** Returns the mark of a note to which the text refers. */
  refer(kind: NoteKind, id: string): string {
    const marks = this.#marks[kind];
    const mark = marks.get(id) ?? `[^${kind === 'endnotes' ? 'e' : ''}${marks.size + 1}]`;
    marks.set(id, mark);
    return mark;
  }

  /** Returns the mark of a note; undefined if the text does not refer to it. */
  markOf(kind: NoteKind, id: string): string | undefined {
    return this.#marks[kind].get(id);
  }
}

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
