import { Fault } from '../../../contract/failures.js';
import { mimeTypeOf } from '../../../contract/files/fileFormats.js';
import { CommentedText } from '../../office/commentedText.js';
import { countUnread } from '../../office/countUnread.js';
import { NoteMarks } from '../../office/noteMarks.js';
import { openPackage, type Package, type Relation } from '../../office/openPackage.js';
import { readFigures } from '../../office/readFigures.js';
import { TextBuilder } from '../../textBuilder.js';
import type { DocumentLimits, ParsedDocument, Parser } from '../../types.js';
import { readAltChunks } from './readAltChunks.js';
import { BodyReader } from './readBody.js';
import { readComments } from './readComments.js';
import { readNotes } from './readNotes.js';
import { readPageEdge } from './readPageEdges.js';
import { readStyles } from './readStyles.js';

/**
 * Reads a Word document: headings, paragraphs, lists, tables, text boxes, charts and inserted files; then notes,
 * comments, headers and footers. Tracked insertions are text, tracked deletions are not.
 */
export const docxParser: Parser = { parse: async ({ bytes }, limits) => readDocument(bytes, limits, true) };

async function readDocument(bytes: Uint8Array, limits: DocumentLimits, isOuter: boolean): Promise<ParsedDocument> {
  const file = await openPackage(bytes, limits);
  const relations = await file.relationsOf(file.main);
  const writer = new TextBuilder(limits.maxTextCharacters);
  const styles = await readStyles(file, relations, limits);
  const marks = new NoteMarks();
  const commented = new CommentedText();
  const inserted = await readAltChunks(
    file,
    relations,
    limits,
    isOuter ? async (inner) => readDocument(inner, limits, false) : null,
  );
  const figures = new Map([...(await readFigures(file, file.main, limits)), ...inserted.texts]);
  const body = new BodyReader({ styles, relations, figures, limits, writer, marks, commented });
  body.read(await file.archive.read(file.main));
  for (const block of await readAttached(file, relations, marks, commented, limits)) writer.block(block);
  const text = writer.toString();
  if (text === '') throw new Fault('no_text', 'There is no text in the document: it is empty, or has pictures only.');
  const { insertions, deletions } = body.changes;
  const notRead = countUnread(file, { inserted_files: inserted.skipped });
  return {
    text,
    format: 'DOCX',
    mimeType: mimeTypeOf('DOCX'),
    metadata: {
      ...file.metadata,
      ...(insertions + deletions > 0 ? { tracked_changes: { insertions, deletions } } : {}),
    },
    ...(file.created === null ? {} : { sourceCreatedAt: file.created }),
    ...(notRead ? { notRead } : {}),
  };
}

/** Returns the notes, comments, headers and footers of a document as blocks. */
async function readAttached(
  { archive }: Package,
  relations: ReadonlyMap<string, Relation>,
  marks: NoteMarks,
  commented: CommentedText,
  limits: DocumentLimits,
): Promise<string[]> {
  const notes: string[] = [];
  const comments: string[] = [];
  // Sections repeat their headers.
  const edges = new Set<string>();
  for (const { type, target, external } of relations.values()) {
    if (external || !archive.has(target)) continue;
    if (type === 'footnotes' || type === 'endnotes') {
      for (const [id, note] of readNotes(await archive.read(target), limits)) {
        const mark = marks.markOf(type, id);
        // Notes without a reference in the text are skipped.
        if (mark !== undefined) notes.push(`${mark}: ${note}`);
      }
    } else if (type === 'comments') comments.push(...readComments(await archive.read(target), commented, limits));
    else if (type === 'header' || type === 'footer') {
      const edge = readPageEdge(await archive.read(target), limits);
      if (edge !== '') edges.add(`${type === 'header' ? 'Header' : 'Footer'}: ${edge}`);
    }
  }
  return [...notes, ...comments, ...edges];
}
