import Joi from 'joi';

import { ocrLanguage } from './enums.js';
import { orNull } from './fields.js';
import { extension } from './reference.js';

/** The languages of a request that uses OCR. A query may contain a single value. */
export const ocrLanguages = () =>
  extension(
    orNull(Joi.array().items(ocrLanguage()).min(1).unique().single()).description(
      'Languages that OCR chooses from for each page, the most likely first. One language: every page is read in it, without detection. Null: those of the setting `OCR_LANGUAGES`. It has an effect only with OCR.',
    ),
  );
