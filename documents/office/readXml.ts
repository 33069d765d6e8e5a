import { SaxesParser } from 'saxes';
import { Fault } from '../../contract/failures.js';
import type { DocumentLimits } from '../types.js';

/**
 * Names have no prefix: `w:p` is `p`. Attributes have none either, except those of the namespace of relationships,
 * which always have the prefix `r:`, even if the file uses another one, because `id` and `r:id` differ. Declarations of
 * namespaces are omitted.
 */
export interface XmlHandler {
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  text?(text: string): void;
  close?(name: string): void;
  /** Whether a document type declaration is skipped instead of refused. Its entities stay unknown. */
  readonly skipsDoctype?: boolean;
}

type XmlLimits = Pick<DocumentLimits, 'maxDepth' | 'maxAttributesPerElement'>;

const SLICE_BYTES = 64 * 1024;

/**
 * Matches the namespace of references between parts, in transitional and strict files: ECMA-376, part 1, 22.8
 * (https://ecma-international.org/publications-and-standards/standards/ecma-376/).
 */
const RELATIONSHIPS = /\/officeDocument\/(?:2006\/)?relationships$/;
const DECLARATION = 'xmlns:';

/**
 * Parses XML as a stream. Expands only the five predefined entities and fetches nothing. Refuses a document type
 * declaration, which no Office file has, unless the handler skips it.
 * @throws Fault broken_content or too_large
 */
export function readXml(bytes: Uint8Array, limits: XmlLimits, handler: XmlHandler): void {
  const parser = new SaxesParser({ position: false });
  let depth = 0;
  // Most files declare the usual prefix at the root; a fragment may use it without a declaration.
  const prefixes = new Set(['r']);
  parser.on('doctype', () => {
    if (handler.skipsDoctype !== true) throw broken('it declares a document type, which no Office file does');
  });
  parser.on('opentag', (tag) => {
    depth += 1;
    if (depth > limits.maxDepth) throw tooDeep(limits.maxDepth);
    const attributes: Record<string, string> = {};
    const stated = tag.attributes as Readonly<Record<string, string>>;
    const names = Object.keys(stated);
    if (names.length > limits.maxAttributesPerElement) throw tooMany(limits.maxAttributesPerElement);
    // A declaration also applies to attributes that precede it.
    for (const name of names)
      if (name.startsWith(DECLARATION) && RELATIONSHIPS.test(stated[name] ?? ''))
        prefixes.add(name.slice(DECLARATION.length));
    for (const name of names) {
      const value = stated[name] ?? '';
      const colon = name.indexOf(':');
      if (colon < 0) attributes[name] = value;
      else if (!name.startsWith(DECLARATION))
        attributes[(prefixes.has(name.slice(0, colon)) ? 'r:' : '') + name.slice(colon + 1)] = value;
    }
    handler.open(localName(tag.name), attributes);
  });
  parser.on('closetag', (tag) => {
    depth -= 1;
    handler.close?.(localName(tag.name));
  });
  if (handler.text) {
    const onText = (text: string): void => handler.text?.(text);
    parser.on('text', onText);
    parser.on('cdata', onText);
  }
  parser.on('error', (error) => {
    throw broken(`the XML of one of its parts is not well-formed (${error.message.replace(/\.+$/, '')})`);
  });
  const decoder = new TextDecoder(encodingOf(bytes));
  for (let at = 0; at < bytes.length; at += SLICE_BYTES)
    parser.write(decoder.decode(bytes.subarray(at, at + SLICE_BYTES), { stream: true }));
  parser.close();
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

/** Decodes an XML file as a whole, in the encoding in which readXml() reads it. */
export const xmlText = (bytes: Uint8Array): string => new TextDecoder(encodingOf(bytes)).decode(bytes);

function encodingOf(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
}

function broken(what: string): Fault {
  return new Fault(
    'broken_content',
    `The file is broken: ${what.slice(0, 250)}. Open it in its program, save it again and send that.`,
  );
}

const tooDeep = (limit: number): Fault =>
  new Fault(
    'too_large',
    `The file has elements nested more than ${limit} deep (setting MAX_ELEMENT_DEPTH). Simplify it, or raise the setting.`,
  );

const tooMany = (limit: number): Fault =>
  new Fault(
    'too_large',
    `The file has an element with more than ${limit} attributes (setting MAX_ELEMENT_ATTRIBUTES). Simplify it, or raise the setting.`,
  );
