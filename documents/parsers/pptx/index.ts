import { Fault } from '../../../contract/failures.js';
import { mimeTypeOf } from '../../../contract/files/fileFormats.js';
import { countUnread } from '../../office/countUnread.js';
import { openPackage, type Package } from '../../office/openPackage.js';
import { readFigures } from '../../office/readFigures.js';
import { readShapes } from '../../office/readShapes.js';
import { readXml } from '../../office/readXml.js';
import { TextBuilder } from '../../textBuilder.js';
import type { DocumentLimits, Parser } from '../../types.js';
import { readAuthors, readComments } from './readComments.js';

/**
 * Parses a presentation slide by slide: the title as a heading, list items, tables, text boxes, figures, speaker notes
 * and comments.
 */
export const pptxParser: Parser = {
  async parse({ bytes }, limits) {
    const file = await openPackage(bytes, limits);
    const { archive, main } = file;
    const ids: string[] = [];
    readXml(await archive.read(main), limits, {
      open(name, attributes) {
        if (name === 'sldId' && attributes['r:id'] !== undefined) ids.push(attributes['r:id']);
      },
    });
    if (ids.length > limits.maxPages) {
      throw new Fault(
        'too_large',
        `The presentation has ${ids.length} slides, more than the limit (setting MAX_DOCUMENT_PAGES: ${limits.maxPages}). Split it, or raise the setting.`,
      );
    }
    const relations = await file.relationsOf(main);
    const authors = new Map<string, string>();
    for (const { type, target } of relations.values())
      if ((type === 'commentAuthors' || type === 'authors') && archive.has(target))
        for (const [id, name] of readAuthors(await archive.read(target), limits)) authors.set(id, name);
    const writer = new TextBuilder(limits.maxTextCharacters);
    let hasText = false;
    for (const [nth, id] of ids.entries()) {
      const member = relations.get(id)?.target;
      if (member === undefined || !archive.has(member)) continue;
      const { title, blocks: shapes } = readShapes(await archive.read(member), limits);
      const slideRelations = [...(await file.relationsOf(member)).values()];
      const notesMember = slideRelations.find(({ type }) => type === 'notesSlide')?.target;
      const blocks = [...shapes, ...[...(await readFigures(file, member, limits)).values()].flat()];
      const notes =
        notesMember !== undefined && archive.has(notesMember)
          ? readShapes(await archive.read(notesMember), limits).blocks.map((block) => block.replace(/^ *- /gm, ''))
          : [];
      const comments = await commentsOf(file, member, authors, limits);
      if (title === null && blocks.length + notes.length + comments.length === 0) continue;
      hasText = true;
      writer.block(`# ${title ?? `Slide ${nth + 1}`}`);
      for (const block of blocks) writer.block(block);
      if (notes.length > 0) writer.block(`Notes: ${notes.join('\n')}`);
      for (const comment of comments) writer.block(comment);
    }
    if (!hasText) {
      throw new Fault('no_text', 'There is no text in the presentation: it is empty, or has pictures only.');
    }
    const notRead = countUnread(file);
    return {
      text: writer.toString(),
      format: 'PPTX',
      mimeType: mimeTypeOf('PPTX'),
      metadata: { ...file.metadata, slides: ids.length },
      ...(file.created === null ? {} : { sourceCreatedAt: file.created }),
      ...(notRead ? { notRead } : {}),
    };
  },
};

async function commentsOf(
  { archive, relationsOf }: Package,
  slide: string,
  authors: ReadonlyMap<string, string>,
  limits: DocumentLimits,
): Promise<string[]> {
  const comments: string[] = [];
  for (const { type, target } of (await relationsOf(slide)).values())
    if (type === 'comments' && archive.has(target))
      comments.push(...readComments(await archive.read(target), authors, limits));
  return comments;
}
