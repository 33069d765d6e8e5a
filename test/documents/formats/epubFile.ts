import { strToU8, type Zippable, zipSync } from 'fflate';

/** A page of a book: the content of its body, or of the whole file if it begins with `<?xml`. */
export interface BookPage {
  readonly href: string;
  readonly body: string;
  readonly type?: string;
}

export interface BookParts {
  readonly pages: readonly BookPage[];
  /** Content of the metadata, and further items of the manifest, as XML. */
  readonly metadata?: string;
  readonly items?: string;
  /** Content of META-INF/encryption.xml. */
  readonly encryption?: string;
  /** Ids of the spine; default: all pages in their order. */
  readonly spine?: readonly string[];
  readonly more?: Zippable;
}

/** Writes a book by hand. The id of a page is `p` and its number from 0. */
export function epubFile({ pages, metadata = '', items = '', encryption, spine, more = {} }: BookParts): Uint8Array {
  const listed = pages.map(
    ({ href, type = 'application/xhtml+xml' }, nth) => `<item id="p${nth}" href="${href}" media-type="${type}"/>`,
  );
  const order = (spine ?? pages.map((_page, nth) => `p${nth}`)).map((id) => `<itemref idref="${id}"/>`);
  return zipSync({
    mimetype: [strToU8('application/epub+zip'), { level: 0 }],
    'META-INF/container.xml': strToU8(
      '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles><rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
    ),
    'OPS/book.opf': strToU8(
      `<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">${metadata}</metadata><manifest>${listed.join('')}${items}</manifest><spine>${order.join('')}</spine></package>`,
    ),
    ...Object.fromEntries(
      pages.map(({ href, body }) => [
        `OPS/${decodeURI(href)}`,
        strToU8(
          body.startsWith('<?xml')
            ? body
            : `<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>${body}</body></html>`,
        ),
      ]),
    ),
    ...(encryption === undefined
      ? {}
      : {
          'META-INF/encryption.xml': strToU8(
            `<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:enc="http://www.w3.org/2001/04/xmlenc#">${encryption}</encryption>`,
          ),
        }),
    ...more,
  });
}

/** An entry of META-INF/encryption.xml. */
export const encryptedMember = (algorithm: string, member: string): string =>
  `<enc:EncryptedData><enc:EncryptionMethod Algorithm="${algorithm}"/><enc:CipherData><enc:CipherReference URI="${member}"/></enc:CipherData></enc:EncryptedData>`;

export const AES = 'http://www.w3.org/2001/04/xmlenc#aes256-cbc';
