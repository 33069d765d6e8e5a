import { compile } from 'css-select';
import Joi from 'joi';

/** Kept on the record of every page, and applied to every page. The dearest selector of this length takes 2 ms to read. */
const MAX_ENTRIES = 100;
const MAX_CHARACTERS = 500;

/** What a page's reader is told to leave out: names of tags or classes. */
export const skipNames = () => Joi.array().items(Joi.string().allow('').max(MAX_CHARACTERS)).max(MAX_ENTRIES);

/** The same by CSS selectors, each of which must be readable by the engine that will look for it. Blank ones say nothing. */
export const skipSelectors = () =>
  Joi.array().items(Joi.string().allow('').max(MAX_CHARACTERS).custom(readable)).max(MAX_ENTRIES);

function readable(selector: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  if (selector.trim() === '') return selector;
  try {
    compile(selector);
    return selector;
  } catch {
    return helpers.message({ custom: "Can't be read as a CSS selector. Correct it, or leave it out" });
  }
}
