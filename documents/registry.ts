import { detectFormat } from './detectFormat.js';
import { htmlParser } from './parsers/html.js';
import { markdownParser } from './parsers/markdown.js';
import { textParser } from './parsers/text.js';
import type { DocumentLimits, ParsedDocument, ParseInput, Parser } from './types.js';

/** The reader of each format. */
const PARSERS: { readonly [Format in ParsedDocument['format']]: Parser } = {
  HTML: htmlParser,
  TXT: textParser,
  MD: markdownParser,
};

/** Reads content in the format it is found to have. Throws a Fault that says why it could not be read. */
export function parseDocument(input: ParseInput, limits: DocumentLimits): ParsedDocument {
  return PARSERS[detectFormat(input)].parse(input, limits);
}
