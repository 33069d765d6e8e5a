import { Fault } from '../../../contract/failures.js';
import { mimeTypeOf } from '../../../contract/files/fileFormats.js';
import { decodeText } from '../../decodeText.js';
import { wholeText } from '../../html/wholeText.js';
import { foundOnly } from '../../office/countUnread.js';
import { TextBuilder } from '../../textBuilder.js';
import type { Parser } from '../../types.js';
import { openBook } from './openBook.js';

const HTML_TYPE = 'application/xhtml+xml';

/** Reads the pages of a book in reading order, each completely. */
export const epubParser: Parser = {
  async parse({ bytes }, limits) {
    const { archive, pages, unreadPages, types, metadata, created } = await openBook(bytes, limits);
    const writer = new TextBuilder(limits.maxTextCharacters);
    for (const member of pages) {
      const page = { bytes: await archive.read(member), contentType: HTML_TYPE };
      writer.block(wholeText(withoutSubset(decodeText(page, { html: true })), limits, true));
    }
    const text = writer.toString();
    if (text === '') throw new Fault('no_text', 'There is no text in the book: it is empty, or has pictures only.');
    const count = (kind: RegExp): number => types.filter((type) => kind.test(type)).length;
    const notRead = foundOnly({
      pictures: count(/^image\//),
      recordings: count(/^(?:audio|video)\//),
      pages: unreadPages,
    });
    return {
      text,
      format: 'EPUB',
      mimeType: mimeTypeOf('EPUB'),
      metadata: { ...metadata, book_pages: pages.length },
      ...(created === null ? {} : { sourceCreatedAt: created }),
      ...(notRead ? { notRead } : {}),
    };
  },
};

/** Removes the declarations inside of a document type, which XHTML may have. In HTML they would be text. */
const withoutSubset = (xhtml: string): string =>
  xhtml.replace(/^([^<]*(?:<\?[^>]*>\s*)?<!DOCTYPE[^<>[]*)\[[^\]]*\]\s*>/i, '$1>');
