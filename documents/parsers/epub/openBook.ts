import { Fault } from '../../../contract/failures.js';
import { type Archive, openArchive } from '../../office/openArchive.js';
import { readXml } from '../../office/readXml.js';
import { oneLine } from '../../textBuilder.js';
import type { DocumentLimits } from '../../types.js';

/** A file of a book. */
interface Item {
  readonly member: string;
  readonly type: string;
  /** Id of the item to show instead, for a type that not every reading system supports. */
  readonly fallback: string | null;
}

/** An EPUB book (https://www.w3.org/TR/epub-33/): an archive with pages of XHTML in a stated order. */
export interface Book {
  readonly archive: Archive;
  /** Members with the pages in reading order, each once, and whether they are SVG instead of HTML. */
  readonly pages: ReadonlyArray<{ readonly member: string; readonly isSvg: boolean }>;
  /** Number of pages that are missing or are not pages of text. */
  readonly unreadPages: number;
  /** Media types of all files of the book. */
  readonly types: readonly string[];
  /** Fields for file_metadata that the book states. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created: string | null;
}

const CONTAINER = 'META-INF/container.xml';
const ENCRYPTION = 'META-INF/encryption.xml';

/** Media types that the HTML reader reads. EPUB 2 allows DTBook, whose elements for text are those of HTML. */
const PAGE_TYPE = /^(?:application\/xhtml\+xml|text\/html|application\/x-dtbook\+xml|text\/x-oeb1-document)$/;
/** A page that is one picture with its text: EPUB 3.3, 6.2. */
const SVG_TYPE = 'image/svg+xml';

/** Maximum number of fallbacks that are followed: chains in hostile files may be cyclic. */
const MAX_FALLBACKS = 10;

/**
 * Opens a book.
 * @throws Fault broken_content, encrypted or too_large
 */
export async function openBook(bytes: Uint8Array, limits: DocumentLimits): Promise<Book> {
  const archive = await openArchive(bytes, limits);
  if (!archive.has(CONTAINER)) throw noBook('no list of its parts');
  const main = mainPart(await archive.read(CONTAINER), limits);
  if (main === null || !archive.has(main)) throw noBook('no list of its pages');
  const { items, spine, ...fields } = readMain(await archive.read(main), main, limits);
  const pages = new Map<string, { readonly member: string; readonly isSvg: boolean }>();
  let unreadPages = 0;
  for (const id of spine) {
    const page = pageOf(id, items);
    if (page === null || !archive.has(page.member)) unreadPages += 1;
    else pages.set(page.member, { member: page.member, isSvg: page.type === SVG_TYPE });
  }
  if (archive.has(ENCRYPTION)) refuseProtected(await archive.read(ENCRYPTION), pages, limits);
  return {
    archive,
    pages: [...pages.values()],
    unreadPages,
    types: [...items.values()].map(({ type }) => type),
    ...fields,
  };
}

function mainPart(container: Uint8Array, limits: DocumentLimits): string | null {
  let main: string | null = null;
  readXml(container, limits, {
    skipsDoctype: true,
    open(name, attributes) {
      const path = attributes['full-path'];
      if (name === 'rootfile' && path !== undefined) main ??= memberName('', path);
    },
  });
  return main;
}

/** Follows the fallbacks of an item to a page of HTML, or else of SVG; null if there is none. */
function pageOf(id: string, items: ReadonlyMap<string, Item>): Item | null {
  let item = items.get(id);
  let svg: Item | null = null;
  for (let steps = 0; item !== undefined && steps < MAX_FALLBACKS; steps++) {
    if (PAGE_TYPE.test(item.type)) return item;
    if (item.type === SVG_TYPE) svg ??= item;
    item = items.get(item.fallback ?? '');
  }
  return svg;
}

/** Elements of the metadata, and their names in file_metadata. */
const PROPERTIES: ReadonlyMap<string, string> = new Map([
  ['title', 'title'],
  ['creator', 'author'],
  ['subject', 'subject'],
  ['description', 'description'],
  ['language', 'language'],
  ['publisher', 'publisher'],
  ['identifier', 'identifier'],
  ['date', 'created'],
]);

/** Fields of which a book can have several values. */
const REPEATABLE_FIELDS: ReadonlySet<string> = new Set(['author', 'subject']);

/** Maximum length of a value in characters. */
const MAX_VALUE_LENGTH = 1000;

function readMain(
  part: Uint8Array,
  main: string,
  limits: DocumentLimits,
): { items: Map<string, Item>; spine: string[] } & Pick<Book, 'metadata' | 'created'> {
  const folder = main.slice(0, main.lastIndexOf('/') + 1);
  const items = new Map<string, Item>();
  const spine: string[] = [];
  const fields: Record<string, string> = {};
  let text = '';
  let inMetadata = false;
  readXml(part, limits, {
    skipsDoctype: true,
    open(name, attributes) {
      text = '';
      const { id, href, idref } = attributes;
      if (name === 'metadata') inMetadata = true;
      else if (name === 'item' && id !== undefined && href !== undefined) {
        const type = (attributes['media-type'] ?? '').trim().toLowerCase();
        items.set(id, { member: memberName(folder, href), type, fallback: attributes['fallback'] ?? null });
      } else if (name === 'itemref' && idref !== undefined) spine.push(idref);
    },
    text(more) {
      text += more;
    },
    close(name) {
      if (name === 'metadata') inMetadata = false;
      const key = inMetadata ? PROPERTIES.get(name) : undefined;
      const value = oneLine(text).slice(0, MAX_VALUE_LENGTH);
      text = '';
      if (key === undefined || value === '') return;
      const before = fields[key];
      if (before === undefined) fields[key] = value;
      else if (REPEATABLE_FIELDS.has(key)) fields[key] = `${before}, ${value}`.slice(0, MAX_VALUE_LENGTH);
    },
  });
  const date = new Date(fields['created'] ?? '');
  return { items, spine, metadata: fields, created: Number.isNaN(date.getTime()) ? null : date.toISOString() };
}

/** Algorithms that only make fonts unusable outside of the book: EPUB 3.3, 4.4, and Adobe's older one. */
const FONT_ALGORITHMS = /^http:\/\/(?:www\.idpf\.org\/2008\/embedding|ns\.adobe\.com\/pdf\/enc#RC)$/;

function refuseProtected(encryption: Uint8Array, pages: ReadonlyMap<string, unknown>, limits: DocumentLimits): void {
  let algorithm = '';
  readXml(encryption, limits, {
    skipsDoctype: true,
    open(name, attributes) {
      if (name === 'EncryptedData') algorithm = '';
      else if (name === 'EncryptionMethod' && algorithm === '') algorithm = attributes['Algorithm'] ?? '';
      else if (name === 'CipherReference' && !FONT_ALGORITHMS.test(algorithm)) {
        if (pages.has(memberName('', attributes['URI'] ?? '')))
          throw new Fault(
            'encrypted',
            'The book is protected by digital rights management (DRM): only programs with its licence or password can open it. Send a copy without protection, which some shops provide.',
          );
      }
    },
  });
}

/** Resolves an address inside the book: relative to a folder, without the part after `#`, with decoded escapes. */
function memberName(folder: string, href: string): string {
  const parts: string[] = [];
  for (const part of (folder + href.replace(/#.*$/s, '')).split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  // Escapes are bytes of UTF-8; a name with invalid ones matches no member.
  return parts
    .join('/')
    .replace(/(?:%[\da-f]{2})+/gi, (escapes) => Buffer.from(escapes.replaceAll('%', ''), 'hex').toString('utf8'));
}

const noBook = (what: string): Fault =>
  new Fault(
    'broken_content',
    `The file is broken: the book has ${what}. Export it again as EPUB, or send it as PDF or HTML.`,
  );
