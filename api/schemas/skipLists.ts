import { compile } from 'css-select';
import Joi from 'joi';

/**
 * Limits of lists that are stored with every page and applied to it. The most expensive selector of this length takes 2
 * ms to parse, so a full list takes 200 ms.
 */
const MAX_ENTRIES = 100;
const MAX_CHARACTERS = 500;

/** Returns the schema of tags or classes of elements that the page reader skips. */
export const skipNames = () => Joi.array().items(Joi.string().allow('').max(MAX_CHARACTERS)).max(MAX_ENTRIES);

/**
 * Returns the schema of CSS selectors of elements to skip. Each must be valid for the engine that applies it. Blank
 * ones are ignored.
 */
export const skipSelectors = () =>
  Joi.array().items(Joi.string().allow('').max(MAX_CHARACTERS).custom(readable)).max(MAX_ENTRIES);

function readable(selector: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  if (selector.trim() === '') return selector;
  try {
    compile(selector);
    return selector;
  } catch {
    return helpers.message({ custom: 'Is not a valid CSS selector. Correct it, or omit it' });
  }
}
