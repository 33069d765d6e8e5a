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
