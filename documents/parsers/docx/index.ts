import { Fault } from '../../../contract/failures.js';
import { mimeTypeOf } from '../../../contract/files/fileFormats.js';
import { openPackage } from '../../office/openPackage.js';
import { readFigures } from '../../office/readFigures.js';
import { TextBuilder } from '../../textBuilder.js';
import type { Parser } from '../../types.js';
import { BodyReader } from './readBody.js';
import { NoteMarks, readNotes } from './readNotes.js';
import { readStyles } from './readStyles.js';

/** Reads headings, paragraphs, lists, tables, text boxes, charts and notes of a Word document; deleted text is skipped. */
export const docxParser: Parser = {
  async parse({ bytes }, limits) {
    const file = await openPackage(bytes, limits);
    const relations = await file.relationsOf(file.main);
    const writer = new TextBuilder(limits.maxTextCharacters);
    const styles = await readStyles(file, relations, limits);
    const marks = new NoteMarks();
    const figures = await readFigures(file, file.main, limits);
    new BodyReader({ styles, relations, figures, limits, writer, marks }).read(await file.archive.read(file.main));
    for (const { type, target } of relations.values()) {
      if ((type !== 'footnotes' && type !== 'endnotes') || !file.archive.has(target)) continue;
      const notes = [...readNotes(await file.archive.read(target), limits)].flatMap(([id, note]) => {
        const mark = marks.markOf(type, id);
        // Notes without a reference in the text are skipped.
        return mark === undefined ? [] : [`${mark}: ${note}`];
      });
      for (const note of notes) writer.block(note);
    }
    const text = writer.toString();
    if (text === '') {
      throw new Fault('no_text', 'There is no text in the document: it is empty, or has pictures only.');
    }
    return {
      text,
      format: 'DOCX',
      mimeType: mimeTypeOf('DOCX'),
      metadata: file.metadata,
      ...(file.created === null ? {} : { sourceCreatedAt: file.created }),
    };
  },
};
