import { Fault } from '../../../contract/failures.js';
import { type Archive, encryptedFile, openArchive } from '../../office/openArchive.js';
import { readXml } from '../../office/readXml.js';
import { oneLine } from '../../textBuilder.js';
import type { DocumentLimits } from '../../types.js';
import { splitFlat } from './splitFlat.js';

/**
 * An OpenDocument file (https://docs.oasis-open.org/office/OpenDocument/v1.3/): an archive with a part for its content, or
 * flat, which is one XML document.
 */
export interface OdfFile {
  readonly archive: Archive;
  /** The part with the text. */
  readonly content: Buffer;
  /** The part with the shared styles, and the headers and footers; null if there is none. */
  readonly styles: Buffer | null;
  /** Fields for file_metadata that the file states. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created: string | null;
}

const CONTENT = 'content.xml';
const MANIFEST = 'META-INF/manifest.xml';

/**
 * Opens an OpenDocument file.
 * @throws Fault broken_content, encrypted or too_large
 */
export async function openOdf(bytes: Uint8Array, limits: DocumentLimits): Promise<OdfFile> {
  if (!isArchive(bytes)) {
    const flat = splitFlat(bytes);
    if (flat === null) throw withoutDocument('XML file');
    return { ...flat, ...factsOf(flat.meta, limits) };
  }
  const archive = await openArchive(bytes, limits);
  if (archive.has(MANIFEST) && isEncrypted(await archive.read(MANIFEST), limits)) throw encryptedFile();
  if (!archive.has(CONTENT)) throw withoutDocument('archive');
  const part = async (name: string): Promise<Buffer | null> => (archive.has(name) ? archive.read(name) : null);
  return {
    archive,
    content: await archive.read(CONTENT),
    styles: await part('styles.xml'),
    ...factsOf(await part('meta.xml'), limits),
  };
}

/** Whether the file begins with the signature of a ZIP archive. */
const isArchive = (bytes: Uint8Array): boolean => bytes[0] === 0x50 && bytes[1] === 0x4b;

const withoutDocument = (what: string): Fault =>
  new Fault(
    'broken_content',
    `The file is broken: it is an OpenDocument ${what} without a document in it. Open it in its program, save it again and send that.`,
  );

const factsOf = (meta: Uint8Array | null, limits: DocumentLimits): Pick<OdfFile, 'metadata' | 'created'> =>
  meta === null ? { metadata: {}, created: null } : readMeta(meta, limits);

/**
 * Whether the content is encrypted: its own part, or the whole package as one part (part 2, 3.4 of the standard). Other
 * encrypted parts, such as pictures, are not read.
 */
function isEncrypted(manifest: Uint8Array, limits: DocumentLimits): boolean {
  let isContent = false;
  let found = false;
  readXml(manifest, limits, {
    skipsDoctype: true,
    open(name, attributes) {
      if (name === 'file-entry') isContent = /^(?:content\.xml|encrypted-package)$/.test(attributes['full-path'] ?? '');
      else if (name === 'encryption-data' && isContent) found = true;
    },
  });
  return found;
}

/** Elements of the metadata part, and their metadata names. */
const PROPERTIES: ReadonlyMap<string, string> = new Map([
  ['title', 'title'],
  ['initial-creator', 'author'],
  ['subject', 'subject'],
  ['keyword', 'keywords'],
  ['description', 'description'],
  ['language', 'language'],
  ['creator', 'last_modified_by'],
  ['creation-date', 'created'],
  ['date', 'modified'],
]);

/** Maximum length of a value in characters. */
const MAX_VALUE_LENGTH = 1000;

function readMeta(part: Uint8Array, limits: DocumentLimits): Pick<OdfFile, 'metadata' | 'created'> {
  const fields: Record<string, string> = {};
  let text = '';
  readXml(part, limits, {
    skipsDoctype: true,
    open() {
      text = '';
    },
    text(more) {
      text += more;
    },
    close(element) {
      const key = PROPERTIES.get(element);
      const value = oneLine(text).slice(0, MAX_VALUE_LENGTH);
      text = '';
      if (key === undefined || value === '') return;
      // Each keyword has an element of its own.
      const before = key === 'keywords' ? fields[key] : undefined;
      fields[key] = (before === undefined ? value : `${before}, ${value}`).slice(0, MAX_VALUE_LENGTH);
    },
  });
  const date = new Date(fields['created'] ?? '');
  return { metadata: fields, created: Number.isNaN(date.getTime()) ? null : date.toISOString() };
}
