import { Fault } from '../../contract/failures.js';
import { cleanText } from '../cleanText.js';
import { decodeText } from '../decodeText.js';
import type { DocumentLimits, ParsedDocument, ParseInput, Parser } from '../types.js';

/** Parses plain text; only white space (line ends, trailing blanks, empty lines) and invisible characters change. */
export const textParser = {
  parse(input: ParseInput, limits: DocumentLimits): ParsedDocument {
    const text = cleanText(decodeText(input, { html: false }), limits);
    if (text === '') throw new Fault('no_text', 'The file is empty: there is no text in it to read.');
    return { text, format: 'TXT', mimeType: 'text/plain', metadata: {} };
  },
} satisfies Parser;
