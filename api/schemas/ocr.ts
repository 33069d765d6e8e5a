import Joi from 'joi';

import { ocrLanguage } from './enums.js';
import { orNull } from './fields.js';
import { extension } from './reference.js';

/** Returns the field with the languages of a request that uses OCR. A query may contain a single value. */
export const ocrLanguages = () =>
  extension(
    orNull(Joi.array().items(ocrLanguage()).min(1).unique().single()).description(
      'Languages that OCR chooses from for each page, the most likely first. One language: every page is read in it, without detection. Null: those of the setting `OCR_LANGUAGES`. It has an effect only with OCR.',
    ),
  );

/** Returns the fields for text recognition in the documents of an account. */
export const ocrFields = () => ({
  use_ocr: orNull(Joi.boolean(), false).description(
    'Whether OCR reads pictures (PNG, JPG), and those pages of a PDF that have no text. Null counts as absent.',
  ),
  parse_pdf_tables_with_ocr: orNull(Joi.boolean(), false).description(
    'With `use_ocr`: whether tables in PDFs and pictures become chunks with rows of `header: value`. Null counts as absent.',
  ),
  ocr_languages: ocrLanguages(),
});
