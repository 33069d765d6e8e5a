import { Fault } from '../../contract/failures.js';
import { mimeTypeOf } from '../../contract/files/fileFormats.js';
import { ocrMetadata } from '../ocr/ocrMetadata.js';
import type { DocumentLimits, ParsedDocument, ParseInput, Parser } from '../types.js';
import { composePages } from './pdf/composePages.js';

const readImage = (format: 'JPG' | 'PNG', input: ParseInput, limits: DocumentLimits): ParsedDocument => {
  const { text, pages, tables } = composePages(input.recognizedPages ?? [], limits.maxTextCharacters);
  if (text === '') {
    throw new Fault(
      'no_text',
      input.recognizedPages === undefined
        ? 'The file is a picture, which only OCR can read. Send it with use_ocr.'
        : 'No text was found in the picture. Send one in which letters are sharp, upright and not too small.',
    );
  }
  return { text, format, mimeType: mimeTypeOf(format), ...ocrMetadata(input.recognizedPages ?? []), pages, tables };
};

/** Parses a picture: its only text is the one that OCR recognized before. */
export const jpgParser: Parser = { parse: (input, limits) => readImage('JPG', input, limits) };
export const pngParser: Parser = { parse: (input, limits) => readImage('PNG', input, limits) };
