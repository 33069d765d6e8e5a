import PostalMime from 'postal-mime';
import { cleanText } from '../../cleanText.js';
import { decodeText } from '../../decodeText.js';
import { identifyFile } from '../../detection/identifyFile.js';
import { wholeText } from '../../html/wholeText.js';
import type { Package, Relation } from '../../office/openPackage.js';
import type { DocumentLimits, ParsedDocument } from '../../types.js';
import { rtfParser } from '../rtf/index.js';

/** Maximum number of inserted files per document that are unpacked, whether or not they can be read. */
const MAX_CHUNKS = 100;

/** Files that a document inserts into its text: HTML, web archives, RTF, plain text or other documents. */
export interface AltChunks {
  /** Texts by relation id. */
  readonly texts: ReadonlyMap<string, readonly string[]>;
  /** Number of inserted files that were not read. */
  readonly skipped: number;
}

/**
 * Reads the inserted files of a document.
 * @param readDocument reads an inserted document; null inside an inserted document, which limits the nesting
 */
export async function readAltChunks(
  { archive }: Package,
  relations: ReadonlyMap<string, Relation>,
  limits: DocumentLimits,
  readDocument: ((bytes: Uint8Array) => Promise<ParsedDocument>) | null,
): Promise<AltChunks> {
  const texts = new Map<string, readonly string[]>();
  let chunks = 0;
  let skipped = 0;
  for (const [id, { type, target }] of relations) {
    if (type !== 'aFChunk' || !archive.has(target)) continue;
    chunks += 1;
    const text = chunks <= MAX_CHUNKS ? await textOf(await archive.read(target), target, limits, readDocument) : null;
    if (text === null) skipped += 1;
    else if (text !== '') texts.set(id, [text]);
  }
  return { texts, skipped };
}

/** Returns the text of an inserted file; null if its format is not supported here. */
async function textOf(
  bytes: Uint8Array,
  name: string,
  limits: DocumentLimits,
  readDocument: ((bytes: Uint8Array) => Promise<ParsedDocument>) | null,
): Promise<string | null> {
  const input = { bytes, contentType: null, name, baseUrl: null, html: { tags: [], classes: [], selectors: [] } };
  try {
    const { format } = identifyFile(input);
    if (format === 'HTML') return wholeText(decodeText(input, { html: true }), limits);
    if (format === 'EML') {
      const { html, text } = await PostalMime.parse(bytes);
      return html === undefined ? cleanText(text ?? '', limits) : wholeText(html, limits);
    }
    if (format === 'RTF') return (await rtfParser.parse(input, limits)).text;
    if (format === 'DOCX' && readDocument !== null) return (await readDocument(bytes)).text;
    return format === 'TXT' || format === 'MD' ? cleanText(decodeText(input, { html: false }), limits) : null;
  } catch {
    // A broken inserted file does not make the document unreadable: it is counted.
    return null;
  }
}
