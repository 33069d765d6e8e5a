import { SaxesParser } from 'saxes';
import { Fault } from '../../contract/failures.js';
import type { DocumentLimits } from '../types.js';

/** Names have no prefix: `w:p` is `p`. So do attributes, except those of `r:`, because `id` and `r:id` differ. */
export interface XmlHandler {
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  text?(text: string): void;
  close?(name: string): void;
}

type XmlLimits = Pick<DocumentLimits, 'maxDepth' | 'maxAttributesPerElement'>;

const SLICE_BYTES = 64 * 1024;

/**
 * Parses XML as a stream. Expands only the five predefined entities and fetches nothing. Refuses a document type
 * declaration, which no Office file has.
 * @throws Fault broken_content or too_large
 */
export function readXml(bytes: Uint8Array, limits: XmlLimits, handler: XmlHandler): void {
  const parser = new SaxesParser({ position: false });
  let depth = 0;
  parser.on('doctype', () => {
    throw broken('it declares a document type, which no Office file does');
  });
  parser.on('opentag', (tag) => {
    depth += 1;
    if (depth > limits.maxDepth) throw tooDeep(limits.maxDepth);
    const attributes: Record<string, string> = {};
    let count = 0;
    for (const [name, value] of Object.entries(tag.attributes)) {
      count += 1;
      if (count > limits.maxAttributesPerElement) throw tooMany(limits.maxAttributesPerElement);
      attributes[name.startsWith('r:') ? name : localName(name)] = value;
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
    throw broken(error.message);
  });
  const decoder = new TextDecoder(encodingOf(bytes));
  for (let at = 0; at < bytes.length; at += SLICE_BYTES)
    parser.write(decoder.decode(bytes.subarray(at, at + SLICE_BYTES), { stream: true }));
  parser.close();
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

function encodingOf(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
}

function broken(what: string): Fault {
  return new Fault(
    'broken_content',
    `The file is broken: ${what.slice(0, 200)}. Open it in its program, save it again and send that.`,
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
