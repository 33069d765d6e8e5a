import { Fault } from '../../../contract/failures.js';
import { mimeTypeOf } from '../../../contract/files/fileFormats.js';
import { openPackage } from '../../office/openPackage.js';
import { readFigures } from '../../office/readFigures.js';
import { readXml } from '../../office/readXml.js';
import { TextBuilder } from '../../textBuilder.js';
import type { Parser } from '../../types.js';
import { readSlide } from './readSlide.js';

/** Parses a presentation slide by slide: the title as a heading, list items, tables, text boxes and speaker notes. */
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
    const writer = new TextBuilder(limits.maxTextCharacters);
    let hasText = false;
    for (const [nth, id] of ids.entries()) {
      const member = relations.get(id)?.target;
      if (member === undefined || !archive.has(member)) continue;
      const { title, blocks: words } = readSlide(await archive.read(member), limits);
      const shown = [...(await file.relationsOf(member)).values()];
      const notesMember = shown.find(({ type }) => type === 'notesSlide')?.target;
      const blocks = [...words, ...[...(await readFigures(file, member, limits)).values()].flat()];
      const notes =
        notesMember !== undefined && archive.has(notesMember)
          ? readSlide(await archive.read(notesMember), limits).blocks.map((block) => block.replace(/^ *- /gm, ''))
          : [];
      if (title === null && blocks.length === 0 && notes.length === 0) continue;
      hasText = true;
      writer.block(`# ${title ?? `Slide ${nth + 1}`}`);
      for (const block of blocks) writer.block(block);
      if (notes.length > 0) writer.block(`Notes: ${notes.join('\n')}`);
    }
    if (!hasText) {
      throw new Fault('no_text', 'There is no text in the presentation: it is empty, or has pictures only.');
    }
    return {
      text: writer.toString(),
      format: 'PPTX',
      mimeType: mimeTypeOf('PPTX'),
      metadata: { ...file.metadata, slides: ids.length },
      ...(file.created === null ? {} : { sourceCreatedAt: file.created }),
    };
  },
};
