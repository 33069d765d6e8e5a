import { Fault } from '../../../contract/failures.js';
import { CommentedText } from '../../office/commentedText.js';
import { NoteMarks } from '../../office/noteMarks.js';
import { TextBuilder } from '../../textBuilder.js';
import type { DocumentLimits, Parser } from '../../types.js';
import { BlockWriter } from './blockWriter.js';
import { documentOf } from './documentOf.js';
import { type OdfFile, openOdf } from './openOdf.js';
import { type ContentParts, ContentReader } from './readContent.js';
import { readObjects } from './readObjects.js';
import { readPageEdges } from './readPageEdges.js';
import { SlideReader } from './readSlides.js';
import { readStyles } from './readStyles.js';

/**
 * Reads a text document: headings, paragraphs, lists, tables, text boxes and charts; then notes, comments, headers and
 * footers. Tracked insertions are text, tracked deletions are not.
 */
export const odtParser: Parser = {
  async parse({ bytes }, limits) {
    const { file, parts, unread } = await openParts(bytes, limits);
    const writer = new TextBuilder(limits.maxTextCharacters);
    const reader = new ContentReader(parts, new BlockWriter(writer));
    reader.read(file.content);
    const edges = file.styles === null ? [] : readPageEdges(file.styles, limits);
    for (const block of [...reader.notes, ...reader.takeComments(), ...edges]) writer.block(block);
    const text = writer.toString();
    if (text === '') throw new Fault('no_text', 'There is no text in the document: it is empty, or has pictures only.');
    const { insertions, deletions } = reader.changes;
    const changed = insertions + deletions > 0 ? { tracked_changes: { insertions, deletions } } : {};
    return documentOf(file, 'ODT', text, changed, { embedded_files: unread, form_fields: reader.formFields });
  },
};

/** Parses a presentation slide by slide. The text has the same structure as that of the PPTX parser. */
export const odpParser: Parser = {
  async parse({ bytes }, limits) {
    const { file, parts, unread } = await openParts(bytes, limits);
    const slides = new SlideReader(parts);
    slides.read(file.content);
    const text = slides.text;
    if (text === '')
      throw new Fault('no_text', 'There is no text in the presentation: it is empty, or has pictures only.');
    return documentOf(
      file,
      'ODP',
      text,
      { slides: slides.count },
      { embedded_files: unread, form_fields: slides.formFields },
    );
  },
};

async function openParts(
  bytes: Uint8Array,
  limits: DocumentLimits,
): Promise<{ file: OdfFile; parts: ContentParts; unread: number }> {
  const file = await openOdf(bytes, limits);
  const { charts, unread } = await readObjects(file, limits);
  const styles = readStyles(file.styles === null ? [file.content] : [file.styles, file.content], limits);
  return {
    file,
    unread,
    parts: { styles, charts, limits, marks: new NoteMarks(), commented: new CommentedText() },
  };
}
