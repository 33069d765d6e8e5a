import { Fault } from '../../../contract/failures.js';
import { mimeTypeOf } from '../../../contract/files/fileFormats.js';
import { decodeText } from '../../decodeText.js';
import { wholeText } from '../../html/wholeText.js';
import { foundOnly } from '../../office/countUnread.js';
import { TextBuilder } from '../../textBuilder.js';
import type { DocumentLimits, Parser } from '../../types.js';
import { openBook } from './openBook.js';
import { readSvg } from './readSvg.js';

const HTML_TYPE = 'application/xhtml+xml';

/** Reads all text of each page of a book, in reading order. Unlike on a web page, menus are not removed. */
export const epubParser: Parser = {
  async parse({ bytes }, limits) {
    const { archive, pages, types, metadata, created, ...book } = await openBook(bytes, limits);
    const writer = new TextBuilder(limits.maxTextCharacters);
    let { unreadPages } = book;
    let pictures = 0;
    for (const { member, isSvg } of pages) {
      const page = { bytes: await archive.read(member), contentType: HTML_TYPE };
      if (isSvg) {
        const text = svgText(page.bytes, limits);
        pictures += text === '' ? 0 : 1;
        if (text === null) unreadPages += 1;
        else writer.block(text);
      } else writer.block(wholeText(withoutSubset(decodeText(page, { html: true })), limits, true));
    }
    const text = writer.toString();
    if (text === '') throw new Fault('no_text', 'There is no text in the book: it is empty, or has pictures only.');
    const count = (kind: RegExp): number => types.filter((type) => kind.test(type)).length;
    const notRead = foundOnly({
      // A page of SVG with text was read, and one that cannot be read is counted as a page.
      pictures: count(/^image\//) - pictures,
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

/** Returns the text of an SVG page; null if it is not well-formed; the rest of the book is read nevertheless. */
function svgText(page: Uint8Array, limits: DocumentLimits): string | null {
  try {
    return readSvg(page, limits);
  } catch (error) {
    if (error instanceof Fault && error.kind === 'broken_content') return null;
    throw error;
  }
}

/** Removes the declarations inside of a document type, which XHTML may have. In HTML they would be text. */
const withoutSubset = (xhtml: string): string =>
  xhtml.replace(/^([^<]*(?:<\?[^>]*>\s*)?<!DOCTYPE[^<>[]*)\[[^\]]*\]\s*>/i, '$1>');
